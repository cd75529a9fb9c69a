"""Rows that visit the nodes of trees one by one, to see whether a model sends values the way its trees were read."""

from dataclasses import dataclass

import numpy as np

from faithscope.explainers.shap.tables import TreeSums
from faithscope.explainers.shared.arrays import Floats, Ints

_NODES = 3_000  # visited at most, spread over all trees
_TINY, _SMALL = 1e-30, 1e-20  # LightGBM reads numbers below 1e-35 as 0, and has thresholds there
_LARGE = 1e37  # scikit-learn separates missing from all numbers by a threshold of infinity, which no row may hold


@dataclass(frozen=True, eq=False)
class Probes:
    """Rows that lead to nodes, and the feature that each node asks.

    Attributes
    ----------
    rows : (m, d) array
        Copies of a given row, changed only as far as is needed to reach the node.
    feature : (m,) array of int
    threshold : (m,) array
        The largest value that the node sends left.
    """

    rows: Floats
    feature: Ints
    threshold: Floats

    @classmethod
    def of(cls, sums: TreeSums, edges: list[Floats], row: Floats, ranks: Floats) -> "Probes":
        """Probes from a row without missing values, and from its ranks."""
        inner = np.flatnonzero(sums.left != np.arange(len(sums.left)))
        chosen = inner[:: max(1, -(-len(inner) // _NODES))]
        parent = np.full(len(sums.left), -1)
        parent[sums.left[inner]], parent[sums.right[inner]] = inner, inner
        rows = np.repeat(row[None], len(chosen), axis=0)
        settled = np.zeros(rows.shape, bool)
        low = np.zeros(rows.shape, np.int64)
        high = np.tile([len(edge) for edge in edges], (len(chosen), 1))
        at, node = np.arange(len(chosen)), chosen
        while len(at):
            above = parent[node]
            at, node, above = at[above >= 0], node[above >= 0], above[above >= 0]
            feature, place, left = sums.feature[above], sums.place[above].astype(np.int64), sums.left[above] == node
            high[at, feature] = np.where(left, np.minimum(high[at, feature], place), high[at, feature])
            low[at, feature] = np.where(left, low[at, feature], np.maximum(low[at, feature], place + 1))
            settled[at, feature] = True
            node = above
        wanted = np.clip(ranks, low, high).astype(np.int64)
        for j, edge in enumerate(edges):
            moved = settled[:, j] & (wanted[:, j] != ranks[j])
            values = np.append(_last(edge), _beyond(edge))
            rows[moved, j] = np.clip(values[wanted[moved, j]], -_LARGE, _LARGE)
        feature = sums.feature[chosen]
        threshold = [edges[j][place] for j, place in zip(feature, sums.place[chosen].astype(np.int64), strict=True)]
        return cls(rows, feature, np.array(threshold, np.float64))

    def at(self, value: float | Floats, feature: int | None = None) -> Floats:
        """The rows with this value in the feature that the node asks; only nodes of one feature if it is given."""
        rows = self.rows.copy()
        rows[np.arange(len(rows)), self.feature] = np.clip(value, -_LARGE, _LARGE)
        return rows if feature is None else rows[self.feature == feature]

    def finite(self) -> Floats:
        """Rows at the threshold of each node, just beyond it, and 0, which libraries may take for missing."""
        cut = self.threshold
        tiny = np.where(cut < 0, 0.0, _SMALL)
        beyond = np.where(np.abs(cut) < _TINY, tiny, _above(cut))
        return np.vstack([self.at(_last(cut)), self.at(beyond), self.at(0.0)])

    def missing(self, feature: int) -> Floats:
        """Rows in which this feature is missing at every node that asks it."""
        return self.at(np.nan, feature)


def _last(cut: Floats) -> Floats:
    """The largest values that go left at these thresholds; almost the largest at thresholds next to 0."""
    return np.where(np.abs(cut) < _TINY, np.where(cut < 0, -_SMALL, 0.0), cut)


def _beyond(edge: Floats) -> float:
    """A value above all thresholds."""
    return float(_above(edge[-1:])[0]) if len(edge) else 0.0


def _above(cut: Floats) -> Floats:
    """A little more than each threshold, also in single precision."""
    return cut + np.maximum(np.abs(cut) * 1e-6, _SMALL)
