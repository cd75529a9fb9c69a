"""Arrays, lists and tables: importances if they are numbers, records if they are not, else one key per row.

Of several classes, which axis is classes, and the importances of those that a caller wants.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations, readable
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import OWN_CLASSES, Importances, side_by_side
from faithscope.explanations.keys import Plain, Records
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_column, frame_columns, is_frame, is_row, to_vector
from faithscope.inputs.axes import are_interactions, shape_of
from faithscope.inputs.columns import default_names
from faithscope.inputs.dates import has_zone
from faithscope.inputs.queries import refuse_query
from faithscope.inputs.tensors import is_tensor, to_host
from faithscope.readers.wanted import Wanted
from faithscope.runtime.memory import need
from faithscope.runtime.of_logs import AnswersVerbs

_VALUES = ("builtins", "datetime", "decimal", "fractions", "numpy", "pandas")  # whose objects are single values
_ATTRIBUTES = ("values", "attributions", "scores", "shap_values", "importances", "weights")
_LOOK = 1000  # rows that nearly always tell that a column varies
PREDICTED = "fs.read(explanations, class_index='predicted')"
_BIAS = "the constant last column, the bias of a boosted model, was left out"


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Rows of numbers as importances, sets of words as highlights, other tables as records, other rows as keys."""
    given, remarks = _of_class(thing, wanted)
    refuse_query(given, "Explanations")
    if hasattr(given, "tocsr"):
        rows, features = given.shape
        what = f"Importances as a dense array ({rows:,} rows, {features:,} features)"
        need(8 * rows * features, what, "keep fewer columns, or pass the largest ones of each row as fs.Highlights")
        return _importances(given.toarray(), wanted, remarks)
    if len(shape_of(given)) > 2:
        return _importances(given, wanted, remarks)
    if is_frame(given):
        return _from_frame(given, wanted, remarks)
    if isinstance(given, AnswersVerbs):
        raise WrongType(
            "A log came where explanations are taken: read its rows, rows = log.read(), and pass rows.explanations and "
            "rows.predictions."
        )
    if not any(hasattr(given, name) for name in ("__iter__", "__array__")) and not is_tensor(given):
        _refuse_unknown([given])
    column = to_vector(given, "Explanations")
    if column.ndim == 1:
        objects = column.dtype == object and len(column)
        if objects and is_row(column[0]):
            _refuse_texts(column)
            if len(_shape(column[0])) < 2:
                return _importances(list(column), wanted, remarks)
            shapes = {_shape(item) for item in column}
            if len(shapes) > 1:
                raise BadInput(
                    f"Explanations have rows of different shapes, {sorted(shapes)}: give every row the same shape."
                )
            return _importances(np.array(list(column)), wanted, remarks)
        if objects and all(isinstance(item, set) and all(isinstance(word, str) for word in item) for item in column):
            wanted.refuse_all("sets of words")
            return Highlights(column)
        wanted.refuse_all("plain keys")
        if objects:
            _refuse_unknown(column)
        return Plain(given if has_zone(given) and not objects else column)
    texts = column.dtype == object and column.size > 0 and all(isinstance(item, str) for item in column.flat)
    if column.dtype.kind in "biufcO" and not texts:
        return _importances(column, wanted, remarks)
    wanted.refuse_all("records")
    return Records(list(column.T), default_names(column.shape[1]))


def _importances(values: Any, wanted: Wanted, remarks: Sequence[str]) -> Importances:
    read = wanted.importances(values, None, *remarks)
    return read if read.names else read._with(remarks=(*read.remarks, *_bias_note(read.values)))


def _refuse_texts(column: Array) -> None:
    """Raise if rows are lists of texts, which may be codes or words."""
    lists = (row for row in column if hasattr(row, "__len__") and getattr(row, "shape", None) != ())
    first: Any = next(filter(len, lists), ())
    if len(first) and all(isinstance(item, str) for item in first):
        raise WrongType(
            f"Explanations are lists of texts, such as {readable(tuple(first[:3]))}: pass fs.Codes(explanations) if "
            "they are codes of reasons, or fs.Highlights(explanations) if they are words of documents."
        )


def _refuse_unknown(items: Sequence[Any] | Array) -> None:
    """Raise if these are objects that equal nothing but themselves, so that every explanation would seem unique."""
    unknown = tuple(
        kind
        for kind in set(map(type, items))
        if kind.__module__.partition(".")[0] not in _VALUES
        and not issubclass(kind, Enum)
        and getattr(kind, "__eq__", None) is object.__eq__
    )
    if not unknown:
        return
    row, item = next((row, item) for row, item in enumerate(items) if isinstance(item, unknown))
    held = next((name for name in _ATTRIBUTES if getattr(item, name, None) is not None), None)
    numbers = "its array of shape (n_rows, n_features)" if held is None else f"the numbers in its .{held}"
    name = f"{type(item).__module__}.{type(item).__qualname__}"
    raise WrongType(
        f"Explanations are objects of {name} (row {row}), which are not known here. Pass {numbers} as "
        "fs.Importances(values), its words as fs.Highlights([{'great'}, ...]), or its conditions as "
        "fs.Rules.parse(['age <= 37', ...])."
    )


