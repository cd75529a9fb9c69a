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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.counts import Counts
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import LeftOut, Losses, Sums, ratio, without_each
from faithscope.counting.moments import Moments, SpreadCounts, SpreadParts
from faithscope.counting.pairs import Askers, OwnCluster, PairSums, Witnesses
from faithscope.counting.rows import Rows
from faithscope.inputs.array_types import Bools, Floats, Ints

_TABLE = 2**18  # kinds of rows x blocks worked on at once, so that they stay in cache
_ROUNDING = 1e-11  # of the weight of rows alike: below it, nobody is left
_RUNNING = 1e-13  # of all weight: differences of running sums are no more exact


# Share


def losses(rows: Any, same: Any, others: Any, divide: Any = ratio) -> list[Any]:
    """What rows with `same` agreeing of `others` other witnesses lose with one of them; arrays of NumPy or on a GPU.

    With one other row fewer a term is s / (c - 1) instead of s / c, and (s - 1) / (c - 1) if that row agrees: how much
    terms change, how many rows become silent, how much terms lean on that row, and what to subtract if it agrees.
    """
    return [
        rows * (divide(same, others - 1) - divide(same, others)),
        rows * (others == 1),
        divide(rows, others),
        divide(rows * (same > 0), others - 1),
    ]


def cell_losses(given: Any, covered: Any, missed: Any, total: Any, divide: Any = ratio) -> list[Any]:
    """The losses of the rows of cells; rows that their explanation covers do not count themselves."""
    lost = losses(given - missed, covered - 1, total - 1, divide)
    if bool(missed.any()):
        lost = [a + b for a, b in zip(lost, losses(missed, covered, total, divide), strict=True)]
    return lost


def share_losses(counts: Counts) -> Losses:
    """The losses of the terms of every explanation, from counts of labels."""
    cells = np.flatnonzero(counts.given)
    which = counts.explanation[cells]
    given, covered, missed = counts.given[cells], counts.covered[cells], counts.missed[cells]
    *lost, alike = cell_losses(given, covered, missed, counts.per_explanation[which])
    by_scope = np.stack([sums(which, column, counts.distinct) for column in lost])
    labels = len(counts.labels)
    return Losses(by_scope, which * labels + counts.label[cells], alike, labels)


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
    occupied = np.flatnonzero(counts.given)
    covered, total = counts.covered[occupied], counts.per_explanation[counts.explanation[occupied]]
    agreeing, unmet, _ = counts.profile().terms
    left = max(1, counts.n - 1)
    same, others = covered[cell] - own, total[cell] - own
    term, alone, counted = same / np.maximum(others, 1), others == 0, own & (others > 0)
    # What the sums hold of its own term, which is left out as a whole.
    changed = counted * (np.maximum(same - 1, 0) / np.maximum(others - 1, 1) - term)
    leaning = lost[2] - counted / np.maximum(others, 1)
    value = (agreeing - term + lost[0] - changed) / left
    silent = (unmet - alone + lost[1] - (counted & (others == 1))) / left
    return LeftOut(value, silent, float(leaning.max()), leaning + 1 - alone)


