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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from faithscope.agreements import GroupedRows
from faithscope.counting.counts import Counts
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Losses, Sums, ratio, without_each
from faithscope.counting.moments import Moments, SpreadCounts, spread_of, summed, whole
from faithscope.counting.pairs import Askers, Everybody, OwnCluster, PairSums, Witnesses
from faithscope.counting.rows import Rows
from faithscope.inputs.array_types import Array, Bools, Floats, Ints

_TABLE = 2**18  # kinds of rows x blocks worked on at once, so that they stay in cache
_ROUNDING = 1e-11  # of the weight of rows alike: below it, nobody is left
_RUNNING = 1e-13  # of all weight: differences of running sums are no more exact


# Share


def losses(rows: Array, same: Array, others: Array) -> list[Array]:
    """What rows with `same` agreeing of `others` other witnesses lose with one of them.

    With one other row fewer a term is s / (c - 1) instead of s / c, and (s - 1) / (c - 1) if that row agrees: how much
    terms change, how many rows become silent, how much terms lean on that row, and what to subtract if it agrees.
    """
    return [
        rows * (ratio(same, others - 1) - ratio(same, others)),
        rows * (others == 1),
        ratio(rows, others),
        ratio(rows * (same > 0), others - 1),
    ]


def share_losses(counts: Counts) -> Losses:
    """The losses of the terms of every explanation, from counts."""
    cells = np.flatnonzero(counts.given)
    which, same = counts.explanation[cells], counts.covered if counts.agreeing is None else counts.agreeing
    missed, met, total = counts.missed[cells], same[cells], counts.per_explanation[which]
    # Rows that their explanation covers do not count themselves.
    inside = losses(counts.given[cells] - missed, met - counts.agreement.itself, total - 1)
    *lost, alike = (a + b for a, b in zip(inside, losses(missed, met, total), strict=True))
    by_scope = np.stack([sums(which, column, counts.distinct) for column in lost])
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
    occupied, itself = np.flatnonzero(counts.given), counts.agreement.itself
    known = (counts.covered if counts.agreeing is None else counts.agreeing)[occupied]
    total = counts.per_explanation[counts.explanation[occupied]]
    agreeing, unmet, _ = counts.profile().terms
    left = max(1, counts.n - 1)
    same, others = known[cell] - itself * own, total[cell] - own
    alone, counted = others == 0, own & (others > 0)
    term = np.where(alone, 0.0, same / np.maximum(others, 1))
    # What the sums hold of its own term, which is left out as a whole.
    after = np.where(others > 1, (same - itself * (same > 0)) / np.maximum(others - 1, 1), 0.0)
    leaning = lost[2] - counted / np.maximum(others, 1)
    value = (agreeing - term + lost[0] - counted * (after - term)) / left
    silent = (unmet - alone + lost[1] - (counted & (others == 1))) / left
    return LeftOut(value, silent, float(leaning.max()), leaning + 1 - alone)


class ShareBlocks:
    """The share of any rows, without each block of them: batches of explanations add up.

    Attributes
    ----------
    sums : (k, 1 + blocks) array
        The sums of M̂ and of U, the weight of the rows that are not silent, and the `moments` of those that are: entry 0
        with all blocks, entry 1 + b without block b.
    leaning : (blocks,) array
        How much the terms of other rows lean on the rows of each block.
    """

    def __init__(self, blocks: int, even: bool, moments: Moments | None = None) -> None:
        self.even, self.moments = even, np.empty((0, 0)) if moments is None else moments
        self.sums, self.leaning = np.zeros((3 + len(self.moments), 1 + blocks)), np.zeros(blocks)

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats, Floats]:
        """What a batch of explanations adds; several threads may ask for it."""
        pairs = PairSums.of(askers, witnesses, own, self.even)
        silent = np.where(pairs.met, 0.0, pairs.askers)
        terms = np.where(pairs.met, pairs.askers * ratio(pairs.agreeing, pairs.pairs), 0.0)
        tables = [terms, silent, pairs.askers - silent]
        silenced = (without_each(askers.table(column[askers.row], len(self.leaning))) for column in self.moments)
        tables += [table * ~pairs.met for table in silenced]
        return np.stack([table.sum(axis=0) for table in tables]), pairs.leaning

    def add(self, terms: Floats, leaning: Floats) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.sums += terms
        self.leaning += leaning

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


