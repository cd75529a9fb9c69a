"""Rows of numbers, dates and categories as one array of cells, any of which may be missing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.explanations.base import readable
from faithscope.inputs.array_types import Array, Names
from faithscope.inputs.columns import Rows
from faithscope.inputs.dates import Moment, nanoseconds
from faithscope.inputs.numbers import need_cells, refuse_nonfinite, to_matrix
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

    values: Array
    names: Names | None
    dates: tuple[bool, ...]


def to_cells(rows: Any, what: str) -> CellTable:
    """Rows of any kind as cells; images and series as rows of numbers."""
    rows, _ = flat_rows(rows)
    read = Rows(rows, what=what)
    names, columns = read.names if read.named else None, read.columns
    dates = tuple(column.dated for column in columns)
    if all(column.values.dtype.kind in "biuf" for column in columns):
        if not any(column.missing.any() for column in columns):
            return CellTable(to_matrix(rows, what)[0], names, dates)
        refuse_nonfinite(np.column_stack([np.where(each.missing, 0, each.values) for each in columns]), what)
    need_cells(40 * len(columns), len(read), len(columns), what)
    values = np.empty((len(read), len(columns)), object)
    for j, column in enumerate(columns):
        values[:, j] = nanoseconds(column.values) if dates[j] or column.values.dtype.kind == "m" else column.values
        values[column.missing, j] = None
    return CellTable(values, names, dates)


def cell_text(value: Any, is_date: bool = False) -> str:
    """The text of one cell."""
    if value is None:
        return "missing"
    return str(Moment(int(value))) if is_date else readable(value)
