"""Influence: the measure without each row if explanations cover rows that were given others."""

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.covered_cells import looked_up
from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.bits.ordering import run_sizes, run_starts
from faithscope.counting.counts import Counts, sums
from faithscope.counting.leaving_out.leave_out import LeftOut, ratio
from faithscope.inputs.chunks import over_chunks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WIDTH = 4  # numbers worked on per row
_CELLS = 2**17  # of masks multiplied at once, so that they stay in cache


class CellKind(NamedTuple):
    """Rows of cells that all are covered by their explanation, or all missed: arrays, of NumPy or on a GPU.

    Attributes
    ----------
    rows : (m,) array
        The number of rows of each cell that are of this kind.
    same, others : (m,) arrays
        How many other rows their explanation covers with the same label, and with any.
    """

    rows: Any
    same: Any
    others: Any


def cell_kinds(given: Any, covered: Any, missed: Any, total: Any) -> list[CellKind]:
    """Rows that their explanation covers do not count themselves; rows that it misses have nothing to leave out."""
    inside = CellKind(given - missed, covered - 1, total - 1)
    return [inside, CellKind(missed, covered, total)] if bool(missed.any()) else [inside]


def cell_weights(kinds: Sequence[CellKind], ratio: Callable[[Any, Any], Any]) -> list[Any]:
    """`Influence.weights`, one array each, where `ratio` divides arrays of this kind.

    With one other row fewer a term is s / (c - 1) instead of s / c, and (s - 1) / (c - 1) if that row had the label.
    """
    weights = [
        (
            rows * (ratio(same, others - 1) - ratio(same, others)),
            rows * (others == 1),
            ratio(rows, others),
            ratio(rows * (same > 0), others - 1),
        )
        for rows, same, others in kinds
    ]
    return [reduce(operator.add, each) for each in zip(*weights, strict=True)]


