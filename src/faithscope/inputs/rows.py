"""Rows, whatever they are held in: how many there are, some of them, and the axes of each."""

from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import refuse_query, to_array
from faithscope.inputs.tensors import is_tensor, known_as


def take_rows(X: Any, rows: Ints) -> Any:
    """The rows of X at these positions, in the library's own form."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    if known_as(type(X))[0] == "pyarrow":
        return X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[row] for row in rows]


def flat_rows(X: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Rows of images or series as rows of numbers, with the axes of one of them; any other rows as they are, with None.

    A tensor becomes an array of NumPy, and so does a list of arrays of one shape and type.

    Examples
    --------
    >>> rows, axes = flat_rows(np.zeros((10, 1, 8, 8)))
    >>> rows.shape, axes
    ((10, 64), (1, 8, 8))
    """
    array = to_array(X, "Rows")
    if isinstance(X, list | tuple) and (axes := len(shape_of(X))) > 1:
        rows = [to_array(row, f"Values of row {place}") for place, row in enumerate(X)]
        kinds = {getattr(row, "dtype", None) for row in rows}
        if axes > 2 or (len(kinds) == 1 and None not in kinds):
            array = np.stack([np.asarray(item) if row is None else row for item, row in zip(X, rows, strict=True)])
    if array is None or array.ndim < 3:
        return X if array is None else array, None
    return array.reshape(len(array), prod(array.shape[1:])), array.shape[1:]


def rows_of(X: Any) -> int:
    """The number of rows of X."""
    refuse_query(X, "X")
    shape = getattr(X, "shape", None)
    counted = shape != () if isinstance(shape, tuple) else hasattr(X, "__len__")
    if not counted or isinstance(X, str | type):
        raise WrongType(f"X must be rows that can be counted, such as an array or a table; got {type(X).__name__}.")
    return int(shape[0]) if isinstance(shape, tuple) else len(X)


def flattened(values: Any) -> tuple[Any, tuple[int, ...] | None, str]:
    """Importances as rows of numbers, the axes of one row if there were several, and what else these may be.

    An array of three axes may be maps of (H, W), or features and classes (shap): the third answer is then a sentence
    that says how to choose. Tensors of another library are maps or series, since attributions of a model's layers have
    the shape of its input. Whatever has two axes or fewer is handed back as it is.

    Examples
    --------
    >>> flat, shape, doubt = flattened(np.zeros((10, 3, 28, 28)))
    >>> flat.shape, shape, doubt
    ((10, 2352), (3, 28, 28), '')
    """
    flat, axes = (values, None) if hasattr(values, "columns") else flat_rows(values)
    if axes is None:
        return values, None, ""
    if is_tensor(values) or is_tensor(_first(values)):
        return flat, axes, ""
    doubt = (
        f"Importances must have shape (n_rows, n_features); got {(len(flat), *axes)}. If one axis is classes, or each "
        "of a list of arrays is a class, choose the class explained: fs.read(values, class_index=1); of shap's "
        "interactions, values.sum(axis=2) are the importances. If each row is a map or a series, pass "
        "discretizer=fs.Pool((4, 4)), or values.reshape(len(values), -1)."
    )
    if isinstance(values, list | tuple) and len(axes) == 2 and len(values) < axes[0]:  # one array per class
        raise BadInput(doubt)
    return flat, axes, "" if len(axes) == 3 else doubt


def shape_of(values: Any) -> tuple[int, ...]:
    """The shape of an array, or of a list of arrays of one shape, or of lists of lists; () for anything else."""
    if isinstance(getattr(values, "shape", None), tuple):
        return tuple(values.shape)
    first = _first(values)
    # A tuple is a key, which may hold anything.
    nested = hasattr(first, "shape") or (isinstance(first, list) and isinstance(_first(first), list))
    inner = _inner_shape(first) if nested else ()
    return (len(values), *inner) if inner and all(_inner_shape(item) == inner for item in values) else ()


def _inner_shape(item: Any) -> tuple[int, ...]:
    try:
        return tuple(np.shape(item))
    except (ValueError, TypeError):  # lists of different lengths, or no values
        return ()


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list | tuple) and len(values) else None
