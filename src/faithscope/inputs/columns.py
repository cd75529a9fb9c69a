"""What X is, whatever holds it: `Column` and `Rows`, which rules, distances, digests and draws read alike."""

import datetime
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from math import inf, prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Bools, Ints, Names
from faithscope.inputs.arrays import (
    declared_categories,
    frame_column,
    frame_names,
    is_frame,
    is_row,
    sequence_vector,
    to_items,
    to_objects,
    to_vector,
)
from faithscope.inputs.dates import has_zone, in_utc, to_ticks
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rows import flat_rows
from faithscope.words import hint

_NUMBERS = (float, np.floating, int, np.integer, np.bool_, Decimal)
_SINGLE = (str, dict, set, frozenset, type)  # which have a length and are no rows
_MOST = 2**1023  # beyond it, an integer among some that no float can hold is infinite
ZONED = "date with a time zone"


@dataclass(frozen=True, eq=False)
class Column:
    """One column of rows, and what it is to those who ask; each answer is made once.

    Parameters
    ----------
    name : str
    values : (n,) array
        As `to_vector` makes it: numbers, booleans, dates, or Python objects.
    zoned : bool
        Whether the column has a time zone; its dates are then in UTC. Python's own dates say so themselves.
    declared : bool
        Whether its library declares it to hold categories, even if these are numbers.

    Examples
    --------
    >>> column = Column("age", to_vector([37, None, 2**60]))
    >>> column.family, column.missing.tolist(), column.coded[0].tolist()
    ('number', [False, True, False], [0, -1, 1])
    """

    name: str
    values: Array
    zoned: bool = False
    declared: bool = False

    def take(self, rows: Ints) -> "Column":
        """The same column of some rows, in their order."""
        return replace(self, values=self.values[rows])

    @cached_property
    def missing(self) -> Bools:
        """The rows whose value is missing."""
        return missing_values(self.values)

    @cached_property
    def families(self) -> dict[str, int]:
        """The families of the values that are not missing, each with the first row that holds one of it.

        A family is "number", "text", "date" or "date with a time zone"; any other is called by its type.
        """
        present = np.flatnonzero(~self.missing)
        if self.values.dtype.kind != "O":
            dated = ZONED if self.zoned else "date"
            family = {"M": dated, "m": "span", "c": "complex"}.get(self.values.dtype.kind, "number")
            return {family: int(present[0])} if len(present) else {}
        items = self.values[present].tolist()
        alike = len(set(map(type, items))) == 1 and not isinstance(items[0], datetime.date)
        first: dict[str, int] = {}
        for row, item in zip(present.tolist(), items[:1] if alike else items, strict=False):
            first.setdefault(_family(item), row)
        return first

    @property
    def family(self) -> str:
        """The family of all values that are not missing; "mixed" if there are several, empty if all are missing."""
        return next(iter(self.families), "") if len(self.families) < 2 else "mixed"

    def stray(self, family: str) -> int | None:
        """The first row whose value is neither of this family nor missing; None if there is none."""
        return min((row for other, row in self.families.items() if other != family), default=None)

    @property
    def dated(self) -> bool:
        """Whether it holds dates: no other values but missing ones, all with a time and a time zone, or none."""
        if self.values.dtype.kind == "M" or self.family not in ("date", ZONED):
            return self.values.dtype.kind == "M"
        return len({isinstance(item, datetime.datetime) for item in self.values[~self.missing]}) == 1

    @cached_property
    def ticks(self) -> tuple[Array, int]:
        """Dates as whole numbers of a unit, and the unit in nanoseconds."""
        return to_ticks(self.values)

    @cached_property
    def numbers(self) -> Array:
        """The values as numbers, NaN for a missing one: floats or integers, or Python's numbers if neither is exact.

        A decimal is its nearest double, which is what a model sees.
        """
        if self.values.dtype.kind in "biuf":
            kind = np.result_type(self.values, np.uint8 if self.values.dtype.kind in "biu" else float)
            return self.values.astype(kind, copy=False)
        exact = to_objects([float(item) if isinstance(item, Decimal) else item for item in self.exact])
        try:
            floats = exact.astype(np.float64)
        except OverflowError:  # an integer that no float can hold
            return exact
        return floats if ((floats == exact) | self.missing).all() else exact

    @cached_property
    def exact(self) -> Array:
        """The values as Python objects, NaN for a missing one."""
        return np.where(self.missing, np.nan, self.values.astype(object))

    @cached_property
    def measured(self) -> Array:
        """What distances compare: numbers, of dates and spans nanoseconds, NaN for a missing one; else objects."""
        if self.values.dtype.kind in "biuf":
            return self.values
        if self.values.dtype.kind == "m" or self.dated:
            ticks, unit = self.ticks
            return np.where(self.missing, np.nan, ticks.astype(np.float64) * unit)
        if self.values.dtype != object:
            return self.values.astype(object)
        if self.family != "number":
            return self.values
        try:
            return np.array(self.exact.tolist(), np.float64)
        except OverflowError:  # integers that no float can hold are infinite
            known = [(inf if item > 0 else -inf) if abs(item) > _MOST else item for item in self.exact.tolist()]
            return np.array(known, np.float64)

    @cached_property
    def coded(self) -> tuple[Ints, dict[Any, int]]:
        """The place of each value among the different ones, -1 for a missing one, and the values with their places.

        This is when two categories are equal: by Python's equality, so that 1, 1.0 and True are one, and "1" another.
        """
        places: dict[Any, int] = {}
        codes = np.full(len(self.values), -1)
        present = np.flatnonzero(~self.missing)
        codes[present] = [places.setdefault(item, len(places)) for item in self.values[present].tolist()]
        return codes, places


