"""Digests of whole rows, whatever holds them: whether rows repeat, and which rows two tables share."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np
from scipy.special import pdtr

from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import EXACT, is_frame, to_array
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.grouping import Words, hash_rows
from faithscope.inputs.missing import is_missing
from faithscope.inputs.rows import rows_of

Block = Array  # float64 or int64

NOTICED = 0.01  # share of repeated rows below which nothing is said
LARGEST = 250  # occurrences up to which they are compared with what independent draws give
_UNLIKELY = 0.005
_MANY = 200_000  # rows above which a part of them is enough
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # what Python writes of objects that have no text of their own


def row_blocks(X: Any) -> list[Block] | None:
    """The cells of rows as blocks of numbers, (n, w): floats as they are, texts and the like by a digest, as integers.

    Equal cells are equal numbers in every process, whatever their types: 1, 1.0, True and float32(1). So are missing
    values, and dates whatever their unit. None if the rows cannot be read here.
    """
    try:
        if hasattr(X, "tocsr"):
            return _sparse(X.tocsr())
        array = None if is_frame(X) else to_array(X, "X")
        if array is not None and array.dtype.kind in "biuf" and not _beyond_floats(array):  # one block of all columns
            return [_floats(array.reshape(len(array), int(np.prod(array.shape[1:]))))]
        return list(map(_cells, Rows(X, loose=True).columns))
    except Exception:  # a caller's class may raise anything, and a note is not worth an error
        return None


def _cells(column: Column) -> Block:
    """A column as numbers that are equal for equal cells: floats if they hold all of them, else digests of texts."""
    values = column.values
    if values.dtype.kind == "m" or column.dated:
        return _moments(column)[:, None]
    if _beyond_floats(values):
        values = values.astype(object)
        column = Column("", values)
    numbers = column.numbers if column.family in ("number", "") else values
    if numbers.dtype.kind in "biuf":
        return _floats(numbers[:, None])
    return np.fromiter(map(_digest, values.tolist()), np.int64, len(values))[:, None]


def _beyond_floats(values: Array) -> bool:
    """Whether integers are so large that neighbors may be one float."""
    return values.dtype.kind in "iu" and bool(np.abs(values.astype(np.float64)).max(initial=0) >= EXACT)


def _floats(block: Array) -> Block:
    block = block.astype(np.float64, copy=False)
    with np.errstate(all="ignore"):
        if np.isfinite(block.sum()):
            return block
    return np.where(np.isnan(block), np.nan, block)  # a NaN may have a sign


def _moments(column: Column) -> Ints:
    """Dates or spans in microseconds, which hold all years; in nanoseconds if that makes a difference."""
    ticks, unit = column.ticks
    whole, rest = (ticks * (unit // 1000), ticks * 0) if unit >= 1000 else np.divmod(ticks, 1000 // unit)
    return np.where(column.missing, -(2**63), ticks if rest[~column.missing].any() else whole).astype(np.int64)


def _digest(item: Any) -> int:
    """52 bits of a text, or of the text of anything else: its length and a checksum."""
    if type(item) is not str:  # most are
        if is_missing(item):
            return -1
        item = str(item) if isinstance(item, str) else _text(item)
    return crc32(item.encode("utf-8", "surrogatepass")) | (len(item) & 0xFFFFF) << 32


def _text(item: Any) -> str:
    """A value as a text, the same in every process: equal values have equal texts, and no text holds an address."""
    beyond = isinstance(item, int | np.integer) and not (-(2**1023) < item < 2**1023 and int(float(item)) == item)
    if isinstance(item, Real | Decimal | np.bool_) and not beyond:
        return repr(float(item))
    if isinstance(item, list | tuple | set | frozenset):
        texts = map(_text, item)
        return f"({', '.join(sorted(texts) if isinstance(item, set | frozenset) else texts)})"
    text = repr(item)
    if _ADDRESS.search(text):
        raise TypeError(f"{text} has no text of its own")  # so that its rows cannot be read here
    return text


def _sparse(matrix: Any) -> list[Block]:
    """One digest per row of a sparse matrix: the sum of its entries, in single precision, with a factor per column."""
    matrix = matrix.astype(np.float32).astype(np.float64)  # as `row_hashes` compares them
    matrix.sum_duplicates()  # in the order of the columns, so that equal rows have equal sums
    sums = matrix @ np.random.default_rng(0).random(matrix.shape[1]) + 0.0
    return [sums.view(np.int64)[:, None]]


def row_hashes(X: Any) -> Words:
    """A 64-bit number per row, equal for equal rows in every process; none if the rows cannot be read here.

    Floats are compared in single precision, in which models often hold them.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool((row_hashes(X) == row_hashes(X.astype(np.float32))).all())
    True
    """
    with np.errstate(over="ignore"):
        blocks = [block.astype(np.float32) if block.dtype.kind == "f" else block for block in row_blocks(X) or ()]
    return hash_rows(blocks) if blocks else np.empty(0, np.uint64)


def new_rows(further: Any, X: Any) -> int:
    """How many different rows there are that X lacks; all of them if they cannot be compared."""
    hashes, known = row_hashes(further), row_hashes(X)
    return len(np.setdiff1d(hashes, known)) if len(hashes) and len(known) else rows_of(further)


def repeated_share(X: Any, beside: Callable[[Ints], Sequence[Array]]) -> float:
    """Share of rows that repeat an earlier row as a whole, if independent rows do not repeat so; otherwise 0.0.

    Of many rows a part is asked that holds all of the rows that are equal to one of its own.

    Parameters
    ----------
    X : rows
    beside : callable
        For the rows at some positions, further columns that must be equal too; asked only if rows of X repeat.
    """
    blocks = row_blocks(X)
    hashes = hash_rows(blocks) if blocks else np.empty(0, np.uint64)
    chosen = np.flatnonzero(hashes >> np.uint64(60) == 0) if len(hashes) > _MANY else np.arange(len(hashes))
    hashes = hashes[chosen]
    if len(hashes) - len(np.unique(hashes)) < max(1, NOTICED * len(hashes)):
        return 0.0
    further = [column[:, None] for column in beside(chosen)]
    counts = np.unique(hash_rows([hashes[:, None], *further]), return_counts=True)[1]
    return odd_share(*np.unique(counts, return_counts=True))


def odd_share(given: Ints, times: Ints) -> float:
    """Share of rows that repeat an earlier row, if independent rows do not repeat so; otherwise 0.0.

    ``times[j]`` different rows occur ``given[j]`` times.
    """
    n = int(given @ times)
    share = float(1 - times.sum() / max(1, n))
    counted = np.bincount(np.minimum(given, LARGEST + 2), times, LARGEST + 3).astype(np.int64)
    return share if share >= NOTICED and odd_occurrence(counted, n) is not None else 0.0


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
