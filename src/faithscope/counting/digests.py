"""Digests: a 64-bit number per row that depends on its content and not on its position; equal rows have equal ones."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import FaithscopeError
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.inputs.arrays import frame_column, frame_width, is_frame, to_vector
from faithscope.inputs.grouping import Words, hash_rows


def combined(words: Iterable[Words], n: int) -> Words:
    """One number per row from several; the order of `words` matters."""
    columns = [column[:, None] for column in words]
    return hash_rows(columns) if columns and n else np.zeros(n, np.uint64)


def row_words(X: Any) -> list[Words]:
    """Digests of the columns of X: a table, an array, a sparse matrix, documents or a caller's own objects."""
    if X is None:
        return []
    if hasattr(X, "tocsr"):
        return [_sparse(X.tocsr())]
    if is_frame(X):
        return [word for j in range(frame_width(X)) for word in _table_words(X, j)]
    if hasattr(X, "to_numpy"):
        return [value_words(to_vector(X))]
    array = np.asarray(X) if hasattr(X, "__array__") else None
    if array is None or array.dtype == object or array.ndim == 0:
        return [_texts_words(X)]
    return [value_words(column) for column in array.reshape(len(array), int(np.prod(array.shape[1:]))).T]


def explanation_words(explanations: Explanations) -> list[Words]:
    """Digests of the explanation of each row: equal explanations have equal digests."""
    if isinstance(explanations, Shared):  # numbered in order of appearance
        return [_texts_words(explanations.distinct)[explanations.codes]]
    return [
        value_words(part)
        for column in explanations.scope_key
        for part in ([column] if column.ndim == 1 else list(column.T))
    ]


def value_words(column: NDArray[Any]) -> Words:
    """One digest per value of a column."""
    kind = column.dtype.kind
    if kind == "f":
        plain = column.astype(np.float64) + 0.0  # -0.0 is 0.0
        plain[np.isnan(plain)] = np.nan
        return plain.view(np.uint64)
    if kind in "Mm":
        column = column.view(np.int64) if column.flags.c_contiguous else column.copy().view(np.int64)
    return column.astype(np.uint64) if kind in "biuMm" else _texts_words(column)


def _table_words(frame: Any, j: int) -> list[Words]:
    """The digest of one column of a table; none if it cannot be read, since no condition can read it either."""
    with suppress(FaithscopeError):
        return [value_words(to_vector(frame_column(frame, j)))]
    return []


def _sparse(matrix: Any) -> Words:
    """One digest per row of a sparse matrix: a sum over its entries, so that their order does not matter."""
    matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    cells = [matrix.indices.astype(np.uint64), value_words(matrix.data)]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(combined(cells, len(matrix.data)), dtype=np.uint64)])
    return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]], np.uint64)


def _texts_words(items: Iterable[Any]) -> Words:
    known: dict[str, int] = {}
    texts = map(_text, items)
    return np.array(
        [known[text] if text in known else known.setdefault(text, _number(text)) for text in texts], np.uint64
    )


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _text(item: Any) -> str:
    """A value as a text: equal values have equal texts. Members of a set are sorted."""
    if isinstance(item, str):
        return repr(item)
    if isinstance(item, np.ndarray):
        item = item.tolist()
    if isinstance(item, list | tuple):
        return f"({', '.join(map(_text, item))})"
    if isinstance(item, set | frozenset):
        return f"{{{', '.join(sorted(map(_text, item)))}}}"
    try:
        return f"{type(item).__name__} {item!r}"
    except Exception:  # a caller's class may raise anything
        return type(item).__name__
