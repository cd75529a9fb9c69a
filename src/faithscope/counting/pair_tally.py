"""The tally of pairs by distance: rows with labels are counted without bitmaps, and each batch in a thread."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.influence import BlockSums
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.tally import LabelTally, covered_blocks

Ints = NDArray[np.int64]


class Batch(NamedTuple):
    """Counts of a batch of explanations: (explanations, labels) tables, and the sums over blocks of rows."""

    start: int
    covered: Ints
    given: Ints
    missed: Ints
    sums: BlockSums


class PairTally(LabelTally):
    """Accumulates counts over batches of explanations, for rows that are left out in blocks or not at all.

    Parameters
    ----------
    rows : NumberedRows
        Without weights.
    own : (n,) array
        Whether each row is covered by its own explanation.
    """

    def __init__(self, rows: NumberedRows, own: NDArray[np.bool_]) -> None:
        super().__init__(rows, keep=False)
        self.own = own

    def batch(self, start: int, counts: Ints) -> Batch:
        """A batch of explanations by how many rows of each segment they cover; `start` is the number of the first."""
        rows = self.rows
        covered = counts.reshape(len(counts), len(rows.names), rows.blocks)
        given_rows = self.order[self.bounds[start] : self.bounds[start + len(counts)]]
        own, by_label = self.own[given_rows], covered.sum(axis=2)
        cell = (rows.codes[given_rows] - start) * len(rows.names) + rows.labels[given_rows]
        tables = (np.bincount(cells, minlength=by_label.size) for cells in (cell, cell[~own]))
        given, missed = (table.reshape(by_label.shape) for table in tables)
        sums = BlockSums(rows.blocks)
        if rows.blocks > 1:
            sums.add(covered_blocks(cell, rows.block[given_rows], own, None, covered, covered))
        return Batch(start, by_label, given, missed, sums)

    def join(self, batch: Batch) -> None:
        """Add a batch."""
        self._keep_cells(batch.start, batch.covered, batch.given, batch.missed)
        self.sums.join(batch.sums)
