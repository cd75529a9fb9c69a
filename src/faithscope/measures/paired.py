"""Paired differences: two explainers of the same rows, row by row."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.coverage import Coverage, cover
from faithscope.counting.leave_out import LeftOut
from faithscope.explanations import Explanations
from faithscope.inputs.labels import to_labels
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals import check_confidence, spread, without_one_row
from faithscope.relations import to_relation

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairedDifference:
    """The measure of one explainer less that of another on the same rows, with silence carried along.

    ``low = M̂_A - (M̂_B + U_B) - margin`` and ``high = (M̂_A + U_A) - M̂_B + margin``, where the margins are jackknifes of
    these two differences: what moves both explainers alike cancels.
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
class Measured:
    """An estimate with what it becomes without each row (or block of rows), None where there is only one row."""

    name: str
    estimate: Estimate
    left_out: LeftOut | None


def consistency_left_out(counts: Counts, explanations: Explanations, predictions: Any) -> LeftOut | None:
    """Consistency without each row, in the order of the rows."""
    if counts.n < 2:
        return None
    return without_one_row(counts.row_by_row(explanations, to_labels(predictions)))


def sufficiency_left_out(
    found: list[Coverage], explanations: list[Explanations], labels: NDArray[Any], X: Any, relations: list[Any]
) -> list[LeftOut | None]:
    """Sufficiency of several explainers without each row, or all without the same blocks of rows if some are too many.

    Counted again where some left out single rows, or other blocks: those of equal rows with different explanations.
    """
    in_blocks = [one.block is not None for one in found]
    if not any(in_blocks) or (all(in_blocks) and all(one.alike for one in found)):
        return [one.left_out for one in found]
    options: dict[str, Any] = {"exact": 0, "beside": explanations}
    pairs = zip(explanations, relations, strict=True)
    return [cover(one, labels, X, to_relation(how, one), **options).left_out for one, how in pairs]


def paired_difference(a: Measured, b: Measured, confidence: float) -> PairedDifference:
    """The difference a - b on the same rows."""
    below = above = 1.0
    one, other = a.estimate, b.estimate
    if a.left_out is not None and b.left_out is not None:
        below = _margin(a.left_out, b.left_out, one.n, confidence)
        above = _margin(b.left_out, a.left_out, one.n, confidence)
    return PairedDifference(
        measure=one.measure,
        a=a.name,
        b=b.name,
        value=one.value - other.value,
        low=max(-1.0, one.value - other.upper - below),
        high=min(1.0, one.upper - other.value + above),
        n=one.n,
    )


def _margin(a: LeftOut, b: LeftOut, n: int, confidence: float) -> float:
    """How far M̂_A - (M̂_B + U_B) may be off.

    A kind of row that the sample missed moves the difference by its own term and by what leans on it in either
    explainer: hence the least margin.
    """
    wrong = check_confidence(confidence) / 2
    least = (1 + max(1.0, a.reach) + max(1.0, b.reach)) * math.log(1 / wrong) / n
    moved = a.value - b.value - b.silent
    return max(spread(moved, np.ones(len(moved)), wrong)[0], least)
