"""From what a caller has (NumPy, lists, pandas, polars, Arrow) to plain arrays, or one clear sentence why not."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.missing import is_missing
from faithscope.runtime.memory import need

_EXACT = 2**53  # beyond it two integers may share one float64
_INTEGERS = (int, np.integer)
_INTEGER_TYPE = re.compile(r"u?int\d+")  # as pandas, polars and Arrow write it, in lower case
_FLOATS = (float, np.float16, np.float32)  # longdouble does not fit in 64 bits


def is_frame(values: object) -> bool:
    """Whether this is a table with named columns: pandas, polars or Arrow."""
    return (hasattr(values, "columns") or hasattr(values, "column_names")) and hasattr(values, "shape")


def frame_columns(frame: Any) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and columns of a pandas, polars or Arrow table."""
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return tuple(map(str, names)), [to_vector(frame_column(frame, j)) for j in range(frame_width(frame))]


def frame_width(frame: Any) -> int:
    """The number of columns of a table."""
    return int(frame.shape[1])


def frame_column(frame: Any, j: int) -> Any:
    """One column of a table, as its library has it."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, j]
    return frame.column(j) if hasattr(frame, "column_names") else frame[:, j]


def is_row(item: object) -> bool:
    """Whether an item of a list is itself a row of values: a list, an array or a tensor."""
    return isinstance(item, list) or (hasattr(item, "__array__") and not isinstance(item, np.generic))


def to_array(values: Any, what: str) -> NDArray[Any] | None:
    """A NumPy array or what turns itself into one (torch, JAX), a mask respected; None for anything else."""
    if isinstance(values, np.ma.MaskedArray):
        masked = np.argwhere(np.ma.getmaskarray(values))
        if len(masked):
            row = int(masked[0][0]) if masked.size else 0
            raise BadInput(f"{what} are missing at row {row} (masked): drop or fill such rows first.")
    if isinstance(values, np.ndarray) or (hasattr(values, "__array__") and not hasattr(values, "to_numpy")):
        return np.asarray(values)
    return None


def to_vector(values: Any, what: str = "Input") -> NDArray[Any]:
    """One column as a NumPy array: numbers, booleans or dates by their dtype, anything else as Python objects."""
    array = to_array(values, what)
    if array is None:
        array = _library_vector(values) if hasattr(values, "to_numpy") else _sequence_vector(values, what)
    if array.ndim == 0:
        raise WrongType(f"{what} must be one value a row; got a single {array.dtype} ({array}): pass a list.")
    fits = array.dtype.kind in "biufMmO" and array.dtype.itemsize <= 8
    return array if fits or array.ndim > 1 else _objects(array.tolist() if array.dtype.kind != "f" else list(array))


def _library_vector(column: Any) -> NDArray[Any]:
    need(_text_bytes(column), f"A column of {len(column):,} texts", "drop it, or shorten or number its texts")
    if hasattr(column, "combine_chunks") and hasattr(column, "type"):
        column = column.combine_chunks()
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    arrow = hasattr(column, "null_count") and hasattr(column, "type")
    if not arrow and str(getattr(column, "dtype", "")).endswith(
        "128"
    ):  # polars' whole numbers that NumPy has no type for
        return _objects(column.to_list())
    array = np.asarray(column.to_numpy(zero_copy_only=False) if arrow else column.to_numpy())
    if (
        array.dtype.kind == "f"
        and len(array)
        and np.nanmax(np.abs(array), initial=0) >= _EXACT
        and _of_integers(column)
    ):
        items = column.to_pylist() if arrow else column.to_list()
        return _objects([None if is_missing(one) else int(one) for one in items])
    return array


def _of_integers(column: Any) -> bool:
    """Whether a library's column holds integers, which it hands out as floats where some are missing."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    categories = getattr(kind, "categories", None)
    return bool(_INTEGER_TYPE.match(str(getattr(categories, "dtype", kind)).lower()))


def _text_bytes(column: Any) -> int:
    """Bytes that the texts of a library's column take once more as Python objects; 0 for any other column."""
    if "str" not in str(getattr(column, "dtype", getattr(column, "type", ""))).lower():
        return 0
    known = column.estimated_size() if hasattr(column, "estimated_size") else getattr(column, "nbytes", 0)
    return int(known) + 56 * len(column)  # what an object takes beside its letters


def _sequence_vector(values: Iterable[Any], what: str) -> NDArray[Any]:
    """A list as an array; only where every item is of one plain type, so that nothing is converted silently."""
    if isinstance(values, dict | set | frozenset):
        raise WrongType(f"{what} came as a {type(values).__name__}, which has no order of rows: pass a list.")
    if hasattr(values, "tocsr"):
        raise WrongType(f"{what} came as a sparse matrix ({type(values).__name__}): pass its toarray().")
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise WrongType(f"{what} must be one value a row; got a single {type(values).__name__} ({values!r}).")
    items = list(values)
    types = set(map(type, items))
    try:
        if types and types <= {bool, np.bool_}:
            return np.array(items, np.bool_)
        if types and all(issubclass(t, _INTEGERS) and t not in (bool, np.timedelta64) for t in types):
            return np.array(items, np.int64)
        if types and all(issubclass(t, _FLOATS) for t in types):
            return np.array(items, np.float64)
    except OverflowError:  # an integer beyond 64 bits stays a Python object
        pass
    return _objects(items)


def _objects(items: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    for row, item in enumerate(items):  # one by one: NumPy would unpack items that are lists
        array[row] = item
    return array


def to_items(values: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or an array, in their order."""
    listed = hasattr(values, "__iter__") and not isinstance(values, str | bytes | dict | set | frozenset)
    if not listed or getattr(values, "shape", None) == ():
        raise WrongType(f"{what} must be a list; got {values!r}, a {type(values).__name__}.")
    if hasattr(values, "tocsr"):
        raise WrongType(f"{what} came as a sparse matrix ({type(values).__name__}): pass its toarray().")
    return list(values)
