"""From what a caller has (NumPy, lists, pandas, polars, Arrow) to plain arrays, or one clear sentence why not."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.grouping import over_chunks
from faithscope.memory import need

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


def first_missing(column: NDArray[Any]) -> int | None:
    """The first row holding None, NaN, NaT or a library's NA; None where there is none."""
    missing = missing_values(column)
    return int(missing.argmax()) if missing.any() else None


def missing_values(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows hold None, NaN, NaT or a library's NA."""
    if column.dtype.kind in "fMm":
        return np.asarray(np.isnan(column) if column.dtype.kind == "f" else np.isnat(column))
    if column.dtype.kind in "biu" or set(map(type, column)) <= {str, int, bool}:
        return np.zeros(len(column), bool)
    return np.fromiter((is_missing(item) for item in column), bool, len(column))


def is_missing(item: object) -> bool:
    """Whether this is None, a NaN of any kind, or a library's NA; or a tuple that holds a NaN."""
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(item, tuple | frozenset):
        return any(is_missing(part) for part in item if part is not None)
    if isinstance(item, str | bytes | int | np.ndarray | list | dict | set):
        return False
    try:
        return bool(item != item)
    except ArithmeticError:  # a decimal's signaling NaN
        return True
    except Exception:  # a caller's class may raise anything
        return False


def refuse_missing(column: NDArray[Any], what: str) -> None:
    """Raise where values are missing, with the first row and how many more there are."""
    rows = np.flatnonzero(missing_values(column))
    if len(rows):
        more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        raise BadInput(f"{what} are missing at row {rows[0]} ({column[rows[0]]}){more}: drop or fill such rows first.")


def to_matrix(values: Any, what: str) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Finite numbers, one row a row, with column names where the input has them.

    Returns
    -------
    matrix : (n, d) array of floats
    names : tuple of str, or None
    """
    names: tuple[str, ...] | None = None
    if is_frame(values):
        names, columns = frame_columns(values)
        matrix = _stack_numbers(columns, names, what)
    else:
        found = to_array(values, what)
        matrix = rows_to_array(values, what) if found is None else found
    if matrix.ndim != 2 or (matrix.shape[1] == 0 and len(matrix)):
        raise BadInput(f"{what} must have one row a row and one column a feature; got shape {matrix.shape}.")
    matrix = as_floats(matrix, what)
    refuse_nonfinite(matrix, what, names)
    return matrix, names


def _stack_numbers(columns: list[NDArray[Any]], names: Sequence[str], what: str) -> NDArray[Any]:
    for name, column in zip(names, columns, strict=True):
        row = first_missing(column)
        if row is not None:
            raise BadInput(f"{what} have a missing value at row {row}, column {name!r}: drop or fill such rows first.")
        if column.dtype.kind not in "biuf":
            raise WrongType(f"{what} must be numbers; column {name!r} holds {_sample(column)}.")
    each = sum(8 if column.dtype.kind == "f" else 16 for column in columns)
    need_cells(each, len(columns[0]) if columns else 0, len(columns), what)
    return np.column_stack([as_floats(column[:, None], what) for column in columns]) if columns else np.empty((0, 0))


def need_cells(each: int, rows: int, features: int, what: str) -> None:
    """Raise where rows of so many bytes each do not fit in memory."""
    need(each * rows, f"{what} ({rows:,} rows, {features:,} features)", "sample rows, or pass arrays of fewer features")


def _sample(column: NDArray[Any]) -> str:
    return f"{type(column[0]).__name__} ({column[0]!r})" if len(column) else "no rows"


def rows_to_array(values: Any, what: str) -> NDArray[Any]:
    """A list of rows as an array, naming the first row of another length."""
    rows = [to_vector(row, f"{what} in row {i}") for i, row in enumerate(_sequence_vector(values, what))]
    lengths = [row.shape for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise BadInput(
            f"{what} are ragged: row 0 has {rows[0].size} values, row {odd} has {rows[odd].size}. "
            "Give every row the same length."
        )
    if {"f"} < {row.dtype.kind for row in rows}:  # what is not a float yet must survive becoming one
        rows = [as_floats(row[None], what)[0] if row.dtype.kind in "iu" else row for row in rows]
    return np.array(rows) if rows else np.empty((0, 0))


def as_floats(matrix: NDArray[Any], what: str) -> NDArray[Any]:
    """Floats as they are; integers as float64, where that loses nothing."""
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
        return matrix
    if matrix.dtype.kind == "O":
        return _numbers_from_objects(matrix, what)
    if matrix.dtype.kind not in "biu":
        raise WrongType(f"{what} must be real numbers of at most 64 bits; got dtype {matrix.dtype}.")
    if matrix.dtype.kind in "iu" and matrix.size and max(abs(int(matrix.min())), abs(int(matrix.max()))) > _EXACT:
        raise BadInput(f"{what} hold integers beyond 2**53, which float64 cannot tell apart: scale them down.")
    return matrix.astype(np.float64)


def _numbers_from_objects(matrix: NDArray[Any], what: str) -> NDArray[np.float64]:
    """An object array as numbers, naming the first entry that is not one."""
    items = matrix.reshape(-1).tolist()
    usable = {t for t in set(map(type, items)) if issubclass(t, (*_INTEGERS, *_FLOATS)) and t is not bool}
    wrong = next((i for i, item in enumerate(items) if type(item) not in usable), None)
    if wrong is not None:
        row, column = divmod(wrong, matrix.shape[1])
        if is_missing(items[wrong]):
            raise BadInput(f"{what} have a missing value at row {row}, column {column}: drop or fill such rows first.")
        raise WrongType(
            f"{what} mix types: row {row}, column {column} is {type(items[wrong]).__name__} ({items[wrong]!r}), "
            "where a number is expected."
        )
    integers = [int(item) for item in items if isinstance(item, _INTEGERS)]
    if max(map(abs, integers), default=0) > _EXACT:
        raise BadInput(f"{what} hold integers beyond 2**53, which float64 cannot tell apart: scale them down.")
    return np.array(items, np.float64).reshape(matrix.shape)


def refuse_nonfinite(matrix: NDArray[Any], what: str, names: Sequence[str] | None = None) -> None:
    """Raise, naming row and column, where a NaN or an infinity stands."""
    bad: list[int] = []

    def look(start: int, stop: int) -> None:
        if not np.isfinite(matrix[start:stop]).all():
            bad.append(start + int((~np.isfinite(matrix[start:stop]).all(axis=1)).argmax()))

    over_chunks(look, len(matrix), matrix.shape[1])
    if bad:
        row = min(bad)
        column = int((~np.isfinite(matrix[row])).argmax())
        where = f"{column} ({names[column]!r})" if names else str(column)
        raise BadInput(
            f"{what} hold {matrix[row, column]} at row {row}, column {where}: every value must be finite. "
            "Drop or fill such rows first."
        )


def rows_of(X: Any) -> int:
    """Number of rows of whatever rows are."""
    shape = getattr(X, "shape", None)
    if shape == () or (shape is None and not hasattr(X, "__len__")) or isinstance(X, str):
        raise WrongType(f"X must be rows that can be counted, such as an array or a table; got {type(X).__name__}.")
    return int(shape[0]) if shape and not is_frame(X) else len(X) if not hasattr(X, "num_rows") else int(X.num_rows)


def same_length(**lengths: int) -> None:
    """Raise, naming both, where two inputs are of different length, or where there are no rows."""
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(f"{first.capitalize()} have {rows:,} rows but {name} have {length:,}: pass one a row.")
    if rows == 0:
        raise BadInput(f"{first.capitalize()} are empty: at least one row is needed, and two to compare anything.")


def _is_real(value: Any) -> bool:
    """Whether this is a real number; a span of time is none, although NumPy counts it among the integers."""
    return isinstance(value, (*_INTEGERS, float, np.floating)) and not isinstance(value, bool | np.timedelta64)


def check_share(value: Any, what: str) -> float:
    """A number strictly between 0 and 1."""
    if not _is_real(value) or not 0 < value < 1:
        raise BadInput(f"{what} must be a number strictly between 0 and 1; got {value!r}.")
    return float(value)


def check_whole(value: Any, what: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if not _is_real(value) or not isinstance(value, int | np.integer) or value < least:
        raise BadInput(f"{what} must be a whole number of at least {least}; got {value!r}.")
    return int(value)
