"""Repeated rows: whether rows repeat as a whole, and more often than independent draws do."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from faithscope.inputs.grouping import Words, hash_rows
from faithscope.inputs.row_hashes import Block, part_by_content, row_blocks, row_hashes
from faithscope.inputs.rows import rows_of, take_rows

Ints = NDArray[np.int64]

TOO_HIGH = "the estimate tends to be too high"  # what notes on rows that are not independent say
NOTICED = 0.01  # share of repeated rows below which nothing is said
LARGEST = 250  # occurrences up to which they are compared with what independent draws give
_UNLIKELY = 0.005
_MANY = 200_000  # rows above which a part of them is enough
_ASKED = 16  # repeated rows that are compared with all others
_PROBED = 2_000  # rows whose values are counted by column


def repeated_share(X: Any, beside: Callable[[Ints], Sequence[NDArray[Any]]]) -> float:
    """Share of rows that repeat an earlier row as a whole, if that is more than chance gives; otherwise 0.0.

    Of many rows a part is asked that holds all of the rows that are equal to one of its own.

    Parameters
    ----------
    X : rows
    beside : callable
        For the rows at some positions, further columns that must be equal too; asked only if rows of X repeat.
    """
    part = part_by_content(X) if rows_of(X) > _MANY else None
    rows = np.arange(rows_of(X)) if part is None else part
    blocks = row_blocks(X if part is None else take_rows(X, part))
    if not blocks or len(rows) < 2:
        return 0.0
    hashes = row_hashes(blocks)
    chosen = np.flatnonzero(hashes >> np.uint64(60) == 0) if len(rows) > _MANY else np.arange(len(rows))
    if _share(hashes[chosen]) < NOTICED:
        return 0.0
    further = [column[:, None] for column in beside(rows[chosen])]
    first, counts = occurrences(hash_rows([hashes[chosen][:, None], *further]))
    share = 1 - len(first) / len(chosen)
    if share < NOTICED:
        return 0.0
    odd = odd_occurrence(by_occurrences(counts), len(chosen))
    return share if odd is not None or stand_out(blocks, hashes, chosen[first[counts > 1]]) else 0.0


def _share(hashes: Words) -> float:
    """Share of rows that repeat an earlier row, by their hashes."""
    ordered = np.sort(hashes)
    return float(np.count_nonzero(ordered[1:] == ordered[:-1]) / max(1, len(ordered)))


def occurrences(hashes: Words) -> tuple[Ints, Ints]:
    """The earliest row of each different row, and how many rows are equal to it."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(hashes) else order
    return order[first], np.diff(first, append=len(hashes))


def by_occurrences(counts: Ints) -> Ints:
    """How many things occur 0, 1, 2, … times, as `odd_occurrence` takes it, from how often each of them occurs."""
    return np.bincount(np.minimum(counts, LARGEST + 2), minlength=LARGEST + 3)


def odd_occurrence(times: Ints, n: int) -> int | None:
    """The k for which too many things occur k times beside those that occur k - 1 and k + 1 times; None if none is.

    If n draws are independent, whatever they are drawn from, the number F_k of things that occur k times has
    ``E F_k = C(n, k) Σ (1 - p)^n (p / (1 - p))^k``: up to the binomial factor the k-th moment of a measure. So, by
    Cauchy and Schwarz, ``E F_{k+1} >= k / (k + 1) · (n - k) / (n - k + 1) · (E F_k)² / E F_{k-1}``. Rows that were
    logged twice break this: many occur twice, few once or three times.

    Parameters
    ----------
    times : array
        ``times[k]`` is the number of things that occur k times; the last entry holds all that occur more often.
    n : int
        How many draws there were.

    Examples
    --------
    >>> odd_occurrence(np.array([0, 0, 500, 0, 0, 0, 0, 0, 0, 0]), 1000)
    2
    >>> odd_occurrence(np.array([0, 500, 100, 20, 4, 1, 0, 0, 0, 0]), 781) is None
    True
    """
    k = np.arange(2, len(times) - 2)  # the last entry holds all that occur more often
    fewer, here, more = (times[k + step].astype(np.float64) for step in (-1, 0, 1))
    # Two standard errors (of Poisson counts) in favor of independence, since only the expectations obey the law.
    here, fewer = np.maximum(here - 2 * np.sqrt(here), 0.0), fewer + 2 * np.sqrt(fewer) + 4
    least = k / (k + 1) * np.maximum(n - k, 0) / np.maximum(n - k + 1, 1) * here**2 / fewer
    odd = k[pdtr(more, least) < _UNLIKELY]
    return int(odd[0]) if len(odd) else None


def stand_out(blocks: list[Block], hashes: Words, repeated: Ints) -> bool:
    """Whether repeated rows resemble no other row, so that they are no chance repeats of a table of few categories.

    Such tables have no column whose values are nearly all different, and have rows beside the repeated ones that differ
    in one feature: in one column, or in two of two values each if it is encoded as one column per category.

    Parameters
    ----------
    blocks, hashes
        The cells of all rows, and their hashes.
    repeated : array
        One row of each of the different rows that repeat.
    """
    if not _tell_apart(blocks, hashes):
        return False
    asked = repeated[np.linspace(0, len(repeated) - 1, min(_ASKED, len(repeated))).astype(np.int64)]
    others = slice(None, None, -(-len(hashes) // _MANY))
    columns, cells = _cells([block[others] for block in blocks]), _cells([block[asked] for block in blocks])
    steps = [1 if _has_two_values(column) else 2 for column in columns]
    nearest = [_nearest(columns, cells[:, i], steps, hashes[others] != hashes[row]) for i, row in enumerate(asked)]
    return float(np.median(nearest)) > 2


def _cells(blocks: list[Block]) -> Words:
    """The cells of rows as (columns, rows), each a number that is equal for equal cells; NaN is equal to NaN."""
    return np.concatenate([_words(block) for block in blocks])


def _words(block: Block) -> Words:
    if block.dtype.kind != "f":
        return np.ascontiguousarray(block.T).view(np.uint64)
    return np.asarray(np.add(block.T, 0.0, order="C").view(np.uint64))  # -0.0 is 0.0


def _tell_apart(blocks: list[Block], hashes: Words) -> bool:
    """Whether some column has half as many values as there are different rows, by a few of them."""
    step = -(-len(hashes) // _PROBED)
    few = step * np.unique(hashes[::step], return_index=True)[1]
    return any(2 * len(np.unique(column)) >= len(few) for column in _cells([block[few] for block in blocks]))


def _has_two_values(column: Words) -> bool:
    different = column[column != column[0]]
    return not len(different) or bool((different == different[0]).all())


def _nearest(columns: Words, row: Words, steps: Sequence[int], others: NDArray[np.bool_]) -> int:
    """In how many steps a row becomes the nearest of the others; 0 if there are no others."""
    away = np.zeros(columns.shape[1], np.uint32)
    for column, cell, step in zip(columns, row, steps, strict=True):
        away += (column != cell) * np.uint32(step)
    return int(away[others].min()) if others.any() else 0
