"""One entry per row, and the random matching of openers with closers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Arrivals, Integers
from faithscope.counting.pairing.order import fits, packed


class Rows(NamedTuple):
    """The number of each row's explanation, its label, its day, and whether it is a closer."""

    numbers: Integers
    labels: NDArray[Any]
    days: Integers
    closing: NDArray[np.bool_]

    def take(self, places: NDArray[Any]) -> "Rows":
        """The rows at these places."""
        return Rows(*(column[places] for column in self))


def expanded(cells: Arrivals, numbers: Integers, closing: NDArray[np.bool_] | None = None) -> Rows:
    """The rows of cells, whose explanations have these numbers."""
    closing = np.zeros(len(cells), np.bool_) if closing is None else closing
    rows = Rows(numbers, cells.labels, cells.days, closing)
    return (
        rows if not len(cells) or cells.counts.max() <= 1 else rows.take(np.repeat(np.arange(len(cells)), cells.counts))
    )


def concatenated(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts; of empty parts nothing is read, not even the type of labels."""
    filled = [part for part in parts if len(part.numbers)] or parts[:1]
    return Rows(*(np.concatenate(columns) for columns in zip(*filled, strict=True)))


def matching(rows: Rows, explanations: int, spare: int, rng: np.random.Generator) -> tuple[Rows, NDArray[Any], Rows]:
    """Openers with a partner, the labels of their partners, and the rows left over.

    Rows are shuffled and then sorted by explanation, side and day, so that the order within them is random. The r-th
    opener of an explanation is the partner of its r-th closer.
    """
    rows = rows.take(_order(rows, rng))
    sizes = np.bincount(rows.numbers, minlength=explanations)
    openers = np.bincount(rows.numbers[~rows.closing], minlength=explanations)
    pairs = np.minimum(openers, sizes - openers)
    starts = np.cumsum(sizes) - sizes
    rank = _ranks(rows, starts, openers)
    paired = rank < pairs[rows.numbers]
    opening = np.flatnonzero(paired & ~rows.closing)
    kept = ~paired & (~rows.closing | (rank < pairs[rows.numbers] + spare))
    return rows.take(opening), rows.labels[opening + openers[rows.numbers[opening]]], rows.take(kept)


def _ranks(rows: Rows, starts: Integers, openers: Integers) -> Integers:
    """The place of each row among those of its explanation and side."""
    first = starts[rows.numbers] + np.where(rows.closing, openers[rows.numbers], 0)
    return np.arange(len(first)) - first


def _order(rows: Rows, rng: np.random.Generator) -> Integers:
    """Rows by explanation, side (openers first) and day (latest first), at random within these."""
    n = len(rows.numbers)
    if not n:
        return np.zeros(0, np.int64)
    shuffled = rng.permutation(n)
    side = rows.closing.astype(np.int64)
    age = int(rows.days.max()) - rows.days
    if not fits(rows.numbers, side, age, shuffled):
        return np.lexsort((shuffled, age, side, rows.numbers))
    words = np.sort(packed(rows.numbers, side, age, shuffled))
    places = np.empty(n, np.int64)
    places[shuffled] = np.arange(n)
    return np.asarray(places[words & ((1 << (n - 1).bit_length()) - 1)])
