"""Rows that SHAP explains: each once, and with categories that the background does not have."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.space import Space
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.missing import missing_values


def distinct(rows: Floats) -> tuple[Floats, Ints]:
    """The distinct rows, and the place of each row among them; missing equals missing."""
    plain = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows + 0.0))
    bits, place = np.unique(plain.view(np.int64), axis=0, return_inverse=True)
    return bits.view(np.float64), place.reshape(-1)


def widened(table: Space, X: Any) -> Space:
    """The table with the categories that only these rows have, which the model may know."""
    if not table.categorical.any():
        return table
    own = table.read(X)[1].values
    categories = tuple(
        known if known is None or j not in own else (*known, *_others(known, own[j]))
        for j, known in enumerate(table.categories)
    )
    return replace(table, categories=categories)


def _others(known: Sequence[Any], values: NDArray[Any]) -> list[Any]:
    """The distinct values that are neither known nor missing."""
    different = dict.fromkeys(values[~missing_values(values)].tolist())
    return [value for value in different if value not in set(known)]


def moved(background: Floats, table: Space, wider: Space) -> Floats:
    """The background in the codes of a wider table, in which missing comes after more categories."""
    before, after = (np.array([len(known or ()) for known in either.categories]) for either in (table, wider))
    return np.where(table.categorical & (background >= before), background + (after - before), background)


def refuse_lost(table: Space) -> None:
    """Raise if a category does not survive decoding: a categorical column of pandas turns other categories into NaN."""
    if not table.categorical.any():
        return
    sizes = [0 if known is None else len(known) for known in table.categories]
    every = np.column_stack([np.arange(max(sizes)) % max(size, 1) for size in sizes]).astype(np.float64)
    try:
        with warnings.catch_warnings(action="ignore"):  # pandas warns, and will raise
            lost = table.encode(table.decode(every)) != every
    except Exception as problem:  # every library has an error of its own
        raise BadInput(f"{_LOST} ({problem}). {_SAME}") from problem
    if lost.any():
        row, j = np.argwhere(lost)[0]
        raise BadInput(f"{_LOST}: {(table.categories[j] or ())[row % sizes[j]]!r} in {table.names[j]!r}. {_SAME}")


_LOST = "The background's columns cannot hold every category of these rows"
_SAME = "Give them the same categories, or plain strings."
