"""The estimate from counted draws: its interval over rows, the level of chance, and the drop of numbers."""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.drawn import DrawnCounts
from faithscope.measures.estimate import FEW, Estimate, few_rows_decide
from faithscope.measures.intervals.margins import Margins, check_confidence
from faithscope.measures.intervals.means import IndependentUnits
from faithscope.measures.notes.labels import label_notes
from faithscope.populations import Population

Floats = NDArray[np.float64]


def draws_estimate(
    counts: DrawnCounts, units: IndependentUnits, population: Population, confidence: float, notes: tuple[str, ...]
) -> Estimate:
    """An estimate from counted draws."""
    margins = draw_margins(units, counts.values, counts.silent, confidence)
    value, silent = units.mean(counts.values), units.mean(counts.silent)
    checked = units.sums(1 - counts.silent).sum()
    verified = min(1.0, float(units.sums(counts.values).sum() / checked)) if checked > 0 else None
    chance = counts.chance
    low, high, above = _against_chance(counts, units, verified, chance, margins, confidence)
    few = (few_rows_decide(margins),) if margins.degrees_of_freedom < FEW - 1e-9 and silent < 1 else ()
    labels = () if counts.agreement.of_numbers else label_notes(counts.labels, counts.n)
    drop, drop_low, drop_high = _drop(counts, units, confidence)
    return Estimate(
        measure=f"sufficiency on {population.what}",
        value=value,
        low=max(0.0, value - margins.below),
        high=min(1.0, value + silent + margins.above),
        confidence=float(confidence),
        method="jackknife",
        unverifiable=silent,
        verified=verified,
        chance=chance,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=counts.effective_n,
        margins=margins,
        counts=counts,
        notes=(*notes, *labels, *few),
        verified_low=low,
        verified_high=high,
        above_chance=above,
        clusters=None if counts.clusters is None else counts.clusters.clusters,
        agreement=counts.agreement,
        population=repr(population),
        drop=drop,
        drop_low=drop_low,
        drop_high=drop_high,
    )


def draw_margins(units: IndependentUnits, values: Floats, silent: Floats, confidence: float) -> Margins:
    """Margins of means over rows: Student's t of the jackknife, never less than ``ln(2/δ) max w / Σ w``.

    A row changes nothing but its own term, so a kind of row that the sample missed, which has a probability of at most
    ln(2/δ)/n, moves the mean by no more than that; it is the rule of three's case if all draws agree.
    """
    wrong = check_confidence(confidence) / 2
    known = [units.without_each(units.sums(column), units.mass) for column in (values, values + silent)]
    if any(deviations is None for deviations in known):
        return Margins(1.0, 1.0)
    least = units.least(wrong)
    spreads = [deviations.margin(wrong) for deviations in known if deviations is not None]
    below, above = (max(margin, least) for margin, _ in spreads)
    freedom = min((freedom for margin, freedom in spreads if margin > least), default=math.inf)
    share = 1 - units.mean(silent)
    ratio = units.without_each(units.sums(values), units.sums(1 - silent)) if share > 0 else None
    verified = 1.0 if ratio is None else min(1.0, max(ratio.margin(wrong)[0], least / share))
    single = max(known[0].one_sided(wrong) if known[0] is not None else 0.0, least)
    again = partial(draw_margins, units, values, silent)
    return Margins(below, above, freedom, verified, again=again, one_sided=single)


def _against_chance(
    counts: DrawnCounts,
    units: IndependentUnits,
    verified: float | None,
    chance: float | None,
    margins: Margins,
    confidence: float,
) -> tuple[float | None, float | None, bool | None]:
    """(verified_low, verified_high, above_chance); the interval never contradicts the test.

    The test is of the mean of ``v_i - c_i - b_i``, with c_i and b_i how much row i's prediction agrees with the draws
    of other rows, and its draws with their predictions: both move with the row.
    """
    if verified is None:
        return None, None, None
    low, high = max(0.0, verified - margins.verified), min(1.0, verified + margins.verified)
    if chance is None or chance >= 1:
        return low, high, None
    wrong, checked = check_confidence(confidence) / 2, 1 - counts.silent
    gained = np.where(checked > 0, counts.values - counts.by_chance - counts.by_others, 0.0)
    known = units.without_each(units.sums(gained * checked), units.sums(checked))
    margin = 1.0 if known is None else max(known.margin(wrong)[0], units.least(wrong) / units.mean(checked))
    above = verified - chance > margin
    return max(low, chance) if above else min(low, chance), high, above


def _drop(
    counts: DrawnCounts, units: IndependentUnits, confidence: float
) -> tuple[float | None, float | None, float | None]:
    """How much lower the numbers of draws are on average, with its interval; None for labels, or without draws."""
    if counts.drop is None or not counts.others.any():
        return None, None, None
    checked = 1 - counts.silent
    known = np.where(checked > 0, counts.drop, 0.0)
    drop = float(units.sums(known).sum() / units.sums(checked).sum())
    deviations = units.without_each(units.sums(known), units.sums(checked))
    wrong = check_confidence(confidence) / 2
    span = float(max(np.ptp(known), np.ptp(np.asarray(counts.labels, np.float64))))  # of a row that was not seen
    if deviations is None:
        return drop, None, None
    margin = max(deviations.margin(wrong)[0], span * units.least(wrong) / units.mean(checked))
    return drop, drop - margin, drop + margin
