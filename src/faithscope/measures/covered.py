"""An estimate from counts of the rows that explanations cover, whichever measure it is of; and shares of variance."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.counting.clusters import spread_by_explanation
from faithscope.counting.counted import Coverage
from faithscope.counting.counts import count_rows
from faithscope.counting.drawn import Counted
from faithscope.counting.leave_out import LeftOut, Sums, ratio
from faithscope.counting.moments import SpreadCounts, spread_of_plain_rows
from faithscope.counting.profile import Profile
from faithscope.errors import NotProven
from faithscope.inputs.array_types import Array
from faithscope.measures.estimate import NECESSITY, Estimate, noted, refuse_spread, to_estimate
from faithscope.measures.intervals.margins import Deviations, LeftOutDeviations, UnseenRows, margins
from faithscope.measures.intervals.tight import equality_margins
from faithscope.notes import Notes
from faithscope.relations import Beside, Relation, to_relation
from faithscope.rounding import in_brackets
from faithscope.sample import Sample
from faithscope.words import several

_HEAVY = 10.0  # kurtosis beyond which a few predictions may decide the variance; 3 for a normal distribution


def spread_consistency(sample: Sample, confidence: float) -> Estimate:
    """`Spread` among rows with the same explanation."""
    if sample.weights is not None:
        return spread_estimate(count_rows(sample), *spread_by_explanation(sample), "consistency", confidence)
    spread, left_out, sizes, pairs, label_pairs = spread_of_plain_rows(sample)
    by_explanation = sizes - 1, pairs / sizes, pairs, sizes
    all_rows = np.array([sample.n]), len(sizes), 0
    profile = Profile(*by_explanation, *all_rows, agreement=sample.agreement, label_pairs=label_pairs)
    return spread_estimate(profile, spread, left_out, "consistency", confidence)


def spread_estimate(
    counts: Counted,
    spread: SpreadCounts,
    left_out: LeftOut,
    measure: str,
    confidence: float,
    notes: Notes = (),
) -> Estimate:
    """An estimate from W, S and T, and from the leave-one-out values of W and U.

    Among rows that can be checked, the share explained is ``1 - W / ((1 - U) T)``.
    """
    whole, without, silent, n = spread.whole, spread.without, spread.unverifiable, counts.effective_n
    value, within = float(whole.explained[0]), float(whole.within[0] / whole.whole[0])
    known = checked = None
    if spread.always_vary:
        within_checked = ratio(left_out.value, 1 - left_out.silent)
        columns = without.explained, 1 - without.within / without.whole, 1 - within_checked / without.whole
        lower, upper, rest = (Deviations.of(column, left_out.rows) for column in columns)
        known = LeftOutDeviations(lower, upper, reach=left_out.reach)
        checked = known._replace(value=rest, upper=rest)
    found = among = margins(known, n, confidence, explained=value)
    if 0 < silent < 1:
        among = margins(checked, n * (1 - silent), confidence, explained=1 - within / (1 - silent))
    weight = None if left_out.weight is None else LeftOutDeviations.of(left_out).weight
    asked = isinstance(counts.relation, Beside)  # what shuffled predictions reach is not known of some rows that ask
    beyond = among.below if asked else None
    found = replace(found, verified=(among.below, among.above), weight=weight, beyond=beyond)
    sums = Sums(-within * counts.n, silent * counts.n, float(counts.n))
    gap = None if silent >= 1 else spread.unit * math.sqrt(2 * float(whole.within[0]) / (1 - silent))
    estimate = to_estimate(
        counts,
        sums,
        found,
        measure,
        confidence,
        notes=notes,
        shuffled=not asked,
        spread=spread,
        gap=gap,
    )
    if spread.kurtosis <= _HEAVY:
        return estimate
    few = f"a few predictions far from the others decide the variance (kurtosis {spread.kurtosis:.0f}, 3 if normal)"
    return noted(estimate, (f"{few}: measure fs.Close(eps) beside it",))


_MATTERS = 0.02  # a difference of intervals that a reader should know of


def coverage_estimate(
    coverage: Coverage,
    measure: str,
    confidence: float,
    method: str | None = None,
    unseen: bool | None = False,
    notes: Notes = (),
) -> Estimate:
    """An estimate from counted coverage.

    A `method` that is proven for consistency is that of sufficiency if every row meets exactly one explanation.
    `unseen` is whether the interval allows for unseen rows under many explanations; None if no row can be.
    """
    counts, left_out, recall = coverage.counts, coverage.left_out, measure == NECESSITY
    if coverage.asked is None and unseen is not None:  # of pairs that were not asked other notes tell
        strays, empty, idle = int(counts.missed.sum()), int(np.sum(counts.per_explanation == 0)), coverage.idle
        hold = several(len(idle), "condition holds", "conditions hold")
        remarks = {
            several(strays, "row is not covered by its", "rows are not covered by their") + " own explanation": strays,
            several(empty, "explanation covers", "explanations cover") + " no row at all": empty,
            f"{hold} on no row, such as {''.join(idle[:1])!r}": idle,
        }
        notes = (*notes, *(remark for remark, some in remarks.items() if some))
    if coverage.spread is not None and left_out is not None:
        if unseen:
            raise NotProven(
                "unseen=True needs agreements from 0 to 1, unlike Spread(): leave it out, or measure Close."
            )
        return spread_estimate(counts, coverage.spread, left_out, measure, confidence, notes)
    terms = counts.profile().terms if coverage.sums is None else coverage.sums
    how, widest, missed = "jackknife", None, None
    if method != "jackknife" and counts.covers_once and counts.plain:  # this is consistency
        how = method or "tight"
        found = equality_margins(counts.profile(), how, confidence)
    else:
        chance = coverage.chance_left_out if len(counts.labels) > 1 else None
        known = None if left_out is None else LeftOutDeviations.of(left_out, chance)
        found = margins(known, counts.effective_n, confidence)
        if recall:
            missed = UnseenRows(coverage.others, np.ones(counts.n)) if unseen and coverage.others is not None else None
        elif unseen is not None and not counts.relation.partitions:  # else a row that was missed has one explanation
            missed = unseen_rows(coverage)
        if missed is not None and known is not None:
            widest = margins(known, counts.effective_n, confidence, unseen=[missed])
    if widest is not None and unseen:
        found, widest = widest, None
    shuffled = not recall and coverage.chance_left_out is None
    estimate = to_estimate(
        counts, terms, found, measure, confidence, how, notes, shuffled=shuffled, chance=coverage.chance
    )
    if widest is None:
        return estimate
    low, high = max(0.0, estimate.value - widest.below), min(1.0, estimate.upper + widest.above)
    if max(estimate.low - low, high - estimate.high) <= _MATTERS:
        return estimate
    otherwise = f"unseen=True does not: {in_brackets(low, high)}"
    return noted(estimate, (f"assumes that no unseen row lies under many explanations ({otherwise})",))


def unseen_rows(coverage: Coverage) -> UnseenRows:
    """What is known of rows that the sample missed: whom they might be covered by."""
    counts, weights = coverage.counts, coverage.weights
    others: Array = counts.per_explanation[coverage.codes] - coverage.own
    if coverage.asked is not None:  # as many as if all rows had been asked about
        others = others * ((len(others) - 1) / np.maximum(1, coverage.asked.others))
    rows = np.ones(len(others)) if weights is None else weights * (len(weights) / weights.sum())
    return UnseenRows(others, rows, coverage.further)


def scoped(sample: Sample, relation: Any, measure: str) -> tuple[Sample, Relation]:
    """The rows that count, and the relation of their explanations; refuses what has no bound that a measure needs.

    Of consistency within a distance, the relation is known: it relates explanations to each other.
    """
    refuse_spread(sample.agreement, measure)
    counted, known = sample.counted().evenly(), measure.startswith("consistency")
    return counted, relation if known else to_relation(relation, counted.explanations)
