"""Boxes of cells as rules over the features themselves."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from faithscope.explainers.reason.boxes import Boxes
from faithscope.explainers.reason.coverage import TrainingCells
from faithscope.explainers.reason.nodes import Leaves
from faithscope.explanations.base import claims
from faithscope.explanations.conditions.condition import Condition, conjoin, to_condition
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.rules import Rules


def to_rules(boxes: Sequence[Boxes], names: tuple[str, ...], leaves: Leaves, training: TrainingCells | None) -> Rules:
    """One rule per box, with what is claimed of it: a precision of 1, and a coverage if training rows are known."""

    @cache
    def condition(j: int, low: int, high: int, missing: bool) -> Condition:
        return _condition(j, names[j], low, high, missing, leaves)

    conjunctions = [
        conjoin(
            condition(j, int(part.low[row, j]), int(part.high[row, j]), bool(part.missing[row, j]))
            for j in np.flatnonzero(part.kept[row]).tolist()
        )
        for part in boxes
        for row in range(len(part.low))
    ]
    distinct, codes = number_conjunctions(conjunctions)
    columns = {"precision": np.ones(len(conjunctions))}
    if training is not None:
        shares = [training.covered(part) / max(1, len(training.cells)) for part in boxes]
        columns["coverage"] = np.concatenate([*shares, np.empty(0)])
    return Rules(np.asarray(codes, np.int64), distinct, names)._with(claimed=claims(columns))


def _condition(j: int, name: str, low: int, high: int, missing: bool, leaves: Leaves) -> Condition:
    """A range of cells; of all cells, that there is a value."""
    if missing:
        return to_condition(j, name, "==", None)
    edges = leaves.edges[j]
    above = [to_condition(j, name, ">", float(edges[low - 1]))] if low > 0 else []
    below = [to_condition(j, name, "<=", float(edges[high]))] if high < len(edges) else []
    bounds = above + below or [to_condition(j, name, "!=", None)]
    return bounds[0] if len(bounds) == 1 else bounds[0] & bounds[1]
