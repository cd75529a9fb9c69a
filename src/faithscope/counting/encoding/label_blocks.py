"""Labels in tables by explanation, label and block: what leaving out blocks reads of rows that are not clustered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.counting.encoding.blocks import GapKinds, Known, Met

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def met_in_table(weight: NDArray[Any], count: NDArray[Any]) -> Met:
    """The rows of (explanations, labels, blocks) tables of weights and of numbers of rows."""
    explanations, _, blocks = count.shape
    explanation, block, label = np.nonzero(count.transpose(0, 2, 1))  # in order of group, then of label
    mass = weight[explanation, label, block].astype(np.float64)
    whole = np.where(count > 0, weight, 0).sum(axis=1, dtype=np.float64)
    rows = GroupedRows(explanation * blocks + block, label, mass)
    return Met(rows, whole, count.sum(axis=1, dtype=np.float64).reshape(explanations, blocks))


def kinds_in_table(given: NDArray[Any]) -> GapKinds:
    """The kinds of rows that count alike, from how many were given each explanation, by label and block."""
    explanation, label = np.nonzero(given.sum(axis=2))
    mass = given[explanation, label].astype(np.float64)
    return GapKinds(explanation, label, mass, *known_alone(np.ones(len(label)), 1.0))


def kinds_of_rows(explanation: Ints, value: Ints, weight: Floats, block: Ints, blocks: int, itself: float) -> GapKinds:
    """The kinds of independent rows: equal explanation, prediction and weight."""
    order = np.lexsort((weight, value, explanation))
    explanation, value, weight = explanation[order], value[order], weight[order]
    new = np.ones(len(order), bool)
    new[1:] = np.any([column[1:] != column[:-1] for column in (explanation, value, weight)], axis=0)
    kind, first = np.cumsum(new) - 1, np.flatnonzero(new)
    mass = np.bincount(kind * blocks + block[order], weight, minlength=len(first) * blocks)
    known = known_alone(weight[first], itself)
    return GapKinds(explanation[first], value[first], mass.reshape(-1, blocks).astype(np.float64), *known)


def known_alone(weight: Floats, itself: float) -> tuple[Known, Known]:
    """Of rows that are not compared with themselves, and with nothing else that they should not be."""
    nobody = np.zeros(len(weight))
    return Known(weight, np.ones(len(weight)), itself * weight), Known(nobody, nobody, nobody)
