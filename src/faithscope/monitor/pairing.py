"""Rows paired at random with rows of the same explanation: independent draws of agreement, whatever the time.

An arriving row is, by an independent coin, an *opener* or a *closer*. Within an explanation openers are matched with
closers at random, whatever their labels; rows left over wait. Openers in their order then have independent agreements
with their partners, and each has the consistency as its mean (`docs/proofs.md` proves it).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.seeds import mixed
from faithscope.monitor.canonical import Words

OPENER_SHARE = 0.25
SPARE_CLOSERS = 4  # of an explanation wait at most; others are dropped, whatever their labels


class Rows(NamedTuple):
    """Rows that arrive, or wait: the group within which each is matched, its explanation as 128 bits, label and day."""

    group: Ints
    high: Words
    low: Words
    label: Ints
    day: Ints
    closing: Bools

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> Self:
        """The rows of all parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def take(self, places: Any) -> Self:
        """The rows at these places."""
        return type(self)(*(column[places] for column in self))


class Pairs(NamedTuple):
    """Openers that found a partner, whether each agrees with it, and the rows that wait afterwards."""

    openers: Rows
    agreeing: Bools
    waiting: Rows


def sides(given: Ints, rng: np.random.Generator, share: float = OPENER_SHARE) -> tuple[Ints, Bools]:
    """The cell of each of the rows of cells, `given` each; and whether a coin makes it a closer, else it is an opener.

    Openers are a `share` of less than half, since those without a partner are silent.
    """
    cell = np.repeat(np.arange(len(given)), given)
    return cell, rng.random(len(cell)) >= share


def pair(arrivals: Rows, waiting: Rows, rng: np.random.Generator, spare: int = SPARE_CLOSERS) -> Pairs:
    """Openers find partners among closers of their explanation, the latest first, at random among those of a day.

    Who is matched depends on explanations, days, sides and `rng` alone, so that labels cannot favor a pair.

    Examples
    --------
    >>> label, rng = np.arange(1000) % 2, np.random.default_rng(0)
    >>> cell, closing = sides(np.ones(1000, int), rng)
    >>> same = np.zeros(1000, np.uint64)
    >>> rows = Rows(0 * cell, same, same, label, 0 * cell, closing)
    >>> pairs = pair(rows, rows.take(slice(0)), rng)
    >>> int((~closing).sum()), len(pairs.openers.day), len(pairs.waiting.day)
    (231, 231, 4)
    """
    rows = Rows.joined([arrivals, waiting])
    n = len(rows.group)
    if not n:
        return Pairs(rows, rows.closing, rows)
    key = mixed(rows.high ^ mixed(rows.low ^ mixed(rows.group.astype(np.uint64))))
    order = rng.permutation(n)
    order = order[np.lexsort((-rows.day[order], rows.closing[order], key[order]))]  # openers first
    rows, key = rows.take(order), key[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    size, openers = np.diff(first, append=n), np.add.reduceat(~rows.closing, first, dtype=np.int64)

    # What is known of an explanation, for each of its rows.
    begin, many, pairs = (np.repeat(each, size) for each in (first, openers, np.minimum(openers, size - openers)))
    # The r-th opener of an explanation is the partner of its r-th closer.
    rank = np.arange(n) - begin - np.where(rows.closing, many, 0)
    opening = np.flatnonzero(~rows.closing & (rank < pairs))
    partner = opening + many[opening]
    over = (rank >= pairs) & (~rows.closing | (rank < pairs + spare))
    return Pairs(rows.take(opening), rows.label[opening] == rows.label[partner], rows.take(over))
