"""Cells of the rows that a batch of explanations covers, by label and block: a table, or only those that occur."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.bits.ordering import run_sizes, run_starts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class CoveredCells(ABC):
    """Covered rows per cell, a number ``explanation * labels + label``, and their weight per cell and block.

    Attributes
    ----------
    labels : int
        Number of labels.
    cells, rows : (m,) arrays
        The cells that some covered row is in, ascending, and how many are.
    by_block, rows_by_block : (explanations, blocks) arrays
        The weight and the number of covered rows.
    """

    labels: int
    cells: Ints
    rows: Ints

    @property
    @abstractmethod
    def by_block(self) -> Floats: ...

    @property
    @abstractmethod
    def rows_by_block(self) -> Floats: ...

    @abstractmethod
    def weight(self, cells: Ints) -> Floats:
        """The weight of the covered rows of each of these cells."""

    @abstractmethod
    def weight_in(self, cells: Ints, block: Ints) -> Floats:
        """The weight of those in a block."""

    @abstractmethod
    def times(self, cells: Ints, factors: Floats) -> Floats:
        """Weights by explanation and block, each times the factor of its cell; the cells are distinct and ascend."""


class TabledCells(CoveredCells):
    """All cells in a table.

    Parameters
    ----------
    rows, weight : (explanations, labels, blocks) arrays
        The number of covered rows and their weight, the same array if they are not weighted.
    """

    def __init__(self, rows: NDArray[Any], weight: NDArray[Any]) -> None:
        self.labels, self.blocks = rows.shape[1:]
        self.tables = rows, weight
        by_label = rows.reshape(-1) if self.blocks == 1 else rows.sum(axis=2, dtype=np.int64).reshape(-1)
        self.cells = np.flatnonzero(by_label)
        self.rows = by_label[self.cells].astype(np.int64, copy=False)

    @cached_property
    def table(self) -> Floats:
        """Weights by cell and block."""
        return self.tables[1].reshape(-1, self.blocks).astype(np.float64)

    @cached_property
    def by_block(self) -> Floats:
        return np.asarray(self.table.reshape(-1, self.labels, self.blocks).sum(axis=1))

    @cached_property
    def rows_by_block(self) -> Floats:
        rows, weight = self.tables
        return self.by_block if weight is rows else rows.sum(axis=1, dtype=np.float64)

    def weight(self, cells: Ints) -> Floats:
        return np.asarray(self.table[cells].sum(axis=1))

    def weight_in(self, cells: Ints, block: Ints) -> Floats:
        return np.asarray(self.table.reshape(-1)[cells * self.blocks + block])

    def times(self, cells: Ints, factors: Floats) -> Floats:
        # A sparse product adds up the rows of a table many times faster than `np.add.reduceat`.
        bounds = np.searchsorted(cells, self.labels * np.arange(len(self.by_block) + 1))
        shape = (len(self.by_block), len(self.table))
        return np.asarray(csr_array((factors, cells, bounds), shape=shape) @ self.table)


class ListedCells(CoveredCells):
    """Only the cells that occur: time and memory follow the covered rows, however many labels there are.

    Parameters
    ----------
    bits : (explanations, words) array
    layout : Layout
        Not padded, so that covered rows come in order of label and block.
    weights : (n,) array, optional
    """

    def __init__(self, bits: Bits, layout: Layout, weights: Floats | None) -> None:
        self.explanations, self.segments, self.blocks = len(bits), layout.segments, layout.blocks
        self.labels = layout.segments // layout.blocks
        which, place = layout.ones(bits)
        key = which * layout.segments + layout.sorted_segment[place]
        starts = run_starts(key)
        self.parts, sizes = key[starts], run_sizes(starts, len(key))  # cells by block: cell * blocks + block
        self.of_parts = sizes.astype(np.float64)
        if weights is not None and len(starts):
            self.of_parts = np.add.reduceat(weights[layout.order][place], starts)
        cell = self.parts if self.blocks == 1 else self.parts // self.blocks
        first = run_starts(cell)
        self.cells, self.parts_of = cell[first], run_sizes(first, len(cell))
        self.rows, self.whole = (_added(values, first) for values in (sizes, self.of_parts))
        self.rows_of_parts = self.of_parts if weights is None else sizes

    @cached_property
    def _place(self) -> Ints:
        """The explanation and the block of each part, as one number."""
        explanation, segment = np.divmod(self.parts, self.segments)
        return np.asarray(explanation * self.blocks + segment % self.blocks)

    @cached_property
    def by_block(self) -> Floats:
        return self._table(self.of_parts)

    @cached_property
    def rows_by_block(self) -> Floats:
        return self.by_block if self.rows_of_parts is self.of_parts else self._table(self.rows_of_parts)

    def _table(self, values: NDArray[Any]) -> Floats:
        table = np.bincount(self._place, values, minlength=self.explanations * self.blocks)
        return table.astype(np.float64).reshape(self.explanations, self.blocks)

    def weight(self, cells: Ints) -> Floats:
        return looked_up(self.cells, self.whole, cells)

    def weight_in(self, cells: Ints, block: Ints) -> Floats:
        return looked_up(self.parts, self.of_parts, cells * self.blocks + block)

    def times(self, cells: Ints, factors: Floats) -> Floats:
        by_cell, place = np.zeros(len(self.cells)), np.searchsorted(self.cells, cells)
        known = np.flatnonzero(place < len(self.cells))
        known = known[self.cells[place[known]] == cells[known]]
        by_cell[place[known]] = factors[known]
        return self._table(self.of_parts * np.repeat(by_cell, self.parts_of))


def _added(values: NDArray[Any], starts: Ints) -> NDArray[Any]:
    return np.add.reduceat(values, starts) if len(starts) else values


def looked_up(keys: Ints, values: Floats, wanted: Ints) -> Floats:
    """The value of each wanted key; 0 if it is not among the keys, which ascend."""
    if not len(keys):
        return np.zeros(len(wanted))
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, values[place], 0.0)
