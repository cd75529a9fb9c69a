"""Rows paired at random with rows of the same explanation: independent draws of agreement, whatever the time.

An arriving row is, by an independent coin, an *opener* or a *closer*. Within an explanation openers are matched with
closers at random, whatever their labels; rows left over wait. Openers in their order then have independent agreements
with their partners, and each has the consistency as its mean (`docs/proofs.md` proves it).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithscope.inputs.array_types import Array, Bools, Floats, Ints

Words = NDArray[np.uint64]

OPENER_SHARE = 0.25
SPARE_CLOSERS = 4
_HEAVY = 16  # rows of one explanation and day beyond which pairs are drawn as from urns
_TABLE = 2  # and so many rows per pair of its labels
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BITS = 63


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that arrive together, or wait: `counts` rows of a group with an explanation, a label and a day.

    Parameters
    ----------
    high, low
        The 128 bits that stand for an explanation, shape (n_cells,) each.
    labels
        Codes of labels that never change.
    days
        Days as integers; rows of later days are matched first.
    counts
        How many such rows there are; cells may repeat.
    groups
        Codes of groups: only rows of one group are matched.
    opening
        How many of a cell's rows are openers, the others being closers; None if coins are still to decide.

    Examples
    --------
    >>> cells = Cells.of([1, 1], [1, 1], [0, 0], days=0, counts=[3, 3], opening=[1, 1]).merged()
    >>> cells.counts.tolist(), cells.opening.tolist()
    ([6], [2])
    """

    high: Words
    low: Words
    labels: Array
    days: Ints
    counts: Ints
    groups: Ints
    opening: Ints | None = None

    @classmethod
    def of(
        cls,
        high: ArrayLike,
        low: ArrayLike,
        labels: ArrayLike,
        days: ArrayLike,
        counts: ArrayLike,
        groups: ArrayLike = 0,
        opening: ArrayLike | None = None,
    ) -> Self:
        """Cells from arrays; a single day or group is that of all."""
        words = np.asarray(high, np.uint64)

        def whole(column: ArrayLike) -> Ints:
            return np.broadcast_to(np.asarray(column, np.int64), len(words))

        opens = None if opening is None else whole(opening)
        return cls(
            words, np.asarray(low, np.uint64), np.asarray(labels), whole(days), whole(counts), whole(groups), opens
        )

    @classmethod
    def none(cls) -> Self:
        """No rows: nobody waits."""
        return cls.of([], [], np.zeros(0, np.int64), [], [], [], [])

    @classmethod
    def joined(cls, parts: Iterable["Cells"]) -> Self:
        """The cells of all parts."""
        columns: Any = zip(*(vars(part).values() for part in parts), strict=True)
        joined: list[Any] = [None if column[0] is None else np.concatenate(column) for column in columns]
        return cls(*joined)

    def __len__(self) -> int:
        return len(self.high)

    def take(self, places: Any) -> Self:
        """The cells at these places."""
        return replace(self, **{name: column[places] for name, column in vars(self).items() if column is not None})

    def merged(self) -> Self:
        """The same rows in an order that depends on them alone, every kind of row in one cell."""
        kept = self.take(self.counts > 0) if (self.counts <= 0).any() else self
        numbers, _ = explanation_numbers(kept.groups, kept.high, kept.low)
        order, first = sorted_places(numbers, kept.days, kept.labels)
        if len(first) == len(kept) and np.array_equal(order, first):
            return kept  # already so
        added = {"counts": kept.counts} | ({} if kept.opening is None else {"opening": kept.opening})
        sums = {name: np.add.reduceat(column[order], first) for name, column in added.items()}
        return replace(kept.take(order[first]), **sums)


@dataclass(frozen=True)
class Pairs:
    """What a batch adds, by group and by the day on which the opener arrived, and who waits afterwards.

    `openers` arrived, `matched` of that day's openers found a partner now, and `agreeing` is the sum of their
    agreements.
    """

    groups: Ints
    days: Ints
    openers: Ints
    matched: Ints
    agreeing: Floats
    waiting: Cells

    def __add__(self, other: Self) -> Self:
        """What both add, for groups of which none is in both."""
        *columns, waiting = zip(vars(self).values(), vars(other).values(), strict=True)
        joined: list[Any] = [*map(np.concatenate, columns), Cells.joined(waiting)]
        return type(self)(*joined)


class _Rows(NamedTuple):
    """The number of each row's explanation, its label, its day, and whether it is a closer."""

    numbers: Ints
    labels: Array
    days: Ints
    closing: Bools

    def take(self, places: Array) -> "_Rows":
        return _Rows._make(column[places] for column in self)