@dataclass(frozen=True, eq=False)
class NecessityTerms:
    """Necessity and its chance level as sums over rows, and without each row, or each block of rows.

    Attributes
    ----------
    sums : Sums
        Rows, each by the share of the others with its prediction that its explanation covers (`agreeing`), and rows
        whose prediction nobody else gets (`silent`).
    chance : float or None
        The mean over rows that can be checked of the share of all others that their explanation covers; None if none.
    left_out : LeftOut or None
        Necessity without each row, or block; None if there is nothing to leave out.
    chance_left_out : (k,) array or None
        The chance level without each.
    """

    sums: Sums
    chance: float | None
    left_out: LeftOut | None = None
    chance_left_out: Floats | None = None


def recall_losses(counts: Counts) -> Losses:
    """Who has an explanation that covers a row: of its label (negative losses), and of rows that can be checked."""
    cells = np.flatnonzero(counts.given)
    which, given = counts.explanation[cells], counts.given[cells]
    checked = sums(which, given * (counts.per_label[counts.label[cells]] > 1), counts.distinct)
    alike = GroupedRows(which, counts.label[cells], -given.astype(np.float64))
    return Losses(np.stack([0.0 * checked, checked]), alike, counts.agreement_sums, len(counts.labels))


def recall_left_out(counts: Counts, reaching: Floats, cell: Ints, own: Bools) -> NecessityTerms:
    """The recall of labeled, independent rows that count alike, and the same without each; as `share_left_out`.

    With ``P_y`` the ordered pairs of rows with label y of which the explanation of the first covers the second, and
    ``n_y`` rows, label y adds ``P_y / (n_y - 1)``. Without row j of this label, all have one other row fewer, and
    ``P_y`` loses the pairs with j on either side.
    """
    occupied, sizes = np.flatnonzero(counts.given), counts.per_label
    given, missed, labels = (column[occupied] for column in (counts.given, counts.missed, counts.label))
    same, covered = counts.covered[occupied], counts.per_explanation[counts.explanation[occupied]]
    inside, checked, n = given - missed, sizes > 1, counts.n
    pairs, reached = (sums(labels, given * column - inside, len(sizes)) for column in (same, covered))
    by_label = np.where(checked, pairs / np.maximum(sizes - 1, 1), 0.0)
    whole = Sums(float(by_label.sum()), float(np.sum(sizes == 1)), float(n))
    everyone, sure = float(reached[checked].sum()), float(sizes[checked].sum())
    chance = everyone / (sure * (n - 1)) if sure else None
    if n < 2:
        return NecessityTerms(whole, chance)
    label = labels[cell]
    size = sizes[label]
    own_same, own_covered, alike = same[cell] - own, covered[cell] - own, reaching[0] - own
    left = (pairs[label] - own_same - alike) / np.maximum(size - 2, 1)
    value = whole.agreeing - by_label[label] + np.where(size > 2, left, 0.0)
    silent = whole.silent - (size == 1) + (size == 2)
    # If a label has two rows, the other one can no longer be checked: all pairs of both are lost, once.
    lost = np.where(size == 2, reached[label] - alike, np.where(size > 2, own_covered, 0))
    pairs_left = (sure - np.where(size > 2, 1, np.where(size == 2, 2, 0))) * (n - 2)
    by_chance = _shares(everyone - (reaching[1] - own * (size > 1)) - lost, pairs_left, pairs_left > 0)
    return NecessityTerms(whole, chance, LeftOut(value / (n - 1), silent / (n - 1)), by_chance)


