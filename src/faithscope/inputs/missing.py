"""Missing values: None, NaN, NaT, or the NA of a library."""

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array, Bools, Ints


def missing_values(column: Array) -> Bools:
    """Which rows hold None, NaN, NaT or a library's NA."""
    if column.dtype.kind in "fMm":
        return np.asarray(np.isnan(column) if column.dtype.kind == "f" else np.isnat(column))
    if column.dtype.kind in "biu" or set(map(type, column)) <= {str, int, bool}:
        return np.zeros(len(column), bool)
    return np.fromiter((is_missing(item) for item in column), bool, len(column))


def is_missing(item: object) -> bool:
    """Whether this is None, a NaN of any kind, or a library's NA; or a tuple that holds a NaN."""
    if item is None or type(item).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(item, tuple | frozenset):
        return any(is_missing(part) for part in item if part is not None)
    if isinstance(item, str | bytes | int | np.ndarray | list | dict | set):
        return False
    try:
        return bool(item != item)
    except ArithmeticError:  # a decimal's signaling NaN
        return True
    except Exception:  # a caller's class may raise anything
        return False


def refuse_missing(column: Array, what: str, name: object = None) -> None:
    """Raise if values of a column are missing, with the first row and how many more there are.

    Parameters
    ----------
    column : (n,) array
    what : str
        What a caller knows the values as: "Predictions".
    name : object, optional
        The name or number of the column, if there are several.
    """
    refuse_rows(np.flatnonzero(missing_values(column)), what, column, name)


def refuse_rows(rows: Ints, what: str, values: Array, name: object = None) -> None:
    """Raise if there are rows in which values are missing."""
    if len(rows):
        place = f"row {rows[0]}" if name is None else f"row {rows[0]}, column {name!r}"
        more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        raise BadInput(f"{what} are missing at {place} ({values[rows[0]]}){more}: drop or fill such rows first.")