def _family(item: Any) -> str:
    if isinstance(item, str):
        return "text"
    if isinstance(item, datetime.date):
        return "date" if getattr(item, "tzinfo", None) is None else ZONED
    return "number" if isinstance(item, _NUMBERS) and not isinstance(item, np.timedelta64) else type(item).__name__


class Rows:
    """Rows of any kind as columns: tables of pandas, polars and Arrow, arrays, tensors, images and lists of rows.

    Parameters
    ----------
    X : rows
    loose : bool
        Whether anything that has a length is taken: single values as one column, rows of different lengths as texts.
    what : str
        What a caller knows the rows as, for error messages.

    Attributes
    ----------
    names : tuple of str
        Of the columns; x0, x1, … of rows that are no table.
    named : bool
        Whether these are the names of a table.

    Examples
    --------
    >>> rows = Rows([[37, "clerk"], [41, None]])
    >>> len(rows), rows.names, rows.column(1).family
    (2, ('x0', 'x1'), 'text')
    """

    def __init__(self, X: Any, *, loose: bool = False, what: str = "Rows") -> None:
        X = list(X) if hasattr(X, "__next__") else X  # rows that come one by one
        self._X, self.named, self._what = X, is_frame(X), what
        self._parts = [] if self.named else _parts(X, loose, what)
        self.names = frame_names(X) if self.named else default_names(len(self._parts))
        self._declared = declared_categories(X)

    def __len__(self) -> int:
        return int(self._X.shape[0]) if self.named else len(self._X)

    def column(self, place: int) -> Column:
        """One column by its position, made anew: whoever asks keeps it."""
        if self.named:
            given = frame_column(self._X, place)
            zoned = has_zone(given)
            values = in_utc(given) if zoned and hasattr(self._X, "iloc") else to_vector(given)
            return Column(self.names[place], values, zoned, place in self._declared)
        part = self._parts[place]
        typed = part.tolist() if isinstance(part, np.ndarray) and part.dtype == object else part
        return Column(self.names[place], to_vector(typed, self._what))

    @cached_property
    def columns(self) -> list[Column]:
        """All columns, in order."""
        return list(map(self.column, range(len(self.names))))

    def place(self, name: str, needs: str) -> int:
        """The position of a table's column; `needs` says who needs it if there is none, or if there are two."""
        times = self.names.count(name)
        if times == 1:
            return self.names.index(name)
        if times:
            raise BadInput(f"Rows have two columns {name!r}, which {needs}: rename or drop one of them.")
        raise BadInput(f"Rows have no column {name!r}, which {needs}. {hint(name, self.names)}")

    def measured(self, names: Sequence[str] | None = None) -> list[Array]:
        """The columns as distances compare them; those of a table by these names, in their order."""
        if names is None or not self.named or tuple(names) == self.names:
            return [column.measured for column in self.columns]
        return [self.column(self.place(name, "the explanations need")).measured for name in names]


def hold_dates(values: Array) -> bool:
    """Whether values are dates, as `Column.dated` tells of a column."""
    return Column("", values).dated


def default_names(count: int) -> Names:
    """x0, x1, …, for features without names."""
    return tuple(f"x{position}" for position in range(count))


def distinct_names(features: Sequence[Hashable]) -> Names:
    """The names of features as text; raises if two are the same."""
    given = to_items(features, "features, the names of the columns,")
    for odd in (name for name in given if not isinstance(name, Hashable)):
        raise WrongType(f"features must be names; got {odd!r} ({type(odd).__name__}): pass texts.")
    names = tuple(map(str, given))
    if len(set(names)) < len(names):
        raise BadInput(f"Two features are called {max(names, key=names.count)!r}: give each its own name.")
    return names


def _parts(X: Any, loose: bool, what: str) -> list[Any]:
    """The columns of an array, or of a list of rows; the pixels of images."""
    X, _ = flat_rows(X)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return list(X.T)
    if loose:
        column = to_vector(X, what)
        kinds = (list, tuple) if isinstance(X, list | tuple) else (list,)  # a tuple in an array is one value
        nested = [isinstance(row, kinds) or (is_row(row) and getattr(row, "shape", None) != ()) for row in column]
        if not all(nested) or len(set(map(len, column))) != 1:
            return [to_objects(list(map(str, column))) if any(nested[:1]) else column]
    elif isinstance(X, np.ndarray):
        raise WrongType(f"{what} must be a 2-D array, a list of rows or a table; got ndarray of shape {X.shape}.")
    rows = list(sequence_vector(X, what))
    alike = set(map(type, rows)) <= {list, tuple} and len(set(map(len, rows))) == 1  # most are
    shapes = [] if alike else list(map(_row_shape, rows))
    odd = next((place for place, shape in enumerate(shapes) if not shape or shape != shapes[0]), None)
    if odd is not None and not shapes[odd]:
        raise WrongType(
            f"{what} must be lists with one value per feature; row {odd} is a single {type(rows[odd]).__name__}: "
            "pass an array or a table."
        )
    if odd is not None:
        raise BadInput(
            f"{what} are ragged: row 0 has {prod(shapes[0])} values, row {odd} has {prod(shapes[odd])}. Give every row "
            "the same length."
        )
    return list(zip(*rows, strict=True))


def _row_shape(row: Any) -> tuple[int, ...]:
    """The shape of a row of a list; () for a single value."""
    if isinstance(row, _SINGLE) or not hasattr(row, "__len__"):
        return ()
    shape = getattr(row, "shape", None)
    return (len(row),) if shape is None else tuple(shape)