class ShareRows:
    """The share of rows with any agreement, without every row in turn; independent rows that count alike."""

    def __init__(self, rows: Rows, itself: float, sums: AgreementSums, moments: Moments | None) -> None:
        self.rows, self.itself, self.sums, self.moments = rows, itself, sums, moments
        self.term, self.others = np.zeros(rows.n), np.zeros(rows.n, np.int64)
        self.lost = np.zeros((3, rows.n))  # per row, over the explanations of others that cover it
        self.newly = None if moments is None else moments.times(np.zeros(rows.n, bool))  # of rows that become silent

    def add(self, askers: Askers, scope: Ints, row: Ints, agreeing: Floats) -> None:
        """Add a batch of explanations that cover pairs of an explanation and a row."""
        asking, given, own, many = askers.scope, askers.row, askers.inside, int(askers.scopes[-1]) + 1
        others = np.bincount(scope, minlength=many)[asking] - own
        same = np.where(others > 0, agreeing - self.itself * own, 0.0)
        *lost, alike = losses(np.ones(len(given)), same, others)
        self.term[given], self.others[given] = ratio(same, others), others
        order = np.lexsort((askers.value, asking))  # rows that are missed among those that are not
        asked = GroupedRows(asking[order], askers.value[order], alike[order])
        agreed = self.sums.at(asked, scope, self.rows.labels[row])
        of_itself = (lost[0] - self.itself * alike, lost[1], lost[2])
        for number, (total, column, mine) in enumerate(zip(self.lost, lost, of_itself, strict=True)):
            by_scope = sums(asking, column, many)[scope]
            total += np.bincount(row, by_scope - agreed if number == 0 else by_scope, minlength=self.rows.n)
            total[given] -= np.where(own, mine, 0.0)
        if self.moments is not None and self.newly is not None:
            few = np.flatnonzero(others == 1)
            becoming, these = self.moments[given[few]].sums(asking[few], many), given[few[own[few]]]
            met = np.flatnonzero(becoming.weight[scope] > 0)
            self.newly = self.newly + becoming[scope[met]].sums(row[met], self.rows.n)
            self.newly = self.newly - self.moments[these].sums(these, self.rows.n)

    def total(self) -> Sums:
        """The sums of terms and of silent rows."""
        return Sums(float(self.term.sum()), float(np.sum(self.others == 0)), float(self.rows.n))

    def left_out(self) -> LeftOut:
        """The share without each row."""
        left, alone = max(1, self.rows.n - 1), (self.others == 0).astype(np.float64)
        value = (self.term.sum() - self.term + self.lost[0]) / left
        silent = (alone.sum() - alone + self.lost[1]) / left
        return LeftOut(value, silent, float(self.lost[2].max()), self.lost[2] + 1 - alone)

    def spread(self, left_out: LeftOut, unit: float) -> SpreadCounts | None:
        """W, S and T of `Spread`, with all rows and without each."""
        if self.moments is None or self.newly is None:
            return None
        alone, everyone = self.others == 0, self.moments.whole()
        silent = self.moments[alone].whole()
        without = silent - self.moments.times(alone) + self.newly
        return _spread(self.total(), left_out, self.moments, (silent, without), everyone - self.moments, unit)


class ShareBlocks:
    """The share of any rows, without each block of them: batches of explanations add up.

    Attributes
    ----------
    agreeing, silent : (1 + blocks,) arrays
        The sums of M̂ and of U: entry 0 with all blocks, entry 1 + b without block b.
    checked : float
        The weight of the rows that are not silent, with no block left out.
    leaning : (blocks,) array
        How much the terms of other rows lean on the rows of each block.
    """

    def __init__(self, blocks: int, even: bool, moments: Moments | None = None) -> None:
        self.even, self.moments = even, moments
        self.agreeing, self.silent, self.leaning = np.zeros(1 + blocks), np.zeros(1 + blocks), np.zeros(blocks)
        self.checked = 0.0
        none = np.zeros(1 + blocks, bool)
        self.silenced = None if moments is None else moments[none.astype(np.int64)].times(none)

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster) -> tuple[Any, ...]:
        """What a batch of explanations adds; several threads may ask for it."""
        pairs = PairSums.of(askers, witnesses, own, self.even)
        silent = np.where(pairs.met, 0.0, pairs.askers)
        terms = np.where(pairs.met, pairs.askers * ratio(pairs.agreeing, pairs.pairs), 0.0)
        checked = float((pairs.askers[:, 0] - silent[:, 0]).sum())
        return terms.sum(axis=0), silent.sum(axis=0), checked, pairs.leaning, self._silenced(askers, ~pairs.met)

    def _silenced(self, askers: Askers, silent: Bools) -> Moments | None:
        """The moments of the rows that are silent with all blocks, and without each."""
        if self.moments is None:
            return None
        blocks = len(self.leaning)
        tables = self.moments[askers.row].sums(askers.group * blocks + askers.block, len(askers.scopes) * blocks)
        columns = (column.reshape(len(askers.scopes), blocks, -1) for column in tables.columns)
        whole = ((column.sum(axis=1, keepdims=True), column) for column in columns)
        left = (np.concatenate([total, total - column], axis=1) for total, column in whole)
        weight, own, total, square = ((column * silent[:, :, None]).sum(axis=0) for column in left)
        return Moments(weight[:, 0], own[:, 0], total, square[:, 0])

    def add(self, agreeing: Floats, silent: Floats, checked: float, leaning: Floats, silenced: Moments | None) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.agreeing += agreeing
        self.silent += silent
        self.checked += checked
        self.leaning += leaning
        if self.silenced is not None and silenced is not None:
            self.silenced = self.silenced + silenced

    def total(self) -> Sums:
        """The sums of weighted terms and of the weight of silent rows."""
        silent = float(self.silent[0])
        return Sums(float(self.agreeing[0]), silent, silent + self.checked)  # all silent is exactly all

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
        return LeftOut(self.agreeing[1:] / left, self.silent[1:] / left, reach, weight)

    def spread(self, left_out: LeftOut, unit: float, block: Ints, asking: Floats | None = None) -> SpreadCounts | None:
        """W, S and T of `Spread`, with all blocks and without each; `asking` is what asks of each block, if not all."""
        if self.moments is None or self.silenced is None:
            return None
        blocks = len(self.leaning)
        silent = self.silenced[np.zeros(1, np.int64)], self.silenced[np.arange(1, 1 + blocks)]
        everyone = self.moments.whole() - self.moments.sums(block, blocks)
        return _spread(self.total(), left_out, self.moments, silent, everyone, unit, asking)