def _shape(item: Any) -> tuple[int, ...]:
    try:
        return np.shape(item)
    except ValueError:
        raise BadInput(
            "Explanations have rows that hold lists of different lengths: give every row the same number of numbers."
        ) from None


def _from_frame(frame: Any, wanted: Wanted, remarks: Sequence[str]) -> Explanations:
    names, columns = frame_columns(frame)
    if not columns:
        raise BadInput("Explanations have no columns: pass at least one.")
    if all(column.dtype.kind in "biuf" for column in columns):
        return _importances(frame, wanted, remarks)
    wanted.refuse_all("records, since not all columns are numbers")
    return Records([frame_column(frame, j) for j in range(len(columns))], names)


# -- classes ------------------------------------------------------------------------------------------------------


def _of_class(thing: Any, wanted: Wanted) -> tuple[Any, tuple[str, ...]]:
    """An array of several classes as that of the class wanted, and how it was read; anything else as it is.

    Known are shap's (n, features, classes), its older list of one (n, features) per class, CatBoost's and XGBoost's
    (n, classes, features + 1), whose last column, the bias, does not depend on the row, and LightGBM's, the same in one
    row of numbers, if features are named.
    """
    shape = shape_of(thing)
    if len(shape) == 2 and wanted.features is not None and not hasattr(thing, "columns"):
        classes, rest = divmod(shape[1], len(wanted.features) + 1)
        if not rest and classes == 1:
            values = _host(thing)
            biased = len(values) and (values[:, -1] == values[0, -1]).all()
            return (values[:, :-1], (_BIAS,)) if biased else (thing, ())
        if not rest and wanted.class_index is not None:  # LightGBM's classes, each with its bias, in one row
            thing = _host(thing).reshape(shape[0], classes, -1)
            shape = thing.shape
    if wanted.class_index is None or len(shape) < 3 or len(shape) == 4:
        if wanted.class_index in (0, 1) and len(shape) == 2 and not hasattr(thing, "columns"):
            values = _host(thing)
            if values.dtype.kind in "biuf" and not _bias_note(values):
                return of_two(values, wanted)
        several = " (LightGBM's several classes are told apart by features=[...])" * (wanted.features is None)
        one = f"these explanations have shape {shape}, of one class{several}"
        wanted.refuse_class(one if len(shape) == 2 else "these have no axis of classes")
        return thing, ()
    if isinstance(thing, list | tuple) and hasattr(thing[0], "shape"):
        _refuse_one_per_row(shape, wanted)
        return _host(thing[check_class(wanted.class_index, shape[0])]), ()
    values = _host(thing)
    if values.ndim > 4:  # maps of several classes
        return values[..., check_class(wanted.class_index, shape[-1])], ()
    if _has_bias(values, None if wanted.features is None else len(wanted.features)):
        label = check_class(wanted.class_index, shape[1])
        return values[:, label, :-1], (_BIAS,)
    _refuse_unclear(values, wanted)
    return values[:, :, check_class(wanted.class_index, shape[2])], ()


def of_two(values: Array, wanted: Wanted) -> tuple[Array, tuple[str, ...]]:
    """One number per feature as those of the class wanted, of two: class 1 as they are, class 0 with the other sign."""
    if wanted.class_index in (0, 1):
        how = "with the other sign" if wanted.class_index == 0 else "as they are"
        told = f"importances were taken for those of class 1 of two, and read {how} for class {wanted.class_index}"
        return (-values if wanted.class_index == 0 else values), (told,)
    wanted.refuse_class("these explanations have one number per feature, of a single class, or of class 1 of two")
    return values, ()


def _refuse_one_per_row(shape: tuple[int, ...], wanted: Wanted) -> None:
    """Raise if a list may hold one array (features, classes) per row, and not one (rows, features) per class."""
    features = None if wanted.features is None else len(wanted.features)
    if features is not None and shape[2] == features != shape[1]:
        return
    if features is not None or shape[0] > min(shape[1:]):
        raise BadInput(
            f"Importances came as a list of {shape[0]} arrays of shape {shape[1:]}. If each is one row, of shape "
            "(n_features, n_classes), pass fs.read(np.stack(values), class_index=1, features=[...]); if each is one "
            "class, of shape (n_rows, n_features), name the features: features=[...]."
        )