class RecallBlocks:
    """The recall of any rows, without each block of them; a group are the rows of an explanation with one prediction.

    Attributes
    ----------
    sums : (4, 1 + blocks) array
        The weight of rows that can be checked, that of silent rows, and weights by share covered: of rows with the same
        prediction, and of all; as of `ShareBlocks`.
    """

    def __init__(self, everybody: Everybody) -> None:
        self.everybody, self.left = everybody, without_each(everybody.witnesses.weight)[0]
        self.sums = np.zeros((4, len(self.left)))

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats]:
        """What a batch of explanations adds."""
        blocks, total, weight = len(self.left) - 1, np.zeros(self.sums.shape), askers.weight
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
        return (total,)

    def add(self, terms: Floats) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.sums += terms

    def result(self, asks: Bools, heaviest: float) -> NecessityTerms:
        """The terms of all rows that were added, which are those that ask."""
        checked, silent, agreeing, reached = self.sums
        total = checked + silent  # all silent is exactly all
        whole = Sums(float(agreeing[0]), float(silent[0]), float(total[0]))
        chance = float(reached[0] / checked[0]) if checked[0] > 0 else None
        if len(total) < 3:
            return NecessityTerms(whole, chance)
        value, alone = (_shares(column[1:], total[1:], total[1:] > 0) for column in (agreeing, silent))
        by_chance = _shares(reached[1:], checked[1:], checked[1:] > 0)
        left_out = LeftOut(value, alone, self.everybody.reach(asks), heaviest=heaviest)
        return NecessityTerms(whole, chance, left_out, by_chance)


def _shares(part: Array, whole: Array, known: Bools) -> Floats:
    """Elementwise part / whole, from 0 to 1, if it is known; else 0."""
    return np.minimum(ratio(part, np.where(known, whole, 0.0)), 1.0)


# Gap


class GapLeftOut(NamedTuple):
    """The gap without each row, or without each block of rows.

    Attributes
    ----------
    value : (m,) array
        NaN if no row is left that can be tested.
    rows : (m,) array
        How many rows each value stands for.
    reach : float
        How much the terms of other rows lean on one row at most that their explanations cover.
    """

    value: Floats
    rows: Floats
    reach: float


class GapSums(NamedTuple):
    """Sums over rows, each by its weight.

    Attributes
    ----------
    gap : float
        Agreement with the others given the explanation, less that with the other rows covered, over rows with both.
    tested, alone, exclusive, total : float
        The weight of rows with both, of rows whose explanation nobody else was given, of the remaining rows whose
        explanation covers no row that was given another, and of all rows.
    without : GapLeftOut or None
        None for a single row, or for a single cluster.
    """

    gap: float
    tested: float
    alone: float
    exclusive: float
    total: float
    without: GapLeftOut | None = None


class GapPairs(NamedTuple):
    """Per explanation, rows that count alike: those given it, and the others that it covers.

    `alike` sums agreement over ordered pairs of rows given, `crossed` over pairs of a row given and another covered.
    """

    rows: Array
    met: Array
    alike: Array
    crossed: Array

    @property
    def both(self) -> Bools:
        """Whether there are pairs of both kinds."""
        return (self.rows > 1) & (self.met > 0)

    @property
    def terms(self) -> Floats:
        """What explanations add: ``P / (G - 1) - X / O``."""
        return np.where(self.both, ratio(self.alike, self.rows - 1) - ratio(self.crossed, self.met), 0.0)

    def losses(self) -> Floats:
        """With one other row fewer: how much terms change, how many rows are not tested, how much terms lean on it."""
        fewer = self._replace(met=self.met - 1)
        tested = self.both * self.rows
        return np.stack([fewer.terms - self.terms, tested * (self.met == 1), ratio(tested, self.met)])

    def sums(self) -> GapSums:
        """The sums of all explanations."""
        masks = (self.both, self.rows == 1, (self.rows > 1) & (self.met == 0))
        tested, alone, exclusive = (float(self.rows[mask].sum()) for mask in masks)
        return GapSums(float(self.terms.sum()), tested, alone, exclusive, float(self.rows.sum()))

    def without(self, which: Ints, alike: Array, crossed: Array) -> tuple[Floats, Ints]:
        """Without a row given explanations `which`: how much their terms change, and how many rows are not tested."""
        of = GapPairs(*(column[which] for column in self))
        after = GapPairs(of.rows - 1, of.met, of.alike - 2 * alike, of.crossed - crossed)
        return after.terms - of.terms, np.where(of.both, np.where(of.rows > 2, 1, 2), 0)


