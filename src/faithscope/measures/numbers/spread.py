"""Spread: the share of the variance of numeric predictions that explanations account for."""

import math
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from faithscope.counting.counts import count_rows
from faithscope.counting.leaving_out.leave_out import LeftOut, RowKinds
from faithscope.counting.profile import Counted, LabelPairs, Profile, with_lone
from faithscope.counting.spread import SpreadCounts, spread_by_explanation
from faithscope.inputs.chunks import rows_at
from faithscope.measures.chance import exceeds_chance
from faithscope.measures.estimate import FEW, Estimate, few_rows_decide
from faithscope.measures.intervals.margins import Deviations, Margins, check_confidence, deviations, least_margin
from faithscope.measures.notes.intervals import SPREAD_BY_WEIGHT
from faithscope.measures.notes.occurrences import occurrence_notes
from faithscope.sample import Sample

Floats = NDArray[np.float64]

_HEAVY = 10.0  # kurtosis beyond which a few predictions may decide the variance; 3 for a normal distribution


def spread_consistency(sample: Sample, confidence: float) -> Estimate:
    """`Spread` among rows with the same explanation."""
    spread, left_out, kinds, rows = spread_by_explanation(sample)
    if sample.weights is not None:
        notes = () if sample.evenly().weights is None else (SPREAD_BY_WEIGHT,)
        return spread_estimate(count_rows(sample), spread, left_out, "consistency", confidence, notes)
    label_pairs = LabelPairs.of_centered(rows.total, rows.square, rows.weight)
    return spread_estimate(_profile(sample, kinds, label_pairs), spread, left_out, "consistency", confidence)


def _profile(sample: Sample, kinds: RowKinds, label_pairs: LabelPairs) -> Profile:
    """One entry per row that shares its explanation, and one for all others."""
    several = np.flatnonzero(kinds.size > 1)
    size, agreeing, pairs = (rows_at(column, several) for column in (kinds.size, kinds.agreeing, kinds.pairs))
    single = sample.n - len(several)
    table = with_lone(single, size - 1, agreeing, pairs, np.ones(len(several), np.int64))
    distinct = single + round(float(np.sum(1 / size)))
    return Profile(*table, np.array([sample.n]), distinct, 0, agreement=sample.agreement, label_pairs=label_pairs)


def spread_estimate(
    counts: Counted,
    spread: SpreadCounts,
    left_out: LeftOut,
    measure: str,
    confidence: float,
    notes: tuple[str, ...] = (),
) -> Estimate:
    """An estimate from W, S and T, and from the leave-one-out values of W and U."""
    whole, silent = spread.whole, spread.unverifiable
    known = SpreadDeviations.of(spread, left_out)
    value, silence = float(whole.explained[0]), float(whole.silence[0])
    # Rows with one explanation vary no more than all rows do; rows that an explanation covers may.
    least = 0.0 if counts.covers_once else -math.inf
    margins = spread_margins(value, known, left_out, counts.effective_n, confidence)
    share = float(whole.within[0] / whole.whole[0])
    verified = None if silent >= 1 else 1 - share / (1 - silent)
    low = high = above = None
    if verified is not None:
        low, high = value - margins.below, min(1.0, value + margins.above)
        if silent > 0 or known is None:
            both = known and known._replace(value=known.verified, upper=known.verified)
            among = spread_margins(verified, both, left_out, counts.effective_n * (1 - silent), confidence)
            low, high = verified - among.below, min(1.0, verified + among.above)
        low = min(verified, max(least, low))
        above = low > 0
        if counts.plain:
            above = exceeds_chance(counts.profile(), -share * counts.n, -1.0, confidence, margins.weight)
            low = max(low, 0.0) if above else min(low, 0.0)
    if margins.degrees_of_freedom < FEW - 1e-9 and silent < 1:
        notes = (*notes, few_rows_decide(margins))
    return Estimate(
        measure=measure,
        value=value,
        low=min(value, max(least, value - margins.below)),
        high=min(1.0, max(least, value + silence + margins.above)),
        confidence=float(confidence),
        method="jackknife",
        unverifiable=silent,
        verified=verified,
        chance=0.0,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=counts.effective_n,
        margins=margins,
        counts=counts,
        notes=(*notes, *occurrence_notes(counts), *_heavy_tails(spread.kurtosis)),
        verified_low=low,
        verified_high=high,
        above_chance=above,
        silence=silence,
        gap=None if silent >= 1 else spread.unit * math.sqrt(2 * float(whole.within[0]) / (1 - silent)),
        agreement=counts.agreement,
    )


