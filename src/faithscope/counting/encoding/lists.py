"""Rows listed by explanation and block, if predictions are numbers, or rows are clustered."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.encoding.blocks import GapBlocks, GapKinds, Known, Met
from faithscope.counting.encoding.label_blocks import kinds_of_rows
from faithscope.counting.encoding.rows import Listed
from faithscope.counting.encoding.sums import GapSums
from faithscope.counting.numbered import NumberedRows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GapLists:
    """Leave out blocks of rows, of which each is compared with rows of other clusters only."""

    rows: NumberedRows
    weights: Floats
    sums: AgreementSums
    itself: float
    gap: GapBlocks

    def add(self, batch: Listed) -> NDArray[np.bool_]:
        """Add a batch of explanations; whether each of them can be tested."""
        given, others = (
            self._met(batch.many, which, row) for which, row in ((batch.asked, batch.given), (batch.which, batch.row))
        )
        return self.gap.add(self._kinds(batch), given, others)

    def _met(self, many: int, which: Ints, row: Ints) -> Met:
        blocks = self.rows.blocks
        group = which * blocks + self.rows.block[row]
        order = np.argsort(group, kind="stable")  # predictions ascend within an explanation
        weight, count = (
            np.bincount(group, column, minlength=many * blocks).reshape(many, blocks).astype(np.float64)
            for column in (self.weights[row], np.ones(len(row)))
        )
        return Met(self._grouped(group, row, order), weight, count)

    def _grouped(self, group: Ints, row: Ints, order: Ints) -> GroupedRows:
        chosen = row[order]
        return GroupedRows(group[order], self.rows.labels[chosen], self.weights[chosen])

    def _kinds(self, batch: Listed) -> GapKinds:
        given, blocks = batch.given, self.rows.blocks
        value, weight, block = self.rows.labels[given], self.weights[given], self.rows.block[given]
        if self.rows.clusters is None:
            return kinds_of_rows(batch.asked, value, weight, block, blocks, self.itself)
        mass = np.zeros((len(given), blocks))
        mass[np.arange(len(given)), block] = weight
        pairs = ((batch.asked, given), (batch.which, batch.row))
        known = (self._known(self.rows.clusters, batch, which, row) for which, row in pairs)
        return GapKinds(batch.asked, value, mass, *known)

    def _known(self, clusters: Ints, batch: Listed, which: Ints, row: Ints) -> Known:
        """Per given row, the listed rows of its own cluster that have, or are covered by, its explanation."""
        size = int(clusters.max()) + 1
        group, asked = which * size + clusters[row], batch.asked * size + clusters[batch.given]
        rows = self._grouped(group, row, np.argsort(group, kind="stable"))
        first, last = (np.searchsorted(rows.group, asked, side=side) for side in ("left", "right"))
        height = np.concatenate([[0.0], np.cumsum(rows.weight)])
        agreeing = self.sums.at(rows, asked, self.rows.labels[batch.given])
        return Known(height[last] - height[first], (last - first).astype(np.float64), agreeing)

    def result(self) -> GapSums:
        """The sums of all explanations that were added."""
        clusters = self.rows.clusters
        per_block = np.bincount(self.rows.block, self.weights, minlength=self.rows.blocks).astype(np.float64)
        return self.gap.result(per_block, self.rows.n if clusters is None else int(clusters.max()) + 1)
