"""Leaving out blocks of rows if explanations cover rows that were given others."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.covered_cells import CoveredCells
from faithscope.counting.bits.ordering import run_sizes
from faithscope.counting.leaving_out.leave_out import LeftOut, ratio

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


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


class GivenRows(NamedTuple):
    """The rows that were given a batch of explanations, in order of cell.

    Attributes
    ----------
    explanation, cell, block : (g,) arrays
        The explanation of each row within the batch, its cell ``explanation * labels + label``, and its block.
    inside, squares, missed : (g,) arrays
        Its weight and squared weight if its explanation covers it, and its weight if not; 0 otherwise.
    starts : array
        The first row of each cell.
    """

    explanation: Ints
    cell: Ints
    block: Ints
    inside: Floats
    squares: Floats
    missed: Floats
    starts: Ints


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
    def of_rows(cls, given: GivenRows, covered: CoveredCells) -> "CoveredBlocks":
        """From the rows that were given these explanations, and the cells of the rows that they cover."""
        pairs = _Pairs(given, covered)
        inside = pairs.by_block(given.inside)
        squares = inside if given.squares is given.inside else pairs.by_block(given.squares)
        agreeing = pairs.agreeing(given.inside)
        agreeing -= without_each(squares)
        if squares is not inside:  # weighted: if all rows have one label, all pairs agree, to the last bit
            alike = pairs.of_one_label()
            whole = [without_each(table[alike]) for table in (inside, covered.by_block, squares)]
            agreeing[alike] = whole[0] * whole[1] - whole[2]
        if given.missed.any():
            missed, met = pairs.by_block(given.missed), pairs.agreeing(given.missed)
        else:
            missed, met = np.zeros(inside.shape), np.zeros(agreeing.shape)
        return cls(inside, missed, squares, agreeing, met, covered.by_block, covered.rows_by_block)


class _Pairs:
    """Pairs of a row given and a row covered."""

    def __init__(self, given: GivenRows, covered: CoveredCells) -> None:
        self.given, self.covered, self.shape = given, covered, covered.by_block.shape
        self.cells = given.cell[given.starts]
        self.place = given.explanation * self.shape[1] + given.block
        sizes = run_sizes(given.starts, len(given.cell))
        self.same = np.repeat(covered.weight(self.cells), sizes)  # covered rows with the label of each row given
        self.same_elsewhere = self.same - covered.weight_in(given.cell, given.block)  # those of other blocks

    def of_one_label(self) -> Ints:
        """The explanations whose rows, given or covered, all have one label."""
        labels = self.covered.labels
        cells = np.concatenate([self.cells, self.covered.cells])
        first = np.full(self.shape[0], -1)
        first[cells // labels] = cells
        same = np.ones(self.shape[0], bool)
        same[cells[first[cells // labels] != cells] // labels] = False
        return np.flatnonzero(same)

    def by_block(self, values: Floats) -> Floats:
        """Sums by explanation and block."""
        sums = np.bincount(self.place, values, minlength=self.shape[0] * self.shape[1])
        return sums.reshape(self.shape).astype(np.float64, copy=False)

    def agreeing(self, mass: Floats) -> Floats:
        """The weight of the pairs with the same label: with all blocks, and without each.

        Pairs without block b are all pairs, less those whose given row is in b, less those whose covered row is in b,
        plus those with both: (explanations, 1 + blocks).
        """
        starts, explanations = self.given.starts, self.shape[0]
        factors = np.add.reduceat(mass, starts) if len(starts) else np.empty(0)
        pairs = np.empty((explanations, 1 + self.shape[1]))
        pairs[:, 0] = np.bincount(self.given.explanation, mass * self.same, minlength=explanations)
        less = self.covered.times(self.cells, factors)
        less += self.by_block(mass * self.same_elsewhere)
        np.subtract(pairs[:, :1], less, out=pairs[:, 1:])
        return pairs


class BlockTerms(NamedTuple):
    """What a batch of explanations adds to `BlockSums`."""

    agreeing: Floats
    silent: Floats
    checked: float
    leaning: Floats


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

    def add(self, terms: BlockTerms) -> None:
        """Add the terms of a batch of explanations."""
        self.agreeing += terms.agreeing
        self.silent += terms.silent
        self.checked += terms.checked
        self.leaning += terms.leaning

    def terms(self, tables: CoveredBlocks) -> BlockTerms:
        """The terms of a batch of explanations; several threads may ask for them.

        An explanation adds ``G Σ_y (G_y C_y - V_y) / (G C - V)``, where G is the weight of the rows that were given it
        and that it covers, V the sum of their squared weights, and C the weight of all rows that it covers. Rows that
        were given it and that it misses, of weight M, add ``Σ_y M_y C_y / C``.
        """
        given, covered = without_each(tables.inside), without_each(tables.covered)
        square = given if tables.squares is tables.inside else without_each(tables.squares)
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
        return BlockTerms(terms.sum(axis=0), silent.sum(axis=0), float(checked_weight.sum()), leaning)

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