class Gap(NamedTuple):
    """Per cell of a row, what it needs to know to be left out: how much it agrees with others given, and covered."""

    pairs: GapPairs
    which: Ints
    alike: Array
    crossed: Array


def gap_pairs(counts: Counts) -> tuple[Gap, Losses]:
    """The pairs of all explanations, and what they lose with one other row that is covered.

    The `agreeing` and `reached` of counts, if there are any, are of other rows alone.
    """
    others: Array = counts.covered - (counts.given - counts.missed)
    met = sums(counts.explanation, others, counts.distinct) if counts.reached is None else counts.reached
    others = others if counts.agreeing is None else counts.agreeing
    cells, kernel, itself = np.flatnonzero(counts.given), counts.agreement_sums, counts.agreement.itself
    which, label, given, crossed = counts.explanation[cells], counts.label[cells], counts.given[cells], others[cells]
    alike = np.maximum(kernel.within(GroupedRows(which, label, given.astype(np.float64))) - itself, 0.0)
    columns = (given, given * alike, given * crossed)
    rows, agreed, between = (sums(which, column, counts.distinct) for column in columns)
    pairs = GapPairs(rows, met, agreed, between)
    lost = GroupedRows(which, label, -ratio(given * pairs.both[which], met[which] - 1))
    return Gap(pairs, which, alike, crossed), Losses(pairs.losses(), lost, kernel, len(counts.labels))


def gap_left_out(gap: Gap, lost: Floats, cell: Ints, own: Floats) -> GapSums:
    """The gap, and without each row; as `share_left_out`, but for rows of its own explanation.

    Parameters
    ----------
    own : (3, n) array
        What `lost` holds of a row's own explanation: a row is not among the others that it covers.
    """
    whole, less = gap.pairs.sums(), gap.pairs.without(gap.which[cell], gap.alike[cell], gap.crossed[cell])
    if whole.total < 2:
        return whole
    lost = lost - own
    left = whole.tested - lost[1] - less[1]
    value = np.divide(whole.gap + lost[0] + less[0], left, out=np.full(len(left), np.nan), where=left > 0.5)
    return whole._replace(without=GapLeftOut(value, np.ones(len(cell)), float(lost[2].max(initial=0.0))))


class GapBlocks:
    """The gap of any rows, without each block of them: batches of explanations add up.

    Attributes
    ----------
    sums : (4, 1 + blocks) array
        The gap, and the weight of rows that are tested, alone and exclusive (`GapSums`); as of `ShareBlocks`.
    both : list of arrays of bool
        Whether some row with each explanation can be tested, batch by batch.
    """

    def __init__(self, rows: Rows, itself: float) -> None:
        self.rows, self.itself = rows, itself
        self.sums, self.leaning, self.both = np.zeros((4, 1 + rows.blocks)), np.zeros(rows.blocks), list[Bools]()

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Floats, Floats, Bools]:
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
        leaning = (ratio(tested[:, None], weight.sum(axis=1, keepdims=True)) * weight).sum(axis=0)
        return np.stack([table.sum(axis=0) for table in tables]), leaning, tested > 0

    def add(self, terms: Floats, leaning: Floats, both: Bools) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.sums += terms
        self.leaning += leaning
        self.both.append(both)

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
        return whole._replace(without=GapLeftOut(without[0] / left, np.ones(blocks), reach))
