"""Paired differences: two explainers compared on the same rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.counting.clusters import Kinds, spread_by_explanation
from faithscope.counting.counted import Coverage
from faithscope.counting.leave_out import LeftOut
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.measures.comparing.differences import NOTHING_KNOWN, Difference, without_each
from faithscope.measures.consistency import weighed_pairs
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.margins import Margins, UnseenRows
from faithscope.notes import of_kind
from faithscope.relations import Relation
from faithscope.sample import Sample


@dataclass(frozen=True, eq=False)
class LeftOutEstimate:
    """An estimate, and the same measure without each row (or block of rows); None if there is only one row.

    `explanations` are those of the rows, if it is known: by them, explainers that are the same are told apart from
    explainers that happen to agree with the model on the same rows.
    """

    name: str
    estimate: Estimate
    left_out: LeftOut | None
    explanations: Explanations | None = None
    relation: Relation | None = None
    unseen: UnseenRows | None = None  # if the interval allows for rows under many explanations


def consistency_left_out(name: str, estimate: Estimate, sample: Sample) -> LeftOutEstimate:
    """Consistency without each row, in the order of the rows, or without each cluster; for `Spread`, its share."""
    known = LeftOutEstimate(name, estimate, None, sample.explanations)
    if isinstance(sample.agreement, Spread):
        if estimate.method == "kept rows":  # one draw of rows, which tells nothing of a difference
            return known
        spread, left_out = spread_by_explanation(sample)
        return replace(known, left_out=spread.left_out(left_out))
    rows = sample.evenly() if sample.clusters is None else sample  # as the estimate was made
    return replace(
        known, left_out=weighed_pairs(Kinds.of(rows), by_pairs=rows.plain or estimate.method == "jackknife")[1]
    )


def leaving_out_alike(
    known: Sequence[Coverage], samples: Sequence[Sample], relations: Sequence[Relation], count: Callable[..., Coverage]
) -> Sequence[Coverage]:
    """Coverage of several explainers, or counts of necessity, without each row, or each of the same blocks of rows.

    All must leave out the same rows. So they are counted again, in common blocks, if some explainers left out blocks
    and others single rows, if their blocks differ (rules that speak of other columns), or if none are known
    (weighted rows).
    """
    blocks: list[Any] = [each.block for each in known]  # None if single rows were left out
    if known and all(np.array_equal(blocks[0], each) for each in blocks):
        return known
    beside, pairs = [sample.explanations for sample in samples], zip(samples, relations, strict=True)
    return [count(sample, relation, exact=0, beside=beside) for sample, relation in pairs]


def sufficiency_left_out(coverage: Coverage) -> LeftOut | None:
    """What is compared without each row or block: the measure, or for `Spread` the share explained."""
    if coverage.spread is None or coverage.left_out is None:
        return coverage.left_out
    return coverage.spread.left_out(coverage.left_out)


def paired_difference(a: LeftOutEstimate, b: LeftOutEstimate, confidence: float) -> Difference:
    """The difference a - b on the same rows."""
    first, second = a.estimate, b.estimate
    off, ends = NOTHING_KNOWN, (_ends(first), _ends(second))
    if _same_explainer(a, b):
        off, ends = Margins(0.0, 0.0), ((0.0, 0.0), (0.0, 0.0))
    elif not (a.left_out is None or b.left_out is None or of_kind((*first.notes, *second.notes), "interval")):
        # A row that was missed changes the difference by its own term and, in either, by those that lean on it.
        lean = max(1.0, a.left_out.reach) + max(1.0, b.left_out.reach)
        unseen = [rows for rows in (a.unseen, b.unseen) if rows is not None]
        off = without_each(a.left_out, b.left_out, first.effective_n, confidence, lean=lean, unseen=unseen)
    return Difference.of((a.name, b.name), first, second, off, confidence, ends, measure=first.measure)


def _ends(estimate: Estimate) -> tuple[float, float]:
    """The bracket of an estimate with all its silence; of rows that were kept by chance, theirs."""
    bracket = estimate.margins.bracket
    return (estimate.value, estimate.upper) if bracket is None or bracket.kappa else estimate.bracket


def _same_explainer(a: LeftOutEstimate, b: LeftOutEstimate) -> bool:
    """Whether every row has the same explanation from both, by content, and the same relation says whom it covers.

    Equal measures are not enough, since two pure explainers have them too.
    """
    first, second = a.explanations, b.explanations
    if first is None or second is None or first.kind != second.kind or a.relation != b.relation:
        return False
    if a.estimate.value != b.estimate.value or a.estimate.upper != b.estimate.upper:
        return False
    codes, rows = first.group()
    try:
        return bool(np.array_equal(first.take(rows).locate(second), codes))
    except Incompatible:  # of other features, or another width
        return False
