"""Arrays, lists and tables: importances if they are numbers, records if they are not, else one key per row."""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Plain, Records
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_column, frame_columns, is_frame, is_row, refuse_query, to_vector
from faithscope.inputs.columns import default_names
from faithscope.inputs.dates import has_zone
from faithscope.inputs.rows import shape_of
from faithscope.inputs.tensors import to_host
from faithscope.readers.wanted import Wanted
from faithscope.runtime.memory import need
from faithscope.runtime.of_logs import is_log
from faithscope.words import readable

_VALUES = ("builtins", "datetime", "decimal", "fractions", "numpy", "pandas")  # whose objects are single values
_BIAS = "the constant last column, the bias of a boosted model, was left out"


def read(given: Any, wanted: Wanted) -> Explanations:
    """Rows of numbers as importances, sets of words as highlights, other tables as records, other rows as keys."""
    refuse_query(given, "Explanations")
    if hasattr(given, "tocsr"):
        what = f"Importances as a dense array ({given.shape[0]:,} rows, {given.shape[1]:,} features)"
        need(8 * prod(given.shape), what, "keep fewer columns, or pass the largest ones of each row as fs.Highlights")
        given = given.toarray()
    if len(shape_of(given)) > 2:
        return _of_axes(given, wanted)
    if is_frame(given):
        names, columns = frame_columns(given)
        if not columns:
            raise BadInput("Explanations have no columns: pass at least one.")
        if all(column.dtype.kind in "biuf" for column in columns):
            return _matrix(given, wanted)
        return Records([frame_column(given, j) for j in range(len(columns))], names)
    if is_log(given):
        raise WrongType(
            "A log came where explanations are taken: read its rows, rows = log.read(), and pass rows.explanations and "
            "rows.predictions."
        )
    if not any(hasattr(given, name) for name in ("__iter__", "__array__", "__dlpack__")):
        _refuse_unknown([given])
    column = to_vector(given, "Explanations")
    if column.ndim == 1 and column.dtype == object and len(column):
        if is_row(column[0]):
            return _of_rows(column, wanted)
        if all(isinstance(item, set) and all(map(_is_text, item)) for item in column):
            return Highlights(column)
        _refuse_unknown(column)
        return Plain(column)
    if column.ndim == 1:
        return Plain(given if has_zone(given) else column)
    texts = column.dtype == object and column.size > 0 and all(map(_is_text, column.flat))
    if column.dtype.kind in "biufcO" and not texts:
        return _matrix(column, wanted)
    return Records(list(column.T), default_names(column.shape[1]))


def _is_text(item: Any) -> bool:
    return isinstance(item, str)


def _of_rows(column: Array, wanted: Wanted) -> Explanations:
    """Rows that are lists or arrays: of numbers, all of one shape."""
    lists = (row for row in column if hasattr(row, "__len__") and getattr(row, "shape", None) != ())
    first: Any = next(filter(len, lists), ())
    if len(first) and all(map(_is_text, first)):
        raise WrongType(
            f"Explanations are lists of texts, such as {readable(tuple(first[:3]))}: pass fs.Codes(explanations) if "
            "they are codes of reasons, or fs.Highlights(explanations) if they are words of documents."
        )
    try:
        several = np.ndim(column[0]) > 1
        values = np.array(list(column)) if several else list(column)
    except ValueError:
        raise BadInput(
            "Explanations have rows of different shapes: give every row the same number of numbers."
        ) from None
    return _of_axes(values, wanted) if several else _matrix(values, wanted)


def _refuse_unknown(items: Sequence[Any] | Array) -> None:
    """Raise if these are objects that equal nothing but themselves, so that every explanation would seem unique."""
    unknown = tuple(
        kind
        for kind in set(map(type, items))
        if kind.__module__.partition(".")[0] not in _VALUES
        and not issubclass(kind, Enum)
        and getattr(kind, "__eq__", None) is object.__eq__
    )
    if unknown:
        row, kind = next((row, type(item)) for row, item in enumerate(items) if isinstance(item, unknown))
        raise WrongType(
            f"Explanations are objects of {kind.__module__}.{kind.__qualname__} (row {row}), which are not known here. "
            "Pass their numbers as fs.Importances(values), of shape (n_rows, n_features), their words as "
            "fs.Highlights([{'great'}, ...]), or their conditions as fs.Rules.parse(['age <= 37', ...])."
        )


# -- numbers, and which axis is classes -------------------------------------------------------------------------------


def _matrix(values: Any, wanted: Wanted) -> Importances:
    """One number per feature; or LightGBM's, whose classes stand in one row, each with its bias."""
    remarks: tuple[str, ...] = ()
    if wanted.features is not None and not is_frame(values):
        array = np.asarray(values)
        classes, rest = divmod(array.shape[1], len(wanted.features) + 1)
        if not rest and classes > 1 and wanted.class_index is not None:
            name = f"values.reshape(len(values), {classes}, -1)"
            return _of_axes(array.reshape(len(array), classes, -1), wanted, name)
        if not rest and classes == 1 and len(array) and (array[:, -1] == array[0, -1]).all():
            values, remarks = array[:, :-1], (_BIAS,)
    read = wanted.of_one(values, None, *remarks)
    return read if read.names else read._with(remarks=(*read.remarks, *_bias_note(read.values)))


def _bias_note(values: Array) -> tuple[str, ...]:
    """A note if the last column, and not every one, looks like the bias of a boosted model."""
    last = values[:, -1:]
    if len(values) < 10 or values.dtype.kind != "f" or not last[:1].any():
        return ()
    if (last != last[0]).any() or (values == values[0]).all():
        return ()
    told = "the last column is the same in every row, as the bias of a boosted model is, and counted as a feature"
    return (f"{told}: if it is one, fs.read(values, features=[...]), with class_index=1 of several classes",)


def _of_axes(given: Any, wanted: Wanted, name: str = "values") -> Importances:
    """Numbers with more than two axes: maps and series, unless a class is asked for.

    Known are shap's (n, features, classes), its older list of one (n, features) per class, and CatBoost's and XGBoost's
    (n, classes, features + 1), whose last column, the bias, does not depend on the row, if features are named.
    `name` is what the caller writes for an array with these axes.
    """
    if wanted.class_index is None:
        return wanted.importances(given)
    listed = isinstance(given, list | tuple)
    values = np.array([to_host(item) for item in given]) if listed else to_host(given)
    if values.ndim > 3:
        return wanted.of_maps(values)
    rows, first, last = values.shape
    features = None if wanted.features is None else len(wanted.features)
    moved = (values != values[:1]).any(axis=(0, 1))
    a_bias = moved.any() and values[:, :, -1].any()  # else it may be a class that no feature moves
    if listed and hasattr(given[0], "shape"):
        clear = rows < min(first, last) if features is None else last == features
        values = values.transpose(1, 2, 0)
        wanted = replace(wanted, own="np.stack(values)[predicted, np.arange(len(predicted))]")
    elif last - 1 == features and not moved[-1] and (first != features or a_bias):
        wanted = replace(wanted, own=f"{name}[np.arange(len(values)), predicted, :-1]")
        return wanted.of_classes(values[:, :, :-1].transpose(0, 2, 1), None, None, None, _BIAS)
    else:
        clear = (first > last and rows > last and moved[-1]) if features is None else first == features
    if not clear:
        raise BadInput(
            f"Importances have shape {shape_of(given)}, and it is not clear which axis is classes: name the features, "
            "fs.read(values, class_index=1, features=[...]), of an array (n_rows, n_features, n_classes) or a list of "
            "one (n_rows, n_features) per class."
        )
    return wanted.of_classes(values)
