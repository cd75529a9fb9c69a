"""Rows of numbers, dates and categories as one array of cells, any of which may be missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import readable
from faithscope.inputs.arrays import frame_columns, is_frame, to_objects, to_vector
from faithscope.inputs.date_numbers import nanoseconds
from faithscope.inputs.dates import Moment, hold_dates
from faithscope.inputs.missing import missing_values
from faithscope.inputs.numbers import need_cells, refuse_nonfinite, to_matrix, to_table
from faithscope.inputs.rows import flat_rows


@dataclass(frozen=True, eq=False)
class CellTable:
    """Rows as an array of cells.

    Attributes
    ----------
    values : (n, d) array
        Floats if every cell is a number; else Python objects, a date as its nanoseconds since 1970, whatever its
        unit, and a missing value as None.
    names : tuple of str, or None
        The columns, if the input names them.
    dates : tuple of bool
        Which columns are dates.
    """

    values: NDArray[Any]
    names: tuple[str, ...] | None
    dates: tuple[bool, ...]


def to_cells(rows: Any, what: str) -> CellTable:
    """Rows of any kind as cells; images and series as rows of numbers."""
    rows, _ = flat_rows(rows)
    names, columns = _columns(rows, what)
    dates = tuple(hold_dates(column) for column in columns)
    if all(column.dtype.kind in "biuf" for column in columns):
        if not any(missing_values(column).any() for column in columns):
            return CellTable(to_matrix(rows, what)[0], names, dates)
        present = [np.nan_to_num(column, posinf=np.inf, neginf=-np.inf) for column in columns]
        refuse_nonfinite(np.column_stack(present), what)
    need_cells(40 * len(columns), len(columns[0]), len(columns), what)
    values = np.empty((len(columns[0]), len(columns)), object)
    for j, column in enumerate(columns):
        values[:, j] = nanoseconds(column) if dates[j] or column.dtype.kind == "m" else _objects(column)
    return CellTable(values, names, dates)


def _columns(rows: Any, what: str) -> tuple[tuple[str, ...] | None, list[NDArray[Any]]]:
    if is_frame(rows):
        return frame_columns(rows)
    array = to_table(rows, what)
    return None, [to_vector(column.tolist() if array.dtype == object else column) for column in array.T]


def _objects(column: NDArray[Any]) -> NDArray[Any]:
    values = to_objects(column.tolist())
    values[missing_values(column)] = None
    return values


def missing_cells(values: NDArray[Any]) -> int:
    """How many cells are missing."""
    return sum(int(missing_values(column).sum()) for column in values.T)


def cell_text(value: Any, is_date: bool = False) -> str:
    """The text of one cell."""
    if value is None:
        return "missing"
    return str(Moment(int(value))) if is_date else readable(value)