class Influence:
    """How the terms of other rows change when one row that their explanations cover is left out.

    Attributes
    ----------
    agreeing, silent : float
        The sums of all terms, and of all silent rows.
    """

    def __init__(self, counts: Counts) -> None:
        self.counts, self.labels, self.distinct = counts, len(counts.labels), counts.distinct
        self.agreeing, self.silent, _ = counts.profile().terms

    def _kinds(self, cells: Ints) -> list[CellKind]:
        counts = self.counts
        given, covered, missed, which = (
            column[cells] for column in (counts.given, counts.covered, counts.missed, counts.explanation)
        )
        return cell_kinds(given, covered, missed, counts.per_explanation[which])

    @cached_property
    def occupied(self) -> Ints:
        """The cells to which at least one row belongs: only these have terms."""
        return np.flatnonzero(self.counts.given)

    @cached_property
    def explanation(self) -> Ints:
        """The explanation of each of these cells."""
        return self.counts.explanation[self.occupied]

    @cached_property
    def label(self) -> Ints:
        """The label of each of these cells."""
        return self.counts.label[self.occupied]

    @cached_property
    def weights(self) -> Floats:
        """Per occupied cell, if its explanation covers one row fewer: what changes.

        (4, m): [0] how much the terms of the cell change, [1] how many of its rows become silent, [2] how much its
        terms lean on that row, and [3] what is subtracted from [0] if that row has the cell's label.
        """
        return np.stack(cell_weights(self._kinds(self.occupied), ratio)).astype(np.float64, copy=False)

    @cached_property
    def by_explanation(self) -> Floats:
        """`weights` 0 to 2 summed per explanation."""
        return np.stack([sums(self.explanation, row, self.distinct) for row in self.weights[:3]])

    @cached_property
    def same_label(self) -> Floats:
        """Weight 3 as a table (explanations, labels)."""
        table = np.zeros((self.distinct, self.labels))
        table[self.explanation, self.label] = self.weights[3]
        return table

    @cached_property
    def _cells(self) -> Ints:
        return self.explanation * self.labels + self.label

    def add_sparsely(self, start: int, bits: Bits, layout: Layout, influence: Floats) -> None:
        """Add, for every row, the weights of the explanations in this batch that cover it; `start` is the first."""
        which, place = layout.ones(bits)
        which += start
        cell = which * self.labels + layout.segment[layout.source][place]
        first = run_starts(cell)  # one look-up per cell, since tables of all cells would be mostly empty
        same_label = np.repeat(looked_up(self._cells, self.weights[3], cell[first]), run_sizes(first, len(cell)))
        changed, silenced, leaning = self.by_explanation
        changes = (changed[which] - same_label, silenced[which], leaning[which])
        for row, change in zip(influence, changes, strict=True):
            row += np.bincount(place, change, minlength=len(row))

    def add_densely(self, start: int, bits: Bits, layout: Layout, influence: Floats) -> None:
        """The same by one matrix product per label: faster if the explanations cover many rows."""
        chosen = slice(start, start + len(bits))
        changed, silenced, leaning = self.by_explanation
        ends = layout.first + layout.depth
        for label, (first, last) in enumerate(zip(layout.first.tolist(), ends.tolist(), strict=True)):
            weights = np.vstack([changed[chosen] - self.same_label[chosen, label], silenced[chosen], leaning[chosen]])
            step = max(1, _CELLS // (64 * len(bits)))
            for a in range(first, last, step):
                b = min(a + step, last)
                masks = np.unpackbits(np.ascontiguousarray(bits[:, a:b]).view(np.uint8), axis=1, bitorder="little")
                influence[:, 64 * a : 64 * b] += weights @ masks.astype(np.float64)

    def left_out(self, influence: Floats, codes: Ints, labels: Ints, own: NDArray[np.bool_]) -> LeftOut:
        """The measure without each row in turn: its own term is subtracted, its influence on other terms added.

        Parameters
        ----------
        influence : (3, n) array
            For each row, sums of the first three `weights` over the explanations that cover it, its own among them.
        codes, labels : (n,) arrays
            The explanation and the label of each row, by number.
        own : (n,) array
            Whether each row is covered by its own explanation.
        """
        n, cell_of, total = len(codes), self.cell_of, self.counts.per_explanation
        value, silent, weight = np.empty((3, n))
        largest: list[float] = []

        def fill(start: int, stop: int) -> None:
            rows = slice(start, stop)
            mine, which = own[rows], codes[rows]
            # A row that its explanation covers does not count itself.
            same = self.counts.covered[cell_of(which, labels[rows])] - mine
            others = total[which] - mine
            term, alone, counted = same / np.maximum(others, 1), others == 0, mine & (others > 0)
            # What the sums of influence hold of its own term, which is left out as a whole.
            changed = counted * (np.maximum(same - 1, 0) / np.maximum(others - 1, 1) - term)
            leaning = influence[2, rows] - counted / np.maximum(others, 1)
            value[rows] = (self.agreeing - term + influence[0, rows] - changed) / (n - 1)
            silent[rows] = (self.silent - alone + influence[1, rows] - (counted & (others == 1))) / (n - 1)
            weight[rows] = leaning + 1 - alone
            largest.append(float(leaning.max()))

        over_chunks(fill, n, _WIDTH)
        return LeftOut(value, silent, max(largest), weight)

    @cached_property
    def cell_of(self) -> Callable[[Ints, Ints], Ints]:
        """A function that gives the cells of rows by their explanations and labels."""
        occupied, labels, most = self.occupied, self.labels, self.distinct * self.labels
        if np.array_equal(self.explanation, np.arange(self.distinct)):  # each was given with one label
            return lambda which, _: occupied[which]
        cells = self.explanation * labels + self.label
        if most > 4 * self.counts.n + 1024:
            return lambda which, label: occupied[np.searchsorted(cells, which * labels + label)]
        place = np.empty(most, np.int64)
        place[cells] = occupied
        return lambda which, label: place[which * labels + label]
