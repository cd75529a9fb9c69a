"""From what a caller has (NumPy, lists, pandas, polars, Arrow) to plain arrays, or one clear sentence why not."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from faithscope.errors import WrongType
from faithscope.inputs.array_types import Array, Names
from faithscope.inputs.missing import is_missing, refuse_rows
from faithscope.inputs.tensors import is_tensor, known_as, to_host
from faithscope.runtime.memory import need

Query = Literal["", "lazy frame", "relation", "cursor", "reader", "dataset"]
_KINDS: dict[tuple[str, str], Query] = {
    ("polars", "LazyFrame"): "lazy frame",
    ("duckdb", "DuckDBPyRelation"): "relation",
    ("duckdb", "DuckDBPyConnection"): "cursor",
    ("pyarrow", "RecordBatchReader"): "reader",
    **{("pyarrow", f"{kind}Dataset"): "dataset" for kind in ("", "FileSystem", "InMemory", "Union")},
}
_CALLS: dict[Query, str] = {  # that give their rows
    "lazy frame": "collect()",
    "relation": "df()",
    "cursor": "df()",
    "reader": "read_all()",
    "dataset": "to_table()",
}
EXACT = 2**53  # beyond it two integers may share one float64
INTEGERS = (int, np.integer)
_CATEGORIES = re.compile(r"category|Categorical|Enum|dictionary<")  # how libraries write types of categories
_FLAGS = (bool, np.bool_)
_NO_NUMBERS = (bool, np.timedelta64)  # though they count as integers
FLOATS = (float, np.float16, np.float32)  # longdouble does not fit in 64 bits


def query_kind(values: Any) -> Query:
    """What kind of query this is, by the names of its class and package; empty if it is none.

    Nothing is asked of the query itself: its shape alone would be a question to its engine.
    """
    kind = type(values)
    return _KINDS.get((kind.__module__.partition(".")[0].strip("_"), kind.__name__), "")


def refuse_query(values: Any, what: str) -> None:
    """Raise if rows are wanted and this is a query for them, with the call that gives its rows."""
    if kind := query_kind(values):
        raise WrongType(f"{what} came as {type(values).__name__}, which holds no rows yet: pass its {_CALLS[kind]}.")


def is_frame(values: object) -> bool:
    """Whether this is a table with named columns: pandas, polars or Arrow."""
    if query_kind(values):  # of which nothing is asked
        return False
    return (hasattr(values, "columns") or hasattr(values, "column_names")) and hasattr(values, "shape")


def frame_columns(frame: Any) -> tuple[Names, list[Array]]:
    """Names and columns of a pandas, polars or Arrow table."""
    names = frame_names(frame)
    return names, [to_vector(frame_column(frame, j)) for j in range(len(names))]


def frame_names(frame: Any) -> Names:
    """The names of a table's columns."""
    return tuple(map(str, frame.column_names if hasattr(frame, "column_names") else frame.columns))


