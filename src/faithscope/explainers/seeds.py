"""Chance that belongs to a row: the same row draws the same numbers, whatever batch it is in."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.distances import columns_of
from faithscope.explanations.inputs import missing_values


def row_seeds(seed: int, rows: NDArray[np.float64]) -> list[int]:
    """A 64-bit seed for each row, a hash of the seed and the row's canonical bytes; -0.0 counts as 0.0."""
    start = _start(seed)
    return [int.from_bytes(_digest(start, row.tobytes()), "little") for row in _canonical(rows)]


def _canonical(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers of which equal ones have equal bytes: one zero, and one NaN."""
    plain = np.ascontiguousarray(numbers.astype("<f8") + 0.0)
    plain[np.isnan(plain)] = np.nan
    return plain


def generators(seed: int, rows: NDArray[np.float64]) -> list[np.random.Generator]:
    """A generator for each row."""
    return [np.random.Generator(np.random.SFC64(one)) for one in row_seeds(seed, rows)]


def row_digests(seed: int, X: Any) -> list[bytes]:
    """Eight bytes for each row of any kind: numbers, categories or texts; all missing values are alike."""
    start = _start(seed)
    if hasattr(X, "tocsr"):
        X = X.tocsr().toarray()
    columns = columns_of(X)
    numbers = [_canonical(column) for column in columns if column.dtype.kind in "biuf"]
    others = [_without_kinds(column) for column in columns if column.dtype.kind not in "biuf"]
    plain = np.column_stack(numbers) if numbers else np.empty((len(columns[0]) if columns else 0, 0))
    texts = zip(*others, strict=True) if others else [()] * len(plain)
    pairs = zip(plain, texts, strict=True)
    return [_digest(start, row.tobytes() + "\x1f".join(map(repr, words)).encode()) for row, words in pairs]


def _without_kinds(column: NDArray[Any]) -> NDArray[Any]:
    """A column of objects in which everything that is missing is None."""
    plain = column.astype(object)
    plain[missing_values(column)] = None
    return plain


def check_seed(seed: Any) -> int:
    """A whole number of at most 127 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not -(2**127) <= int(seed) < 2**127:
        raise BadInput(f"seed must be a whole number of at most 127 bits; got {seed!r}.")
    return int(seed)


def _start(seed: int) -> "hashlib._Hash":
    return hashlib.blake2b(check_seed(seed).to_bytes(16, "little", signed=True), digest_size=8)  # type: ignore[return-value]


def _digest(start: "hashlib._Hash", content: bytes) -> bytes:
    one = start.copy()
    one.update(content)
    return one.digest()
