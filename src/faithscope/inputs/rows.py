"""Rows, whatever they are held in: how many there are, and some of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.queries import refuse_query


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """The rows of X at these positions, in the library's own form."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if hasattr(X, "take") and (hasattr(X, "num_rows") or (hasattr(X, "null_count") and hasattr(X, "type"))):
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def rows_of(X: Any) -> int:
    """The number of rows of X."""
    refuse_query(X, "X")
    shape = getattr(X, "shape", None)
    if shape == () or (shape is None and not hasattr(X, "__len__")) or isinstance(X, str):
        raise WrongType(f"X must be rows that can be counted, such as an array or a table; got {type(X).__name__}.")
    if hasattr(X, "num_rows") and (is_frame(X) or not shape):
        return int(X.num_rows)
    return int(shape[0]) if shape and not is_frame(X) else len(X)
