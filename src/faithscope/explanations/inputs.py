"""From what a caller has (NumPy, lists, pandas, polars, Arrow) to plain arrays, or one clear sentence why not."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.grouping import over_chunks

_EXACT = 2**53  # beyond it two integers may share one float64


def is_frame(values: object) -> bool:
    """Whether this is a table with named columns: pandas, polars or Arrow."""
    return (hasattr(values, "columns") or hasattr(values, "column_names")) and hasattr(values, "shape")


def frame_columns(frame: Any) -> tuple[tuple[str, ...], list[NDArray[Any]]]:
    """Names and columns of a pandas, polars or Arrow table."""
    if hasattr(frame, "iloc"):
        return tuple(map(str, frame.columns)), [to_vector(frame.iloc[:, j]) for j in range(frame.shape[1])]
    if hasattr(frame, "column_names"):
        return tuple(frame.column_names), [to_vector(frame.column(j)) for j in range(len(frame.column_names))]
    return tuple(frame.columns), [to_vector(frame[:, j]) for j in range(frame.shape[1])]


def to_vector(values: Any) -> NDArray[Any]:
    """One column as a NumPy array: numbers, booleans or dates by their dtype, anything else as Python objects."""
    if isinstance(values, np.ndarray):
        array = values
    elif hasattr(values, "to_numpy"):
        array = _library_vector(values)
    else:
        array = _sequence_vector(values)
    return array if array.dtype.kind in "biufMmO" else _objects(array.tolist())


def _library_vector(column: Any) -> NDArray[Any]:
    if hasattr(column, "combine_chunks") and hasattr(column, "type"):
        column = column.combine_chunks()
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    if hasattr(column, "null_count") and hasattr(column, "type"):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy())


def _sequence_vector(values: Iterable[Any]) -> NDArray[Any]:
    """A list as an array; only where every item is of one plain type, so that nothing is converted silently."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise WrongType(f"Expected one value a row, got a single {type(values).__name__} ({values!r}): pass a list.")
    items = list(values)
    types = set(map(type, items))
    try:
        if types and types <= {bool, np.bool_}:
            return np.array(items, np.bool_)
        if types and all(issubclass(t, int | np.integer) and t is not bool for t in types):
            return np.array(items, np.int64)
        if types and all(issubclass(t, float | np.floating) for t in types):
            return np.array(items, np.float64)
    except OverflowError:  # an integer beyond 64 bits stays a Python object
        pass
    return _objects(items)


