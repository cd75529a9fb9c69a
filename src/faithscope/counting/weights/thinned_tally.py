"""The tally of weighted rows with labels: thinned terms accumulated over batches of explanations."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.counts import sums
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.tally import TABLE, Coverage, LabelTally
from faithscope.counting.weights.thinned_rules import Kinds, RuleTerms, rule_terms
from faithscope.relations import Relation

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ThinnedTally(LabelTally):
    """Accumulates counts, thinned terms, and what leaving out each row, or each block of rows, changes in them."""

    def __init__(self, rows: NumberedRows, weights: Floats) -> None:
        super().__init__(rows, keep=False)
        self.weights, self.kinds = weights, Kinds.by_weight(rows.labels, weights)
        self.agreeing = self.silent = 0.0
        self.influence = np.zeros((3, rows.n if rows.blocks == 1 else rows.blocks))  # agreeing, silent, leaning

    def layout(self) -> Layout:
        """Rows by kind, and by block within a kind."""
        return replace(self.rows, labels=self.kinds.of, names=tuple(range(len(self.kinds.kept)))).layout()

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        return max(1, TABLE // (4 * layout.segments))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """What adds a batch of explanations by their bitmaps; `start` is the number of the first."""
        return partial(self._add_thinned, start, bits, layout)

    def _add_thinned(self, start: int, bits: Bits, layout: Layout) -> None:
        rows, many, kinds = self.rows, len(bits), len(self.kinds.kept)
        given_rows = self.rows.given(start, many)
        which = rows.codes[given_rows] - start
        own = self.own[given_rows] = layout.holds(bits, which, given_rows)
        covered = layout.count(bits)
        table, place = covered.sum(axis=2), which * kinds + self.kinds.of[given_rows]
        self._add_cells(start, table, which, given_rows, own)
        weights = self.weights[given_rows]
        given, missed = (
            np.bincount(place[chosen], weights[chosen], minlength=table.size).reshape(table.shape)
            for chosen in (own, ~own)
        )
        terms = rule_terms(self.kinds, table, given, missed)
        self.agreeing += float(terms.agreeing.sum())
        self.silent += float(terms.silent.sum())
        self._add_influence(terms, bits, layout, covered)
        self._leave_out_own(terms, given_rows, place, own)

    def _add_cells(self, start: int, table: Ints, which: Ints, given_rows: Ints, own: NDArray[np.bool_]) -> None:
        """Keep the counts by label."""
        labels = len(self.rows.names)
        covered = np.add.reduceat(table, np.searchsorted(self.kinds.label, np.arange(labels)), axis=1)
        cell, weights = which * labels + self.rows.labels[given_rows], self.weights[given_rows]
        given, missed = (np.bincount(cells, minlength=covered.size) for cells in (cell, cell[~own]))
        tables = (
            given,
            covered.reshape(-1),
            missed,
            *(sums(cell, mass, covered.size) for mass in (weights, weights**2)),
        )
        occupied = np.flatnonzero(given + tables[1])
        self._add(start, len(covered), (occupied, *(table[occupied] for table in tables)))

    def _add_influence(self, terms: RuleTerms, bits: Bits, layout: Layout, covered: NDArray[np.int32]) -> None:
        """Add what leaving out each row as a witness changes; to first order if blocks of rows are left out."""
        tables = (terms.changed, terms.silenced, terms.leaning)
        if self.rows.blocks > 1:
            for total, table in zip(self.influence, tables, strict=True):
                total += np.einsum("mk,mkb->b", table, covered)
            return
        step = max(1, TABLE // self.rows.n)
        for begin in range(0, len(bits), step):
            which, place = layout.ones(bits[begin : begin + step])
            row = layout.source[place]
            kind = layout.segment[row]
            for total, table in zip(self.influence, tables, strict=True):
                total += np.bincount(row, table[begin + which, kind], minlength=len(total))

    def _leave_out_own(self, terms: RuleTerms, given_rows: Ints, place: Ints, own: NDArray[np.bool_]) -> None:
        """Subtract each row's own term, as it is once the row is no witness any more."""
        where = given_rows if self.rows.blocks == 1 else self.rows.block[given_rows]
        outside = (*terms.missed, np.zeros(terms.leaning.shape))
        for total, inside, missed in zip(self.influence, terms.alone, outside, strict=True):
            term = np.where(own, inside.reshape(-1)[place], missed.reshape(-1)[place])
            np.subtract.at(total, where, self.weights[given_rows] * term)

    def result(self, relation: Relation, layout: Layout, interval: bool = True) -> Coverage:
        """The coverage of all explanations that were added."""
        counts, total = self._counts(relation), float(self.weights.sum())
        silent = total if self.silent >= total * (1 - 1e-12) else self.silent
        coverage = Coverage(counts, self.rows.codes, self.own, sums=Sums(self.agreeing, silent, total), thinned=True)
        if self.rows.n < 2 or not interval:
            return coverage
        coverage = replace(coverage, left_out=self._without_each(counts.effective_n, total))
        if self.rows.blocks == 1:
            return coverage
        return replace(coverage, block=self.rows.block, alike=self.rows.content.of_rows_alone)

    def _without_each(self, effective_n: float, total: float) -> LeftOut:
        agreeing, silent, leaning = self.influence
        weight, most = self.weights, float(self.weights.max())
        if self.rows.blocks > 1:
            weight = sums(self.rows.block, weight, self.rows.blocks)
            leaning = most + leaning - leaning.mean()  # of the row of a block on which most leans
        left = np.maximum(total - weight, 1e-12 * total)
        values = (self.agreeing + agreeing) / left, (self.silent + silent) / left
        return LeftOut(*values, float(leaning.max()) / most, heaviest=effective_n * most / total)
