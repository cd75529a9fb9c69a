"""Paired differences: two explainers compared on the same rows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.counting.clusters import Strangers
from faithscope.counting.coverage import cover
from faithscope.counting.leave_out import LeftOut, leave_out_rows
from faithscope.counting.spread import spread_by_explanation
from faithscope.counting.tally import Coverage
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals import check_confidence, spread
from faithscope.relations import Relation
from faithscope.sample import Sample


@dataclass(frozen=True)
class PairedDifference:
    """The measure of explainer a minus that of explainer b on the same rows; the interval allows for silence.

    ``low = M̂_A - (M̂_B + U_B) - margin`` and ``high = (M̂_A + U_A) - M̂_B + margin``, where the margins are jackknifes of
    these two differences: what changes both explainers alike cancels.
    """

    measure: str
    a: str
    b: str
    value: float
    low: float
    high: float
    n: int

    @property
    def differ(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False)
class LeftOutEstimate:
    """An estimate, and the same measure without each row (or block of rows); None if there is only one row."""

    name: str
    estimate: Estimate
    left_out: LeftOut | None


def consistency_left_out(counts: Any, sample: Sample) -> LeftOut | None:
    """Consistency without each row, in the order of the rows, or without each cluster; for `Spread`, its share."""
    if isinstance(sample.agreement, Spread):
        spread, left_out, _ = spread_by_explanation(sample)
        return spread.left_out(left_out)
    if sample.clusters is not None:
        return Strangers.of(sample).parts.terms()[1]
    return leave_out_rows(counts.kinds(sample)) if counts.n > 1 else None


def sufficiency_left_out(
    coverages: Sequence[Coverage], samples: Sequence[Sample], relations: Sequence[Relation]
) -> list[LeftOut | None]:
    """Sufficiency of several explainers without each row, or without each of the same blocks of rows.

    All must leave out the same rows. So coverage is counted again, in common blocks, if some explainers left out
    blocks and others single rows, if their blocks differ (equal rows with different explanations), or if no coverage
    is given (weighted rows).
    """
    in_blocks = [coverage.block is not None for coverage in coverages]
    alike = not any(in_blocks) or (all(in_blocks) and all(coverage.alike for coverage in coverages))
    if coverages and alike:
        return [_left_out(coverage) for coverage in coverages]
    beside = [sample.explanations for sample in samples]
    pairs = zip(samples, relations, strict=True)
    return [_left_out(cover(sample, relation, exact=0, beside=beside)) for sample, relation in pairs]


def _left_out(coverage: Coverage) -> LeftOut | None:
    """What is compared without each row or block: the measure, or for `Spread` the share explained."""
    if coverage.spread is None or coverage.left_out is None:
        return coverage.left_out
    return coverage.spread.left_out(coverage.left_out)


def paired_difference(a: LeftOutEstimate, b: LeftOutEstimate, confidence: float) -> PairedDifference:
    """The difference a - b on the same rows."""
    below = above = 1.0
    first, second = a.estimate, b.estimate
    if a.left_out is not None and b.left_out is not None:
        below = _margin(a.left_out, b.left_out, first.effective_n, confidence)
        above = _margin(b.left_out, a.left_out, first.effective_n, confidence)
    return PairedDifference(
        measure=first.measure,
        a=a.name,
        b=b.name,
        value=first.value - second.value,
        low=clipped(first.value - second.upper - below),
        high=clipped(first.upper - second.value + above),
        n=first.n,
    )


def clipped(difference: float) -> float:
    """A difference of two measures lies between -1 and 1, though estimates by `Spread` may be below 0."""
    return min(1.0, max(-1.0, difference))


def _margin(a: LeftOut, b: LeftOut, n: float, confidence: float) -> float:
    """How far ``M̂_A - (M̂_B + U_B)`` may be off.

    A kind of row that the sample missed changes the difference by its own term and, in either explainer, by the terms
    that lean on it: hence the least margin ``(1 + reach_A + reach_B) ln(1/δ) / n``.
    """
    wrong = check_confidence(confidence) / 2
    least = (1 + max(1.0, a.reach) + max(1.0, b.reach)) * math.log(1 / wrong) / n
    moved = a.value - b.value - b.silent
    return max(spread(moved, np.ones(len(moved)), wrong)[0], least)
