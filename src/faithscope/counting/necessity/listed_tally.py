"""The tally of numbers, of clustered rows and of rows with many labels: agreement summed over rows by block."""

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.clusters import Strangers
from faithscope.counting.necessity.blocks import ReachedRows, ReachedSums
from faithscope.counting.necessity.counted import NecessityTerms
from faithscope.counting.necessity.label_tally import NecessityTally, heaviest
from faithscope.counting.numbered import NumberedRows
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PAIRS = 2**21  # explanations x rows worked on at once
_TABLE = 2**20  # rows x blocks worked on at once


class ListedTally(NecessityTally):
    """Rows are compared with rows of other clusters only; a row that is not clustered is a cluster of its own."""

    def __init__(self, sample: Sample, rows: NumberedRows) -> None:
        need(200 * rows.n, f"Sums over {rows.n:,} rows", "sample rows")
        super().__init__(rows)
        self.strangers = Strangers.of(sample)
        self.agreement, self.cluster = self.strangers.sums, self.strangers.cluster
        self.weights = self.strangers.weights
        self.own_alike = self.strangers.within(self.cluster)
        by_cluster = np.bincount(self.cluster, self.weights)
        self.own_weight = by_cluster[self.cluster].astype(np.float64)
        self.per_block = np.bincount(rows.block, self.weights, minlength=rows.blocks).astype(np.float64)
        self.sums = ReachedSums(self.per_block)
        self.heaviest = heaviest(by_cluster.astype(np.float64))

    def layout(self) -> Layout:
        """The order of rows in bitmaps: by block, then by prediction."""
        need(64 * self.rows.n, f"Bitmaps of {self.rows.n:,} rows", "sample rows")
        rank = self.rows.block * len(self.rows.names) + self.rows.labels
        return Layout(np.zeros(self.rows.n, np.int64), 1, rank)

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        return max(1, _PAIRS // len(layout.segment))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """What adds a batch of explanations; to be called for one batch after the other."""
        return partial(self._add, start, bits, layout)

    def _add(self, start: int, bits: Bits, layout: Layout) -> None:
        which, place = layout.ones(bits)
        row, (given, asked) = layout.source[place], self.given(start, len(bits))
        self.own[given] = layout.holds(bits, asked, given)
        self.reached[start : start + len(bits)] = np.bincount(which, minlength=len(bits))
        covered = GroupedRows(which * self.rows.blocks + self.rows.block[row], self.rows.labels[row], self.weights[row])
        table = np.bincount(covered.group, covered.weight, minlength=len(bits) * self.rows.blocks)
        by_block = table.reshape(len(bits), -1).astype(np.float64)
        own_same, own_covered = self._own(which, row, given, asked)
        step = max(1, _TABLE // self.rows.blocks)
        for a in range(0, len(given), step):
            part = slice(a, a + step)
            rows, mine = given[part], asked[part]
            same = self._by_block(covered, mine, rows)
            self.same[rows] = same.sum(axis=1)
            alike = self._by_block(self.everybody, np.zeros(len(rows), np.int64), rows)
            weight = np.zeros(same.shape)
            weight[np.arange(len(rows)), self.rows.block[rows]] = self.weights[rows]
            owned = (own_same[part], own_covered[part], self.own_alike[rows], self.own_weight[rows])
            self.sums.add(self.sums.terms(ReachedRows(weight, same, by_block[mine], alike, *owned)))

    @cached_property
    def everybody(self) -> GroupedRows:
        """All rows by block and prediction."""
        rank = self.rows.block * len(self.rows.names) + self.rows.labels
        cells, cell = np.unique(rank, return_inverse=True)
        weight = np.bincount(cell.reshape(-1), self.weights).astype(np.float64)
        return GroupedRows(*np.divmod(cells, len(self.rows.names)), weight)

    def _by_block(self, grouped: GroupedRows, group: Ints, rows: Ints) -> Floats:
        """Per row, the weight of its group's rows in each block, each by its agreement with the row."""
        blocks = self.rows.blocks
        asked = (group[:, None] * blocks + np.arange(blocks)).reshape(-1)
        values = np.repeat(self.rows.labels[rows], blocks)
        return np.maximum(self.agreement.at(grouped, asked, values), 0.0).reshape(len(rows), blocks)

    def _own(self, which: Ints, row: Ints, given: Ints, asked: Ints) -> tuple[Floats, Floats]:
        """Per given row, the covered rows of its own cluster: each by its agreement, and their weight."""
        if self.rows.clusters is None:
            inside = self.weights[given] * self.own[given]
            return inside, inside
        size, values = int(self.cluster.max()) + 1, self.rows.labels
        part, mine = which * size + self.cluster[row], asked * size + self.cluster[given]
        order = np.lexsort((values[row], part))
        grouped = GroupedRows(part[order], values[row][order], self.weights[row][order])
        first, last = (np.searchsorted(grouped.group, mine, side=side) for side in ("left", "right"))
        height = np.concatenate([[0.0], np.cumsum(grouped.weight)])
        return self.agreement.at(grouped, mine, values[given]), height[last] - height[first]

    def terms(self) -> NecessityTerms:
        """The terms of all rows, and the same without each block."""
        return self.sums.result(self._reach(), self.heaviest)

    def _reach(self) -> float:
        """How much the terms of all rows lean on one row at most, ``max_j Σ_i w_i K(i, j) / Σ_k w_k K(i, k)``."""
        everybody = np.zeros(self.rows.n, np.int64)
        share = self.weights / self.strangers.within(everybody)
        values = len(self.rows.names)
        lean = np.bincount(self.rows.labels, share, minlength=values).astype(np.float64)
        return float(self.agreement.among_all(lean)[0].max())

    @cached_property
    def others(self) -> Floats:
        """Per row, the weight of the rows of other clusters, each by its agreement with the row."""
        everybody = np.zeros(self.rows.n, np.int64)
        return np.maximum(self.strangers.within(everybody) - self.own_alike, 0.0)
