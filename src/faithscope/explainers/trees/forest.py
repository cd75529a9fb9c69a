"""A forest: trees whose sum decides the prediction, as arrays, with thresholds in the arithmetic of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from faithscope.explainers.base import blocks
from faithscope.inputs.array_types import Array, Bools, Codes, Floats, Ints, Names

_FEW_BITS = 2.0**20  # leaf values that are multiples of 1 / 2**20 add up without rounding


class Tree(NamedTuple):
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


class Nodes(NamedTuple):
    """The nodes of all trees, numbered one tree after the other; a leaf is its own child on either side.

    Attributes
    ----------
    roots : (trees,) array
    left, right, feature : (m,) arrays
    place : (m,) array
        The last cell that goes left: -1 if no number does, that above all edges if all numbers do.
    missing_left : (m,) array of bool
    values : (m, k) array
    tree : (m,) array
        The tree of each node.
    """

    roots: Ints
    left: Ints
    right: Ints
    feature: Ints
    place: Ints
    missing_left: Bools
    values: Floats
    tree: Ints


class Leaves(NamedTuple):
    """The leaves of all trees, tree after tree, each as a box of cells.

    Attributes
    ----------
    node : (leaves,) array
        The number of each leaf among the nodes.
    low, high : (leaves, d) arrays
        The first and the last cell from which a leaf is reached; low is above high if no number reaches it.
    missing : (leaves, d) array of bool
        Whether a missing value reaches it.
    values : (leaves, k) array
    starts : (trees,) array
        The first leaf of each tree.
    """

    node: Ints
    low: Codes
    high: Codes
    missing: Bools
    values: Floats
    starts: Ints


@dataclass(frozen=True, eq=False)
class Forest:
    """A model as sums over trees.

    Feature j has cell number c where exactly c of its `edges` lie below a value: ``x <= edges[c]`` exactly if the cell
    is at most c. All rows of a cell take the same way through all trees.

    Attributes
    ----------
    trees : list of Tree
    features : int
    base : (k,) array
        What the sums of the k outputs begin with.
    outputs : (trees,) array, optional
        The output that each tree adds to; None if every leaf has a value for every output.
    classes : (classes,) array, optional
        Labels: that of the highest output, or of one output the second if it is positive. None if the model predicts
        numbers.
    divisor : float
        What the model divides the sum by.
    precision : float
        The relative error of one addition in the model's own arithmetic.
    blur : float
        Outputs so close to each other may be told apart wrongly, after links and divisions in that arithmetic.
    takes_missing : bool
        Whether the model predicts rows that miss values.
    names : tuple of str, optional
        The features' names, if the model was fitted with names.
    unproven : str
        Why nothing can be proven of the model's predictions, though its trees were read; empty if something can.
    """

    trees: Sequence[Tree]
    features: int
    base: Floats
    outputs: Ints | None
    classes: Array | None = None
    divisor: float = 1.0
    precision: float = 2.0**-52
    blur: float = 1e-12
    takes_missing: bool = True
    names: Names | None = None
    unproven: str = ""

    @cached_property
    def _joined(self) -> Tree:
        return Tree(*map(np.concatenate, zip(*self.trees, strict=True)))

    @cached_property
    def edges(self) -> list[Floats]:
        """The finite cuts of each feature, in order."""
        asked = (self._joined.left >= 0) & np.isfinite(self._joined.cut)
        feature, cuts = self._joined.feature[asked], self._joined.cut[asked] + 0.0
        return [np.unique(cuts[feature == j]) for j in range(self.features)]

    @cached_property
    def most(self) -> Codes:
        """The last cell of each feature."""
        counts = [len(edge) for edge in self.edges]
        return np.array(counts, np.int16 if max(counts, default=0) < 2**15 - 2 else np.int32)

    def cells(self, rows: Floats) -> Codes:
        """The cell of each value; -1 for missing ones."""
        cells = [np.searchsorted(edge, column) for edge, column in zip(self.edges, rows.T, strict=True)]
        return np.where(np.isnan(rows), -1, np.column_stack(cells)).astype(self.most.dtype)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes of all trees."""
        sizes = [len(tree.left) for tree in self.trees]
        number, of = np.arange(sum(sizes)), np.repeat(np.arange(len(sizes)), sizes)
        joined, roots = self._joined, np.cumsum([0, *sizes[:-1]])
        inner = joined.left >= 0
        left, right = (np.where(inner, side + roots[of], number) for side in (joined.left, joined.right))
        feature, place = np.where(inner, joined.feature, 0), np.zeros(len(number), np.int64)
        for j, edge in enumerate(self.edges):
            asked = inner & (feature == j)
            cut = joined.cut[asked]
            place[asked] = np.where(cut == -np.inf, -1, np.searchsorted(edge, cut))  # infinity is above all edges
        return Nodes(roots, left, right, feature, place, joined.missing_left & inner, joined.values, of)

    @cached_property
    def leaves(self) -> Leaves:
        """The leaves of all trees as boxes: level by level, each node halves its own box for its children."""
        nodes = self.nodes
        low = np.zeros((len(nodes.left), self.features), self.most.dtype)
        high, missing, at = np.tile(self.most, (len(low), 1)), np.ones(low.shape, bool), nodes.roots
        reached = np.isin(np.arange(len(low)), at)  # a node that XGBoost has pruned is no leaf, and still has a number
        while len(at := at[nodes.left[at] != at]):
            left, right, asked, place = (part[at] for part in (nodes.left, nodes.right, nodes.feature, nodes.place))
            for box in (low, high, missing):
                box[left] = box[right] = box[at]
            high[left, asked] = np.minimum(high[left, asked], place)
            low[right, asked] = np.maximum(low[right, asked], place + 1)
            missing[left, asked] &= nodes.missing_left[at]
            missing[right, asked] &= ~nodes.missing_left[at]
            at = np.concatenate([left, right])
            reached[at] = True
        leaf = np.flatnonzero(reached & (nodes.left == np.arange(len(low))))
        starts = np.searchsorted(nodes.tree[leaf], np.arange(len(nodes.roots)))
        return Leaves(leaf, low[leaf], high[leaf], missing[leaf], nodes.values[leaf], starts)

    @cached_property
    def leaf_values(self) -> Floats:
        """What each node adds to each of the k outputs, after division: (nodes, k); 0 unless it is a leaf."""
        nodes, values = self.nodes, self.nodes.values
        if self.outputs is not None:
            values = values * (self.outputs[nodes.tree, None] == np.arange(len(self.base)))
        return np.asarray(values * (nodes.left == np.arange(len(values)))[:, None] * (1 / self.divisor))

    def sums(self, cells: Codes) -> Floats:
        """The outputs for rows of cells: (n, k)."""
        nodes = self.nodes
        sums = np.repeat(self.base[None] / self.divisor, len(cells), axis=0)
        for block in blocks(len(cells), 2**21 // len(nodes.roots)):
            part = cells[block]
            row = np.arange(len(part))[:, None]
            node, child = np.full((len(part), len(nodes.roots)), -1), np.repeat(nodes.roots[None], len(part), axis=0)
            while (child != node).any():
                node = child
                cell = part[row, nodes.feature[node]]
                left = np.where(cell < 0, nodes.missing_left[node], cell <= nodes.place[node])
                child = np.where(left, nodes.left[node], nodes.right[node])
            sums[block] += self.leaf_values[node].sum(axis=1)
        return sums

    @cached_property
    def exact(self) -> bool:
        """Whether sums are exact in the model's arithmetic, so that ties are ties: leaves that vote with 0 or 1."""
        scaled = self.leaves.values * _FEW_BITS
        whole = bool((scaled == np.round(scaled)).all() and not self.base.any())
        return whole and self.precision < 1e-15 and self._size < 2.0**30

    @cached_property
    def tolerance(self) -> float:
        """How far a difference of two computed outputs may lie from that of the exact sums."""
        terms = len(self.trees) + len(self.base) + 4
        return 0.0 if self.exact else 2 * terms * self.precision * self._size + self.blur

    @cached_property
    def _size(self) -> float:
        """The largest sum of absolute values that can occur."""
        largest = np.maximum.reduceat(np.abs(self.leaves.values).max(axis=1), self.leaves.starts)
        return float(largest.sum() + np.abs(self.base).max(initial=0.0))


def last_to_the_left(thresholds: Floats) -> Floats:
    """For each threshold t the largest float64 v with ``float32(v) <= t``, which is how a tree compares.

    Some versions of scikit-learn have thresholds that are nan, which no number is below.
    """
    thresholds = np.where(np.isnan(thresholds), -np.inf, thresholds)
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        single = np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
        ends = np.stack([single, np.nextafter(single, np.float32(np.inf))]).astype(np.float64)
        # Rounding turns halfway to the next float32: up or down, to the even one. It overflows at 2**128.
        halfway = np.clip(ends, -(2.0**128), 2.0**128).mean(axis=0)
        last = np.where(halfway.astype(np.float32) <= single, halfway, np.nextafter(halfway, -np.inf))
    return np.where(single == np.inf, np.inf, last)
