"""Importances with more than two axes, or as pairs: what they probably are, and how to make a matrix of them."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput

_COLUMNS = "[[dict({pairs}).get(j, 0.0) for j in range(n_features)] for explanation in explanations]"


def refuse_axes(given: Any) -> None:
    """Raise if importances are not of shape (n_rows, n_features): lime's pairs, or an axis of classes or of pixels.

    The advice names a slice only together with what the axes would have to be: most slices of three axes run, and most
    of them are wrong.
    """
    _refuse_lime(given)
    values = getattr(given, "values", given) if type(given).__module__.startswith("shap.") else given
    shape = _shape(values)
    if len(shape) < 3:
        return
    seen = f"Importances must have shape (n_rows, n_features); got {shape}"
    if _are_interactions(values):
        name = "values" if values is given else "explanations.values"
        raise BadInput(
            f"{seen}, symmetric, as interactions of features are (shap): rows, features, features. Sums over the last "
            f"axis are the importances: {name}.sum(axis=2). "
            f"If they are rows and pixels of images, {name}.reshape(len({name}), -1)."
        )
    if _shape(getattr(given, "data", None)) == shape[:2]:  # shap keeps the rows beside their importances
        raise BadInput(
            f"Importances have axes {shape}: rows, features, classes. Choose the class explained, "
            "e.g. explanations[:, :, 1]; or keep all of them, explanations.values.reshape(len(explanations), -1)."
        )
    if len(shape) > 3:
        raise BadInput(
            f"{seen}. If the first axis is rows and the others are pixels: values.reshape(len(values), -1). "
            "If one of them is classes, choose a class first."
        )
    if shape[0] < shape[1] and (isinstance(values, list | tuple) or shape[0] <= shape[2]):
        raise BadInput(
            f"{seen}, which looks like one array per class: classes, rows, features. Pass that of the class explained, "
            f"e.g. values[{min(1, shape[0] - 1)}]. If the first axis is rows, values.reshape(len(values), -1) keeps "
            "every number of a row."
        )
    raise BadInput(
        f"{seen}. If its axes are rows, features, classes (shap), choose the class explained, e.g. values[:, :, 1]. "
        "If they are rows, classes, features and a bias (CatBoost), values[:, 1, :-1]. "
        "If they are rows and pixels of images, values.reshape(len(values), -1). If classes come first, values[1]."
    )


def _are_interactions(values: Any) -> bool:
    """Whether each row is a symmetric matrix, as shap's interactions of every two features are."""
    if not isinstance(values, np.ndarray) or values.ndim != 3 or not values.shape[1] == values.shape[2] > 1:
        return False
    return values.dtype.kind == "f" and np.allclose(values, values.transpose(0, 2, 1))


def _shape(values: Any) -> tuple[int, ...]:
    """The shape of an array, or of a list of arrays of one shape; () for anything else."""
    if hasattr(values, "shape"):
        return tuple(values.shape)
    first = _first(values)
    inner = tuple(getattr(first, "shape", ()))
    if isinstance(first, list) and isinstance(_first(first), list | tuple):  # a tuple is a key, which may hold anything
        inner = (len(first), len(_first(first)))
    return (len(values), *inner) if len(inner) > 1 else ()


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list | tuple) and len(values) else None


def _refuse_lime(given: Any) -> None:
    """Raise if rows are what lime hands over: its objects, its maps by class, or pairs of a feature and a weight."""
    given = given.tolist() if hasattr(given, "tolist") and np.dtype("O") == getattr(given, "dtype", None) else given
    first = _first(given)
    seen = "Explanations look like lime's"
    if type(first).__module__.startswith("lime."):
        advice = _COLUMNS.format(pairs="explanation.as_map()[1]")
        raise BadInput(f"{seen} own objects. Give every feature a column, of class 1 for example: {advice}.")
    if isinstance(first, dict) and first and all(_are_pairs(pairs) for pairs in first.values()):
        advice = _COLUMNS.format(pairs=f"explanation[{next(iter(first))!r}]")
        raise BadInput(f"{seen} as_map(), pairs of a feature's index and its weight by class. Use {advice}.")
    if _are_pairs(first) or _are_pair_array(given):
        advice = _COLUMNS.format(pairs="explanation")
        if isinstance((given[0] if first is None else first)[0][0], str):
            advice = _COLUMNS.format(pairs="explanation.as_map()[1]")
            raise BadInput(f"{seen} as_list(), pairs of a text and a weight. Of its objects use as_map(): {advice}.")
        raise BadInput(
            f"{seen} as_map(), pairs of a feature's index and its weight, strongest first. "
            f"Give every feature a column: {advice}."
        )


def _are_pairs(row: Any) -> bool:
    """Whether a row is a list of (index or text, weight) tuples, or of such lists, as JSON has them."""
    if not isinstance(row, list) or not row or not all(isinstance(p, tuple | list) and len(p) == 2 for p in row):
        return False
    if not all(isinstance(p[0], int | np.integer | str) and isinstance(p[1], int | float | np.number) for p in row):
        return False
    return any(isinstance(p[1], float | np.floating) for p in row)


def _are_pair_array(values: Any) -> bool:
    """Whether an array is (n, k, 2) with texts or different whole numbers first, as lists of such pairs become."""
    if not isinstance(values, np.ndarray) or values.ndim != 3 or values.shape[2] != 2 or not values.size:
        return False
    if values.dtype.kind != "f":
        return bool(values.dtype.kind == "U")
    index = np.sort(values[:, :, 0], axis=1)
    whole = bool((index == np.floor(index)).all() and (index >= 0).all())
    return (
        whole and bool((np.diff(index, axis=1) > 0).all()) and not (values[:, :, 1] == np.floor(values[:, :, 1])).all()
    )
