"""What an explanation says, and what makes two of them the same."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Plain, Records
from faithscope.inputs.alignment import index_of
from faithscope.inputs.arrays import frame_columns, is_frame, is_row, to_vector
from faithscope.inputs.axes import refuse_axes

__all__ = ["Explanations", "as_explanations"]


def as_explanations(given: Any) -> Explanations:
    """Whatever a caller has as `Explanations`.

    Rows of numbers (a 2-D array, a list of lists, a numeric table, a ``shap.Explanation``) are importances;
    a table with other columns has one record per row; anything else is one plain key per row.

    Examples
    --------
    >>> as_explanations([[0.5, -0.1], [0.0, 0.2]])
    <2 explanations: importances over 2 features>
    >>> as_explanations(["leaf 3", "leaf 7"])
    <2 explanations: plain keys>
    """
    explanations = _of_kind(given)
    index = index_of(given) if explanations.index is None else None
    return explanations if index is None or len(index) != len(explanations) else explanations._with(index=index)


def _of_kind(given: Any) -> Explanations:
    if isinstance(given, Explanations):
        return given
    if type(given).__module__.startswith("shap."):
        return Importances(given)
    refuse_axes(given)
    if is_frame(given):
        return _from_frame(given)
    column = to_vector(given, "Explanations")
    if column.ndim == 1 and column.dtype == object and len(column) and is_row(column[0]):
        column = np.array(_stackable(column)) if _depth(column[0]) > 1 else column
        return Importances(column if column.ndim > 1 else list(column))
    if column.ndim == 1:
        return Plain(column)
    return Importances(column) if column.dtype.kind in "biufcO" and not _is_text(column) else _from_cells(column)


def _stackable(column: Any) -> list[Any]:
    shapes = {_shape(item) for item in column}
    if len(shapes) > 1:
        raise BadInput(f"Explanations have rows of different shapes, {sorted(shapes)}: give every row the same shape.")
    return list(column)


def _depth(item: Any) -> int:
    return len(_shape(item))


def _shape(item: Any) -> tuple[int, ...]:
    try:
        return np.shape(item)
    except ValueError:
        raise BadInput(
            "Explanations have rows that hold lists of different lengths: give every row the same number of numbers."
        ) from None


def _is_text(cells: Any) -> bool:
    return cells.dtype == object and cells.size > 0 and all(isinstance(item, str) for item in cells.flat)


def _from_cells(cells: Any) -> Explanations:
    return Records(list(cells.T), [f"x{j}" for j in range(cells.shape[1])])


def _from_frame(frame: Any) -> Explanations:
    names, columns = frame_columns(frame)
    if not columns:
        raise BadInput("Explanations have no columns: pass at least one.")
    numeric = all(column.dtype.kind in "biuf" for column in columns)
    return Importances(frame) if numeric else Records(columns, names)
