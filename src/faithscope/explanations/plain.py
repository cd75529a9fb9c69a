"""Plain keys and records: explanations that are only equal or different."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.grouping import Column
from faithscope.explanations.inputs import first_missing, refuse_mixed, refuse_nonfinite, to_vector

_LARGEST = np.uint64(np.iinfo(np.int64).max)
_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "numbers", "O": "objects"}


def exact_column(values: Any, what: str) -> NDArray[Any]:
    """One hashable value a row, of one type, none missing: integers, floats, booleans or Python objects."""
    column = to_vector(values)
    if column.ndim != 1:
        raise BadInput(f"{what} must be one value a row; got shape {column.shape}.")
    row = first_missing(column)
    if row is not None:
        raise BadInput(f"{what} are missing at row {row} ({column[row]}): drop such rows first, or name them.")
    if column.dtype.kind == "f":
        refuse_nonfinite(column[:, None], what)
    if column.dtype.kind == "O":
        _refuse_unusable(column, what)
    if column.dtype.kind in "Mm" or (column.dtype == np.uint64 and column.max(initial=0) > _LARGEST):
        return column.astype(object)
    return column.astype(np.int64) if column.dtype.kind in "iu" else column


def _refuse_unusable(column: NDArray[Any], what: str) -> None:
    refuse_mixed(column, what)
    for row, item in enumerate(column):
        try:
            hash(item)
        except TypeError:
            raise WrongType(
                f"{what} must be hashable; row {row} is a {type(item).__name__} ({item!r}). "
                "Use a tuple, a frozenset or a string."
            ) from None
        if isinstance(item, tuple | frozenset) and _holds_nan(item):
            raise BadInput(f"{what} hold NaN at row {row} ({item!r}), which equals nothing: drop or name such rows.")


def _holds_nan(item: object) -> bool:
    if isinstance(item, tuple | frozenset):
        return any(map(_holds_nan, item))
    return isinstance(item, float | np.floating) and bool(item != item)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Plain(Explanations):
    """One hashable value a row: a leaf, a word, a tuple, a frozenset.

    Two rows have the same explanation where their values are equal in Python's sense.

    Examples
    --------
    >>> Plain(["leaf 3", "leaf 7", "leaf 3"]).group()[0].tolist()
    [0, 1, 0]
    """

    values: NDArray[Any]

    _per_row: ClassVar[tuple[str, ...]] = ("values",)

    def __init__(self, values: Any) -> None:
        object.__setattr__(self, "values", exact_column(values, "Explanations"))

    @property
    def key(self) -> tuple[Column, ...]:
        return (self.values if self.values.dtype == object else self.values[:, None],)

    @property
    def kind(self) -> str:
        return f"plain keys ({_KINDS[self.values.dtype.kind]})"

    def describe(self, row: int) -> str:
        value: Hashable = self.values[row]
        if isinstance(value, frozenset):
            return "{" + ", ".join(sorted(map(str, value))) + "}"
        return str(value)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Records(Plain):
    """Several named values a row, not all of them numbers; equal where all are equal.

    Parameters
    ----------
    columns : sequence of columns
        One array or list for each name, all of one length.
    names : sequence of str
    """

    names: tuple[str, ...]

    def __init__(self, columns: Sequence[Any], names: Sequence[str]) -> None:
        pairs = zip(names, columns, strict=True)
        exact = [exact_column(column, f"Explanations in column {name!r}") for name, column in pairs]
        rows = np.empty(len(exact[0]), object)
        rows[:] = list(zip(*(column.tolist() for column in exact), strict=True))
        object.__setattr__(self, "values", rows)
        object.__setattr__(self, "names", tuple(names))

    @property
    def kind(self) -> str:
        return f"records of {', '.join(self.names)}"

    def describe(self, row: int) -> str:
        return ", ".join(f"{name} {value}" for name, value in zip(self.names, self.values[row], strict=True))
