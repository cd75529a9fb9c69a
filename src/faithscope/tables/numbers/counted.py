"""What an engine hands over of numbers: a profile by the size of explanations, and sums of leave-one-out values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Spread
from faithscope.counting.leave_out import LeftOut
from faithscope.counting.moments import SpreadCounts, SpreadParts
from faithscope.counting.profile import Profile
from faithscope.measures.comparing.populations import measure_groups
from faithscope.measures.estimate import Estimate, estimate
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations
from faithscope.measures.intervals.tight import POWERS, SIZES, PowerSums
from faithscope.measures.spread import spread_estimate
from faithscope.sample import Sample
from faithscope.tables.numbers.sums import SERIES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rows_by_size(answer: Any) -> tuple[Ints, Ints]:
    """The sizes of explanations in order, and the rows of each."""
    answer = answer.sort_by("size")
    return _column(answer, "size").astype(np.int64), _column(answer, "rows").astype(np.int64)


def _column(answer: Any, name: str) -> Floats:
    return np.asarray(answer.column(name).to_numpy(zero_copy_only=False), np.float64)


def read_power_sums(answer: Any) -> PowerSums:
    """What the tight interval reads, from the lines of one population."""
    size, powers = _column(answer, "size"), range(POWERS + 1)
    added, lost = (np.stack([_column(answer, f"{name}_{k}") for k in powers], axis=1) for name in ("added", "lost"))
    rows = lost[:, 0]
    table = [*(added[size == few].sum(axis=0) for few in SIZES), lost[size > SIZES[-1]].sum(axis=0)]
    return PowerSums(float(rows.sum()), float(rows[size == 1].sum()), np.stack(table))


class SizeSums(NamedTuple):
    """Sums by the number of rows of an explanation, in order of it.

    Attributes
    ----------
    size, rows : (m,) arrays
        The number of rows of an explanation, and of all rows whose explanation has so many.
    pairs : (m,) array
        The sum over these rows of their agreement with the others of their explanation.
    series : dict of str to (4, m) array
        The largest deviation, and the sums of its second, third and fourth powers, for each of the series.
    """

    size: Floats
    rows: Floats
    pairs: Floats
    series: dict[str, Floats]

    @classmethod
    def of(cls, answer: Any) -> "SizeSums":
        """From the lines of one population."""
        answer = answer.sort_by("size")

        def column(name: str) -> Floats:
            return _column(answer, name)

        series = {
            name: np.stack([column(f"{name}_{part}") for part in ("largest", "second", "third", "fourth")])
            for name in SERIES
        }
        return cls(column("size"), column("rows"), column("pairs"), series)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @property
    def silent(self) -> float:
        """Rows whose explanation no other row was given."""
        return float(self.rows[self.size == 1].sum())

    def profile(self, **known: Any) -> Profile:
        """One entry per size, with the mean agreement of its rows: sums over rows are the same."""
        size, rows = self.size.astype(np.int64), self.rows.astype(np.int64)
        mean = self.pairs / self.rows
        distinct = int(np.round(np.sum(self.rows / self.size)))
        return Profile(size - 1, mean, mean * size, rows, np.array([self.n]), distinct, 0, **known)

    def deviations(self, name: str) -> Deviations:
        """Of one of the series."""
        largest, *powers = self.series[name]
        return Deviations(float(self.n), float(largest.max()), *(float(power.sum()) for power in powers))

    def equivalent(self, name: str) -> tuple[Floats, Floats]:
        """Three deviations, and the share of the rows of each, with the same sums of powers up to the fourth.

        Two values a and b are the roots of ``t² = u t + v``, with u and v such that powers add up; the third is 0.
        """
        if not self.deviations(name).varies:
            return np.zeros(3), np.array([0.0, 0.0, 1.0])
        second, third, fourth = (part.sum() / self.n for part in self.series[name][1:])
        middle, product = third / second / 2, (fourth - third**2 / second) / second
        a, b = middle + np.sqrt(middle**2 + product) * np.array([1.0, -1.0])
        shares = second / (a * (a - b)), second / (b * (b - a))
        return np.array([a, b, 0.0]), np.array([*shares, max(0.0, 1 - sum(shares))])

    def left_out(self) -> LeftOutDeviations | None:
        """What the interval reads; None for a single row."""
        if self.n < 2:
            return None
        newly = (self.size == 2) * 1.0 - (self.size == 1)
        checked = 1 - (self.silent + newly) / (self.n - 1)
        value, upper, ratio = map(self.deviations, SERIES)
        return LeftOutDeviations(value, upper, ratio, float(np.sum(self.rows * checked) / self.n))


@dataclass(frozen=True, eq=False)
class CountedNumbers:
    """Rows of one population, counted by `Close` or `Tolerance`."""

    profile: Profile
    left_out: LeftOutDeviations | None
    agreeing: PowerSums

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.profile.n

    def estimate(self, confidence: float, method: str | None) -> Estimate:
        """The estimate of consistency."""
        return estimate(
            self.profile, confidence=confidence, interval=method, left_out=self.left_out, powers=self.agreeing
        )


@dataclass(frozen=True, eq=False)
class CountedSpread:
    """Rows of one population, counted by `Spread`.

    Attributes
    ----------
    sums : SizeSums
    profile : Profile
    whole : SpreadParts
    kurtosis : float
    outlier : bool
        Whether a row holds all of the variance, so that without it there is none.
    unit : float
        Of the predictions, in which the variances are squares.
    """

    sums: SizeSums
    profile: Profile
    whole: SpreadParts
    kurtosis: float
    outlier: bool
    unit: float

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.profile.n

    def estimate(self, confidence: float, method: str | None) -> Estimate:
        """The estimate of consistency."""
        without, left_out = self._left_out()
        spread = SpreadCounts(self.whole, without, self.profile.uniqueness, self.kurtosis, self.unit)
        return spread_estimate(self.profile, spread, left_out, "consistency", confidence)

    def _left_out(self) -> tuple[SpreadParts, LeftOut]:
        """27 kinds of rows in place of all rows: every combination of three values of each of the three series.

        Each series has the same sums of powers, up to the fourth, as over all rows; intervals read no more of it.
        """
        kinds = [self.sums.equivalent(name) for name in SERIES]
        value, upper, ratio = (axis.ravel() for axis in np.meshgrid(*(values for values, _ in kinds)))
        rows = np.prod([axis.ravel() for axis in np.meshgrid(*(share for _, share in kinds))], axis=0) * self.n
        share = float(self.whole.within[0] / self.whole.whole[0])
        explained = self.whole.explained[0] + value
        lost = share - upper  # W / T, as 1 - upper
        variance = np.zeros(len(rows)) if self.outlier else np.ones(len(rows))
        return SpreadParts(lost, 1 - lost - explained, variance), LeftOut(share + ratio, 0 * rows, rows=rows)


@dataclass(frozen=True, eq=False)
class CountedConstant:
    """Rows of one population whose predictions are equal: `Spread` tells nothing of them.

    Attributes
    ----------
    size, rows : (m,) arrays
        The number of rows of an explanation, and of all rows whose explanation has so many.
    prediction : tuple of float
        The one that all rows have.
    """

    size: Ints
    rows: Ints
    prediction: tuple[float, ...]

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    def estimate(self, confidence: float, method: str | None) -> Estimate:
        """The unknown estimate of such a group of rows in memory, with the rows that were counted here."""
        profile = Profile.of_groups(
            np.arange(len(self.size)), self.size, self.rows // self.size, np.array([self.n], np.int64)
        )
        alike = estimate(profile, confidence=confidence, interval=method)
        some = [0] * min(self.n, 2)  # a group is told by whether it has one row or several
        sample = Sample.of(some, np.array([self.prediction for _ in some]), agreement=Spread())
        return measure_groups(sample, some, lambda _: alike).estimates[0]
