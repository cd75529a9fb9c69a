"""Leaving out rows, or blocks of rows, whose predictions are numbers: what the terms of other rows become."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Agreement, GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.leaving_out.block_sums import BlockSums, CoveredBlocks, StrangerPairs, without_each
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums, ratio
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.spread import Moments, SpreadCounts, SpreadParts

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Batch(NamedTuple):
    """Some explanations, the rows that they cover, and the rows that were given them.

    Attributes
    ----------
    many : int
        Number of explanations.
    which, row : (c,) arrays
        The explanation and the row of every pair of an explanation and a row that it covers, in order of explanation,
        then of prediction.
    asked, given : (g,) arrays
        The explanation of each row that was given one of them, and the row, in the same order.
    own : (g,) array
        Whether each given row is covered by its explanation.
    agreeing : (g,) array
        The weight of the rows that its explanation covers, each by its agreement with the given row.
    """

    many: int
    which: Ints
    row: Ints
    asked: Ints
    given: Ints
    own: NDArray[np.bool_]
    agreeing: Floats


class Familiar(NamedTuple):
    """Per given row, the covered rows of its own cluster: their weight, their number, and their agreement with it."""

    weight: Floats
    rows: Floats
    agreeing: Floats


class LeavingRows:
    """Leave out every row in turn: its own term, and the terms of all explanations that cover it.

    Parameters
    ----------
    rows : NumberedRows
    agreement, sums : Agreement and AgreementSums
    moments : Moments, optional
        Of each row; for `Spread`.
    """

    def __init__(
        self, rows: NumberedRows, agreement: Agreement, sums: AgreementSums, moments: Moments | None = None
    ) -> None:
        self.rows, self.itself, self.sums, self.moments = rows, agreement.itself, sums, moments
        self.term, self.others = np.zeros(rows.n), np.zeros(rows.n, np.int64)
        # Per row, over the explanations that cover it, itself not counted: how much terms change without it, how many
        # rows become silent, and how much terms lean on it.
        self.changed, self.silenced, self.leaning = np.zeros(rows.n), np.zeros(rows.n), np.zeros(rows.n)
        self.newly = None if moments is None else moments.where(np.zeros(rows.n, bool))  # of rows that become silent

    def add(self, batch: Batch) -> None:
        """Add a batch of explanations."""
        many, which, row, asked, given, own, agreeing = batch
        others = np.bincount(which, minlength=many)[asked] - own
        same = np.where(others > 0, agreeing - self.itself * own, 0.0)
        term, share = ratio(same, others), ratio(np.ones(len(given)), others)
        # One other row fewer: s / (c - 1) instead of s / c, less how much that row agreed, K / (c - 1).
        fewer = ratio(np.ones(len(given)), others - 1)
        changed, silent = same * fewer - term, (others == 1).astype(np.float64)
        self.term[given], self.others[given] = term, others
        agreed = self.sums.at(GroupedRows(asked, self.rows.labels[given], fewer), which, self.rows.labels[row])
        columns = (changed, silent, share)
        by_explanation = [np.bincount(asked, column, minlength=many)[which].astype(np.float64) for column in columns]
        by_explanation[0] -= agreed
        of_itself = (changed - self.itself * fewer, silent, share)
        totals = (self.changed, self.silenced, self.leaning)
        for total, column, itself in zip(totals, by_explanation, of_itself, strict=True):
            total += np.bincount(row, column, minlength=self.rows.n)
            total[given] -= np.where(own, itself, 0.0)
        if self.moments is not None and self.newly is not None:
            few = np.flatnonzero(others == 1)
            becoming, these = self.moments[given[few]].sums(asked[few], many), given[few[own[few]]]
            met = np.flatnonzero(becoming.weight[which] > 0)
            self.newly = self.newly + becoming[which[met]].sums(row[met], self.rows.n)
            self.newly = self.newly - self.moments[these].sums(these, self.rows.n)

    def total(self) -> Sums:
        """The sums of terms and of silent rows."""
        return Sums(float(self.term.sum()), float(np.sum(self.others == 0)), float(self.rows.n))

    def left_out(self) -> LeftOut:
        """The measure without each row."""
        left, alone = self.rows.n - 1, (self.others == 0).astype(np.float64)
        value = (self.term.sum() - self.term + self.changed) / left
        silent = (alone.sum() - alone + self.silenced) / left
        return LeftOut(value, silent, float(self.leaning.max()), self.leaning + 1 - alone)

    def spread(self, left_out: LeftOut, unit: float) -> SpreadCounts | None:
        """W, S and T of `Spread`, with all rows and without each."""
        if self.moments is None or self.newly is None:
            return None
        rows, alone, total = self.moments, self.others == 0, self.total()
        everyone, silent = rows.whole(), rows[alone].whole()
        without = SpreadParts.of(left_out.value, silent - rows.where(alone) + self.newly, everyone - rows)
        whole = SpreadParts.of(np.array([total.agreeing / total.total]), silent, everyone)
        return SpreadCounts(whole, without, total.silent / total.total, self.moments.kurtosis(), unit)


class LeavingBlocks:
    """Leave out blocks of rows: for many rows, weighted ones, and clusters. The parameters are those of `LeavingRows`.

    Rows are compared with rows of other clusters only; a row that is not clustered is a cluster of its own.
    """

    def __init__(
        self, rows: NumberedRows, agreement: Agreement, sums: AgreementSums, moments: Moments | None = None
    ) -> None:
        self.rows, self.itself, self.sums, self.moments = rows, agreement.itself, sums, moments
        self.weights = np.ones(rows.n) if rows.weights is None else rows.weights
        self.even = rows.weights is None and rows.clusters is None
        self.added = BlockSums(rows.blocks, weighted=not self.even)
        none = np.zeros(1 + rows.blocks, bool)
        self.silent = None if moments is None else moments[none.astype(np.int64)].where(none)  # of silent rows

    def add(self, batch: Batch) -> None:
        """Add a batch of explanations."""
        weight, own = self.weights, self.weights[batch.given]
        place_covered, place_given = self._places(batch)
        inside, missed = (self._table(batch, place_given, own * kind) for kind in (batch.own, ~batch.own))
        covered = self._table(batch, place_covered, weight[batch.row])
        rows = self._table(batch, place_covered, np.ones(len(batch.row)))
        familiar = self._familiar(batch)
        kinds = [(kind, own * kind) for kind in (batch.own, ~batch.own)]
        agreeing, met = (
            self._pairs(batch, mass) - without_each(self._table(batch, place_given, mass * familiar.agreeing))
            for _, mass in kinds
        )
        known, unmet = (self._table(batch, place_given, mass * familiar.weight) for _, mass in kinds)
        strangers = None
        if self.rows.clusters is not None:
            some, others = (self._strangers(batch, kind, rows, familiar, place_given) for kind, _ in kinds)
            pairs = without_each(missed) * without_each(covered) - without_each(unmet)
            strangers = StrangerPairs(some, others, pairs)
        tables = CoveredBlocks(inside, missed, known, agreeing, met, covered, rows, strangers)
        self.added.add(self.added.terms(tables))
        if self.moments is not None and self.silent is not None:
            left = without_each(rows)
            for kind, alone in ((batch.own, left == 1), (~batch.own, left == 0)):
                self.silent = self.silent + self._silent(self.moments, batch, kind, alone, place_given)

    def _table(self, batch: Batch, place: Ints, values: Floats) -> Floats:
        """Sums by explanation and block."""
        size = batch.many * self.rows.blocks
        return np.bincount(place, values, minlength=size).reshape(batch.many, -1).astype(np.float64)

    def _familiar(self, batch: Batch) -> "Familiar":
        """Per given row, the rows of its own cluster that its explanation covers, itself among them."""
        own = batch.own.astype(np.float64)
        if self.rows.clusters is None:
            weight = self.weights[batch.given] * own
            return Familiar(weight, own, self.itself * weight)
        labels, clusters = self.rows.labels, self.rows.clusters
        size = int(clusters.max()) + 1
        part, asked = batch.which * size + clusters[batch.row], batch.asked * size + clusters[batch.given]
        order = np.lexsort((labels[batch.row], part))
        sorted_parts, weights = part[order], self.weights[batch.row][order]
        agreeing = self.sums.at(
            GroupedRows(sorted_parts, labels[batch.row][order], weights), asked, labels[batch.given]
        )
        first, last = (np.searchsorted(sorted_parts, asked, side=side) for side in ("left", "right"))
        height = np.concatenate([[0.0], np.cumsum(weights)])
        return Familiar(height[last] - height[first], (last - first).astype(np.float64), agreeing)

    def _strangers(
        self, batch: Batch, kind: NDArray[np.bool_], rows: Floats, familiar: "Familiar", place: Ints
    ) -> NDArray[np.bool_]:
        """Whether some given row of a kind has a covered row of another cluster: with all blocks, and without each."""
        given, known = (self._table(batch, place, kind * values) for values in (np.ones(len(kind)), familiar.rows))
        return without_each(given) * without_each(rows) > without_each(known)

    def _places(self, batch: Batch) -> tuple[Ints, Ints]:
        """Per covered and per given row, its explanation and its block, as one number."""
        block, blocks = self.rows.block, self.rows.blocks
        return batch.which * blocks + block[batch.row], batch.asked * blocks + block[batch.given]

    def _pairs(self, batch: Batch, own: Floats) -> Floats:
        """The weight of the agreeing pairs of a given and a covered row: with all blocks, and without each.

        Pairs without block b are all pairs, less those whose given row is in b, less those whose covered row is in b,
        plus those with both: (explanations, 1 + blocks).
        """
        labels, (place_covered, place_given) = self.rows.labels, self._places(batch)
        covered, size = self.weights[batch.row], batch.many * self.rows.blocks
        of_covered = self.sums.at(GroupedRows(batch.asked, labels[batch.given], own), batch.which, labels[batch.row])
        order = np.argsort(place_covered, kind="stable")
        in_block = GroupedRows(place_covered[order], labels[batch.row][order], covered[order])
        both = self.sums.at(in_block, place_given, labels[batch.given])
        less = np.bincount(place_given, own * (batch.agreeing - both), minlength=size)
        less += np.bincount(place_covered, covered * of_covered, minlength=size)
        pairs = np.bincount(batch.asked, own * batch.agreeing, minlength=batch.many)[:, None]
        return np.hstack([pairs, pairs - less.reshape(batch.many, -1)])

    def _silent(
        self, moments: Moments, batch: Batch, kind: NDArray[np.bool_], alone: NDArray[np.bool_], place: Ints
    ) -> Moments:
        """The moments of the rows that are silent with all blocks, and without each: 1 + blocks sets."""
        blocks = self.rows.blocks
        tables = moments[batch.given].where(kind).sums(place, batch.many * blocks)
        columns = (column.reshape(batch.many, blocks, -1) for column in tables.columns)
        # Each explanation's rows with all blocks, and without each, as far as they are then silent.
        left = (
            np.concatenate([c.sum(axis=1, keepdims=True), c.sum(axis=1, keepdims=True) - c], axis=1) for c in columns
        )
        weight, own, total, square = ((column * alone[:, :, None]).sum(axis=0) for column in left)
        return Moments(weight[:, 0], own[:, 0], total, square[:, 0])

    def total(self) -> Sums:
        """The sums of weighted terms and of the weight of silent rows."""
        silent = float(self.added.silent[0])
        return Sums(float(self.added.agreeing[0]), silent, silent + self.added.checked)  # all silent is exactly all

    def left_out(self) -> LeftOut:
        """The measure without each block."""
        rows = self.rows
        per_block = np.bincount(rows.block, self.weights, minlength=rows.blocks).astype(np.float64)
        many = rows.n if rows.clusters is None else int(rows.clusters.max()) + 1
        return self.added.left_out(per_block, None if self.even else float(self.weights.sum() / many))

    def spread(self, left_out: LeftOut, unit: float) -> SpreadCounts | None:
        """W, S and T of `Spread`, with all blocks and without each."""
        if self.moments is None or self.silent is None:
            return None
        total, everyone = self.total(), self.moments.whole()
        by_block = self.moments.sums(self.rows.block, self.rows.blocks)
        first, others = np.zeros(1, np.int64), np.arange(1, 1 + self.rows.blocks)
        without = SpreadParts.of(left_out.value, self.silent[others], everyone - by_block)
        whole = SpreadParts.of(np.array([total.agreeing / total.total]), self.silent[first], everyone)
        return SpreadCounts(whole, without, total.silent / total.total, self.moments.kurtosis(), unit)