def _bias_note(values: Array) -> tuple[str, ...]:
    """A note if some columns, the last among them, look like the biases of a boosted model's classes."""
    if len(values) < 10 or values.dtype.kind != "f" or not values.shape[1] or not values[0, -1]:
        return ()
    last = values[:, -1]
    if not (last[:_LOOK] == last[0]).all() or not (last == last[0]).all():
        return ()
    constant = np.flatnonzero((values == values[:1]).all(axis=0) & (values[0] != 0))
    width, rest = divmod(values.shape[1], len(constant))
    if rest or width < 2 or not np.array_equal(constant, np.arange(width - 1, values.shape[1], width)):
        return ()
    several = len(constant) > 1
    seen = f"{len(constant)} columns are" if several else "the last column is"
    call = "fs.read(values, class_index=1, features=[...])" if several else "fs.read(values, features=[...])"
    return (f"{seen} the same in every row, as biases of boosted models are, and counted as features: if so, {call}",)


def _host(thing: Any) -> Array:
    if isinstance(thing, list | tuple):
        return np.array([_host(item) if hasattr(item, "shape") else item for item in thing])
    return to_host(thing) if is_tensor(thing) else np.asarray(thing)


def of_classes(
    values: Array, names: Sequence[str] | None, titles: Sequence[str], wanted: Wanted, outputs: Array | None
) -> Importances:
    """The importances of the classes wanted, of an array (n, features, classes).

    Parameters
    ----------
    outputs : (n, classes) array, optional
        What the model says of each class, if that is known: the largest is the predicted one.
    """
    values, names, left = wanted.per_class(values, names)
    rows, features, classes = values.shape
    index = wanted.class_index
    if index == "predicted" and outputs is not None:
        return left.importances(values[np.arange(rows), :, outputs.argmax(axis=1)], names, OWN_CLASSES)
    if index is None and classes > 2:
        labels = names or default_names(features)
        crossed = tuple(f"{name} | class {title}" for title in titles for name in labels)
        flat = values.transpose(0, 2, 1).reshape(rows, -1)
        return left.importances(flat, crossed, side_by_side(classes, PREDICTED))
    label = min(1, classes - 1) if index is None else check_class(index, classes)
    told = (f"importances are those of class {titles[label]}",) if index is None and classes == 2 else ()
    return left.importances(values[:, :, label], names, *told, label=label_named(titles[label]))


def label_named(title: Any) -> str | None:
    """The label that a library names; None for a number, or a word with a number, which name only its place."""
    return None if not isinstance(title, str) or re.fullmatch(r"(\w+ )?\d+", title.strip()) else title


def check_class(class_index: Any, classes: int) -> int:
    """The position of a class among those explained."""
    if class_index == "predicted":
        raise BadInput(
            "class_index='predicted' needs the predictions, which are not part of these explanations: choose a class, "
            "such as class_index=1; or take the rows' own, values[np.arange(len(values)), :, predicted], as an array."
        )
    if not 0 <= class_index < classes:
        known = f"0 to {classes - 1}" if classes > 1 else "0"
        raise BadInput(f"class_index must be one of the {classes} classes explained, {known}; got {class_index!r}.")
    return int(class_index)


def one_class(wanted: Wanted, classes: int, what: str) -> int:
    """The position of the class wanted of so many: by default class 1 of two; raises if there are more."""
    if wanted.class_index is None and classes > 2:
        raise BadInput(f"{what} are of {classes} classes: choose one, fs.read(explanations, class_index=1).")
    return check_class(min(1, classes - 1) if wanted.class_index is None else wanted.class_index, classes)


def _has_bias(values: Array, features: int | None) -> bool:
    """Whether an array is (n, classes, features + 1): its last column is the same in every row, as a bias is.

    Other columns may be so only if they are 0, as those of features that a model does not use. A last column of zeros
    is taken for a bias only if the number of features says so.
    """
    constant = (values == values[:1]).all(axis=0)
    if not len(values) or not constant[:, -1].all():
        return False
    if features is not None and (values.shape[1] == features) != (values.shape[2] == features + 1):
        return bool(values.shape[2] == features + 1)
    return bool(len(values) > 1 and values[0, :, -1].any() and not values[0, :, :-1][constant[:, :-1]].any())


def _refuse_unclear(values: Array, wanted: Wanted) -> None:
    """Raise if an array may be (n, features, classes) and (n, classes, features) alike."""
    if are_interactions(values):
        raise BadInput(
            f"Importances have shape {values.shape}, symmetric, as interactions of features are (shap): sum them "
            "first, values.sum(axis=2)."
        )
    known = wanted.features is not None and len(wanted.features) == values.shape[1]
    first = values.shape[0] < values.shape[1] and values.shape[0] <= values.shape[2]  # classes may come first
    if (values.shape[1] <= values.shape[2] or first) and not known:
        raise BadInput(
            f"Importances have shape {values.shape}, and it is not clear which axis is classes: name the "
            "features, fs.read(values, class_index=1, features=[...]), of shape (n_rows, n_features, n_classes)."
        )