def _spread(
    total: Sums,
    left_out: LeftOut,
    moments: Moments,
    silent: tuple[Moments, Moments],
    everyone: Moments,
    unit: float,
    asking: Floats | None = None,
) -> SpreadCounts:
    """From the moments of silent rows, with all and without each, and of all rows without each."""
    without = SpreadParts.of(left_out.value, silent[1], everyone)
    whole = SpreadParts.of(np.array([total.agreeing / total.total]), silent[0], moments.whole())
    if asking is not None:
        whole = whole.asked(moments.whole(), np.array([total.total]))
        without = without.asked(everyone, total.total - asking)
    return SpreadCounts(whole, without, total.silent / total.total, moments.kurtosis(), unit)


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
    labels = len(counts.labels)
    return Losses(
        np.stack([0.0 * checked, checked]), which * labels + counts.label[cells], -given.astype(np.float64), labels
    )


def recall_left_out(
    counts: Counts, reaching: Floats, cell: Ints, own: Bools, rows: Ints | None = None
) -> NecessityTerms:
    """The recall of labeled, independent rows that count alike, and the same without each; as `share_left_out`.

    Each entry may stand for several `rows`.

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
    return NecessityTerms(whole, chance, LeftOut(value / (n - 1), silent / (n - 1), rows=rows), by_chance)


class RecallBlocks:
    """The recall of any rows, without each block of them; a group are the rows of an explanation with one prediction.

    Parameters
    ----------
    everybody : Witnesses
        All rows, as of one explanation.
    """

    def __init__(self, everybody: Witnesses) -> None:
        self.everybody, self.left = everybody, without_each(everybody.weight)[0]
        # The weight of rows that can be checked, that of silent rows, and weights by share covered: of rows with the
        # same prediction, and of all.
        self.sums = np.zeros((4, len(self.left)))

    def terms(self, askers: Askers, witnesses: Witnesses, own: OwnCluster, own_all: OwnCluster) -> tuple[Floats]:
        """What a batch of explanations adds; `own_all` are the rows of an asker's cluster, covered or not."""
        blocks, total, weight = len(self.left) - 1, np.zeros(self.sums.shape), askers.weight
        new = np.any([np.diff(column, prepend=-1) for column in (askers.group, askers.value)], axis=0)
        starts, place = np.flatnonzero(new), np.cumsum(new) - 1
        columns = (1.0, own.agreeing, own.weight, own_all.agreeing, own_all.weight)
        known, step = [weight * column for column in columns], max(1, _TABLE // (1 + blocks))
        for start in range(0, len(starts), step):
            first = starts[start : start + step]
            part = slice(*np.searchsorted(place, [start, start + len(first)]))
            entry, size = (place[part] - start) * blocks + askers.block[part], len(first) * blocks
            tables = (np.bincount(entry, column[part], minlength=size).reshape(-1, blocks) for column in known)
            mass, near_alike, near, far_alike, far = map(without_each, tables)
            scope, value = askers.scope[first], askers.value[first]
            everyone = without_each(self.everybody.by_block(np.zeros(len(first), np.int64), value))
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

    def result(self, reach: float = 1.0, heaviest: float = 1.0) -> NecessityTerms:
        """The terms of all rows that were added."""
        checked, silent, agreeing, reached = self.sums
        total = checked + silent  # all silent is exactly all
        whole = Sums(float(agreeing[0]), float(silent[0]), float(total[0]))
        chance = float(reached[0] / checked[0]) if checked[0] > 0 else None
        if len(total) < 3:
            return NecessityTerms(whole, chance)
        value, alone = (_shares(column[1:], total[1:], total[1:] > 0) for column in (agreeing, silent))
        by_chance = _shares(reached[1:], checked[1:], checked[1:] > 0)
        return NecessityTerms(whole, chance, LeftOut(value, alone, reach, heaviest=heaviest), by_chance)


def _shares(part: NDArray[Any], whole: NDArray[Any], known: Bools) -> Floats:
    """Elementwise part / whole, from 0 to 1, if it is known; else 0."""
    part, whole, known = np.broadcast_arrays(part, whole, known)
    shares = np.divide(part, whole, out=np.zeros(part.shape), where=known)
    return np.asarray(np.clip(shares, 0.0, 1.0, out=shares))


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

    rows: NDArray[Any]
    met: NDArray[Any]
    alike: NDArray[Any]
    crossed: NDArray[Any]

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

    def without(self, which: Ints, alike: NDArray[Any], crossed: NDArray[Any]) -> tuple[Floats, Ints]:
        """Without a row given explanations `which`: how much their terms change, and how many rows are not tested."""
        of = GapPairs(*(column[which] for column in self))
        after = GapPairs(of.rows - 1, of.met, of.alike - 2 * alike, of.crossed - crossed)
        return after.terms - of.terms, np.where(of.both, np.where(of.rows > 2, 1, 2), 0)


def gap_pairs(counts: Counts) -> tuple[GapPairs, Losses]:
    """The pairs of all explanations from counts of labels, and what they lose with one other row that is covered."""
    others = counts.covered - (counts.given - counts.missed)
    given, which = counts.given, counts.explanation
    columns = (given, others, given * (given - 1), given * others)
    pairs = GapPairs(*(sums(which, column, counts.distinct) for column in columns))
    cells = np.flatnonzero(given)
    tested = given[cells] * pairs.both[which[cells]]
    labels = len(counts.labels)
    lost = -ratio(tested, pairs.met[which[cells]] - 1)
    return pairs, Losses(pairs.losses(), which[cells] * labels + counts.label[cells], lost, labels)


def gap_left_out(
    counts: Counts, pairs: GapPairs, lost: Floats, cell: Ints, own: Floats, rows: NDArray[Any] | None = None
) -> GapSums:
    """The gap of labels, and without one row of each kind; as `share_left_out`, but for rows of its own explanation.

    Parameters
    ----------
    own : (3, m) array
        What `lost` holds of a row's own explanation: a row is not among the others that it covers.
    """
    occupied = np.flatnonzero(counts.given)
    others = (counts.covered - (counts.given - counts.missed))[occupied][cell]
    less = pairs.without(counts.explanation[occupied][cell], counts.given[occupied][cell] - 1, others)
    return _gap_without(pairs.sums(), lost - own, less, np.ones(len(cell)) if rows is None else rows)


def _gap_without(whole: GapSums, lost: Floats, own: tuple[Floats, NDArray[Any]], rows: NDArray[Any]) -> GapSums:
    if whole.total < 2:
        return whole
    left = whole.tested - lost[1] - own[1]
    value = np.divide(whole.gap + lost[0] + own[0], left, out=np.full(len(left), np.nan), where=left > 0.5)
    return whole._replace(without=GapLeftOut(value, np.asarray(rows, np.float64), float(lost[2].max(initial=0.0))))


class GapRows:
    """The gap of rows with any agreement, without every row in turn; independent rows that count alike."""

    def __init__(self, rows: Rows, itself: float, sums: AgreementSums) -> None:
        self.rows, self.itself, self.sums = rows, itself, sums
        self.parts: list[GapPairs] = []
        self.lost = np.zeros((3, rows.n))
        self.less = np.zeros((2, rows.n))

    def add(self, askers: Askers, scope: Ints, row: Ints) -> Bools:
        """Add a batch of explanations that cover pairs of an explanation and another row; which can be tested."""
        asking, given, many = askers.scope, askers.row, int(askers.scopes[-1]) + 1
        order = np.lexsort((askers.value, asking))
        values, covered = askers.value[order], self.rows.labels[row]
        in_given = GroupedRows(asking[order], values, np.ones(len(given)))
        alike = np.maximum(self.sums.at(in_given, asking, askers.value) - self.itself, 0.0)
        crossed = self.sums.at(GroupedRows(scope, covered, np.ones(len(row))), asking, askers.value)
        sizes = (np.bincount(which, minlength=many) for which in (asking, scope))
        pairs = GapPairs(*sizes, *(np.bincount(asking, column, minlength=many) for column in (alike, crossed)))
        self.less[:, given] = pairs.without(asking, alike, crossed)
        agreed = self.sums.at(in_given, scope, covered) * (pairs.both / np.maximum(pairs.met - 1, 1))[scope]
        for number, (total, column) in enumerate(zip(self.lost, pairs.losses(), strict=True)):
            lost = column[scope] + agreed * (pairs.met[scope] > 1) if number == 0 else column[scope]
            total += np.bincount(row, lost, minlength=self.rows.n)
        self.parts.append(pairs)
        return pairs.both

    def result(self) -> GapSums:
        """The sums of all explanations that were added."""
        pairs = GapPairs(*map(np.concatenate, zip(*self.parts, strict=True)))
        return _gap_without(pairs.sums(), self.lost, (self.less[0], self.less[1]), np.ones(self.rows.n))


class GapBlocks:
    """The gap of any rows, without each block of them: batches of explanations add up."""

    def __init__(self, blocks: int) -> None:
        self.gap, self.tested, self.leaning = np.zeros(1 + blocks), np.zeros(1 + blocks), np.zeros(blocks)
        self.alone = self.exclusive = 0.0

    def add(
        self, askers: Askers, given: Witnesses, others: Witnesses, own: OwnCluster, own_others: OwnCluster
    ) -> Bools:
        """Add a batch of explanations; whether each of them can be tested."""
        a, b = PairSums.of(askers, given, own, even=False), PairSums.of(askers, others, own_others, even=False)
        both = a.askers * (a.met & b.met)
        self.gap += (both * (ratio(a.agreeing, a.pairs) - ratio(b.agreeing, b.pairs))).sum(axis=0)
        self.tested += both.sum(axis=0)
        mass, meets, meets_others = a.askers[:, 0], a.met[:, 0], b.met[:, 0]
        self.alone += float(mass[~meets].sum())
        self.exclusive += float(mass[meets & ~meets_others].sum())
        tested, weight = np.bincount(askers.scopes, both[:, 0]), others.weight
        self.leaning += (ratio(tested[:, None], weight.sum(axis=1, keepdims=True)) * weight).sum(axis=0)
        return tested > 0

    def result(self, per_block: Floats, units: int) -> GapSums:
        """The sums of all explanations that were added, from the weight of each block, and how many units there are."""
        total, blocks = float(per_block.sum()), len(self.leaning)
        whole = GapSums(float(self.gap[0]), float(self.tested[0]), self.alone, self.exclusive, total)
        if blocks < 2:
            return whole
        left = np.where(self.tested[1:] > 1e-9 * total, self.tested[1:], np.nan)
        apart = float((self.leaning - self.leaning.mean()).max())
        reach = float(self.leaning.sum()) / total + apart * units / total
        return whole._replace(without=GapLeftOut(self.gap[1:] / left, np.ones(blocks), reach))
