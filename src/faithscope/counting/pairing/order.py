"""Cells in an order that depends on what they hold and not on how they came: one sort of packed words."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BITS = 63


def explanation_numbers(
    groups: Integers, high: NDArray[np.uint64], low: NDArray[np.uint64]
) -> tuple[Integers, Integers]:
    """The number of each cell's (group, explanation) in the order of keys, and the place of one cell of each.

    Sorted by one word; only if that word is the same for different explanations, by all.
    """
    if not len(high):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    word = high ^ (groups.astype(np.uint64) * _MIX)
    order = np.arange(len(word)) if (word[1:] >= word[:-1]).all() else np.argsort(word, kind="stable")
    starts = _starts(order, high, low, groups)
    if np.count_nonzero(starts) != np.count_nonzero(_starts(order, word)):
        order = np.lexsort((low, high, groups))
        starts = _starts(order, high, low, groups)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(starts) - 1
    return numbers, order[starts]


def sorted_places(*columns: NDArray[Any]) -> tuple[Integers, Integers]:
    """Places sorted by the columns, the first one foremost, and where in them each different combination begins."""
    ranked = [_ranks(column) for column in columns]
    order = np.argsort(packed(*ranked), kind="stable") if fits(*ranked) else np.lexsort(ranked[::-1])
    return order, np.flatnonzero(_starts(order, *ranked))


def fits(*columns: Integers) -> bool:
    """Whether nonnegative columns fit side by side in one word."""
    return sum(map(_width, columns)) <= _BITS


def packed(*columns: Integers) -> Integers:
    """Nonnegative columns side by side in one word per place, the first one foremost."""
    word = columns[0].astype(np.int64)
    for column in columns[1:]:
        word = (word << _width(column)) | column
    return word


def _width(column: Integers) -> int:
    return int(column.max()).bit_length() if len(column) else 0


def _ranks(column: NDArray[Any]) -> Integers:
    """Numbers from 0 in the order of a column's values."""
    if column.dtype.kind in "biu" and column.dtype != np.uint64 and len(column):
        low = int(column.min())
        if int(column.max()) - low < 1 << 24:
            return column.astype(np.int64) - low
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def _starts(order: Integers, *columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Where in the order any column differs from the place before."""
    starts = np.ones(len(order), np.bool_)
    starts[1:] = False
    for column in columns:
        sorted_column = column[order]
        starts[1:] |= sorted_column[1:] != sorted_column[:-1]
    return starts