class SpreadDeviations(NamedTuple):
    """What the interval of the share explained reads of leave-one-out values.

    Attributes
    ----------
    value, upper, verified : Deviations
        Of the share explained, of its sum with the silent share, and of ``1 - W / ((1 - U) T)``, the share explained
        among rows that can be checked, without each row or block.
    """

    value: Deviations
    upper: Deviations
    verified: Deviations

    @classmethod
    def of(cls, spread: SpreadCounts, counted: LeftOut) -> "SpreadDeviations | None":
        """Of W, S, T and U without each row or block; None if some are left without variance."""
        if not spread.always_vary:
            return None
        without = spread.without

        def measures(part: slice) -> tuple[Floats, Floats, Floats]:
            inverse, checked = 1 / without.whole[part], 1 - counted.silent[part]
            upper = 1 - without.within[part] * inverse
            ratios = counted.value[part] / np.where(checked > 0, checked, np.inf)
            return upper - without.silent[part] * inverse, upper, 1 - ratios * inverse

        return cls(*deviations(measures, len(counted.value), counted.rows))


def spread_margins(
    value: float,
    known: SpreadDeviations | None,
    counted: LeftOut,
    effective_n: float,
    confidence: float,
    sides: int = 2,
) -> Margins:
    """Margins from the share explained without each row or block; 1 if there are none.

    The share is skewed: a few predictions far from the others hold much of the variance, and a sample that lacks them
    explains too much. So the lower end is that of ``log(1 - value)``, in which a variance is nearer to normal, with
    Efron's acceleration: with r the deviations of the leave-one-out values, se their standard error, t Student's, and
    ``a = Σr³ / (6 (Σr²)^1.5)``, it lies ``(1 - value) (exp(t' se / (1 - value)) - 1)`` below, ``t' = t / (1 - a t)²``.
    """
    rows = counted.rows
    weight = None if counted.weight is None else float(np.sum((1 if rows is None else rows) * counted.weight**2))
    if known is None:
        return Margins(1.0, 1.0, weight=weight)
    again = partial(_margins, value, (known.value, known.upper), counted.reach, effective_n, sides)
    return replace(again(confidence), weight=weight)


def _margins(
    value: float,
    known: tuple[Deviations, Deviations],
    reach: float,
    effective_n: float,
    sides: int,
    confidence: float,
) -> Margins:
    wrong = check_confidence(confidence) / sides
    least = least_margin(reach, effective_n, wrong)
    below, above = (each.margin(wrong) for each in known)
    skewed = _skewed(1 - value, known[0], below, wrong)
    freedom = min((freedom for margin, freedom in (below, above) if margin > least), default=math.inf)
    lower = max(below[0], least, min(skewed, value))  # the logarithm says nothing of shares below 0
    again = partial(_margins, value, known, reach, effective_n, sides)
    return Margins(lower, max(above[0], least), freedom, again=again)


def _skewed(unexplained: float, known: Deviations, spread: tuple[float, float], wrong: float) -> float:
    """How far the share explained may lie below its value, by the logarithm of what is left unexplained."""
    margin, freedom = spread
    if margin <= 0 or unexplained <= 1e-12:
        return 0.0
    skew = known.third / known.second**1.5
    slowed = max(0.25, 1 - max(0.0, skew) / 6 * float(stdtrit(freedom, 1 - wrong)))  # beyond it the end is 0 anyway
    return unexplained * math.expm1(min(700.0, margin / slowed**2 / unexplained))


def _heavy_tails(kurtosis: float) -> tuple[str, ...]:
    """A note if a few predictions far from the others decide the variance."""
    if kurtosis <= _HEAVY:
        return ()
    told = f"a few predictions far from the others decide the variance (kurtosis {kurtosis:.0f}, 3 if normal)"
    return (f"{told}: measure fs.Close(eps) beside it",)
