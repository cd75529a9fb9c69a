"""The columns of rows of any kind: their names, values and types, and which of them hold codes of categories."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.inputs.arrays import is_frame, to_array, to_items, to_vector
from faithscope.inputs.dates import dated_columns
from faithscope.inputs.missing import is_missing
from faithscope.inputs.rows import flat_rows


def columns_with_names(X: Any) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and columns of rows of any kind; columns without names, such as pixels of images, are x0, x1, …"""
    if is_frame(X):
        return dated_columns(X)[:2]
    array = to_array(flat_rows(X)[0], "Rows")
    if array is None:
        rows = [to_vector(row, "Rows") for row in to_items(X, "Rows")]
        if len({row.shape for row in rows}) > 1:
            raise BadInput("Rows are lists of different lengths: give every row one value per feature.")
        array = np.array(rows) if rows else np.empty((0, 0))
    if array.ndim != 2:
        raise BadInput(
            f"Rows must have shape (n_rows, n_features); got {array.shape}. Pass a single row as X.reshape(1, -1)."
        )
    columns = [to_vector(column.tolist()) if array.dtype.kind not in "biufM" else column for column in array.T]
    return tuple(f"x{j}" for j in range(array.shape[1])), columns


def to_categorical(given: Any) -> list[Any]:
    """Positions or names of columns as a list, from any collection of them."""
    return list(given) if isinstance(given, set | frozenset) else to_items(given, "categorical, the columns of codes,")


def column_position(column: int | str, names: tuple[str, ...]) -> int:
    """The position of a column that is given by its position or its name."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    raise BadInput(f"categorical names {column!r}, which is no column of the training rows: {', '.join(names[:12])}.")


def column_kinds(X: Any) -> tuple[np.dtype[Any], ...]:
    """The type of each column; whole numbers stay whole numbers if some of them are missing."""
    columns = columns_with_names(X)[1]
    declared = X.schema.types if hasattr(X, "column_names") else getattr(X, "dtypes", [""] * len(columns))
    pairs = zip(columns, declared, strict=True)
    return tuple(np.dtype(np.int64) if _is_whole(column, kind) else column.dtype for column, kind in pairs)


def _is_whole(column: NDArray[Any], declared: Any) -> bool:
    if column.dtype.kind in "iu" or str(declared).lower().startswith(("int", "uint")):
        return True
    return column.dtype == object and all(type(item) is int or is_missing(item) for item in column)
