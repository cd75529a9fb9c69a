"""Rows, whatever they are held in: how many there are, and some of them."""

from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.axes import shape_of
from faithscope.inputs.queries import refuse_query
from faithscope.inputs.tensors import is_tensor, to_host


def take_rows(X: Any, rows: Ints) -> Any:
    """The rows of X at these positions, in the library's own form."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "take") and (hasattr(X, "num_rows") or (hasattr(X, "null_count") and hasattr(X, "type"))):
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def flat_rows(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Rows of images or series as rows of numbers, with the axes of one of them; any other rows as they are, with None.

    A tensor becomes an array of NumPy.

    Examples
    --------
    >>> rows, axes = flat_rows(np.zeros((10, 1, 8, 8)))
    >>> rows.shape, axes
    ((10, 64), (1, 8, 8))
    """
    array = to_host(X) if is_tensor(X) else np.asarray(X) if len(shape_of(X)) > 2 else X
    if not isinstance(array, np.ndarray) or array.ndim < 3:
        return array, None
    return array.reshape(len(array), int(np.prod(array.shape[1:]))), array.shape[1:]


def rows_of(X: Any) -> int:
    """The number of rows of X."""
    refuse_query(X, "X")
    shape = getattr(X, "shape", None)
    counted = shape != () if isinstance(shape, tuple) else hasattr(X, "__len__")
    if not counted or isinstance(X, str | type):
        raise WrongType(f"X must be rows that can be counted, such as an array or a table; got {type(X).__name__}.")
    if hasattr(X, "num_rows") and (is_frame(X) or not shape):
        return int(X.num_rows)
    return int(shape[0]) if shape and not is_frame(X) else len(X)
