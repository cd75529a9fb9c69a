"""Coverage, and its tally for rows with labels: counts accumulated over batches of explanations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.asked import Asked
from faithscope.counting.bits.covered_cells import CoveredCells, ListedCells, TabledCells
from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.bits.ordering import run_starts
from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.block_sums import BlockSums, BlockTerms, CoveredBlocks, GivenRows
from faithscope.counting.leaving_out.influence import Influence
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.spread import SpreadCounts
from faithscope.relations import Relation
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Cells = tuple[NDArray[Any], ...]

TABLE = 2**21  # entries of an (explanations, labels, blocks) table worked on at once
_WORDS_PER_LABEL = 8  # below it, covered rows are listed instead of multiplied
WEIGHED = 2**22  # bits of masks multiplied by weights at once


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
    asked: Asked | None = None  # the pairs of which it is known whether one covers the other; None if all are


class LabelTally:
    """Accumulates counts, and what the interval needs, over batches of explanations."""

    def __init__(self, rows: NumberedRows, keep: bool, own: NDArray[np.bool_] | None = None) -> None:
        self.rows, self.keep = rows, keep
        self.own = np.zeros(rows.n, bool) if own is None else own  # whether its own explanation covers a row
        self.cells: list[tuple[NDArray[Any], ...]] = []
        self.held = 0  # bytes of the cells
        self.bits: list[tuple[int, Bits]] = []
        self.sums = BlockSums(rows.blocks, weighted=rows.weights is not None)

    def layout(self) -> Layout:
        """The order of rows in bitmaps."""
        return self.rows.layout(padded=not self.rows.sparse)

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        most = TABLE // max(1, layout.segments if layout.padded else self.rows.n)
        return max(1, most if self.rows.weights is None else min(most, WEIGHED // max(1, 64 * layout.width)))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """Count a batch of explanations by their bitmaps, `start` the number of the first; in any thread.

        What is returned adds them: it is to be called for one batch after the other.
        """
        given = self.rows.given(start, len(bits))
        self.own[given] = layout.holds(bits, self.rows.codes[given] - start, given)
        return self._prepared(start, len(bits), self._covered(bits, layout), bits if self.keep else None)

    def prepare_counts(self, start: int, counts: Ints) -> Callable[[], None]:
        """`prepare` by counts of the covered rows, (explanations, labels * blocks); `own` must be known."""
        covered = counts.reshape(len(counts), len(self.rows.names), self.rows.blocks)
        return self._prepared(start, len(counts), TabledCells(covered, covered))

    def _prepared(self, start: int, many: int, covered: CoveredCells, bits: Bits | None = None) -> Callable[[], None]:
        given, own = self._given(start, many)
        cells = _merged_cells(given, own, covered, self._masses(start, many))
        terms = None
        if not self.keep and (self.rows.blocks > 1 or self.rows.weights is not None):
            terms = self.sums.terms(CoveredBlocks.of_rows(given, covered))
        return partial(self._add, start, many, cells, terms, bits)

    def _given(self, start: int, many: int) -> tuple[GivenRows, NDArray[np.bool_]]:
        """The rows that were given a batch of explanations, and whether they are covered."""
        rows, given = self.rows, self.rows.given(start, many)
        which, own = rows.codes[given] - start, self.own[given]
        cell = which * len(rows.names) + rows.labels[given]
        weights = np.ones(len(given)) if rows.weights is None else rows.weights[given]
        inside, missed = weights * own, weights * ~own
        squares = inside if rows.weights is None else inside**2
        return GivenRows(which, cell, rows.block[given], inside, squares, missed, run_starts(cell)), own

    def _covered(self, bits: Bits, layout: Layout) -> CoveredCells:
        weights = self.rows.weights
        if not layout.padded:
            return ListedCells(bits, layout, weights)
        covered = layout.count(bits)
        return TabledCells(covered, covered if weights is None else layout.fold(weigh(bits, weights[layout.source])))

    def _masses(self, start: int, many: int) -> tuple[Floats, ...]:
        """The weights and squared weights of the rows that were given a batch; none if rows are not weighted."""
        if self.rows.weights is None:
            return ()
        weights = self.rows.weights[self.rows.given(start, many)]
        return weights, weights**2

    def _add(
        self, start: int, many: int, cells: Cells, terms: BlockTerms | None = None, bits: Bits | None = None
    ) -> None:
        explanation, label = np.divmod(cells[0], len(self.rows.names))
        self.cells.append((explanation + start, label, *cells[1:]))
        self.held += 8 * (1 + len(cells)) * len(label)
        upto = f"{start + many:,} of {len(self.rows.distinct):,} explanations"
        asked = f"Counts of {upto} by {len(self.rows.names):,} labels"
        need(self.held / 2, asked, "sample rows or explanations, or bin the predictions")  # to put them together
        if bits is not None:
            self.bits.append((start, bits))
        if terms is not None:
            self.sums.add(terms)

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
        # Products are over all bits, those that fill words up included, label by label: slow if a label has few words.
        filled = layout.padded and layout.width >= _WORDS_PER_LABEL * len(rows.names)
        dense = filled and 16 * int(counts.covered.sum()) > counts.distinct * len(layout.source)
        add = influence.add_densely if dense else influence.add_sparsely
        for start, bits in self.bits:
            step = max(1, TABLE // rows.n)
            for begin in range(0, len(bits), step):
                add(start + begin, bits[begin : begin + step], layout, sums)
        return influence.left_out(sums[:, layout.position], rows.codes, rows.labels, self.own)


def weigh(bits: Bits, weights: Floats) -> Floats:
    """The weight of the rows in each word of bitmaps: (bitmaps, words)."""
    masks = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    return np.asarray((masks * weights).reshape(*bits.shape, 64).sum(axis=2))


def _merged_cells(given: GivenRows, own: NDArray[np.bool_], covered: CoveredCells, masses: tuple[Floats, ...]) -> Cells:
    """The cells that rows were given or that are covered, ascending: given, covered and missed rows, and masses."""
    cells, rows = covered.cells, covered.rows
    asked = given.cell[given.starts]
    place = np.searchsorted(cells, asked)
    alone = np.ones(len(asked), bool)  # cells of which no row is covered
    among = place < len(cells)
    alone[among] = cells[place[among]] != asked[among]
    if alone.any():
        cells, rows = np.insert(cells, place[alone], asked[alone]), np.insert(rows, place[alone], 0)
        place += np.cumsum(alone) - alone

    def table(values: NDArray[Any]) -> NDArray[Any]:
        sums = np.zeros(len(cells), np.int64 if values.dtype == bool else np.float64)
        sums[place] = np.add.reduceat(values, given.starts, dtype=sums.dtype) if len(place) else 0
        return sums

    return cells, table(np.ones(len(own), bool)), rows, table(~own), *map(table, masses)
