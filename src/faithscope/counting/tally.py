"""Coverage, and its tally for rows with labels: counts accumulated over batches of explanations."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bitmaps import Bits, Layout
from faithscope.counting.counts import Counts
from faithscope.counting.influence import BlockSums, CoveredBlocks, Influence
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.spread import SpreadCounts
from faithscope.relations import Relation
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TABLE = 2**21  # entries of an (explanations, labels, blocks) table worked on at once
_WEIGHED = 2**22  # bits of masks multiplied by weights at once


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of the rows that explanations cover, and what the interval needs in addition."""

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: NDArray[np.bool_]  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and if no interval was asked for
    close: int | None = None  # pairs that a GPU decided in double precision; None if the CPU counted
    block: Ints | None = None  # the block of each row; None if single rows were left out
    alike: bool = True  # whether every other explainer of these rows has the same blocks
    sums: Sums | None = None  # the sums of weighted terms; None if rows are not weighted: counts give them
    spread: SpreadCounts | None = None  # of `Spread`
    thinned: bool = False  # whether `sums` and `left_out` are those of thinned rows


class LabelTally:
    """Accumulates counts, and what the interval needs, over batches of explanations."""

    def __init__(self, rows: NumberedRows, keep: bool) -> None:
        self.rows, self.keep = rows, keep
        self.order = np.argsort(rows.codes, kind="stable")
        self.bounds = np.searchsorted(rows.codes[self.order], np.arange(len(rows.distinct) + 1))
        self.own = np.zeros(rows.n, bool)
        self.cells: list[tuple[NDArray[Any], ...]] = []
        self.held = 0  # bytes of the cells
        self.bits: list[tuple[int, Bits]] = []
        self.sums = BlockSums(rows.blocks, weighted=rows.weights is not None)

    def layout(self) -> Layout:
        """The order of rows in bitmaps."""
        return self.rows.layout()

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        most = TABLE // layout.segments
        return max(1, most if self.rows.weights is None else min(most, _WEIGHED // (64 * int(layout.words[-1]))))

    def add(self, start: int, bits: Bits, layout: Layout) -> None:
        """Add a batch of explanations by their bitmaps; `start` is the number of the first."""
        numbered, many = self.rows, len(bits)
        given_rows = self.order[self.bounds[start] : self.bounds[start + many]]
        which = numbered.codes[given_rows] - start
        own = self.own[given_rows] = layout.holds(bits, which, given_rows)
        covered = layout.count(bits).reshape(many, len(numbered.names), numbered.blocks)
        by_label = covered.sum(axis=2)
        cell = which * len(numbered.names) + numbered.labels[given_rows]
        weights = None if numbered.weights is None else numbered.weights[given_rows]
        tables = [np.bincount(cells, minlength=by_label.size) for cells in (cell, cell[~own])]
        if weights is not None:
            tables += [np.bincount(cell, power, minlength=by_label.size) for power in (weights, weights**2)]
        self._keep_cells(start, by_label, *(table.reshape(by_label.shape) for table in tables))
        if self.keep:
            self.bits.append((start, bits))
        elif numbered.blocks > 1 or weights is not None:
            weighed = covered if weights is None else self._weigh(bits, layout).reshape(covered.shape)
            self.sums.add(covered_blocks(cell, numbered.block[given_rows], own, weights, weighed, covered))

    def _weigh(self, bits: Bits, layout: Layout) -> Floats:
        """The weight of the rows that each bitmap holds, per segment: (bitmaps, segments)."""
        masks = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        weighed = np.zeros((len(bits), layout.segments))
        full = np.flatnonzero(layout.sizes)
        weights = np.ones(self.rows.n) if self.rows.weights is None else self.rows.weights
        weighed[:, full] = np.add.reduceat(masks * weights[layout.source], 64 * layout.words[:-1][full], axis=1)
        return weighed

    def _keep_cells(self, start: int, covered: Ints, given: Ints, missed: Ints, *masses: Floats) -> None:
        explanation, label = occupied = np.nonzero(given + covered)
        tables = (given, covered, missed, *masses)
        self.cells.append((explanation + start, label, *(table[occupied] for table in tables)))
        self.held += 8 * (2 + len(tables)) * len(label)
        upto, many = start + len(given), len(self.rows.distinct)
        asked = f"Counts of {upto:,} of {many:,} explanations by {len(self.rows.names):,} labels"
        need(self.held / 2, asked, "sample rows or explanations, or bin the predictions")  # to put them together

    def result(self, relation: Relation, layout: Layout, interval: bool = True) -> Coverage:
        """The coverage of all explanations that were added."""
        counts = self._counts(relation)
        left_out = self._left_out(counts, layout) if self.rows.n > 1 and interval else None
        coverage = Coverage(counts, self.rows.codes, self.own, left_out=left_out, sums=self._weighted_sums())
        if left_out is None or self.keep:
            return coverage
        return replace(coverage, block=self.rows.block, alike=self.rows.content.of_rows_alone)

    def _weighted_sums(self) -> Sums | None:
        if self.rows.weights is None:
            return None
        silent = float(self.sums.silent[0])
        return Sums(float(self.sums.agreeing[0]), silent, silent + self.sums.checked)  # all silent is exactly all

    def _counts(self, relation: Relation) -> Counts:
        parts = list(zip(*self.cells, strict=True))
        self.cells.clear()
        # One column after the other, so that they are never all in memory twice.
        explanation, label, given, covered, missed, *masses = (np.concatenate(parts.pop(0)) for _ in range(len(parts)))
        tables = (explanation, label, given, covered, missed)
        counts = Counts(self.rows.kept, self.rows.names, *tables, relation=relation)
        return replace(counts, weight=masses[0], square=masses[1]) if masses else counts

    def _left_out(self, counts: Counts, layout: Layout) -> LeftOut:
        """The measure without each row, or without each block of rows."""
        if self.keep:
            return self._leave_out_rows(counts, layout)
        rows, weights = self.rows, self.rows.weights
        per_block = np.bincount(rows.block, weights, minlength=rows.blocks).astype(np.float64)
        return self.sums.left_out(per_block, None if weights is None else float(weights.mean()))

    def _leave_out_rows(self, counts: Counts, layout: Layout) -> LeftOut:
        """Leave out every row in turn: its own term, and the terms of all explanations that cover it."""
        influence, rows = Influence(counts), self.rows
        sums = np.zeros((3, len(layout.source)))
        # Products are over all bits, those that fill words up included: with many labels these are most.
        dense = 16 * int(counts.covered.sum()) > counts.distinct * len(layout.source)
        add = influence.add_densely if dense else influence.add_sparsely
        for start, bits in self.bits:
            step = max(1, TABLE // rows.n)
            for begin in range(0, len(bits), step):
                add(start + begin, bits[begin : begin + step], layout, sums)
        return influence.left_out(sums[:, layout.position], rows.codes, rows.labels, self.own)


def covered_blocks(
    cell: Ints,
    block: Ints,
    own: NDArray[np.bool_],
    weights: Floats | None,
    covered: NDArray[Any],
    rows: Ints,
) -> CoveredBlocks:
    """Weights per block for a batch of explanations, from the rows that were given them.

    Parameters
    ----------
    cell, block, own, weights : (k,) arrays
        For the k rows that were given these explanations: the cell, the block, whether its explanation covers the row,
        and the weight.
    covered, rows : (explanations, labels, blocks) arrays
        The weight and the number of the rows that each explanation covers, per label and block.
    """
    _, labels, blocks = covered.shape
    cells, at = np.unique(cell, return_inverse=True)
    place, size = at * blocks + block, len(cells) * blocks

    def by_block(chosen: NDArray[np.bool_], power: int) -> Floats:
        values = None if weights is None else weights[chosen] ** power
        return np.bincount(place[chosen], values, minlength=size).reshape(len(cells), blocks).astype(np.float64)

    inside = by_block(own, 1)
    whole = covered.sum(axis=1)
    return CoveredBlocks.of_cells(
        explanation=cells // labels,
        inside=inside,
        squares=inside if weights is None else by_block(own, 2),
        missed=by_block(~own, 1),
        same=covered.reshape(-1, blocks)[cells],
        covered=whole,
        rows=whole if weights is None else rows.sum(axis=1),
    )