def _objects(items: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def first_missing(column: NDArray[Any]) -> int | None:
    """The first row holding None, NaN, NaT or a library's NA; None where there is none."""
    if column.dtype.kind in "biu":
        return None
    if column.dtype.kind in "fMm":
        missing = np.isnan(column) if column.dtype.kind == "f" else np.isnat(column)
    elif set(map(type, column)) <= {str, int, bool, tuple, frozenset}:
        return None
    else:
        missing = np.fromiter((_is_missing(item) for item in column), bool, len(column))
    return int(missing.argmax()) if missing.any() else None


def _is_missing(item: object) -> bool:
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(item, float | np.floating | np.datetime64) and bool(item != item)


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
        matrix = values if isinstance(values, np.ndarray) else _rows_to_array(values, what)
    if matrix.ndim != 2:
        raise BadInput(f"{what} must have one row a row and one column a feature; got shape {matrix.shape}.")
    matrix = _as_floats(matrix, what)
    refuse_nonfinite(matrix, what, names)
    return matrix, names


def to_rows(values: Any, what: str) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """Rows of numbers, or of numbers and categories.

    Returns
    -------
    rows : (n, d) array
        Floats where every column is numeric, Python objects otherwise.
    names : tuple of str, or None
    """
    if not is_frame(values):
        array = values if isinstance(values, np.ndarray) else _rows_to_array(values, what)
        if array.dtype.kind in "biuf":
            return to_matrix(array, what)
        names, columns = None, list(array.T) if array.ndim == 2 else []
        if not columns:
            raise BadInput(f"{what} must have one row a row and one column a feature; got shape {array.shape}.")
    else:
        names, columns = frame_columns(values)
        if all(column.dtype.kind in "biuf" for column in columns):
            return to_matrix(values, what)
    for j, column in enumerate(columns):
        row = first_missing(column)
        if row is not None:
            where = repr(names[j]) if names else j
            raise BadInput(f"{what} have a missing value at row {row}, column {where}: drop or fill such rows first.")
    rows = np.empty((len(columns[0]), len(columns)), object)
    for j, column in enumerate(columns):
        rows[:, j] = column.tolist()
    return rows, names


def _stack_numbers(columns: list[NDArray[Any]], names: Sequence[str], what: str) -> NDArray[Any]:
    for name, column in zip(names, columns, strict=True):
        row = first_missing(column)
        if row is not None:
            raise BadInput(f"{what} have a missing value at row {row}, column {name!r}: drop or fill such rows first.")
        if column.dtype.kind not in "biuf":
            raise WrongType(f"{what} must be numbers; column {name!r} holds {_sample(column)}.")
    return np.column_stack([_as_floats(column[:, None], what) for column in columns]) if columns else np.empty((0, 0))


def _sample(column: NDArray[Any]) -> str:
    return f"{type(column[0]).__name__} ({column[0]!r})" if len(column) else "no rows"


def _rows_to_array(values: Any, what: str) -> NDArray[Any]:
    """A list of rows as an array, naming the first row of another length."""
    rows = [to_vector(row) if not np.isscalar(row) else row for row in values]
    lengths = [np.size(row) for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise BadInput(
            f"{what} are ragged: row 0 has {lengths[0]} values, row {odd} has {lengths[odd]}. "
            "Give every row the same length."
        )
    return np.array(rows) if rows else np.empty((0, 0))


def _as_floats(matrix: NDArray[Any], what: str) -> NDArray[Any]:
    """Floats as they are; integers as float64, where that loses nothing."""
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
        return matrix
    if matrix.dtype.kind == "O":
        matrix = _numbers_from_objects(matrix, what)
    if matrix.dtype.kind not in "biuf" or matrix.dtype.itemsize > 8:
        raise WrongType(f"{what} must be real numbers of at most 64 bits; got dtype {matrix.dtype}.")
    if matrix.dtype.kind in "iu" and matrix.size and max(abs(int(matrix.min())), abs(int(matrix.max()))) > _EXACT:
        raise BadInput(f"{what} hold integers beyond 2**53, which float64 cannot tell apart: scale them down.")
    return matrix.astype(np.float64)


def _numbers_from_objects(matrix: NDArray[Any], what: str) -> NDArray[np.float64]:
    """An object array as numbers, naming the first entry that is not one."""
    for (row, column), item in np.ndenumerate(matrix):
        if _is_missing(item):
            raise BadInput(f"{what} have a missing value at row {row}, column {column}: drop or fill such rows first.")
        if isinstance(item, bool | str | bytes) or not isinstance(item, int | float | np.number):
            raise WrongType(
                f"{what} mix types: row {row}, column {column} is {type(item).__name__} ({item!r}), "
                "where a number is expected."
            )
    return matrix.astype(np.float64)


def refuse_nonfinite(matrix: NDArray[Any], what: str, names: Sequence[str] | None = None) -> None:
    """Raise, naming row and column, where a NaN or an infinity stands."""
    bad: list[int] = []

    def look(start: int, stop: int) -> None:
        rows = ~np.isfinite(matrix[start:stop]).all(axis=1)
        if rows.any():
            bad.append(start + int(rows.argmax()))

    over_chunks(look, len(matrix), matrix.shape[1])
    if bad:
        row = min(bad)
        column = int((~np.isfinite(matrix[row])).argmax())
        where = f"{column} ({names[column]!r})" if names else str(column)
        raise BadInput(
            f"{what} hold {matrix[row, column]} at row {row}, column {where}: every value must be finite. "
            "Drop or fill such rows first."
        )


def to_labels(predictions: Any) -> NDArray[Any]:
    """Predicted labels, one a row, as an array of numbers, booleans, dates or Python objects.

    Labels are classes, not probabilities: a table of several columns, or numbers
    that are nearly all different fractions, are refused with a word on what to do.
    """
    if is_frame(predictions):
        _, columns = frame_columns(predictions)
        if len(columns) != 1:
            raise BadInput(f"Predictions must be one label a row; got {len(columns)} columns: pass one of them.")
        labels = columns[0]
    else:
        labels = _label_vector(predictions)
    row = first_missing(labels)
    if row is not None:
        raise BadInput(f"Predictions are missing at row {row} ({labels[row]}): every row needs one.")
    if labels.dtype.kind == "O":
        refuse_mixed(labels, "Predictions")
    if labels.dtype.kind == "f":
        _refuse_continuous(labels)
    return labels


def _label_vector(predictions: Any) -> NDArray[Any]:
    labels = to_vector(predictions)
    if labels.ndim == 1 and labels.dtype == object and len(labels) and isinstance(labels[0], list | np.ndarray):
        labels = _rows_to_array(predictions, "Predictions")
    if labels.ndim == 2 and labels.shape[1] == 1:
        return labels[:, 0]
    if labels.ndim != 1:
        raise BadInput(
            f"Predictions must be one label a row; got shape {labels.shape}. If these are class probabilities, "
            "pass the predicted class, e.g. probabilities.argmax(axis=1)."
        )
    return labels


def _refuse_continuous(labels: NDArray[Any]) -> None:
    fractions = labels[labels != np.floor(labels)]
    if len(labels) >= 20 and len(fractions) > len(labels) / 2:
        distinct = len(np.unique(fractions))
        if distinct > len(labels) / 2:
            raise BadInput(
                f"Predictions look continuous: {distinct:,} different fractions in {len(labels):,} rows, "
                f"first {fractions[0]!r}. Faithfulness compares labels: pass classes, or bins of the "
                "output, e.g. np.digitize(predictions, edges)."
            )


def refuse_mixed(column: NDArray[Any], what: str) -> None:
    """Raise, naming both rows, where an object array holds values of different families of types."""
    if len(set(map(type, column))) <= 1:
        return
    families = [_family(item) for item in column]
    odd = next((i for i, family in enumerate(families) if family != families[0]), None)
    if odd is not None:
        raise WrongType(
            f"{what} mix types: row 0 is {families[0]} ({column[0]!r}), row {odd} is {families[odd]} "
            f"({column[odd]!r}). Give every row the same type, e.g. by str()."
        )


def _family(item: object) -> str:
    if isinstance(item, bool | int | float | np.number | np.bool_):
        return "number"
    return next((t.__name__ for t in (str, bytes, tuple, frozenset) if isinstance(item, t)), type(item).__name__)


def same_length(**lengths: int) -> None:
    """Raise, naming both, where two inputs are of different length, or where there are no rows."""
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(f"{first.capitalize()} have {rows:,} rows but {name} have {length:,}: pass one a row.")
    if rows == 0:
        raise BadInput(f"{first.capitalize()} are empty: at least one row is needed, and two to compare anything.")
