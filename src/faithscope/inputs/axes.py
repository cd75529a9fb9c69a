"""Importances with more than two axes: maps and series become rows of numbers, unless the axes may be classes."""

from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.inputs.tensors import is_tensor, to_host


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
    shape = shape_of(values)
    if len(shape) < 3 or hasattr(values, "columns"):
        return values, None, ""
    if is_tensor(values) or is_tensor(_first(values)):
        array = to_host(values) if is_tensor(values) else np.stack([to_host(row) for row in values])
        return array.reshape(len(array), prod(array.shape[1:])), array.shape[1:], ""
    if isinstance(values, list | tuple):
        _refuse_classes_first(shape)
    array = np.asanyarray(values)  # what is masked stays masked, to be refused
    return array.reshape(len(array), prod(array.shape[1:])), array.shape[1:], _doubt(array)


def shape_of(values: Any) -> tuple[int, ...]:
    """The shape of an array, or of a list of arrays of one shape; () for anything else."""
    if isinstance(getattr(values, "shape", None), tuple):
        return tuple(values.shape)
    first = _first(values)
    shape = getattr(first, "shape", ())
    inner = tuple(shape) if isinstance(shape, tuple) else ()
    if isinstance(first, list) and isinstance(_first(first), list):  # a tuple is a key, which may hold anything
        inner = (len(first), len(_first(first)))
    alike = len(inner) > 1 and all(_inner_shape(item) == inner for item in values)
    return (len(values), *inner) if alike else ()


def _inner_shape(item: Any) -> tuple[int, ...]:
    try:
        return np.shape(item)
    except ValueError:  # lists of different lengths
        return ()


def are_interactions(values: Array) -> bool:
    """Whether each row is a symmetric matrix, as shap's interactions of every two features are."""
    if values.ndim < 3 or not values.shape[1] == values.shape[2] > 1 or values.dtype.kind != "f":
        return False
    return np.allclose(values, values.swapaxes(1, 2)) and not (values == values[:, :1, :1]).all()


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list | tuple) and len(values) else None


def _refuse_classes_first(shape: tuple[int, ...]) -> None:
    if len(shape) == 3 and shape[0] < shape[1]:
        raise BadInput(
            f"Importances came as a list of {shape[0]} arrays of shape {shape[1:]}, which looks like one array per "
            f"class: classes, rows, features. Choose the class explained: fs.read(values, class_index="
            f"{min(1, shape[0] - 1)}). If each is the map of one row, pass np.stack(values) with fs.Pool."
        )


def _doubt(values: Array) -> str:
    """What the axes of an array may be, if not the map of a row."""
    if values.ndim == 4:
        return ""
    classes = "If one axis is classes, choose the class explained: fs.read(values, class_index=1)."
    if are_interactions(values):
        classes = "They are symmetric, as shap's interactions of features, whose importances are values.sum(axis=2)."
    pool = " discretizer=fs.Pool((4, 4)), or" if values.ndim == 3 else ""
    return (
        f"Importances must have shape (n_rows, n_features); got {values.shape}. {classes} If each row is a map or a "
        f"series, pass{pool} values.reshape(len(values), -1)."
    )
