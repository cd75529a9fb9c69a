"""The tally of rows that are numbers or clustered: agreement summed over batches of explanations, never over pairs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows, Spread, scaled
from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.clusters import Strangers
from faithscope.counting.given_counts import given_counts
from faithscope.counting.leaving_out.leaving import Batch, LeavingBlocks, LeavingRows
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.spread import Moments
from faithscope.counting.tally import Coverage
from faithscope.relations import Relation
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Ints = NDArray[np.int64]

_PAIRS = 2**21  # explanations x rows worked on at once


class AgreementTally:
    """Accumulates agreement, and what the interval needs, over batches of explanations."""

    def __init__(self, sample: Sample, rows: NumberedRows) -> None:
        need(200 * rows.n, f"Sums over {rows.n:,} rows", "sample rows")
        self.sample, self.rows, self.agreement = sample, rows, sample.agreement
        self.sums, self.unit = sample.agreement.over(sample.values), scaled(sample.values)[1]
        self.own, self.agreeing = np.zeros(rows.n, bool), np.zeros(rows.n)
        self.reached = np.zeros(len(rows.distinct), np.int64)
        self.weights = np.ones(rows.n) if rows.weights is None else rows.weights
        moments = Moments.of_rows(sample) if self._spread else None
        leaving = LeavingBlocks if self._in_blocks else LeavingRows
        self.leaving = leaving(rows, self.agreement, self.sums, moments)

    @property
    def _spread(self) -> bool:
        return isinstance(self.agreement, Spread)

    @property
    def _in_blocks(self) -> bool:
        return self.rows.blocks > 1 or self.rows.weights is not None or self.rows.clusters is not None

    def layout(self) -> Layout:
        """The order of rows in bitmaps."""
        return self.rows.layout()

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        return max(1, _PAIRS // len(layout.segment))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """What adds a batch of explanations; to be called for one batch after the other."""
        return partial(self._add, start, bits, layout)

    def _add(self, start: int, bits: Bits, layout: Layout) -> None:
        """Add a batch of explanations by their bitmaps; `start` is the number of the first."""
        labels, many = self.rows.labels, len(bits)
        which, place = layout.ones(bits)
        row, given = layout.source[place], self.rows.given(start, many)
        asked = self.rows.codes[given] - start
        own = self.own[given] = layout.holds(bits, asked, given)
        agreeing = self.sums.at(GroupedRows(which, labels[row], self.weights[row]), asked, labels[given])
        self.agreeing[given], self.reached[start : start + many] = agreeing, np.bincount(which, minlength=many)
        self.leaving.add(Batch(many, which, row, asked, given, own, agreeing))

    def result(self, relation: Relation, layout: Layout, interval: bool = True) -> Coverage:
        """The coverage of all explanations that were added."""
        rows, left_out = self.rows, self.leaving.left_out() if self.rows.n > 1 else None
        if rows.clusters is not None and rows.blocks < 2:
            left_out = None
        spread = None if left_out is None else self.leaving.spread(left_out, self.unit)
        sums = self.leaving.total() if self._in_blocks else None
        counts = given_counts(rows, self.own, self.agreeing, self.reached, relation, self.agreement)
        if rows.clusters is not None:
            counts = replace(counts, clusters=Strangers.of(self.sample).totals())
        coverage = Coverage(counts, rows.codes, self.own, sums=sums, spread=spread)
        if left_out is None or not interval:
            return coverage
        coverage = replace(coverage, left_out=left_out)
        return replace(coverage, block=rows.block, alike=rows.content.of_rows_alone) if self._in_blocks else coverage
