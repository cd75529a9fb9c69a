"""Hashes of whole rows: which rows repeat an earlier one, and which rows two tables share, whatever holds them."""

import re
from decimal import Decimal
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np

from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import EXACT, is_frame, to_array
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.grouping import Words, hash_rows
from faithscope.inputs.missing import is_missing
from faithscope.inputs.rows import rows_of

Block = Array  # float64 or int64

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


def row_hashes(blocks: list[Block], *, single: bool = False) -> Words:
    """A 64-bit number per row, equal for equal rows in every process.

    Parameters
    ----------
    blocks : list of (n, w) arrays
        As `row_blocks` returns them.
    single : bool
        Whether floats are compared in single precision, in which models often hold them.
    """
    if not single:
        return hash_rows(blocks)
    with np.errstate(over="ignore"):
        return hash_rows([block.astype(np.float32) if block.dtype.kind == "f" else block for block in blocks])


def new_rows(further: Any, X: Any) -> int:
    """How many different rows there are that X lacks; all of them if they cannot be compared."""
    blocks, known = row_blocks(further), row_blocks(X)
    if not blocks or not known:
        return rows_of(further)
    return len(np.setdiff1d(row_hashes(blocks, single=True), row_hashes(known, single=True)))


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
    return np.where(column.missing, -(2**63), ticks if rest.any() else whole).astype(np.int64)


def _is_float(item: Any) -> bool:
    """Whether this is a number that a float holds, up to the rounding of decimals."""
    if not isinstance(item, Real | Decimal | np.bool_):
        return False
    return not isinstance(item, int | np.integer) or (-(2**1023) < item < 2**1023 and int(float(item)) == item)


def _digest(item: Any) -> int:
    """52 bits of a text, or of the text of anything else: its length and a checksum."""
    if type(item) is not str:  # most are
        if is_missing(item):
            return -1
        item = str(item) if isinstance(item, str) else _text(item)
    return crc32(item.encode("utf-8", "surrogatepass")) | (len(item) & 0xFFFFF) << 32


def _text(item: Any) -> str:
    """A value as a text, the same in every process: equal values have equal texts, and no text holds an address."""
    if _is_float(item):
        return repr(float(item))
    if isinstance(item, list | tuple | set | frozenset):
        texts = map(_text, item)
        return f"({', '.join(sorted(texts) if isinstance(item, set | frozenset) else texts)})"
    try:
        text, addresses = _ADDRESS.subn("", repr(item))
        return text + _text(item.__getstate__()) if addresses else text
    except Exception:  # a caller's class may raise anything
        return type(item).__name__


def _sparse(matrix: Any) -> list[Block]:
    """One digest per row of a sparse matrix: the sum of its entries, in single precision, with a factor per column."""
    matrix = matrix.astype(np.float32).astype(np.float64)  # as `row_hashes` may compare them
    matrix.sum_duplicates()  # in the order of the columns, so that equal rows have equal sums
    sums = matrix @ np.random.default_rng(0).random(matrix.shape[1]) + 0.0
    return [sums.view(np.int64)[:, None]]
