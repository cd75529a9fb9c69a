"""Pairs of a row that asks and a row that answers: their sums, with all rows and without each block, never one by one.

Askers are the rows that were given an explanation, witnesses those that it covers, or others that askers are compared
with. A pair counts where its rows are of different clusters; a row that has none is a cluster of its own.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from faithscope.agreements import Agreement, GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.layout import order_by, run_starts, sums
from faithscope.counting.leave_out import ratio, without_each
from faithscope.counting.rows import Rows
from faithscope.inputs.array_types import Array, Bools, Floats, Ints

_ALL = 1e-12  # of pairs: if all but so many agree, all do, up to rounding


class Askers(NamedTuple):
    """The rows that were given a batch of explanations, in order of group, then of prediction.

    Attributes
    ----------
    group : (g,) array
        Rows of one explanation are one group; if some are missed by theirs, these are a group apart.
    scopes : (groups,) array
        The explanation of each group, within the batch.
    value, block : (g,) arrays
        Their predictions by number, and their blocks.
    weight : (g,) array
    inside : (g,) array of bool
        Whether its explanation covers the row.
    row : (g,) array
        Their numbers among all rows.
    """

    group: Ints
    scopes: Ints
    value: Ints
    block: Ints
    weight: Floats
    inside: Bools
    row: Ints

    @classmethod
    def given(cls, rows: Rows, start: int, many: int, own: Bools) -> "Askers":
        """The rows that were given the explanations from `start` on; `own` says which rows their explanation covers."""
        row = rows.given(start, many)
        group, scopes = rows.codes[row] - start, np.arange(many)
        if not own[row].all():
            order = np.lexsort((rows.labels[row], ~own[row], group))
            row, scopes = row[order], np.repeat(scopes, 2)
            group = 2 * group[order] + ~own[row]
        return cls(group, scopes, rows.labels[row], rows.block[row], rows.weight[row], own[row], row)

    def only(self, chosen: Bools) -> "Askers":
        """Some of them, with the groups that these are of."""
        groups, group = np.unique(self.group[chosen], return_inverse=True)
        columns: list[Any] = [column[chosen] for column in self[2:]]
        return Askers(group.reshape(-1), self.scopes[groups], *columns)

    @property
    def scope(self) -> Ints:
        """The explanation of each, within the batch."""
        return self.scopes[self.group]

    def without(self, values: Floats, blocks: int) -> Floats:
        """Sums by group over all blocks (the first column), and over all blocks but one (the others)."""
        total = sums(self.group, values, len(self.scopes))
        left = np.repeat(total[:, None], 1 + blocks, axis=1)
        np.subtract.at(left, (self.group, 1 + self.block), values)
        return left


class OwnCluster(NamedTuple):
    """Per asker, the witnesses with which it is not compared: itself, or all of its cluster.

    Attributes
    ----------
    weight, size, agreeing : (g,) arrays
        Their weight, how many they are, and their weight by agreement with the asker.
    """

    weight: Floats
    size: Floats
    agreeing: Floats

    @classmethod
    def of(cls, askers: Askers, witnesses: "Witnesses", among: Array, itself: float) -> "OwnCluster":
        """Those among the witnesses; if rows have no clusters, itself, as far as it is `among` them."""
        if not isinstance(witnesses, Listed) or witnesses.rows.clusters is None:
            weight = np.asarray(askers.weight * among, np.float64)
            return cls(weight, np.asarray(1.0 * among), itself * weight)
        size, clusters = witnesses.rows.units, witnesses.rows.clusters
        part, asking = witnesses.scope * size + clusters[witnesses.row], askers.scope * size + clusters[askers.row]
        order = order_by(part, witnesses.many * size)
        grouped = GroupedRows(part[order], witnesses.value[order], witnesses.mass[order])
        first, last = (np.searchsorted(grouped.group, asking, side=side) for side in ("left", "right"))
        height = np.concatenate([[0.0], np.cumsum(grouped.weight)])
        agreeing = witnesses.sums.at(grouped, asking, askers.value)
        return cls(height[last] - height[first], (last - first).astype(np.float64), agreeing)

    def only(self, chosen: Bools | Ints) -> "OwnCluster":
        """Those of some askers."""
        return OwnCluster(*(column[chosen] for column in self))


class Tabled:
    """Rows by explanation, block and label, all cells in a table.

    Parameters
    ----------
    rows, weight : (explanations, labels, blocks) arrays
        The number of rows and their weight, the same array if they are not weighted.
    """

    def __init__(self, rows: Array, weight: Array) -> None:
        self.many, self.labels, self.blocks = rows.shape
        self.tables = rows, weight

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """The cells ``explanation * labels + label`` that some row is in, ascending, and how many are."""
        rows = self.tables[0]
        by_label = rows.reshape(-1) if self.blocks == 1 else rows.sum(axis=2, dtype=np.int64).reshape(-1)
        cells = np.flatnonzero(by_label)
        return cells, by_label[cells].astype(np.int64, copy=False)

    @cached_property
    def table(self) -> Floats:
        """Weights by cell and block."""
        return self.tables[1].reshape(-1, self.blocks).astype(np.float64)

    @cached_property
    def weight(self) -> Floats:
        """Their weight: (explanations, blocks)."""
        return np.asarray(self.table.reshape(-1, self.labels, self.blocks).sum(axis=1))

    @cached_property
    def size(self) -> Floats:
        """How many they are: (explanations, blocks)."""
        rows, weight = self.tables
        return self.weight if weight is rows else rows.sum(axis=1, dtype=np.float64)

    def agreeing(self, scope: Ints, value: Ints, block: Ints | None = None) -> Floats:
        """Per explanation and prediction, the weight of its witnesses, or those in a block, by agreement with that."""
        cell = scope * self.labels + value
        return np.asarray(self.table.sum(axis=1)[cell] if block is None else self.table[cell, block])

    def answering(self, askers: Askers) -> Floats:
        """By group of askers and block of witnesses, the weight of pairs, each by its agreement."""
        # A sparse product adds up the rows of a table many times faster than `np.add.reduceat`.
        starts = run_starts(askers.group * self.labels + askers.value)
        group, cells = askers.group[starts], askers.scope[starts] * self.labels + askers.value[starts]
        factors = np.add.reduceat(askers.weight, starts) if len(starts) else np.empty(0)
        bounds = np.searchsorted(group, np.arange(len(askers.scopes) + 1))
        return np.asarray(csr_array((factors, cells, bounds), shape=(len(askers.scopes), len(self.table))) @ self.table)

    def by_block(self, scope: Ints, value: Ints) -> Floats:
        """Per explanation and prediction, the weight of its witnesses by agreement with that: (m, blocks)."""
        return np.asarray(self.table[scope * self.labels + value])

    def apart(self, askers: Askers) -> "tuple[Tabled, Tabled]":
        """The rows that were given these explanations, and the witnesses that were given others."""
        covered, weight = self.tables
        cell = (askers.scope * self.labels + askers.value) * self.blocks + askers.block

        def table(values: Floats) -> Floats:
            return sums(cell, values, covered.size).reshape(covered.shape)

        inside = askers.inside
        given = Tabled(table(np.ones(len(cell))), table(askers.weight))
        return given, Tabled(covered - table(inside.astype(np.float64)), weight - table(askers.weight * inside))


class Listed:
    """Rows with any agreement, in order of explanation, then of prediction.

    Parameters
    ----------
    rows : Rows
    sums : AgreementSums
    many : int
        Number of explanations.
    scope, row : (c,) arrays
        Pairs of an explanation and a row.
    """

    def __init__(self, rows: Rows, sums: AgreementSums, many: int, scope: Ints, row: Ints) -> None:
        self.rows, self.sums, self.many, self.scope, self.row = rows, sums, many, scope, row
        self.blocks, self.value, self.mass = rows.blocks, rows.labels[row], rows.weight[row]

    @cached_property
    def cells(self) -> tuple[Ints, Ints]:
        """The pairs of an explanation and a prediction that occur, as of `Tabled`, and how many rows have each."""
        cell = self.scope * len(self.rows.names) + self.value
        starts = run_starts(cell)
        return cell[starts], np.diff(starts, append=len(cell))

    @cached_property
    def place(self) -> Ints:
        """The explanation and the block of each, as one number."""
        return self.scope * self.blocks + self.rows.block[self.row]

    @cached_property
    def _in_blocks(self) -> GroupedRows:
        order = order_by(self.place, self.many * self.blocks)  # predictions ascend within an explanation
        return GroupedRows(self.place[order], self.value[order], self.mass[order])

    def _table(self, values: Array) -> Floats:
        return sums(self.place, values, self.many * self.blocks).reshape(self.many, -1)

    @cached_property
    def weight(self) -> Floats:
        return self._table(self.mass)

    @cached_property
    def size(self) -> Floats:
        return self._table(np.broadcast_to(1.0, len(self.row)))

    def agreeing(self, scope: Ints, value: Ints, block: Ints | None = None) -> Floats:
        if block is None:
            return self.sums.at(GroupedRows(self.scope, self.value, self.mass), scope, value)
        return self.sums.at(self._in_blocks, scope * self.blocks + block, value)

    def answering(self, askers: Askers) -> Floats:
        asking = GroupedRows(askers.group, askers.value, askers.weight)
        first, last = (np.searchsorted(askers.scopes, self.scope, side=side) for side in ("left", "right"))
        total = np.zeros(len(askers.scopes) * self.blocks)
        for kind in range(int((last - first).max(initial=0))):
            met = np.flatnonzero(first + kind < last)
            group, row = first[met] + kind, self.row[met]
            agreeing = self.mass[met] * self.sums.at(asking, group, self.value[met])
            total += sums(group * self.blocks + self.rows.block[row], agreeing, len(total))
        return total.reshape(-1, self.blocks)

    def by_block(self, scope: Ints, value: Ints) -> Floats:
        scope, value = (np.repeat(each, self.blocks) for each in (scope, value))
        block = np.tile(np.arange(self.blocks), len(scope) // self.blocks)
        return self.agreeing(scope, value, block).reshape(-1, self.blocks)

    def apart(self, askers: Askers) -> "tuple[Listed, Listed]":
        """As of `Tabled`."""
        order, codes = np.lexsort((askers.value, askers.scope)), self.rows.codes
        start = codes[askers.row[0]] - askers.scope[0]  # the first explanation of the batch
        others = codes[self.row] != start + self.scope
        pairs = (askers.scope[order], askers.row[order]), (self.scope[others], self.row[others])
        given, left = (Listed(self.rows, self.sums, self.many, *pair) for pair in pairs)
        return given, left


Witnesses = Tabled | Listed


class Everybody:
    """All rows as witnesses of one explanation.

    Attributes
    ----------
    witnesses : Witnesses
    own : OwnCluster
        Per row, the rows of its cluster.
    agreeing : (n,) array
        Per row, the weight of all rows, each by its agreement.
    """

    def __init__(self, rows: Rows, agreement: Agreement, kernel: AgreementSums, witnesses: Witnesses) -> None:
        self.rows, self.of_numbers, self.kernel, self.witnesses = rows, agreement.of_numbers, kernel, witnesses
        order = np.argsort(rows.labels, kind="stable")
        every, place = self.asking(order), np.argsort(order)
        self.own = OwnCluster.of(every, self.witnesses, np.ones(rows.n), agreement.itself).only(place)
        self.agreeing = self.witnesses.agreeing(every.scope, every.value)[place]

    def asking(self, row: Ints) -> Askers:
        """Rows that ask as if all had one explanation, in order of prediction."""
        rows, none = self.rows, np.zeros(len(row), np.int64)
        columns = (rows.labels[row], rows.block[row], rows.weight[row], np.ones(len(row), bool))
        return Askers(none, np.zeros(1, np.int64), *columns, row)

    def reach(self, asks: Bools) -> float:
        """How much the recall of rows that ask leans on one row at most: max_j Σ_i w_i K(i, j) / Σ_k w_k K(i, k)."""
        if not self.of_numbers:
            return 1.0
        lean = sums(self.rows.labels, asks * self.rows.weight / self.agreeing, len(self.rows.names))
        return float(self.kernel.among_all(lean)[0].max())

    def others(self, asks: Bools) -> Floats | None:
        """Of numbers, per row that asks, the weight of rows of other clusters, each by its agreement."""
        return np.maximum(self.agreeing - self.own.agreeing, 0.0)[asks] if self.of_numbers else None


class PairSums(NamedTuple):
    """Sums over pairs by group of askers: with all rows (the first column), and without each block (the others).

    Attributes
    ----------
    askers, pairs, agreeing : (groups, 1 + blocks) arrays
        The weight of askers; of their pairs with witnesses of other clusters; and of these, each by its agreement.
    met : (groups, 1 + blocks) array of bool
        Whether there is such a pair, by counts.
    leaning : (blocks,) array
        How much the terms of askers lean on the witnesses of each block: without weights, on rows other than their own.
    """

    askers: Floats
    pairs: Floats
    agreeing: Floats
    met: Bools
    leaning: Floats

    @classmethod
    def of(cls, askers: Askers, witnesses: Witnesses, own: OwnCluster, even: bool) -> "PairSums":
        """Pairs without a block are all, less those whose asker is in it, less those whose witness is, plus both.

        `even` is whether rows are independent and count alike.
        """
        blocks = witnesses.weight.shape[1]
        covered, known = witnesses.weight[askers.scopes], askers.without(askers.weight * own.weight, blocks)
        mass, others = askers.without(askers.weight, blocks), without_each(covered)
        pairs = mass * others - known
        same, block = (witnesses.agreeing(askers.scope, askers.value, block) for block in (None, askers.block))
        entry, apart = askers.group * blocks + askers.block, askers.weight * (same - block)
        less = witnesses.answering(askers) + sums(entry, apart, len(askers.scopes) * blocks).reshape(-1, blocks)
        agreeing = np.empty(pairs.shape)
        agreeing[:, 0] = np.bincount(askers.group, askers.weight * same, minlength=len(pairs))
        np.subtract(agreeing[:, :1], less, out=agreeing[:, 1:])
        agreeing -= askers.without(askers.weight * own.agreeing, blocks)
        if even:
            met = pairs > 0
            leaning = mass[:, :1] * ratio(mass[:, :1] * covered - (known[:, :1] - known[:, 1:]), pairs[:, :1])
        else:
            rows = askers.without(np.ones(len(askers.row)), blocks)
            met = rows * without_each(witnesses.size)[askers.scopes] > askers.without(own.size, blocks)
            leaning = ratio(mass[:, :1], others[:, :1]) * covered
            agreeing = np.where(np.abs(pairs - agreeing) < _ALL * pairs, pairs, agreeing)
        return cls(mass, pairs, agreeing, met, leaning.sum(axis=0))
