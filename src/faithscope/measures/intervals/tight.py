"""The tight interval of consistency: rows with one companion, or two, tell of those that have none.

Let a row with c others count b_c instead of 1: ``b_1 = 1 + κ``, ``b_2 = 1 - (κ²/2) (n-1)/(n-2)``, and 1 from three
others on. With ``n M' = Σ b s/c`` and ``n D' = Σ b (1 - s/c)``, where s of the c others agree,
``E[M'] <= m <= E[1 - D']`` for n > 2, every system and every κ (docs/statistics.md has the proof). So what is left
open is about ``h_0 - κ h_1 + κ² h_2 / 2`` instead of h_0, where h_c is the share of rows with c others. κ = 0 is the
paper's.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from faithscope.counting.leaving_out.leave_out import LeftOut, RowKinds
from faithscope.counting.profile import Profile
from faithscope.inputs.chunks import sums_over_chunks
from faithscope.measures.intervals.margins import Bracket, Deviations, Margins, check_confidence, jackknife

Floats = NDArray[np.float64]

KAPPAS = np.linspace(0.0, 2.0, 41)
POWERS = 4  # of what explanations add, of which intervals read sums
SIZES = np.array([2.0, 3.0, 4.0])  # rows of an explanation that is taken as one draw; larger ones, row by row
_ROUNDING = 1e-12  # ends of intervals that are nearer than this are the same
_FLAT = 1e-7  # of the mean square of what rows add, below which it is rounding; the least margin is larger


@dataclass(frozen=True, eq=False)
class PowerSums:
    """What the tight interval reads of explanations and rows: sums of powers, which an engine can hand over.

    Attributes
    ----------
    n, alone : float
        The number of rows, and of rows whose explanation no other row was given.
    small : (3, 5) array
        Over explanations of 2, 3 and 4 rows, the sums of Tᵏ for k from 0 to 4, with T what they add to n·M̂.
    rows : (5,) array
        Over rows of larger explanations, the sums of tᵏ, with t how much of T is lost without the row.
    """

    n: float
    alone: float
    small: Floats
    rows: Floats

    @classmethod
    def of(cls, profile: Profile) -> "PowerSums":
        """Of a profile, for equality."""

        def add(start: int, stop: int) -> list[float]:
            others, agreeing, pairs, rows = (
                column[start:stop] for column in (profile.others, profile.agreeing, profile.pairs, profile.rows)
            )
            added = pairs / np.where(others > 0, others, np.inf)
            totals = [float(rows.sum()), float(rows[others == 0].sum())]
            for size in SIZES:
                which = np.flatnonzero(others == size - 1)
                totals += _power_sums(np.take(rows, which) / size, np.take(added, which))
            large = np.flatnonzero(others >= SIZES[-1])
            without = (pairs - 2 * agreeing) / np.maximum(others - 1.0, 1.0)
            return totals + _power_sums(np.take(rows, large), np.take(added - without, large))

        n, alone, *powers = sums_over_chunks(add, len(profile.rows), POWERS + 1).tolist()
        table = np.reshape(powers, (len(SIZES) + 1, POWERS + 1))
        return cls(n, alone, table[:-1], table[-1])

    def disagreeing(self) -> "PowerSums":
        """The same sums of what explanations add to n·(1 - M̂ - U)."""
        small = np.stack([_mirrored(line, size) for line, size in zip(self.small, SIZES, strict=True)])
        return replace(self, small=small, rows=_mirrored(self.rows, 1.0))

    def weights(self, kappa: Floats) -> Floats:
        """How much rows with 1, 2 and 3 others count, for each κ."""
        odds = (self.n - 1) / (self.n - 2)
        return np.stack([1 + kappa, 1 - kappa**2 / 2 * odds, np.ones(len(kappa))])

    def mean(self, kappa: Floats) -> Floats:
        """M', or of disagreement D', for each κ."""
        return np.asarray((self.small[:, 1] @ self.weights(kappa) + self.rows[1]) / self.n)

    def deviations(self, kappa: Floats) -> "KappaDeviations":
        """How much the mean would differ without each row, for each κ.

        An explanation of up to four rows is one draw, which adds b T for its N rows: it differs by ``b T - θ N`` with θ
        the mean. Leaving out its rows one by one would count its variance twice.
        """
        mean, weights = self.mean(kappa), self.weights(kappa)
        sums, weights = np.vstack([self.small, self.rows]), np.vstack([weights, np.ones(len(kappa))])
        added = _moments(sums, weights, np.append(SIZES, 1.0)[:, None] * mean)
        second, third, fourth = (
            self.alone * power + moment for power, moment in zip(_powers(-mean)[2:], added, strict=True)
        )
        fourth = np.maximum(fourth, second**2 / self.n)
        varies = second > _FLAT * self.n
        scale = max(1.0, self.n - 1)
        return KappaDeviations(self.n, varies, second / scale**2, -third / scale**3, fourth / scale**4)


class KappaDeviations(NamedTuple):
    """`Deviations` for each κ."""

    rows: float
    varies: NDArray[np.bool_]
    second: Floats
    third: Floats
    fourth: Floats

    def at(self, place: int) -> Deviations:
        """Those of one κ."""
        largest = 1.0 if self.varies[place] else 0.0
        return Deviations(self.rows, largest, *(float(part[place]) for part in self[2:]))

    def margins(self, wrong: float) -> Floats:
        """`Deviations.margin` of each."""
        second, fourth = (np.where(self.varies, part, 1.0) for part in (self.second, self.fourth))
        error = np.sqrt((self.rows - 1) / self.rows * second)
        return np.where(self.varies, stdtrit(second**2 / fourth, 1 - wrong) * error, 0.0)


def _power_sums(times: NDArray[Any], values: Floats) -> list[float]:
    """The sums of ``times * valuesᵏ``, for k from 0 to 4."""
    terms = np.asarray(times, np.float64)
    sums = [float(terms.sum())]
    for _ in range(POWERS):
        terms = terms * values
        sums.append(float(terms.sum()))
    return sums


def _mirrored(sums: Floats, whole: float) -> Floats:
    """The sums of ``(whole - T)ᵏ``, from those of Tᵏ."""
    powers = range(POWERS + 1)
    return np.array(
        [sum(math.comb(k, j) * whole ** (k - j) * (-1) ** j * sums[j] for j in range(k + 1)) for k in powers]
    )


def _powers(values: Floats) -> list[Floats]:
    """The powers of values, from 0 to 4."""
    powers = [np.ones(values.shape)]
    for _ in range(POWERS):
        powers.append(powers[-1] * values)
    return powers


def _moments(sums: Floats, weight: Floats, center: Floats) -> list[Floats]:
    """The sums of ``(weight T - center)ᵏ`` for k from 2 to 4, for each κ.

    Parameters
    ----------
    sums : (m, 5) array
        The sums of Tᵏ, for k from 0 to 4, over m kinds of draws.
    weight, center : (m, κs) arrays
    """
    added = [column[:, None] * power for column, power in zip(sums.T, _powers(weight), strict=True)]
    left = _powers(-center)
    return [
        sum(math.comb(k, j) * added[j] * left[k - j] for j in range(k + 1)).sum(axis=0) for k in range(2, POWERS + 1)
    ]


class _Ends(NamedTuple):
    """One of the intervals among which the narrowest is taken."""

    bracket: Bracket
    below: Deviations
    above: Deviations

    def margins(self, n: float, sides: int, confidence: float) -> Margins:
        """Its margins; the least is that of a kind of row that was missed, whose pairs count 1 + κ."""
        wrong = check_confidence(confidence) / sides
        least = float(_least(self.bracket.kappa, n, wrong))
        spreads = [self.below.margin(wrong), self.above.margin(wrong)]
        below, above = (max(margin, least) for margin, _ in spreads)
        freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
        one_sided = max(self.below.one_sided(wrong), least)
        again = partial(self.margins, n, sides)
        return Margins(below, above, freedom, again=again, one_sided=one_sided, bracket=self.bracket)

    def width(self, margins: Margins) -> float:
        """How wide the interval is."""
        return min(1.0, self.bracket.high + margins.above) - max(0.0, self.bracket.low - margins.below)


def tight(profile: Profile, confidence: float, sides: int = 2) -> Margins:
    """Margins about the narrowest bracket of consistency, over κ; never wider than the `jackknife`."""
    return tightest(PowerSums.of(profile), jackknife(profile, confidence, sides), confidence, sides)


def tightest(agreeing: PowerSums, plain: Margins, confidence: float, sides: int = 2) -> Margins:
    """The narrowest of all margins, among them the plain ones of the jackknife."""
    if agreeing.n < 3:  # no row has two others
        return plain
    at_zero, ends = _narrowest(agreeing, check_confidence(confidence) / sides)
    best = ends.margins(agreeing.n, sides, confidence)
    if at_zero.width(plain) < ends.width(best) - _ROUNDING:
        return plain
    return replace(best, verified=plain.verified, again=partial(_again, best, plain))


def _again(best: Margins, plain: Margins, confidence: float) -> Margins:
    """The same bracket at another confidence."""
    return replace(best.at(confidence), verified=plain.at(confidence).verified)


def _least(kappa: Any, n: float, wrong: float) -> Any:
    """The least margin of a κ, or of each."""
    return 2 * (1 + kappa) * math.log(1 / wrong) / n


def _narrowest(agreeing: PowerSums, wrong: float) -> tuple[_Ends, _Ends]:
    """The interval of κ = 0, and the narrowest.

    It is taken among those whose bracket does not cross, and does not contradict what rows say as they are (κ = 0);
    of those as narrow the first, so that the order in which rows were added decides nothing.
    """
    disagreeing = agreeing.disagreeing()
    low, high = agreeing.mean(KAPPAS), 1 - disagreeing.mean(KAPPAS)
    possible = (low <= np.minimum(high, high[0]) + _ROUNDING) & (high >= low[0] - _ROUNDING)
    possible[0] = True
    low, high, kappas = low[possible], np.maximum(low, high)[possible], KAPPAS[possible]
    below, above = agreeing.deviations(kappas), disagreeing.deviations(kappas)
    least = _least(kappas, agreeing.n, wrong)
    top = np.minimum(1.0, high + np.maximum(above.margins(wrong), least))
    bottom = np.maximum(0.0, low - np.maximum(below.margins(wrong), least))

    def ends(place: int) -> _Ends:
        # Triples that count less than nothing may take an end out of [0, 1], where the measure is not.
        bracket = Bracket(max(0.0, float(low[place])), min(1.0, float(high[place])), float(kappas[place]))
        return _Ends(bracket, below.at(place), above.at(place))

    wide = top - bottom
    return ends(0), ends(int(np.argmax(wide <= wide.min() + _ROUNDING)))


def bracketed(kinds: RowKinds, kappa: float) -> tuple[tuple[float, float], LeftOut]:
    """The bracket for one κ, and without one row of each kind its lower end and what it leaves open."""
    n = float(kinds.rows.sum())
    odds = (n - 1) / max(1.0, n - 2)

    def added(size: NDArray[Any], pairs: NDArray[Any]) -> tuple[Floats, Floats]:
        counts = np.select([size == 2, size == 3], [1 + kappa, 1 - kappa**2 / 2 * odds], (size > 1) * 1.0)
        agreeing = np.divide(pairs, size - 1, out=np.zeros(len(size)), where=size > 1)
        return counts * agreeing, counts * (size - agreeing)

    before, after = added(kinds.size, kinds.pairs), added(kinds.size - 1, kinds.pairs - 2 * kinds.agreeing)
    sums = [float(np.sum(kinds.rows / kinds.size * part)) for part in before]
    low, lost = ((whole - old + new) / (n - 1) for whole, old, new in zip(sums, before, after, strict=True))
    ends = (sums[0] / n, max(sums[0], n - sums[1]) / n)
    return ends, LeftOut(low, 1 - lost - low, reach=1 + 1.5 * kappa, rows=kinds.rows)
