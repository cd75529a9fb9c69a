"""Intervals: jackknife and McDiarmid margins around a value."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from faithscope.counting.leaving_out.leave_out import LeftOut, leave_out_rows
from faithscope.counting.profile import Profile
from faithscope.errors import NotProven
from faithscope.inputs.checks import check_share
from faithscope.inputs.chunks import sums_over_chunks

Floats = NDArray[np.float64]

_WIDTH = 4  # numbers worked on per value
_SLOWEST = 0.55  # of 1 - a t: one or two rows tell little of skew, and would make the margin many times larger


class Bracket(NamedTuple):
    """Between which numbers a measure lies, but for sampling error, and the κ that made it (`tight.py`)."""

    low: float
    high: float
    kappa: float = 0.0


@dataclass(frozen=True)
class Margins:
    """How far the truth may lie below the value, and how far above the value plus the unverifiable share.

    If there is a `bracket`, below its lower end and above its upper end.
    """

    below: float
    above: float
    degrees_of_freedom: float = math.inf  # small if a few rows decide the spread
    verified: float = 1.0  # how far the agreement among rows that can be checked may be off, to either side
    weight: float | None = None  # sum over rows of their squared `LeftOut.weight`; None for equality
    again: "Callable[[float], Margins] | None" = field(default=None, repr=False, compare=False)  # by confidence
    one_sided: float = 0.0  # how far the truth may lie below if only that end is read; `below` if it is less
    bracket: Bracket | None = None  # of the measure, if not the value and the value plus silence

    def at(self, confidence: float) -> "Margins":
        """These margins at another confidence; margins of 1 hold at any."""
        if self.again is not None:
            return self.again(confidence)
        if min(self.below, self.above) < 1:
            raise NotProven("These margins are known at one confidence only: measure again with confidence=.")
        return self


def check_confidence(confidence: float) -> float:
    """The probability with which the interval may miss the truth, 1 - confidence."""
    return 1 - check_share(confidence, "confidence")


def mcdiarmid(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins that hold for any model, explainer and population, from n alone.

    Replacing one row changes n·M̂ by at most 3 and n·(M̂ + U) by at most 2, so McDiarmid's inequality applies. Of N rows
    with one explanation, let row i agree with the others by A in all, and these with each other by P (ordered pairs).
    Without row i, n·M̂ changes by ``P / ((N-1)(N-2)) - 2A / (N-1)``, from -2 to 1 for any agreement from 0 to 1; and a
    row that replaces another is left out once and added once. The disagreement n·(1 - M̂ - U) changes by the same
    formula; if ``1 - K`` obeys the triangle inequality, as for labels and `Close`, then P <= 2 (N-2) A, and it never
    rises. `Tolerance` does not obey it, nor need one's own function: there 3 is the bound on both sides.
    """
    return _mcdiarmid_margins(profile.n, profile.agreement.convex, sides, confidence)


def _mcdiarmid_margins(n: int, convex: bool, sides: int, confidence: float) -> Margins:
    tail = math.log(sides / check_confidence(confidence)) / n
    below = math.sqrt(4.5 * tail)
    again = partial(_mcdiarmid_margins, n, convex, sides)
    return Margins(below, math.sqrt(2 * tail) if convex else below, again=again)


