"""Finite numbers: matrices of shape (n_rows, n_features)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Floats, Ints, Names
from faithscope.inputs.arrays import (
    EXACT,
    INTEGERS,
    frame_columns,
    is_frame,
    sequence_vector,
    to_array,
    to_vector,
)
from faithscope.inputs.chunks import over_chunks
from faithscope.inputs.columns import Column
from faithscope.inputs.missing import refuse_missing
from faithscope.runtime.memory import need


def to_matrix(values: Any, what: str) -> tuple[Array, Names | None]:
    """Finite numbers, and the names of their columns.

    Returns
    -------
    matrix : (n, d) array of floats
    names : tuple of str, or None
        None if the input has no column names.
    """
    names: Names | None = None
    if is_frame(values):
        names, columns = frame_columns(values)
        matrix = _stack_numbers(columns, names, what)
    else:
        matrix = to_table(values, what)
    if matrix.shape[1] == 0 and len(matrix):
        raise BadInput(f"{what} must have shape (n_rows, n_features); got {matrix.shape}: pass at least one feature.")
    matrix = as_floats(matrix, what)
    refuse_nonfinite(matrix, what, names)
    return matrix, names


def to_table(values: Any, what: str) -> Array:
    """An array, or a list of rows, as an array of shape (n_rows, n_features)."""
    array = to_array(values, what)
    table = rows_to_array(values, what) if array is None else array
    if table.ndim != 2:
        hint = " For one feature pass values.reshape(-1, 1)." if table.ndim == 1 else ""
        raise BadInput(f"{what} must have shape (n_rows, n_features); got {table.shape}.{hint}")
    return table


def _stack_numbers(columns: Sequence[Array], names: Sequence[Any], what: str) -> Array:
    """Columns of numbers as a matrix; raises, naming row and column, if a value is none."""
    each = sum(8 if column.dtype.kind == "f" else 16 for column in columns)
    need_cells(each, len(columns[0]) if columns else 0, len(columns), what)
    floats = []
    for name, values in zip(names, columns, strict=True):
        refuse_missing(values, what, name)
        column = Column("", values)
        row = column.stray("number") if values.dtype.kind == "O" else None
        if row is not None:
            raise WrongType(
                f"{what} mix types: row {row}, column {name!r} is {type(values[row]).__name__} ({values[row]!r}), but "
                "every value must be a number."
            )
        values = column.numbers if values.dtype.kind == "O" else values
        if values.dtype.kind == "O":
            _refuse_beyond_floats(EXACT + 1, what)
        floats.append(as_floats(values[:, None], what))
    return np.column_stack(floats) if floats else np.empty((0, 0))


def need_cells(each: int, rows: int, features: int, what: str) -> None:
    """Raise if so many rows, of `each` bytes per row, do not fit in memory."""
    need(each * rows, f"{what} ({rows:,} rows, {features:,} features)", "sample rows, or pass arrays of fewer features")


def rows_to_array(values: Any, what: str) -> Array:
    """A list of rows as an array; raises, naming the first row of another length, if they are ragged."""
    items = list(sequence_vector(values, what))
    single = next((i for i, row in enumerate(items) if isinstance(row, str) or not hasattr(row, "__iter__")), None)
    if single is not None:
        raise WrongType(
            f"{what} must be a list of rows, each a list of numbers; row {single} is a single "
            f"{type(items[single]).__name__} ({items[single]!r})."
        )
    rows = [to_vector(row, f"{what} in row {i}") for i, row in enumerate(items)]
    lengths = [row.shape for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None:
        raise BadInput(
            f"{what} are ragged: row 0 has {rows[0].size} values, row {odd} has {rows[odd].size}. "
            "Give every row the same length."
        )
    if {"f"} < {row.dtype.kind for row in rows}:  # what is not a float yet must survive becoming one
        rows = [as_floats(row[None], what)[0] if row.dtype.kind in "iu" else row for row in rows]
    return np.array(rows) if rows else np.empty((0, 0))


def as_floats(matrix: Array, what: str) -> Array:
    """Floats as they are; integers as float64 if that loses nothing, else an error."""
    if matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 8:
        return matrix
    if matrix.dtype.kind == "O":
        return _stack_numbers(list(matrix.T), range(matrix.shape[1]), what)
    if matrix.dtype.kind not in "biu":
        raise WrongType(f"{what} must be real numbers of at most 64 bits; got dtype {matrix.dtype}.")
    if matrix.dtype.kind in "iu" and matrix.size:
        _refuse_beyond_floats(max(abs(int(matrix.min())), abs(int(matrix.max()))), what)
    return matrix.astype(np.float64)


def known_numbers(values: Array) -> Floats:
    """Numbers and booleans as floats; NaN for what is none."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    kinds = (*INTEGERS, float, np.floating, np.bool_)
    return np.array([float(item) if isinstance(item, kinds) else np.nan for item in values], np.float64)


def to_positions(column: Array, what: str, below: int = EXACT) -> Ints:
    """Positions, each a whole number from 0; `what` begins the sentence that is raised of anything else."""
    numbers = known_numbers(column)
    wrong = ~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < below)) | (column.dtype == bool)
    if wrong.ndim != 1 or wrong.any():
        seen = repr(column[wrong].tolist()[0]) if wrong.ndim == 1 else f"shape {column.shape}"
        end = "on" if below == EXACT else f"to {below - 1:,}"
        raise BadInput(f"{what}, each a whole number from 0 {end}; got {seen}.")
    return numbers.astype(np.int64)


def _refuse_beyond_floats(largest: int, what: str) -> None:
    if largest > EXACT:
        raise BadInput(f"{what} hold integers beyond 2**53, which float64 cannot tell apart: scale them down.")


def refuse_nonfinite(matrix: Array, what: str, names: Sequence[str] | None = None) -> None:
    """Raise, naming row and column, if a value is NaN or infinite."""
    bad: list[int] = []

    def look(start: int, stop: int) -> None:
        chunk = matrix[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):
            total = chunk.sum()  # finite only if every value is; large ones may add up to infinity
        if not np.isfinite(total) and not np.isfinite(chunk).all():
            bad.append(start + int((~np.isfinite(chunk).all(axis=1)).argmax()))

    over_chunks(look, len(matrix), matrix.shape[1])
    if bad:
        row = min(bad)
        column = int((~np.isfinite(matrix[row])).argmax())
        place = f"{column} ({names[column]!r})" if names else str(column)
        raise BadInput(
            f"{what} hold {matrix[row, column]} at row {row}, column {place}: every value must be finite. "
            "Drop or fill such rows first."
        )
