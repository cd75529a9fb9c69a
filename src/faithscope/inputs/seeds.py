"""Seeds per row: the same row draws the same random numbers, whatever batch it is in."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import is_whole
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rows import rows_of

Cell = tuple[bytes, str]  # the bytes of a number, or the text of any other value


def row_seeds(seed: int, rows: Floats) -> list[int]:
    """A 64-bit seed per row, which is a hash of the seed and of the row's canonical bytes; -0.0 counts as 0.0."""
    start = _start(seed)
    return [int.from_bytes(_digest(start + row.tobytes()), "little") for row in canonical(rows)]


def canonical(numbers: Array) -> Floats:
    """Numbers as floats such that equal numbers have equal bytes: there is one zero, and one NaN."""
    plain = np.ascontiguousarray(numbers.astype("<f8") + 0.0)
    plain[np.isnan(plain)] = np.nan
    return plain


def generators(seed: int, rows: Floats) -> list[np.random.Generator]:
    """A random generator per row."""
    return [np.random.Generator(np.random.SFC64(row_seed)) for row_seed in row_seeds(seed, rows)]


def row_digests(seed: int, X: Any) -> list[bytes]:
    """Eight bytes per row of numbers, categories or texts; all missing values are alike."""
    start = _start(seed)
    if hasattr(X, "tocsr"):
        X = X.tocsr().toarray()
    cells = [_cells(column) for column in Rows(X, loose=True).measured()]
    if not cells:
        return [_digest(start)] * rows_of(X)
    digests = []
    for row in zip(*cells, strict=True):
        numbers, texts = zip(*row, strict=True)
        words = "\x1f".join(texts).encode() if any(texts) else b""  # each text in its place
        digests.append(_digest(b"".join([start, *numbers, words])))
    return digests


def _cells(column: Array) -> list[Cell]:
    """The cells of a column; each value is read by itself, so that the others cannot change it. Missing is NaN."""
    if column.dtype.kind in "biuf":
        return [(number.tobytes(), "") for number in canonical(column)]
    missing = missing_values(column)
    return [_MISSING if hole else _cell(item) for item, hole in zip(column.tolist(), missing.tolist(), strict=True)]


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return b"", repr(value)
    alone = Column("", to_objects([value])).measured
    return _cells(alone)[0] if alone.dtype.kind in "biuf" else (b"", repr(value))


_MISSING: Cell = (canonical(np.array([np.nan])).tobytes(), "")


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Words scattered by splitmix64's finalizer, so that their sums tell sets of words apart, in every process."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def check_seed(seed: Any) -> int:
    """A seed as an int; it must be a whole number of at most 127 bits."""
    if not is_whole(seed) or not -(2**127) <= int(seed) < 2**127:
        raise BadInput(f"seed must be a whole number of at most 127 bits; got {seed!r}.")
    return int(seed)


def _start(seed: int) -> bytes:
    return check_seed(seed).to_bytes(16, "little", signed=True)


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()
