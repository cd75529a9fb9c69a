"""Influence: the measure without each row, or each block of rows, if explanations cover rows that were given others."""

import math
import operator
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from faithscope.counting.bitmaps import Bits, Layout
from faithscope.counting.counts import Counts, sums
from faithscope.counting.leave_out import LeftOut, ratio
from faithscope.inputs.grouping import over_chunks

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WIDTH = 16  # numbers worked on per row, or cell
_CELLS = 2**17  # of masks multiplied at once, so that they stay in cache


class StrangerPairs(NamedTuple):
    """Pairs of a row given and a row covered, of clustered rows: with all blocks, and without each block.

    Attributes
    ----------
    inside, outside : (explanations, 1 + blocks) arrays of bool
        Whether some row given, covered or not, has a covered row of another cluster.
    met : (explanations, 1 + blocks) array
        The weight of the pairs of a row given that is not covered, and a covered row of another cluster.
    """

    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    met: Floats


class CoveredBlocks(NamedTuple):
    """Weights of a batch of explanations per block of rows: what leaving out a block needs.

    Attributes
    ----------
    inside, missed : (explanations, blocks) arrays
        The weight of the rows given the explanation, of those that it covers and of those that it does not.
    squares : (explanations, blocks) array
        The sums of the squared weights of the former.
    agreeing, met : (explanations, 1 + blocks) arrays
        The weight of the ordered pairs of a row given and another row covered that agree, for given rows that are
        covered and for those that are not: with all blocks, and without each block.
    covered, rows : (explanations, blocks) arrays
        The weight and the number of the covered rows.
    strangers : StrangerPairs, optional
        If rows are clustered: a row is then compared with rows of other clusters only, and `squares` holds the weight
        of the pairs of a row given and a row covered that are of one cluster.
    """

    inside: Floats
    missed: Floats
    squares: Floats
    agreeing: Floats
    met: Floats
    covered: Floats
    rows: NDArray[Any]
    strangers: StrangerPairs | None = None

    @classmethod
    def of_cells(
        cls,
        explanation: Ints,
        inside: Floats,
        squares: Floats,
        missed: Floats,
        same: Floats,
        covered: Floats,
        rows: NDArray[Any],
    ) -> "CoveredBlocks":
        """From cells: (explanation, label) pairs to which at least one row belongs, in order of explanation.

        Parameters
        ----------
        explanation : (m,) array
            The explanation of each cell, a row of `covered`.
        inside, squares, missed, same : (m, blocks) arrays
            The same weights per cell, and the weight of the covered rows with the cell's label.
        """
        add = _adder(explanation, len(covered))
        given = add @ inside
        own = given if squares is inside else add @ squares
        with_label = without_each(same)
        agreeing = add @ (without_each(inside) * with_label) - without_each(own)
        if not missed.any():
            return cls(given, np.zeros(given.shape), own, agreeing, np.zeros(agreeing.shape), covered, rows)
        met = add @ (without_each(missed) * with_label)
        return cls(given, add @ missed, own, agreeing, met, covered, rows)


class BlockSums:
    """Sums of terms over all rows, and over all rows but those of one block.

    Attributes
    ----------
    agreeing, silent : (1 + blocks,) arrays
        The sums of M̂ and of U: entry 0 with all blocks, entry 1 + b without block b.
    checked : float
        The weight of the rows that are not silent, with no block left out.
    weighted : bool
        Whether rows have weights.
    leaning : (blocks,) array
        How much the terms of other rows lean on the rows of each block.
    """

    def __init__(self, blocks: int, weighted: bool = False) -> None:
        self.weighted = weighted
        self.agreeing, self.silent, self.leaning = np.zeros(1 + blocks), np.zeros(1 + blocks), np.zeros(blocks)
        self.checked = 0.0

    def add(self, tables: CoveredBlocks) -> None:
        """Add the terms of a batch of explanations.

        An explanation adds ``G Σ_y (G_y C_y - V_y) / (G C - V)``, where G is the weight of the rows that were given it
        and that it covers, V the sum of their squared weights, and C the weight of all rows that it covers. Rows that
        were given it and that it misses, of weight M, add ``Σ_y M_y C_y / C``.
        """
        given, square, covered = (without_each(table) for table in (tables.inside, tables.squares, tables.covered))
        rows = covered if tables.rows is tables.covered else without_each(tables.rows)
        strangers = tables.strangers
        checked = rows > 1 if strangers is None else strangers.inside
        terms = np.where(checked, given * ratio(tables.agreeing, given * covered - square), 0.0)
        silent = np.where(checked, 0.0, given)
        leaning = self._leaning(tables.inside, tables.squares, tables.covered)
        checked_weight = given[:, 0] - silent[:, 0]
        if tables.missed.any():
            outside = without_each(tables.missed)
            reached = rows > 0 if strangers is None else strangers.outside
            shares = ratio(tables.met, covered) if strangers is None else outside * ratio(tables.met, strangers.met)
            terms += np.where(reached, shares, 0.0)
            alone = np.where(reached, 0.0, outside)
            silent, checked_weight = silent + alone, checked_weight + outside[:, 0] - alone[:, 0]
            leaning += (ratio(outside[:, :1], covered[:, :1]) * tables.covered).sum(axis=0)
        self.agreeing += terms.sum(axis=0)
        self.silent += silent.sum(axis=0)
        self.checked += float(checked_weight.sum())
        self.leaning += leaning

    def join(self, other: "BlockSums") -> None:
        """Add the sums of other explanations."""
        self.agreeing += other.agreeing
        self.silent += other.silent
        self.leaning += other.leaning
        self.checked += other.checked

    def _leaning(self, given: Floats, own: Floats, covered: NDArray[Any]) -> Floats:
        """How much terms of covered rows lean on the rows of each block: without weights, on rows other than their own.

        Parameters
        ----------
        given, own, covered : (explanations, blocks) arrays
            The weight of rows given and covered, the sums of their squares, and the weight of all rows covered.
        """
        whole, total = given.sum(axis=1, keepdims=True), covered.sum(axis=1, keepdims=True, dtype=np.float64)
        if self.weighted:
            return np.asarray((ratio(whole, total) * covered).sum(axis=0))
        pairs = whole * total - own.sum(axis=1, keepdims=True)
        return np.asarray((whole * ratio(whole * covered - own, pairs)).sum(axis=0))

    def left_out(self, weight: Floats, per_row: float | None = None) -> LeftOut:
        """The measure without each block.

        Parameters
        ----------
        weight : (blocks,) array
            The weight of the rows of each block.
        per_row : float, optional
            The mean weight of a row; None if rows are not weighted.
        """
        left = weight.sum() - weight
        reach = 1 + float((self.leaning - self.leaning.mean()).max()) / (per_row or 1.0)
        of_rows = weight_of_blocks(self.leaning, weight) if per_row is None else None
        return LeftOut(self.agreeing[1:] / left, self.silent[1:] / left, reach, of_rows)


