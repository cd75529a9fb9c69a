"""Plain keys and records: explanations that are only equal or different."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from faithscope.explanations.base import Explanations
from faithscope.inputs.alignment import index_of
from faithscope.inputs.array_types import Array, Names
from faithscope.inputs.arrays import to_objects, to_vector
from faithscope.inputs.columns import hold_dates
from faithscope.inputs.dates import exact_objects, has_zone
from faithscope.inputs.labels import refuse_mixed, to_keys
from faithscope.inputs.numbers import refuse_nonfinite
from faithscope.visible import visible
from faithscope.words import readable

_LARGEST = np.uint64(np.iinfo(np.int64).max)


def exact_column(values: Any, what: str) -> Array:
    """One key per row: integers, finite floats, booleans or Python objects."""
    column = to_keys(to_vector(values, what), what)
    if column.dtype.kind == "f":
        refuse_nonfinite(column[:, None], what)
    if column.dtype.kind == "m" or (column.dtype.kind in "MO" and hold_dates(column)):
        zoned = has_zone(values) or getattr(next(iter(column), None), "tzinfo", None) is not None
        return exact_objects(column, zoned=zoned)
    if column.dtype == np.uint64 and column.max(initial=0) > _LARGEST:
        return column.astype(object)
    return column.astype(np.int64) if column.dtype.kind in "iu" else column


class Plain(Explanations):
    """One hashable value per row: a leaf, a word, a tuple, a frozenset.

    Two rows have the same explanation if their values are equal in Python's sense.

    Examples
    --------
    >>> Plain(["leaf 3", "leaf 7", "leaf 3"]).group()[0].tolist()
    [0, 1, 0]
    """

    values: Array

    _per_row = ("values",)

    def __init__(self, values: Any) -> None:
        self._fill(values=exact_column(values, "Explanations"), index=index_of(values))

    @property
    def kind(self) -> str:
        return "plain keys"

    def describe(self, row: int) -> str:
        return visible(readable(self.values[row]))

    def join(self, other: Self) -> Self:
        both = super().join(other)
        if both.values.dtype == object:
            refuse_mixed(both.values, "Explanations")
        return both

    def _aligned(self, other: Any) -> tuple[Self, Any]:
        """Both as Python objects if their types differ, since 2**53 + 1 is not a float."""
        self.check_comparable(other)
        if self.values.dtype == other.values.dtype:
            return self, other
        return self._with(values=self.values.astype(object)), other._with(values=other.values.astype(object))


class Records(Plain):
    """Several named values per row, not all of them numbers; two rows are equal if all their values are.

    Parameters
    ----------
    columns : sequence of columns
        One array or list per name, all of the same length.
    names : sequence of str

    Examples
    --------
    >>> Records([["clerk", "nurse"], [3, 5]], names=["job", "years"]).describe(1)
    'job nurse, years 5'
    """

    names: Names

    _settings = ("names",)

    def __init__(self, columns: Sequence[Any], names: Sequence[str]) -> None:
        pairs = zip(columns, names, strict=True)
        exact = [exact_column(column, f"Explanations in column {name!r}").tolist() for column, name in pairs]
        self._fill(values=to_objects(list(zip(*exact, strict=True))), names=tuple(names))

    @property
    def kind(self) -> str:
        return f"records of {', '.join(self.names)}"

    def describe(self, row: int) -> str:
        pairs = zip(self.names, self.values[row], strict=True)
        return visible(", ".join(f"{name} {readable(value)}" for name, value in pairs))
