"""Trees as nodes: what the readers of all libraries hand over, in the arithmetic of the rows themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints


class Nodes(NamedTuple):
    """One tree: a row goes left at a node if ``x[feature] <= cut``, compared as doubles.

    Readers turn thresholds of other precisions into cuts, so that every double goes where the model sends it.

    Attributes
    ----------
    left, right : (m,) arrays
        The children of each node, by number; -1 for leaves. Node 0 is the root.
    feature : (m,) array
    cut : (m,) array
    missing_left : (m,) array of bool
        Whether a missing value goes left.
    values : (m, k) array
        What leaves add to the model's outputs: k is 1 if the tree adds to one output.
    """

    left: Ints
    right: Ints
    feature: Ints
    cut: Floats
    missing_left: Bools
    values: Floats


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees, tree after tree, each as a box of cells.

    Feature j has cell number c where exactly c of its `edges` lie below a value: ``x <= edges[c]`` exactly if the cell
    is at most c. All rows of a cell take the same way through all trees.

    Attributes
    ----------
    edges : list of arrays
        The finite cuts of each feature, in order.
    low, high : (leaves, d) arrays
        The first and the last cell from which a leaf is reached; low is above high if no number reaches it.
    missing : (leaves, d) array of bool
        Whether a missing value reaches it.
    values : (leaves, k) array
    starts : (trees,) array
        The first leaf of each tree.
    """

    edges: list[Floats]
    low: Codes
    high: Codes
    missing: Bools
    values: Floats
    starts: Ints

    @classmethod
    def of(cls, trees: Sequence[Nodes], features: int) -> "Leaves":
        """The leaves of trees over so many features."""
        edges = _edges(trees, features)
        kind = np.int16 if max(map(len, edges), default=0) < 2**15 - 2 else np.int32
        most: Codes = np.array(list(map(len, edges)), kind)
        boxes = [_boxes(tree, edges, most) for tree in trees]
        sizes = [len(values) for *_, values in boxes]
        low, high, missing, values = (np.concatenate(parts) for parts in zip(*boxes, strict=True))
        return cls(edges, low, high, missing, values, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64))

    @property
    def used(self) -> Bools:
        """Which features any tree asks about: (d,)."""
        most = np.array(list(map(len, self.edges)), self.high.dtype)
        return np.asarray((self.low > 0).any(axis=0) | (self.high < most).any(axis=0) | ~self.missing.all(axis=0))

    def cells(self, rows: Floats) -> Ints:
        """The cell of each value; -1 for missing ones."""
        cells = [np.searchsorted(edge, column) for edge, column in zip(self.edges, rows.T, strict=True)]
        return np.where(np.isnan(rows), -1, np.column_stack(cells)).astype(self.low.dtype)


def _edges(trees: Sequence[Nodes], features: int) -> list[Floats]:
    inner = [tree.left >= 0 for tree in trees]
    asked = np.concatenate([tree.feature[own] for tree, own in zip(trees, inner, strict=True)])
    cuts = np.concatenate([tree.cut[own] for tree, own in zip(trees, inner, strict=True)]) + 0.0
    finite = np.isfinite(cuts)
    return [np.unique(cuts[finite & (asked == j)]) for j in range(features)]


def _boxes(tree: Nodes, edges: list[Floats], most: Codes) -> tuple[NDArray[np.generic], ...]:
    """The leaves of one tree: low, high and missing by feature, and values; level by level."""
    place = _places(tree, edges)
    nodes, low = np.zeros(1, np.int64), np.zeros((1, len(edges)), most.dtype)
    high, missing = most[None].copy(), np.ones((1, len(edges)), bool)
    parts = []
    while len(nodes):
        leaf = tree.left[nodes] < 0
        parts.append((low[leaf], high[leaf], missing[leaf], tree.values[nodes[leaf]]))
        nodes, low, high, missing = nodes[~leaf], low[~leaf], high[~leaf], missing[~leaf]
        rows, asked = np.arange(len(nodes)), tree.feature[nodes]
        left_high, right_low, left_missing, right_missing = high.copy(), low.copy(), missing.copy(), missing.copy()
        left_high[rows, asked] = np.minimum(high[rows, asked], place[nodes])
        right_low[rows, asked] = np.maximum(low[rows, asked], place[nodes] + 1)
        left_missing[rows, asked] &= tree.missing_left[nodes]
        right_missing[rows, asked] &= ~tree.missing_left[nodes]
        nodes = np.concatenate([tree.left[nodes], tree.right[nodes]])
        low, high = np.concatenate([low, right_low]), np.concatenate([left_high, high])
        missing = np.concatenate([left_missing, right_missing])
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _places(tree: Nodes, edges: list[Floats]) -> Ints:
    """The last cell that goes left at each node: -1 if no number does, that above all edges if all numbers do."""
    place = np.zeros(len(tree.cut), np.int64)
    for node in np.flatnonzero(tree.left >= 0).tolist():
        cut, edge = tree.cut[node], edges[tree.feature[node]]
        place[node] = -1 if cut == -np.inf else len(edge) if cut == np.inf else np.searchsorted(edge, cut)
    return place