def without_each(table: NDArray[Any]) -> Floats:
    """Sums over all blocks (the first column), and over all blocks but one (the others)."""
    left = np.empty((len(table), table.shape[1] + 1))
    np.sum(table, axis=1, out=left[:, 0])
    np.subtract(left[:, :1], table, out=left[:, 1:])
    return left


def _adder(explanation: Ints, explanations: int) -> csr_array:
    """A matrix that adds up the cells of each explanation: many times faster than `np.add.reduceat`."""
    bounds = np.searchsorted(explanation, np.arange(explanations + 1))
    cells = np.arange(len(explanation))
    return csr_array((np.ones(len(cells)), cells, bounds), shape=(explanations, len(cells)))


def weight_of_blocks(leaning: Floats, rows: Floats) -> Floats:
    """`LeftOut.weight` if blocks of rows were left out: one value, repeated for every block.

    Rows are dealt into blocks at random, so the variance between block sums gives the variance between single rows.

    Parameters
    ----------
    leaning, rows : (blocks,) arrays
        How much other rows lean on the rows of each block, and how many these are.
    """
    n = float(rows.sum())
    mean, size = float(leaning.sum()) / n, n / len(rows)
    among = float(np.var(leaning, ddof=1)) / size if len(rows) > 1 else 0.0
    return np.full(len(rows), math.sqrt(n * ((1 + mean) ** 2 + among) / len(rows)))


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
    def by_explanation(self) -> tuple[Floats, Floats]:
        """`weights` 0 to 2 summed per explanation, and weight 3 as a table (explanations, labels)."""
        same_label = np.zeros((self.distinct, self.labels))
        same_label[self.explanation, self.label] = self.weights[3]
        return np.stack([sums(self.explanation, row, self.distinct) for row in self.weights[:3]]), same_label

    def add_sparsely(self, start: int, bits: Bits, layout: Layout, influence: Floats) -> None:
        """Add, for every row, the weights of the explanations in this batch that cover it; `start` is the first."""
        which, place, label = layout.ones(bits)
        which += start
        (changed, silenced, leaning), same_label = self.by_explanation
        changes = (changed[which] - same_label[which, label], silenced[which], leaning[which])
        for row, change in zip(influence, changes, strict=True):
            row += np.bincount(place, change, minlength=len(row))

    def add_densely(self, start: int, bits: Bits, layout: Layout, influence: Floats) -> None:
        """The same by one matrix product per label: faster if the explanations cover many rows."""
        chosen = slice(start, start + len(bits))
        (changed, silenced, leaning), same_label = self.by_explanation
        for label, (first, last) in enumerate(zip(layout.words[:-1].tolist(), layout.words[1:].tolist(), strict=True)):
            weights = np.vstack([changed[chosen] - same_label[chosen, label], silenced[chosen], leaning[chosen]])
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
        n, cell_of, total = len(codes), self._cell_of(len(codes)), self.counts.per_explanation
        value, silent, weight = np.empty((3, n))
        largest: list[float] = []

        def fill(start: int, stop: int) -> None:
            rows = slice(start, stop)
            mine, which = own[rows], codes[rows]
            # A row that its explanation covers does not count itself.
            same = self.counts.covered[cell_of(which * self.labels + labels[rows])] - mine
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

    def _cell_of(self, rows: int) -> Callable[[Ints], Ints]:
        """The cells of ``explanation * labels + label``, all of which must be cells; `rows` will be asked for."""
        cells, most = self.counts.explanation * self.labels + self.counts.label, self.distinct * self.labels
        if most > 4 * rows + 1024:
            return lambda numbers: np.searchsorted(cells, numbers)
        place = np.empty(most, np.int64)
        place[cells] = np.arange(len(cells))
        return place.__getitem__