def frame_column(frame: Any, j: int) -> Any:
    """One column of a table, as its library has it."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, j]
    return frame.column(j) if hasattr(frame, "column_names") else frame[:, j]


def declared_categories(X: Any) -> set[int]:
    """Positions of a table's columns that its library declares to be categories, even if these are numbers.

    They have the type "category" of pandas, Categorical or Enum of polars, or a dictionary of Arrow.
    """
    if not is_frame(X):
        return set()
    types = list(X.schema.types if hasattr(X, "column_names") else X.dtypes)
    return {j for j, kind in enumerate(types) if _CATEGORIES.match(str(kind))}


def is_row(item: object) -> bool:
    """Whether an item of a list is itself a row of values: a list, an array or a tensor."""
    return isinstance(item, list) or (hasattr(item, "__array__") and not isinstance(item, np.generic))


def to_array(values: Any, what: str) -> Array | None:
    """A NumPy array, or a tensor of another library as one, no value of it masked; None for anything else."""
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(values)
        rows = np.flatnonzero(mask.reshape(len(mask), -1).any(axis=1) if mask.size and mask.ndim else mask)
        refuse_rows(rows, what, np.broadcast_to("masked", mask.size))
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    return to_host(values) if is_tensor(values) else None


def to_vector(values: Any, what: str = "Input") -> Array:
    """One column as a NumPy array: numbers, booleans or dates by their dtype, anything else as Python objects."""
    if not isinstance(values, np.ndarray):
        refuse_query(values, what)
    array = to_array(values, what)
    if array is None:
        # A column has both; a single moment of pandas has no length.
        column = hasattr(values, "to_numpy") and hasattr(values, "__len__")
        array = _library_vector(values) if column else sequence_vector(values, what)
    if array.ndim == 0:
        raise WrongType(f"{what} must be a list with one value per row; got a single {array.dtype} ({array}).")
    fits = array.dtype.kind in "biufMmO" and array.dtype.itemsize <= 8
    return array if fits or array.ndim > 1 else to_objects(array.tolist() if array.dtype.kind != "f" else list(array))


def _text_bytes(column: Any) -> int:
    """Bytes that the texts of a library's column take once more as Python objects; 0 for any other column."""
    if "str" not in str(getattr(column, "dtype", getattr(column, "type", ""))).lower():
        return 0
    known = column.estimated_size() if hasattr(column, "estimated_size") else getattr(column, "nbytes", 0)
    return int(known) + 56 * len(column)  # bytes that a Python text takes beside its letters


def _library_vector(column: Any) -> Array:
    need(_text_bytes(column), f"A column of {len(column):,} texts", "drop it, or shorten or number its texts")
    arrow = known_as(type(column))[0] == "pyarrow"
    if arrow and hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if arrow and hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    if str(getattr(column, "dtype", "")).endswith("128"):  # integers of polars that NumPy cannot hold
        return to_objects(column.to_list())
    array = np.asarray(column.to_numpy(zero_copy_only=False) if arrow else column.to_numpy())
    if array.dtype.kind != "f" or np.nanmax(np.abs(array), initial=0) < EXACT:
        return array
    # Integers come as floats if some are missing, and large ones rounded.
    items = [None if is_missing(item) else item for item in (column.to_pylist() if arrow else column.to_list())]
    return to_objects(items) if all(item is None or isinstance(item, int) for item in items) else array


def sequence_vector(values: Iterable[Any], what: str) -> Array:
    """A list as an array: of numbers if all items are of one plain type, else of the items as they are."""
    if callable(values) or callable(getattr(values, "predict", None)):
        name = getattr(values, "__qualname__", type(values).__name__)
        raise WrongType(
            f"{what} came as {name}, a model or function: pass a list with one value per row, of predictions what the "
            "model gives, such as model.predict(X)."
        )
    if isinstance(values, str | bytes | dict | set | frozenset) or not hasattr(values, "__iter__"):
        raise WrongType(f"{what} must be a list with one value per row; got a {type(values).__name__} ({values!r}).")
    items = to_items(values, what)
    if items and is_tensor(items[0]) and np.ndim(items[0]) == 0:  # a single number of torch or JAX is an array
        items = [to_host(item).item() for item in items]
    types = set(map(type, items))
    for family, dtype in ((_FLAGS, np.bool_), (INTEGERS, np.int64), (FLOATS, np.float64)):
        if types and all(issubclass(kind, family) and (dtype is np.bool_ or kind not in _NO_NUMBERS) for kind in types):
            with suppress(OverflowError):  # an integer beyond 64 bits stays a Python object
                return np.array(items, dtype)
    return to_objects(items)


def to_objects(items: Sequence[Any]) -> Array:
    """Python objects as an array of one axis; `numpy.array` would unpack lists and tuples.

    Examples
    --------
    >>> to_objects([(1, 2), (3, 4)]).shape
    (2,)
    """
    return np.fromiter(items, object, len(items))


def to_items(values: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or an array, in their order."""
    listed = hasattr(values, "__iter__") and not isinstance(values, str | bytes | dict | set | frozenset | type)
    if not listed or getattr(values, "shape", None) == ():
        raise WrongType(f"{what} must be a list; got {values!r} ({type(values).__name__}).")
    if hasattr(values, "tocsr"):
        raise WrongType(f"{what} came as a sparse matrix ({type(values).__name__}): pass its toarray().")
    return list(values)
