"""Finite numbers: matrices of shape (n_rows, n_features)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats, Ints, Names
from faithscope.inputs.arrays import EXACT, is_frame, to_array
from faithscope.inputs.checks import is_real
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.missing import refuse_missing
from faithscope.inputs.rows import flat_rows, shape_of
from faithscope.runtime.memory import need

_BEYOND = 2**1023


def to_matrix(values: Any, what: str) -> tuple[Array, Names | None]:
    """Finite numbers, and the names of their columns.

    Returns
    -------
    matrix : (n, d) array of floats
    names : tuple of str, or None
        None if the input has no column names.
    """
    table = values if is_frame(values) else to_array(values, what)
    shape = shape_of(values)
    if len(shape) > 2 or (table is not None and len(shape) < 2):
        hint = " For one feature pass values.reshape(-1, 1)." if len(shape) == 1 else ""
        raise BadInput(f"{what} must have shape (n_rows, n_features); got {shape}.{hint}")
    names: Names | None = None
    if table is None:
        table = flat_rows(values)[0]  # a list of arrays is one array
    if isinstance(table, np.ndarray) and table.dtype != object:
        matrix = as_floats(table, what)
    else:
        rows = Rows(table, what=what)
        names = rows.names if rows.named else None
        columns = rows.columns
        matrix = stack_numbers(columns, names or range(len(columns)), what) if columns else np.empty((len(rows), 0))
    if matrix.shape[1] == 0 and len(matrix):
        raise BadInput(f"{what} must have shape (n_rows, n_features); got {matrix.shape}: pass at least one feature.")
    refuse_nonfinite(matrix, what, names)
    return matrix, names


def stack_numbers(columns: Sequence[Column], names: Sequence[Any], what: str) -> Floats:
    """Columns of numbers as a matrix; raises, naming row and column, if a value is none."""
    each = sum(8 if column.values.dtype.kind == "f" else 16 for column in columns)
    need_cells(each, len(columns[0].values), len(columns), what)
    floats = []
    for name, column in zip(names, columns, strict=True):
        values = column.values
        refuse_missing(values, what, name)
        if values.dtype == object:
            row = column.stray("number")
            if row is not None:
                raise WrongType(
                    f"{what} mix types: row {row}, column {name!r} is {type(values[row]).__name__} ({values[row]!r}), "
                    "but every value must be a number."
                )
            values = column.numbers
        floats.append(as_floats(values, what))
    return np.column_stack(floats)


def need_cells(each: int, rows: int, features: int, what: str) -> None:
    """Raise if so many rows, of `each` bytes per row, do not fit in memory."""
    need(each * rows, f"{what} ({rows:,} rows, {features:,} features)", "sample rows, or pass arrays of fewer features")


def as_floats(matrix: Array, what: str) -> Array:
    """Floats as they are; integers as float64 if that loses nothing, else an error."""
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
        return matrix
    exact = matrix.dtype.kind in "iu" and matrix.size > 0
    if matrix.dtype == object or (exact and max(abs(int(matrix.min())), abs(int(matrix.max()))) > EXACT):
        raise BadInput(f"{what} hold integers beyond 2**53, which float64 cannot tell apart: scale them down.")
    if matrix.dtype.kind not in "biu":
        raise WrongType(f"{what} must be real numbers of at most 64 bits; got dtype {matrix.dtype}.")
    return matrix.astype(np.float64)


def known_numbers(values: Array) -> Floats:
    """Numbers and booleans as floats; NaN for what is none, or too large for a float."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    are = (isinstance(item, bool | np.bool_) or (is_real(item) and abs(item) < _BEYOND) for item in values)
    return np.array([float(item) if known else np.nan for item, known in zip(values, are, strict=True)], np.float64)


def to_positions(column: Array, what: str, below: int = EXACT) -> Ints:
    """Positions, each a whole number from 0; `what` begins the sentence that is raised of anything else."""
    numbers = known_numbers(column)
    wrong = ~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < below)) | (column.dtype == bool)
    if wrong.ndim != 1 or wrong.any():
        seen = repr(column[wrong].tolist()[0]) if wrong.ndim == 1 else f"shape {column.shape}"
        end = "on" if below == EXACT else f"to {below - 1:,}"
        raise BadInput(f"{what}, each a whole number from 0 {end}; got {seen}.")
    return numbers.astype(np.int64)


def refuse_nonfinite(matrix: Array, what: str, names: Sequence[str] | None = None) -> None:
    """Raise, naming row and column, if a value is NaN or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(matrix.sum()):  # only if every value is; large ones may add up to infinity
            return
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0].tolist()
        place = f"{column} ({names[column]!r})" if names else str(column)
        raise BadInput(
            f"{what} hold {matrix[row, column]} at row {row}, column {place}: every value must be finite. "
            "Drop or fill such rows first."
        )
