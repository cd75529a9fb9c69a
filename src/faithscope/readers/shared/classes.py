"""Importances of several classes: which axis is classes, and the importances of those that a caller wants."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.importances import OWN_CLASSES, side_by_side
from faithscope.inputs.axes import are_interactions, shape_of
from faithscope.inputs.tensors import is_tensor, to_host
from faithscope.readers.shared.wanted import ClassIndex, Wanted

_LOOK = 1000  # rows that nearly always tell that a column varies
PREDICTED = "fs.read(explanations, class_index='predicted')"
_BIAS = "the constant last column, the bias of a boosted model, was left out"


def of_class(thing: Any, wanted: Wanted) -> tuple[Any, tuple[str, ...]]:
    """An array of several classes as that of the class wanted, and how it was read; anything else as it is.

    Known are shap's (n, features, classes), its older list of one (n, features) per class, CatBoost's and XGBoost's
    (n, classes, features + 1), whose last column, the bias, does not depend on the row, and LightGBM's, the same in one
    row of numbers, if features are named.
    """
    shape = shape_of(thing)
    if len(shape) == 2 and wanted.features is not None and not hasattr(thing, "columns"):
        classes, rest = divmod(shape[1], len(wanted.features) + 1)
        if not rest and classes == 1:
            return _without_bias(thing)
        if not rest and wanted.class_index is not None:  # LightGBM's classes, each with its bias, in one row
            thing = _host(thing).reshape(shape[0], classes, -1)
            shape = thing.shape
    if wanted.class_index is None or len(shape) < 3 or len(shape) == 4:
        if wanted.class_index in (0, 1) and len(shape) == 2 and not hasattr(thing, "columns"):
            values = _host(thing)
            if values.dtype.kind in "biuf" and not bias_note(values):
                return of_two(values, wanted)
        wanted.refuse_class(_one_class(shape, wanted))
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


def of_two(values: NDArray[Any], wanted: Wanted) -> tuple[NDArray[Any], tuple[str, ...]]:
    """One number per feature as those of the class wanted, of two: class 1 as they are, class 0 with the other sign."""
    if wanted.class_index in (0, 1):
        how = "with the other sign" if wanted.class_index == 0 else "as they are"
        told = f"importances were taken for those of class 1 of two, and read {how} for class {wanted.class_index}"
        return (-values if wanted.class_index == 0 else values), (told,)
    wanted.refuse_class("these explanations have one number per feature, of a single class, or of class 1 of two")
    return values, ()


def _one_class(shape: tuple[int, ...], wanted: Wanted) -> str:
    if len(shape) != 2:
        return "these have no axis of classes"
    several = "" if wanted.features is not None else " (LightGBM's several classes are told apart by features=[...])"
    return f"these explanations have shape {shape}, of one class{several}"


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


def bias_note(values: NDArray[Any]) -> tuple[str, ...]:
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


def _host(thing: Any) -> NDArray[Any]:
    if isinstance(thing, list | tuple):
        return np.array([_host(item) if hasattr(item, "shape") else item for item in thing])
    return to_host(thing) if is_tensor(thing) else np.asarray(thing)


def chosen(
    values: NDArray[Any],
    names: Sequence[str] | None,
    class_index: ClassIndex,
    titles: Sequence[str],
    outputs: NDArray[Any] | None = None,
) -> Any:
    """The importances of the classes wanted, of an array (n, features, classes).

    Parameters
    ----------
    outputs : (n, classes) array, optional
        What the model says of each class, if that is known: the largest is the predicted one.

    Returns
    -------
    values : (n, d) array
    names : tuple of str, or None
    remarks : tuple of str
    label : str or None
        The label that they speak of, if it is one and has a name.
    """
    rows, features, classes = values.shape
    if class_index == "predicted" and outputs is not None:
        return values[np.arange(rows), :, outputs.argmax(axis=1)], names, (OWN_CLASSES,), None
    if class_index is None and classes > 2:
        labels = names or [f"x{j}" for j in range(features)]
        crossed = tuple(f"{name} | class {title}" for title in titles for name in labels)
        flat = values.transpose(0, 2, 1).reshape(rows, -1)
        return flat, crossed, (side_by_side(classes, PREDICTED),), None
    label = min(1, classes - 1) if class_index is None else check_class(class_index, classes)
    told = (f"importances are those of class {titles[label]}",) if class_index is None and classes == 2 else ()
    return values[:, :, label], names, told, label_named(titles[label])


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


def _has_bias(values: NDArray[Any], features: int | None) -> bool:
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


def _refuse_unclear(values: NDArray[Any], wanted: Wanted) -> None:
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


def _without_bias(thing: Any) -> tuple[Any, tuple[str, ...]]:
    """An array of one column more than there are features, without the last if that is a bias."""
    values = None if hasattr(thing, "columns") else _host(thing)
    if values is None or not len(values) or not (values[:, -1] == values[0, -1]).all():
        return thing, ()
    return values[:, :-1], (_BIAS,)