def jackknife(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins from what M̂ and M̂ + U become when one row is left out, in closed form.

    Never less than ``2 ln(2/δ) / n``: if no disagreement was seen the spread is 0, but rare disagreements may have
    been missed (the rule of three).
    """
    if profile.n < 2:
        return Margins(1.0, 1.0)
    return jackknife_margins(leave_out_rows(profile.kinds()), float(profile.n), confidence, sides)


class Deviations(NamedTuple):
    """Leave-one-out values about their mean: how many, the largest |r|, and the sums of r², r³ and r⁴.

    An interval reads nothing else of them, so an engine hands over no more.
    """

    rows: float
    largest: float
    second: float
    third: float
    fourth: float

    @classmethod
    def of(cls, values: Floats, rows: NDArray[Any]) -> "Deviations":
        """Of values, each of which stands for so many rows."""
        return deviations(lambda part: (values[part],), len(values), rows)[0]

    @property
    def varies(self) -> bool:
        """Whether leave-one-out values are not all the same number, up to rounding."""
        return self.largest > 1e-14

    def margin(self, wrong: float) -> tuple[float, float]:
        """Student's t times the jackknife standard error, and the degrees of freedom (Σr²)² / Σr⁴."""
        if not self.varies:
            return 0.0, math.inf
        freedom = self.second**2 / self.fourth
        return float(stdtrit(freedom, 1 - wrong)) * self._error, freedom

    def one_sided(self, wrong: float) -> float:
        """How far the truth may lie below, if only that end is read.

        Rare rows that pull a measure down make it skewed: samples that lack them are too high more often than others
        are too low. Of an interval with two ends, the one pays for the other; here Efron's acceleration
        ``a = Σr³ / (6 (Σr²)^1.5)`` does, ``t se / (1 - a t)²``, with t of twice the degrees of freedom.
        """
        if not self.varies:
            return 0.0
        freedom = 2 * self.second**2 / self.fourth
        quantile = float(stdtrit(freedom, 1 - wrong))
        acceleration = max(0.0, self.third / (6 * self.second**1.5))
        return float(quantile * self._error / max(_SLOWEST, 1 - acceleration * quantile) ** 2)

    @property
    def _error(self) -> float:
        """The jackknife standard error."""
        return math.sqrt((self.rows - 1) / self.rows * self.second)


def _moments(gaps: Floats, times: NDArray[Any]) -> tuple[float, float, float]:
    """The sums of squares, cubes and fourth powers."""
    squares = gaps * gaps
    weighted = times * squares
    return float(weighted.sum()), float(np.sum(weighted * gaps)), float(np.sum(weighted * squares))


class LeftOutDeviations(NamedTuple):
    """What an interval reads of leave-one-out values.

    Attributes
    ----------
    value, upper, ratio : Deviations
        Of M̂, of M̂ + U and of M̂ / (1 - U) without each row, or each block of rows.
    checked : float
        The mean of 1 - U without each row.
    reach, heaviest : float
        As for `LeftOut`.
    weight : float or None
        Sum over rows of the squared `LeftOut.weight`; None for equality.
    """

    value: Deviations
    upper: Deviations
    ratio: Deviations
    checked: float
    reach: float = 1.0
    weight: float | None = None
    heaviest: float = 1.0

    @classmethod
    def of(cls, left_out: LeftOut) -> "LeftOutDeviations":
        """Of leave-one-out values."""
        value, silent, weight, rows = left_out.value, left_out.silent, left_out.weight, left_out.rows

        def measures(part: slice) -> tuple[Floats, ...]:
            checked = 1 - silent[part]
            ratios = value[part] / np.where(checked > 0, checked, np.inf)
            return value[part], value[part] + silent[part], ratios

        lower, upper, ratio = deviations(measures, len(value), rows)
        times = 1.0 if rows is None else rows
        unchecked = float(np.sum(times * silent)) / lower.rows
        taking_part = None if weight is None else float(np.sum(times * weight**2))
        return cls(lower, upper, ratio, 1 - unchecked, left_out.reach, taking_part, left_out.heaviest)


def deviations(
    measures: Callable[[slice], Sequence[Floats]], count: int, rows: NDArray[Any] | None = None
) -> list[Deviations]:
    """The deviations of several measures, from their values in a part of all values.

    Parameters
    ----------
    measures : function
        Gives the values of each measure in a slice.
    count : int
        Number of values.
    rows : (count,) array, optional
        How many rows each value stands for; None if one.
    """

    def weighed(start: int, stop: int) -> tuple[NDArray[Any], Sequence[Floats]]:
        times = np.ones(stop - start) if rows is None else np.asarray(rows[start:stop], np.float64)
        return times, measures(slice(start, stop))

    def totals(start: int, stop: int) -> list[float]:
        times, values = weighed(start, stop)
        return [float(times.sum()), *(float(np.sum(times * each)) for each in values)]

    n, *sums = sums_over_chunks(totals, count, _WIDTH).tolist()
    largest: list[list[float]] = []

    def powers(start: int, stop: int) -> list[float]:
        times, values = weighed(start, stop)
        gaps = [each - total / n for each, total in zip(values, sums, strict=True)]
        largest.append([max(float(gap.max()), -float(gap.min())) for gap in gaps])
        return [moment for gap in gaps for moment in _moments(gap, times)]

    moments = sums_over_chunks(powers, count, _WIDTH).reshape(-1, 3).tolist()
    return [Deviations(n, most, *each) for most, each in zip(np.max(largest, axis=0).tolist(), moments, strict=True)]


class UnseenRows(NamedTuple):
    """Whom a row that the sample missed could be covered by: any explanation, of which each covers so many rows.

    Attributes
    ----------
    others, rows : (m,) arrays
        How many other rows an explanation covers, and how many rows have such an explanation.
    further : int
        How many further rows were looked at, without their predictions.
    """

    others: NDArray[Any]
    rows: NDArray[Any]
    further: int = 0

    def least(self, wrong: float, effective_n: float) -> float:
        """The least margin, ``(L + Σ_i L' / (c_i + L')) / n``, with L = ln(1/δ) and L' = L n / (n + further rows).

        A kind of row that nobody saw has probability at most L / (n + further rows). If it lies under the explanation
        of row i, which covers c_i others, it takes a share L' / (c_i + L') of that row's term. Weighted or clustered
        rows are as good as `effective_n`, so L is larger by n / effective_n.
        """
        n = float(self.rows.sum())
        missed = math.log(1 / wrong) * n / effective_n
        unseen = missed * n / (n + self.further)
        some = self.others > 0
        leaning = np.sum(self.rows[some] * (unseen / (self.others[some] + unseen)))
        return float((missed + leaning) / n)


def least_margin(reach: float, rows: float, wrong: float) -> float:
    """The margin that rows which the sample missed call for, however little those that it has vary.

    The reach is how much the terms of other rows lean on one row at most, ``max_j Σ_i 1(π_i covers j) / c_i``; it is 1
    for equality. A kind of row that the sample missed has probability at most ln(1/δ)/n, and changes the measure by
    its own term and by the terms that lean on it: hence ``(1 + reach) ln(1/δ) / n``. It may weigh as much as the
    heaviest: rows that are thinned are as good as ``Σw / max w`` here.
    """
    return (1 + max(1.0, reach)) * math.log(1 / wrong) / rows


def jackknife_margins(
    left_out: LeftOut | LeftOutDeviations | None,
    effective_n: float,
    confidence: float,
    sides: int = 2,
    unseen: UnseenRows | None = None,
) -> Margins:
    """Margins from leave-one-out values; 1 if there are none, as for a single row.

    They are never less than `least_margin`. For `unseen` rows that may lie under more explanations than any row that
    was seen, it is theirs if that is larger.
    """
    wrong = check_confidence(confidence) / sides
    if left_out is None:
        return Margins(1.0, 1.0)
    known = left_out if isinstance(left_out, LeftOutDeviations) else LeftOutDeviations.of(left_out)
    good = effective_n / known.heaviest
    least = least_margin(known.reach, good, wrong)
    if unseen is not None:
        least = max(least, unseen.least(wrong, good))
    spreads = [known.value.margin(wrong), known.upper.margin(wrong)]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    # The margin of M̂ / (1 - U): the jackknife of the ratio; the least margin is divided by the share checked.
    verified = 1.0 if known.checked <= 0 else min(1.0, max(known.ratio.margin(wrong)[0], least / known.checked))
    again = partial(jackknife_margins, known, effective_n, sides=sides, unseen=unseen)
    return Margins(below, above, freedom, verified, known.weight, again, max(known.value.one_sided(wrong), least))
