"""Arrays, lists and tables: importances if they are numbers, records if they are not, else one key per row."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations, readable
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Plain, Records
from faithscope.inputs.arrays import frame_column, frame_columns, is_frame, is_row, to_vector
from faithscope.inputs.axes import shape_of
from faithscope.inputs.dates import has_zone
from faithscope.inputs.queries import refuse_query
from faithscope.inputs.tensors import is_tensor
from faithscope.readers.shared.classes import bias_note
from faithscope.readers.shared.wanted import Wanted
from faithscope.runtime.memory import need
from faithscope.runtime.of_logs import AnswersVerbs

_VALUES = ("builtins", "datetime", "decimal", "fractions", "numpy", "pandas")  # whose objects are single values
_ATTRIBUTES = ("values", "attributions", "scores", "shap_values", "importances", "weights")


def read(given: Any, wanted: Wanted, remarks: Sequence[str] = ()) -> Explanations:
    """Rows of numbers as importances, sets of words as highlights, other tables as records, other rows as keys."""
    refuse_query(given, "Explanations")
    if hasattr(given, "tocsr"):
        return _importances(_dense(given), wanted, remarks)
    if len(shape_of(given)) > 2:
        return _importances(given, wanted, remarks)
    if is_frame(given):
        return _from_frame(given, wanted, remarks)
    _refuse_single(given)
    column = to_vector(given, "Explanations")
    if column.ndim == 1 and column.dtype == object and len(column):
        return _from_objects(column, wanted, remarks)
    if column.ndim == 1:
        wanted.refuse_all("plain keys")
        return Plain(given if has_zone(given) else column)
    numbers = column.dtype.kind in "biufcO" and not _is_text(column)
    return _importances(column, wanted, remarks) if numbers else _from_cells(column, wanted)


def _importances(values: Any, wanted: Wanted, remarks: Sequence[str]) -> Importances:
    read = wanted.importances(values, None, *remarks)
    return read if read.names else read._with(remarks=(*read.remarks, *bias_note(read.values)))


def _dense(sparse: Any) -> NDArray[Any]:
    rows, features = sparse.shape
    what = f"Importances as a dense array ({rows:,} rows, {features:,} features)"
    need(8 * rows * features, what, "keep fewer columns, or pass the largest ones of each row as fs.Highlights")
    dense: NDArray[Any] = sparse.toarray()
    return dense


def _from_objects(column: NDArray[Any], wanted: Wanted, remarks: Sequence[str]) -> Explanations:
    first = column[0]
    if is_row(first):
        _refuse_texts(column)
        stacked = np.array(_stackable(column)) if len(_shape(first)) > 1 else list(column)
        return _importances(stacked, wanted, remarks)
    if all(isinstance(item, set) and all(isinstance(word, str) for word in item) for item in column):
        wanted.refuse_all("sets of words")
        return Highlights(column)
    wanted.refuse_all("plain keys")
    _refuse_identities(column)
    return Plain(column)


def _refuse_texts(column: NDArray[Any]) -> None:
    """Raise if rows are lists of texts, which may be codes or words."""
    lists = (row for row in column if hasattr(row, "__len__") and getattr(row, "shape", None) != ())
    first: Any = next(filter(len, lists), ())
    if len(first) and all(isinstance(item, str) for item in first):
        raise WrongType(
            f"Explanations are lists of texts, such as {readable(tuple(first[:3]))}: pass fs.Codes(explanations) if "
            "they are codes of reasons, or fs.Highlights(explanations) if they are words of documents."
        )


def _refuse_single(thing: Any) -> None:
    """Raise if this is one object, of a library that is not known, rather than one per row."""
    library = type(thing).__module__.partition(".")[0]
    if library in _VALUES or is_tensor(thing) or hasattr(thing, "__array__") or hasattr(thing, "__iter__"):
        return
    if isinstance(thing, AnswersVerbs):
        raise WrongType(
            "A log came where explanations are taken: read its rows, rows = log.read(), and pass rows.explanations and "
            "rows.predictions."
        )
    raise WrongType(_unknown(thing, f"Explanations came as one {_full_name(thing)}, which is not known here"))


def _refuse_identities(column: NDArray[Any]) -> None:
    """Raise if rows are objects that equal nothing but themselves, so that every explanation would seem unique."""
    unknown = tuple(kind for kind in set(map(type, column)) if _is_unknown(kind))
    if unknown:
        row, item = next((row, item) for row, item in enumerate(column) if isinstance(item, unknown))
        seen = f"Explanations are objects of {_full_name(item)} (row {row}), which are not known here"
        raise WrongType(_unknown(item, seen))


def _is_unknown(kind: type) -> bool:
    if kind.__module__.partition(".")[0] in _VALUES or issubclass(kind, Enum):
        return False
    return getattr(kind, "__eq__", None) is object.__eq__


def _full_name(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _unknown(thing: Any, seen: str) -> str:
    """What was seen, and the three nearest ways in."""
    held = next((name for name in _ATTRIBUTES if getattr(thing, name, None) is not None), None)
    numbers = "its array of shape (n_rows, n_features)" if held is None else f"the numbers in its .{held}"
    return (
        f"{seen}. Pass {numbers} as fs.Importances(values), its words as fs.Highlights([{{'great'}}, ...]), or its "
        "conditions as fs.Rules.parse(['age <= 37', ...])."
    )


def _stackable(column: Any) -> list[Any]:
    shapes = {_shape(item) for item in column}
    if len(shapes) > 1:
        raise BadInput(f"Explanations have rows of different shapes, {sorted(shapes)}: give every row the same shape.")
    return list(column)


def _shape(item: Any) -> tuple[int, ...]:
    try:
        return np.shape(item)
    except ValueError:
        raise BadInput(
            "Explanations have rows that hold lists of different lengths: give every row the same number of numbers."
        ) from None


def _is_text(cells: Any) -> bool:
    return cells.dtype == object and cells.size > 0 and all(isinstance(item, str) for item in cells.flat)


def _from_cells(cells: Any, wanted: Wanted) -> Explanations:
    wanted.refuse_all("records")
    return Records(list(cells.T), [f"x{j}" for j in range(cells.shape[1])])


def _from_frame(frame: Any, wanted: Wanted, remarks: Sequence[str]) -> Explanations:
    names, columns = frame_columns(frame)
    if not columns:
        raise BadInput("Explanations have no columns: pass at least one.")
    numeric = all(column.dtype.kind in "biuf" for column in columns)
    if numeric:
        return _importances(frame, wanted, remarks)
    wanted.refuse_all("records, since not all columns are numbers")
    return Records([frame_column(frame, j) for j in range(len(columns))], names)
