"""The names of features, and their columns in rows that have no names."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.arrays import to_items
from faithscope.inputs.rows import flat_rows


def distinct_names(features: Sequence[Hashable]) -> tuple[str, ...]:
    """The names of features as text; raises if two are the same."""
    if isinstance(features, str):
        raise WrongType(f"features must be a sequence of names; got the text {features!r}.")
    given = to_items(features, "features, the names of the columns,")
    odd = [name for name in given if not isinstance(name, Hashable)]
    if odd:
        raise WrongType(f"features must be names; got {odd[0]!r} ({type(odd[0]).__name__}): pass texts.")
    names = tuple(map(str, given))
    if len(set(names)) < len(names):
        raise BadInput(f"Two features are called {max(names, key=names.count)!r}: give each its own name.")
    return names


def default_names(count: int) -> tuple[str, ...]:
    """x0, x1, …, for features without names."""
    return tuple(f"x{position}" for position in range(count))


def array_columns(X: Any) -> list[Any]:
    """The columns of an array, or of a list of rows; the pixels of images."""
    X, _ = flat_rows(X)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return list(X.T)
    if isinstance(X, np.ndarray) or not isinstance(X, Sequence) or isinstance(X, str):
        shape = f" of shape {X.shape}" if hasattr(X, "shape") else ""
        raise WrongType(f"Rows must be a 2-D array, a list of rows or a table; got {type(X).__name__}{shape}.")
    wrong = next((row for row in X if isinstance(row, str | dict) or not hasattr(row, "__len__")), None)
    if wrong is not None:
        raise WrongType(f"Rows must be lists with one value per feature; got {wrong!r}: pass an array or a table.")
    if len({len(row) for row in X}) > 1:
        raise BadInput("Rows are lists of different lengths: give every row one value per feature.")
    return list(zip(*X, strict=True))