def pair(
    arrivals: Cells,
    waiting: Cells,
    rng: np.random.Generator,
    *,
    share: float = OPENER_SHARE,
    spare: int = SPARE_CLOSERS,
) -> Pairs:
    """Arriving rows become openers and closers by a coin, and find partners among each other and among those that wait.

    The answer depends on the rows and on `rng`, never on the order of rows or on how they are divided into cells. Who
    is matched depends on explanations, days and `rng` alone, so that labels cannot favor a pair. The latest rows are
    matched first.

    Parameters
    ----------
    arrivals
        If it says how many rows of a cell open, `share` is not read.
    waiting
        Rows that wait. Those whose explanations did not arrive are returned as they are, so a store need not hand
        them over.
    share
        The probability of being an opener: less than half, since an opener without a partner is silent.
    spare
        How many closers of an explanation wait at most. Others are dropped, whatever their labels.

    Examples
    --------
    >>> arrivals = Cells.of([7], [7], [1], days=0, counts=[1000])
    >>> pairs = pair(arrivals, Cells.none(), np.random.default_rng(0))
    >>> int(pairs.openers[0]), int(pairs.matched[0]), float(pairs.agreeing[0]), int(pairs.waiting.counts.sum())
    (269, 269, 269.0, 4)
    """
    arrivals, waiting = arrivals.merged(), waiting.merged()
    group, high, low, day = (
        np.concatenate([getattr(arrivals, name), getattr(waiting, name)]) for name in ("groups", "high", "low", "days")
    )
    numbers, places = explanation_numbers(group, high, low)
    new, old = np.split(numbers, [len(arrivals)])
    groups, group_of = np.unique(group[places], return_inverse=True)
    days = np.unique(day)
    sums = np.zeros((3, len(groups) * len(days)))  # openers, matched, agreeing

    def tally(which: int, numbers: Ints, opened: Ints, amounts: Array) -> None:
        cells = group_of[numbers] * len(days) + np.searchsorted(days, opened)
        sums[which] += np.bincount(cells, amounts, minlength=sums.shape[1])

    # Explanations with many rows on a day: pairs drawn as from urns, whatever the number of rows.
    starts = np.flatnonzero(_starts(new, arrivals.days))
    sizes = np.diff(starts, append=len(new))
    total = np.add.reduceat(arrivals.counts, starts) if len(starts) else sizes
    heavy = total > np.maximum(_HEAVY, _TABLE * sizes**2)
    left = np.zeros((2, len(arrivals)), np.int64)  # openers, closers
    for size in np.unique(sizes[heavy]):  # units with as many labels are drawn together
        first = starts[heavy & (sizes == size)]
        cells = first[:, None] + np.arange(size)
        counts, labels = arrivals.counts[cells], arrivals.labels[cells]
        openers = rng.binomial(counts, share) if arrivals.opening is None else arrivals.opening[cells]
        closers = counts - openers
        matched = np.minimum(openers.sum(axis=1), closers.sum(axis=1))
        chosen, partners = _chosen(openers, matched, rng), _chosen(closers, matched, rng)
        agreeing, unmatched = np.zeros(len(first)), partners
        for place in range(size):  # partners of the openers of one label after the other
            drawn = _chosen(unmatched, chosen[:, place], rng)
            unmatched = unmatched - drawn
            agreeing += (drawn * (labels[:, [place]] == labels)).sum(axis=1)
        over = closers - partners
        left[0, cells] = openers - chosen
        left[1, cells] = _chosen(over, np.minimum(spare, over.sum(axis=1)), rng)
        for which, amounts in enumerate((openers.sum(axis=1), matched, agreeing)):
            tally(which, new[first], arrivals.days[first], amounts)

    # All others one by one, with those left over and those that wait.
    light = np.repeat(~heavy, sizes)
    few = _expanded(arrivals.take(light), new[light], share, rng)
    tally(0, few.numbers[~few.closing], few.days[~few.closing], np.ones(np.count_nonzero(~few.closing)))
    rest = np.repeat(np.tile(np.arange(len(arrivals)), 2), left.ravel())
    closing = np.repeat(np.array([False, True]), left.sum(axis=1))
    many = _Rows(new[rest], arrivals.labels[rest], arrivals.days[rest], closing)
    parts = [few, many, _expanded(waiting, old, share, rng)]
    # Of no rows nothing is read, not even the type of labels.
    filled = [part for part in parts if len(part.numbers)] or parts[:1]
    rows = _Rows(*(np.concatenate(columns) for columns in zip(*filled, strict=True)))
    opening, partner_labels, over = _matching(rows, len(places), spare, rng)
    tally(1, opening.numbers, opening.days, np.ones(len(opening.numbers)))
    tally(2, opening.numbers, opening.days, opening.labels == partner_labels)

    cell = places[over.numbers]
    ones = np.ones(len(cell), np.int64)
    waits = Cells(high[cell], low[cell], over.labels, over.days, ones, group[cell], np.where(over.closing, 0, ones))
    kept = np.flatnonzero(sums.any(axis=0))
    opened, matched = sums[:2, kept].astype(np.int64)
    return Pairs(groups[kept // len(days)], days[kept % len(days)], opened, matched, sums[2, kept], waits.merged())


def _chosen(counts: Ints, rows: Ints, rng: np.random.Generator) -> Ints:
    """So many rows of each unit at random, by label: label by label, hypergeometric among those that are left."""
    drawn, rest = np.zeros_like(counts), counts.sum(axis=1)
    for place in range(counts.shape[1] - 1):
        rest = rest - counts[:, place]
        drawn[:, place] = rng.hypergeometric(counts[:, place], rest, rows)
        rows = rows - drawn[:, place]
    drawn[:, -1] = rows
    return drawn


def _expanded(cells: Cells, numbers: Ints, share: float, rng: np.random.Generator) -> _Rows:
    """The rows of cells, whose explanations have these numbers: openers first, or by a coin each."""
    counts, rows = cells.counts, int(cells.counts.sum())
    if cells.opening is None:
        closing = rng.random(rows) >= share
    else:
        closing = np.arange(rows) >= np.repeat(np.cumsum(counts) - counts + cells.opening, counts)
    return _Rows(np.repeat(numbers, counts), np.repeat(cells.labels, counts), np.repeat(cells.days, counts), closing)


def _matching(rows: _Rows, explanations: int, spare: int, rng: np.random.Generator) -> tuple[_Rows, Any, _Rows]:
    """Openers with a partner, the labels of their partners, and the rows left over.

    Rows are shuffled and then sorted by explanation, side (openers first) and day (latest first), so that the order
    within them is random. The r-th opener of an explanation is the partner of its r-th closer.
    """
    n = len(rows.numbers)
    age = rows.days.max(initial=0) - rows.days
    rows = rows.take(_order(rows.numbers, rows.closing.astype(np.int64), age, rng.permutation(n)))
    sizes = np.bincount(rows.numbers, minlength=explanations)
    openers = np.bincount(rows.numbers[~rows.closing], minlength=explanations)
    first = (np.cumsum(sizes) - sizes)[rows.numbers] + np.where(rows.closing, openers[rows.numbers], 0)
    rank = np.arange(n) - first
    pairs = np.minimum(openers, sizes - openers)[rows.numbers]
    opening = np.flatnonzero((rank < pairs) & ~rows.closing)
    over = (rank >= pairs) & (~rows.closing | (rank < pairs + spare))
    return rows.take(opening), rows.labels[opening + openers[rows.numbers[opening]]], rows.take(over)


def explanation_numbers(groups: Ints, high: Words, low: Words) -> tuple[Ints, Ints]:
    """The number of each cell's (group, explanation) in the order of keys, and the place of one cell of each."""
    order = np.lexsort((low, high, groups, high ^ (groups.astype(np.uint64) * _MIX)))
    starts = _starts(high[order], low[order], groups[order])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(starts) - 1
    return numbers, order[starts]


def sorted_places(*columns: Array) -> tuple[Ints, Ints]:
    """Places sorted by the columns, the first one foremost, and where in them each different combination begins."""
    ranked = [_ranks(column) for column in columns]
    order = _order(*ranked)
    return order, np.flatnonzero(_starts(*(column[order] for column in ranked)))


def _ranks(column: Array) -> Ints:
    """Numbers from 0 in the order of a column's values."""
    if column.dtype.kind in "biu" and column.dtype != np.uint64 and len(column):
        low = int(column.min())
        if int(column.max()) - low < 1 << 24:
            return column.astype(np.int64) - low
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _order(*columns: Ints) -> Ints:
    """Places sorted by nonnegative columns: by one word, if they fit side by side in it."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > _BITS:
        return np.lexsort(columns[::-1])
    word = columns[0]
    for column, width in zip(columns[1:], widths[1:], strict=True):
        word = (word << width) | column
    return np.argsort(word)


def _starts(*columns: Array) -> Bools:
    """Where any of the sorted columns differs from the place before."""
    starts = np.ones(len(columns[0]), np.bool_)
    starts[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return starts
