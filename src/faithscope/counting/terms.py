"""Share, recall and gap: what groups of rows add to each measure, and the same without each row or block of rows.

- ``share`` (consistency, sufficiency, within): a group of weight m adds ``m P / Q``, where Q is the weight of its pairs
  with witnesses and P that of the agreeing ones; it is silent if there are none.
- ``recall`` (necessity): ``m P / A``, where A is the same sum over all rows instead of those that are covered.
- ``gap`` (encoding): ``m (P_a / Q_a - P_b / Q_b)``, where a are the others given the explanation, and b the rows
  that it covers and that were given another.

A group are the rows that were given an explanation, for recall those of them with one prediction. If rows are
independent and count alike, all rows of a group have as many pairs, so that each row counts alike too.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import GroupedRows
from faithscope.counting.counts import Counts
from faithscope.counting.layout import divided, sums
from faithscope.counting.leave_out import LeftOut, Losses, Sums, ratio, without_each
from faithscope.counting.moments import Moments, SpreadCounts, spread_of, summed, whole
from faithscope.counting.pairs import Askers, Everybody, OwnCluster, PairSums, Witnesses
from faithscope.counting.rows import Rows
from faithscope.inputs.array_types import Array, Bools, Floats, Ints

_TABLE = 2**18  # kinds of rows x blocks worked on at once, so that they stay in cache
_ROUNDING = 1e-11  # of the weight of rows alike: below it, nobody is left
_RUNNING = 1e-13  # of all weight: differences of running sums are no more exact


class BlockSums:
    """Sums over groups of any rows, with all blocks of rows and without each: batches of explanations add up.

    Attributes
    ----------
    sums : (k, 1 + blocks) array
        Entry 0 is with all blocks, entry 1 + b without block b.
    leaning : (blocks,) array
        How much the terms of other rows lean on the rows of each block.
    """

    def __init__(self, many: int, blocks: int) -> None:
        self.sums, self.leaning = np.zeros((many, 1 + blocks)), np.zeros(blocks)

    def add(self, terms: Floats, leaning: Floats) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.sums += terms
        self.leaning += leaning


def _given(counts: Counts) -> tuple[Ints, Ints, Array]:
    """The cells that rows were given, their explanations, and the covered rows of each by their agreement."""
    cells = np.flatnonzero(counts.given)
    return cells, counts.explanation[cells], (counts.covered if counts.agreeing is None else counts.agreeing)[cells]


# Share


def share_losses(counts: Counts) -> Losses:
    """The losses of the terms of every explanation: how much they change, how many rows are silenced, how they lean.

    Rows that their explanation covers are not their own witnesses, and a group apart from those that it misses.
    """
    cells, which, agreeing = _given(counts)
    total, missed = counts.per_explanation, counts.missed[cells]
    by_scope, alike = np.zeros((3, counts.distinct)), np.zeros(len(cells))
    inside = counts.given[cells] - missed, agreeing - counts.agreement.itself, total - 1
    for rows, same, others in (inside, (missed, agreeing, total)):
        asking, pairs = (sums(which, column, counts.distinct) for column in (rows, rows * same))
        silenced = asking * (others == 1) - asking * (others == 0)
        by_scope += ratio(pairs, others - 1) - ratio(pairs, others), silenced, ratio(asking, others)
        alike += ratio(rows, others[which] - 1)
    return Losses(by_scope, GroupedRows(which, counts.label[cells], alike), counts.agreement_sums, len(counts.labels))


def share_left_out(counts: Counts, lost: Floats, cell: Ints, own: Bools) -> LeftOut:
    """The share without each row in turn: its own term is left out, and others lose it as a witness.

    Parameters
    ----------
    lost : (3, m) array
        For each row, or kind of rows, sums of `share_losses` over the explanations that cover it, its own among them.
    cell : (m,) array
        Its cell among those to which a row belongs.
    own : (m,) array
        Whether it is covered by its own explanation.
    """
    _, which, known = _given(counts)
    others, twice = counts.per_explanation[which][cell] - own, 2 * counts.agreement.itself * own
    agreeing, unmet, _ = counts.profile().terms
    left, rest = max(1, counts.n - 1), others - own
    # If its explanation covers it, `lost` has it as a witness of itself, and it agrees with itself.
    value = (agreeing + lost[0] - divided(known[cell] - twice, rest, 0.0)) / left
    leaning = lost[2] - ratio(own, others)
    return LeftOut(value, (unmet + lost[1] - (rest == 0)) / left, float(leaning.max()), leaning + (others > 0))


class ShareBlocks(BlockSums):
    """The share: sums of M̂ and of U, the weight of the rows that are not silent, and `moments` of those that are."""

    def __init__(self, blocks: int, even: bool, moments: Moments | None = None) -> None:
        self.even, self.moments = even, np.empty((0, 0)) if moments is None else moments
        super().__init__(3 + len(self.moments), blocks)

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats, Floats]:
        """What a batch of explanations adds; several threads may ask for it."""
        pairs = PairSums.of(askers, witnesses, own, self.even)
        silent = np.where(pairs.met, 0.0, pairs.askers)
        terms = np.where(pairs.met, pairs.askers * ratio(pairs.agreeing, pairs.pairs), 0.0)
        tables = [terms, silent, pairs.askers - silent]
        silenced = (askers.without(column[askers.row], len(self.leaning)) for column in self.moments)
        tables += [table * ~pairs.met for table in silenced]
        return np.stack([table.sum(axis=0) for table in tables]), pairs.leaning

    def total(self) -> Sums:
        """The sums of weighted terms and of the weight of silent rows."""
        agreeing, silent, checked = self.sums[:3, 0].tolist()
        return Sums(agreeing, silent, silent + checked)  # all silent is exactly all

    def left_out(self, per_block: Floats, units: float) -> LeftOut:
        """The share without each block, of which the weight is given, as is the number of rows or clusters that ask.

        If rows count alike, the weight of each in the measure follows from the variance between blocks, into which they
        are dealt at random.
        """
        n, blocks, leaning = float(per_block.sum()), len(per_block), self.leaning
        left = np.maximum(n - per_block, _ROUNDING * n)
        reach = 1 + float((leaning - leaning.mean()).max()) * units / n
        weight = None
        if self.even:
            among = float(np.var(leaning, ddof=1)) * blocks / n if blocks > 1 else 0.0
            weight = np.full(blocks, math.sqrt(n * ((1 + float(leaning.sum()) / n) ** 2 + among) / blocks))
        return LeftOut(self.sums[0, 1:] / left, self.sums[1, 1:] / left, reach, weight)

    def spread(self, left_out: LeftOut, unit: float, block: Ints, asking: Floats | None = None) -> SpreadCounts | None:
        """W, S and T of `Spread`, with all blocks and without each; `asking` is what asks of each block, if not all."""
        if not len(self.moments):
            return None
        silent, blocks = self.sums[3:], len(self.leaning)
        without = whole(self.moments) - summed(self.moments, block, blocks)
        return spread_of(self.total(), left_out, self.moments, (silent[:, :1], silent[:, 1:]), without, unit, asking)


# Recall


def recall_losses(counts: Counts) -> Losses:
    """Who has an explanation that covers a row: of its label (negative losses), and of rows that can be checked."""
    cells = np.flatnonzero(counts.given)
    which, given = counts.explanation[cells], counts.given[cells]
    checked = sums(which, given * (counts.per_label[counts.label[cells]] > 1), counts.distinct)
    alike = GroupedRows(which, counts.label[cells], -given.astype(np.float64))
    return Losses(np.stack([0.0 * checked, checked]), alike, counts.agreement_sums, len(counts.labels))


def recall_left_out(counts: Counts, reaching: Floats, cell: Ints, own: Bools) -> dict[str, Any]:
    """The recall of labeled, independent rows that count alike, and the same without each; as `share_left_out`.

    A group are the rows with one label, and its pairs those of which the explanation of the first covers the second.
    """
    cells, which, same = _given(counts)
    given, labels, sizes, n = counts.given[cells], counts.label[cells], counts.per_label, counts.n
    covered, inside = counts.per_explanation[which], given - counts.missed[cells]
    pairs, reached = (sums(labels, given * column - inside, len(sizes)) for column in (same, covered))
    terms, alone, checked = ratio(pairs, sizes - 1), sizes == 1, sizes > 1
    whole = Sums(float(terms.sum()), float(alone.sum()), float(n))
    everyone, sure = float(reached[checked].sum()), float(sizes[checked].sum())
    chance = everyone / (sure * (n - 1)) if sure else None
    if n < 2:
        return {"sums": whole, "chance": chance}
    label, alike = labels[cell], reaching[0] - own
    # If a label has two rows, the other one can no longer be checked: all pairs of both are lost, once.
    tested, both = checked[label], sizes[label] == 2
    left = ratio(pairs[label] - (same[cell] - own + alike), sizes[label] - 2)
    value, silent = whole.agreeing + left - terms[label], whole.silent + both - alone[label]
    lost = reaching[1] - own * tested + tested * np.where(both, reached[label] - alike, covered[cell] - own)
    pairs_left = (sure - tested * (1 + both)) * (n - 2)
    by_chance = _shares(everyone - lost, pairs_left, pairs_left > 0)
    left_out = LeftOut(value / (n - 1), silent / (n - 1))
    return {"sums": whole, "chance": chance, "left_out": left_out, "chance_left_out": by_chance}


class RecallBlocks(BlockSums):
    """The recall, of which a group are the rows of an explanation with one prediction.

    Sums are the weight of rows that can be checked, that of silent rows, and weights by share covered: of rows with the
    same prediction, and of all.
    """

    def __init__(self, everybody: Everybody) -> None:
        self.everybody, self.left = everybody, without_each(everybody.witnesses.weight)[0]
        super().__init__(4, len(self.left) - 1)

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats, Floats]:
        """What a batch of explanations adds."""
        blocks, total, weight = len(self.leaning), np.zeros(self.sums.shape), askers.weight
        new = np.any([np.diff(column, prepend=-1) for column in (askers.group, askers.value)], axis=0)
        starts, place, own_all = np.flatnonzero(new), np.cumsum(new) - 1, self.everybody.own.only(askers.row)
        columns = (1.0, own.agreeing, own.weight, own_all.agreeing, own_all.weight)
        known, step = [weight * column for column in columns], max(1, _TABLE // (1 + blocks))
        for start in range(0, len(starts), step):
            first = starts[start : start + step]
            part = slice(*np.searchsorted(place, [start, start + len(first)]))
            entry, size = (place[part] - start) * blocks + askers.block[part], len(first) * blocks
            tables = (np.bincount(entry, column[part], minlength=size).reshape(-1, blocks) for column in known)
            mass, near_alike, near, far_alike, far = map(without_each, tables)
            scope, value = askers.scope[first], askers.value[first]
            everyone = without_each(self.everybody.witnesses.by_block(np.zeros(len(first), np.int64), value))
            alike, others = mass * everyone - far_alike, mass * self.left - far
            checked = alike > mass * np.maximum(_ROUNDING * everyone[:, :1], _RUNNING * self.left[0])
            same = mass * without_each(witnesses.by_block(scope, value)) - near_alike
            covered = mass * without_each(witnesses.weight[scope]) - near
            share, chance = _shares(same, alike, checked), _shares(covered, others, checked & (others > 0))
            sure = mass * checked
            total += np.stack([each.sum(axis=0) for each in (sure, mass * ~checked, sure * share, sure * chance)])
        return total, np.zeros(blocks)

    def result(self, asks: Bools, heaviest: float) -> dict[str, Any]:
        """What `Coverage` tells of all rows that were added, which are those that ask.

        Its `sums` are over rows, each by the share of the others with its prediction that its explanation covers
        (`agreeing`), and rows whose prediction nobody else gets (`silent`). Its `chance` is the mean over rows that can
        be checked of the share of all others that their explanation covers; None if there are none.
        """
        checked, silent, agreeing, reached = self.sums
        total = checked + silent  # all silent is exactly all
        whole = Sums(float(agreeing[0]), float(silent[0]), float(total[0]))
        chance = float(reached[0] / checked[0]) if checked[0] > 0 else None
        told = {"sums": whole, "chance": chance, "others": self.everybody.others(asks)}
        if len(total) < 3:
            return told
        value, alone = (_shares(column[1:], total[1:], total[1:] > 0) for column in (agreeing, silent))
        by_chance = _shares(reached[1:], checked[1:], checked[1:] > 0)
        left_out = LeftOut(value, alone, self.everybody.reach(asks), heaviest=heaviest)
        return {**told, "left_out": left_out, "chance_left_out": by_chance}


def _shares(part: Array, whole: Array, known: Bools) -> Floats:
    """Elementwise part / whole, from 0 to 1, if it is known; else 0."""
    return np.minimum(ratio(part, np.where(known, whole, 0.0)), 1.0)


# Gap


class GapSums(NamedTuple):
    """Sums over rows, each by its weight.

    Attributes
    ----------
    gap : float
        Agreement with the others given the explanation, less that with the other rows covered, over rows with both.
    tested, alone, exclusive, total : float
        The weight of rows with both, of rows whose explanation nobody else was given, of the remaining rows whose
        explanation covers no row that was given another, and of all rows.
    without : LeftOut or None
        The gap without each row, or block of rows, NaN if no row is left that can be tested; `reach` is how much the
        terms of other rows lean on one row at most that their explanations cover. None for a single row, or cluster.
    """

    gap: float
    tested: float
    alone: float
    exclusive: float
    total: float
    without: LeftOut | None = None


def gap_of_rows(
    counts: Counts, codes: Ints, labels: Ints, cell: Ints, own: Bools, lost_by_row: Callable[[Losses], Floats]
) -> tuple[GapSums, Bools]:
    """The gap, and without each row; and whether rows with each explanation can be tested.

    The `agreeing` and `reached` of counts, if there are any, are of other rows alone.

    Parameters
    ----------
    codes, labels, cell, own : (n,) arrays
        The explanation and the prediction of each row, its cell, and whether its own explanation covers it.
    lost_by_row : callable
        Gives, for each row, the losses of the explanations that cover it.
    """
    others: Array = counts.covered - (counts.given - counts.missed)
    met = sums(counts.explanation, others, counts.distinct) if counts.reached is None else counts.reached
    others = others if counts.agreeing is None else counts.agreeing
    cells, kernel, itself = np.flatnonzero(counts.given), counts.agreement_sums, counts.agreement.itself
    which, label, given, crossed = counts.explanation[cells], counts.label[cells], counts.given[cells], others[cells]
    alike = np.maximum(kernel.within(GroupedRows(which, label, given.astype(np.float64))) - itself, 0.0)
    columns = (given, given * alike, given * crossed)
    rows, agreed, between = (sums(which, column, counts.distinct) for column in columns)

    def gap(asking: Array, agreed: Array, met: Array, between: Array) -> tuple[Floats, Array]:
        """What explanations add, and how many of the rows that ask have witnesses of both kinds."""
        tested = asking * ((asking > 1) & (met > 0))
        return np.where(tested > 0, ratio(agreed, asking - 1) - ratio(between, met), 0.0), tested

    (terms, tested), alone = gap(rows, agreed, met, between), rows == 1
    many = [float(column.sum()) for column in (terms, tested, alone, rows * (met == 0) * ~alone, rows)]
    whole = GapSums(many[0], many[1], many[2], many[3], many[4])
    if counts.n < 2:
        return whole, tested > 0
    fewer, testable = gap(rows, agreed, met - 1, between)
    by_scope = np.stack([fewer - terms, tested - testable, ratio(tested, met)])
    by_agreement = GroupedRows(which, label, -ratio(given * (tested > 0)[which], met[which] - 1))
    losses = Losses(by_scope, by_agreement, kernel, len(counts.labels))
    mine = by_scope[:, codes]  # of the row itself, which is not among the others that it covers
    mine[0] -= kernel.at(by_agreement, codes, labels)
    lost = lost_by_row(losses) - own * mine
    at = which[cell]
    kept, checked = gap(rows[at] - 1, agreed[at] - 2 * alike[cell], met[at], between[at] - crossed[cell])
    left = whole.tested - lost[1] - tested[at] + checked
    change = whole.gap + lost[0] + kept - terms[at]
    value = np.divide(change, left, out=np.full(len(left), np.nan), where=left > 0.5)
    without = LeftOut(value, np.zeros(len(cell)), float(lost[2].max(initial=0.0)))
    return whole._replace(without=without), tested > 0


class GapBlocks(BlockSums):
    """The gap: sums of it, and of the weight of rows that are tested, alone and exclusive (`GapSums`).

    Attributes
    ----------
    both : list of arrays of bool
        Whether some row with each explanation can be tested, batch by batch, as they come.
    """

    def __init__(self, rows: Rows, itself: float) -> None:
        self.rows, self.itself, self.both = rows, itself, list[Bools]()
        super().__init__(4, rows.blocks)

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats, Floats]:
        """What a batch of explanations adds."""
        given, others = witnesses.apart(askers)
        among = np.ones(len(askers.row)), np.zeros(len(askers.row))
        a, b = (
            PairSums.of(askers, side, OwnCluster.of(askers, side, known, self.itself), even=False)
            for side, known in zip((given, others), among, strict=True)
        )
        both = a.askers * (a.met & b.met)
        gap = both * (ratio(a.agreeing, a.pairs) - ratio(b.agreeing, b.pairs))
        tables = (gap, both, a.askers * ~a.met, a.askers * (a.met & ~b.met))
        tested, weight = np.bincount(askers.scopes, both[:, 0]), others.weight
        self.both.append(tested > 0)
        leaning = (ratio(tested[:, None], weight.sum(axis=1, keepdims=True)) * weight).sum(axis=0)
        return np.stack([table.sum(axis=0) for table in tables]), leaning

    def result(self) -> GapSums:
        """The sums of all explanations that were added."""
        total, blocks = float(self.rows.per_block.sum()), self.rows.blocks
        gap, tested, alone, exclusive = map(float, self.sums[:, 0])
        whole = GapSums(gap, tested, alone, exclusive, total)
        if blocks < 2:
            return whole
        without = self.sums[:, 1:]
        left = np.where(without[1] > 1e-9 * total, without[1], np.nan)
        apart = float((self.leaning - self.leaning.mean()).max())
        reach = float(self.leaning.sum()) / total + apart * self.rows.units / total
        return whole._replace(without=LeftOut(without[0] / left, np.zeros(blocks), reach))
