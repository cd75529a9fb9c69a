"""The space that a model's rows lie in: rows of any library as a matrix of floats, and back as the model reads them."""

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Array, Bools, Floats, Names
from faithscope.inputs.arrays import EXACT, INTEGERS, to_items, to_objects
from faithscope.inputs.checks import is_whole
from faithscope.inputs.columns import Column, Rows, default_names
from faithscope.inputs.dates import UNITS, Moment
from faithscope.inputs.rebuilt import ArrayRows, Rebuild, rebuilder
from faithscope.words import several

_SHOWN = 5  # names of columns that are listed


@dataclass(frozen=True, eq=False)
class Space:
    """Columns known from training rows: numbers stay numbers, and a category becomes its place among the known ones.

    A missing number is NaN. If a feature has m categories, a missing value has place m, and categories that no training
    row has come after it, in the order in which `read` meets them. Dates are numbers of a unit since 1970.

    Attributes
    ----------
    names : tuple of str
        The features; x0, x1, … for a plain array.
    scales : tuple of Numbers, Dates or Categories
        How the values of each feature become floats, and floats become values.
    rebuild : callable
        From columns to rows as the model reads them: an array, or a pandas, polars or Arrow table.
    kinds : tuple of dtypes
        The type of each column; whole numbers are int64, also if some of them are missing.
    """

    names: Names
    scales: "tuple[Scale, ...]"
    rebuild: Rebuild
    kinds: tuple[np.dtype[Any], ...]

    @classmethod
    def learn(cls, X: Any, categorical: Iterable[int | str] = ()) -> "Space":
        """Learn the columns of training rows.

        Parameters
        ----------
        X : (n, d) array or pandas, polars or Arrow table
            Values may be missing: None, NaN, NaT or a library's NA.
        categorical : positions or names of columns
            Numbers and dates that are codes of categories; columns that hold neither are categories in any case, and
            so are those that a table declares to be, as pandas' type "category" does.
        """
        if hasattr(X, "__next__"):
            raise WrongType("Training rows are an iterator, and they are read more than once: pass a list.")
        rows = Rows(X)
        if not rows.names or not len(rows):
            raise BadInput("Training rows are empty: at least one row and one column are needed.")
        unordered = isinstance(categorical, set | frozenset)
        named = list(categorical) if unordered else to_items(categorical, "categorical, the columns of codes,")
        chosen = {_position(column, rows.names) for column in named}
        types = X.schema.types if hasattr(X, "column_names") else getattr(X, "dtypes", [""] * len(rows.names))
        scales: list[Scale] = []
        kinds = []
        for j, (column, kind) in enumerate(zip(rows.columns, types, strict=True)):
            values, missing = column.values, column.missing
            objects = values.dtype == object
            typed = hasattr(X, "iloc") and kind.kind in "biuf"  # pandas' own type, which knows missing
            marker = next(iter(values[missing]), None) if objects and not typed else np.nan
            exact = missing.any() and column.family == "number" and not _beyond_floats(values)
            numbers = values.dtype.kind in "biuf" or exact
            if j in chosen or column.declared or not (column.dated or numbers):
                scales.append(Categories(column.name, _known_categories(column), marker))
            else:
                scales.append(Dates.learn(column) if column.dated else Numbers(column.name, marker))
            whole = values.dtype.kind in "iu" or str(kind).lower().startswith(("int", "uint"))
            whole = whole or (objects and all(type(item) is int for item in values[~missing]))
            kinds.append(np.dtype(np.int64) if whole else values.dtype)
        return cls(rows.names, tuple(scales), rebuilder(rows, X), tuple(kinds))

    @property
    def axes(self) -> tuple[int, ...] | None:
        """The axes of one row, if rows are images or series; else None."""
        return getattr(self.rebuild, "axes", None)

    @property
    def known(self) -> Floats:
        """How many categories of each feature training rows have; infinity for numbers and dates."""
        return np.array([len(scale.known) if isinstance(scale, Categories) else np.inf for scale in self.scales])

    @property
    def categorical(self) -> Bools:
        """Which features are categories."""
        return np.isfinite(self.known)

    @property
    def whole(self) -> Bools:
        """Which features are dates: their cuts must be whole numbers of the unit, so that rules can name them."""
        return np.array([isinstance(scale, Dates) for scale in self.scales], bool)

    @property
    def integral(self) -> Bools:
        """Which features are whole numbers or dates, which stay whole."""
        return np.array([kind.kind in "biu" for kind in self.kinds], bool) | self.whole

    def encode(self, X: Any) -> Floats:
        """Rows as an (n, d) matrix of floats."""
        return self.read(X)[0]

    def read(self, X: Any) -> "tuple[Floats, Space]":
        """Rows as a matrix, and the space with their own categories, which decodes it."""
        rows = Rows(X)
        if not rows.names and not len(rows):
            return np.empty((0, len(self.names))), self
        places = self._places(rows)
        coded, scales = zip(
            *(scale.encode(rows.column(place)) for scale, place in zip(self.scales, places, strict=True)), strict=True
        )
        return np.column_stack(coded), replace(self, scales=scales)

    def alike(self, matrix: Floats) -> Floats:
        """A matrix in which all categories that no training row has are one, whatever other rows were read."""
        return np.minimum(matrix, self.known + 1)

    def settle(self, matrix: Floats) -> None:
        """Round rows to the precision that the model sees, in place."""
        for j, kind in enumerate(self.kinds):
            if kind.kind == "f" and kind.itemsize < 8:
                matrix[:, j] = matrix[:, j].astype(kind)

    def _places(self, rows: Rows) -> Iterable[int]:
        """The positions of the columns of training, by name; as they are if either table only numbers its columns."""
        names, own = rows.names, self.names
        if rows.named and names != own and len(set(names)) == len(names) and sorted(names) == sorted(own):
            return map(names.index, own)
        nameless = not rows.named or names == own or _only_numbered(names) or _only_numbered(own)
        if nameless and len(names) == len(own):
            return range(len(own))
        strange = [
            repr(name) for name in dict.fromkeys((*names, *own)) if not names.count(name) == own.count(name) == 1
        ]
        raise BadInput(
            f"Rows have {several(len(names), 'feature', 'features')} but training rows have {len(own)}; only one of "
            f"them has, or one of them has twice, {', '.join(strange[:_SHOWN])}. Pass the columns of training, or "
            "rows.to_numpy() if they have the same order."
        )

    def decode(self, matrix: Floats) -> Any:
        """Rows as the model reads them, from an (n, d) matrix that this space, or the one it was read with, has made.

        Examples
        --------
        >>> space = Space.learn([["red", 1.0], ["blue", 2.0]])
        >>> matrix = space.encode([["blue", 3.0]])
        >>> matrix, space.decode(matrix)
        (array([[0., 3.]]), array([['blue', 3.0]], dtype=object))
        """
        numeric = isinstance(self.rebuild, ArrayRows) and self.rebuild.dtype.kind in "biuf"
        if numeric and all(isinstance(scale, Numbers) for scale in self.scales):  # an array of numbers, as the matrix
            return self.rebuild(matrix.T)
        return self.rebuild([scale.decode(matrix[:, j]) for j, scale in enumerate(self.scales)])


def unlike(a: Array, b: Array) -> Bools:
    """Which values of matrices differ; two missing values do not."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))


def _only_numbered(names: Names) -> bool:
    """Whether columns have no names of their own: those of an array, or of a frame that was made from one."""
    return names in (tuple(map(str, range(len(names)))), default_names(len(names)))


def _position(column: int | str, names: Names) -> int:
    """The position of a column that is given by its position or its name."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if is_whole(column) and 0 <= int(column) < len(names):
        return int(column)
    raise BadInput(f"categorical names {column!r}, which is no column of the training rows: {', '.join(names[:12])}.")


def _at(rows: Any) -> str:
    """Words for the rows at which something was seen: the first, and how many more."""
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return f" at row {rows[0]}{more}"


def _beyond_floats(values: Array) -> list[int]:
    """Rows whose whole number is too large to be told apart from its neighbors as a float."""
    if values.dtype.kind in "iu":
        return list(np.flatnonzero((values > EXACT) | (values < -EXACT)).tolist())
    items = values.tolist() if values.dtype == object else []
    return [row for row, item in enumerate(items) if isinstance(item, INTEGERS) and abs(int(item)) > EXACT]


@dataclass(frozen=True)
class Numbers:
    """A column of numbers; a missing one is NaN, and becomes what the column has for it."""

    name: str
    marker: Any = np.nan

    def encode(self, column: Column) -> "tuple[Floats, Numbers]":
        """Numbers as floats; raises if the column holds infinite numbers, too large ones, or anything else."""
        stray, large = column.stray("number"), _beyond_floats(column.values)
        if stray is not None:
            raise WrongType(
                f"Column {self.name!r} held numbers in training but holds {column.values.tolist()[stray]!r} here at "
                f"row {stray}: convert it."
            )
        if large:
            raise BadInput(
                f"Column {self.name!r} holds whole numbers beyond 2**53, which floats cannot tell apart,{_at(large)}: "
                "name it in categorical, or leave it out."
            )
        values = column.numbers.astype(np.float64)
        infinite = np.flatnonzero(np.isinf(values))
        if len(infinite):
            raise BadInput(
                f"Column {self.name!r} holds {values[infinite[0]]}{_at(infinite)}: every number must be finite."
            )
        return values, self

    def decode(self, values: Floats) -> Array:
        """The column as `Space.rebuild` takes it."""
        if isinstance(self.marker, float) or not np.isnan(values).any():
            return values
        return np.where(np.isnan(values), self.marker, values.astype(object))

    def readable(self, value: float) -> Any:
        """A number as a rule names it; 0 has no sign."""
        return float(value) + 0.0


@dataclass(frozen=True)
class Categories:
    """A column of categories, as places among the m known ones: m for a missing value, then those of `others`.

    Attributes
    ----------
    name : str
    known : tuple
        The categories of training rows, in order.
    marker : object
        What a missing value looks like: None or the like in a column of Python objects, else NaN.
    others : tuple
        The categories that rows have and no training row has; none before rows are read.
    """

    name: str
    known: tuple[Any, ...]
    marker: Any = None
    others: tuple[Any, ...] = ()

    def encode(self, column: Column) -> "tuple[Floats, Categories]":
        """The place of each value, and the categories with the others that the column has."""
        codes, values = _coded(column)
        places = {value: place for place, value in enumerate(self.known)}
        others = tuple(value for value in values if value not in places)
        places |= {value: len(self.known) + 1 + place for place, value in enumerate(others)}
        coded = np.array([*map(places.__getitem__, values), len(self.known)], np.float64)[codes]
        return coded, replace(self, others=others)

    def decode(self, values: Floats) -> Array:
        """The column as `Space.rebuild` takes it."""
        places = values.astype(np.int64)
        shown = [*self.known, self.marker, *self.others][: max(len(self.known), int(places.max(initial=0)) + 1)]
        plain = all(type(value) in (int, float, bool) for value in shown)
        return (np.array(shown) if plain else to_objects(shown))[places]


def _coded(column: Column) -> tuple[Any, Any]:
    try:
        return column.coded
    except TypeError:
        row, item = next((row, item) for row, item in enumerate(column.values) if type(item).__hash__ is None)
    raise WrongType(
        f"Rows hold a {type(item).__name__} ({item!r}) at row {row}, which can be no category: use a tuple, a string, "
        "or a column per value."
    )


def _known_categories(column: Column) -> tuple[Any, ...]:
    """The distinct values of a column that are not missing, in order."""
    values = _coded(column)[1]
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


@dataclass(frozen=True)
class Dates:
    """A column of dates as numbers of a unit since 1970: the coarsest unit in which all training dates are whole.

    A date finer than the unit is a fraction of it.

    Attributes
    ----------
    name : str
    unit : str
        NumPy's name of the unit: "D", "h", "m", "s", "ms", "us" or "ns".
    dtype : str
        The column's own precision, as NumPy writes it.
    zoned : bool
        Whether its dates have a time zone; they are then in UTC.
    example : date, optional
        One of the column's dates if they are Python objects, and not of a dtype.
    """

    name: str
    unit: str
    dtype: str
    zoned: bool = False
    example: Any = None

    @classmethod
    def learn(cls, column: Column) -> "Dates":
        """The unit and type of a column that is `dated`."""
        ticks, each = column.ticks
        present, zoned = ticks[~column.missing], column.zoned or "zone" in column.family
        unit = next(name for name, many in UNITS.items() if not (present % max(1, many // each)).any() or many <= each)
        if column.values.dtype.kind == "M":
            own = next(name for name, many in UNITS.items() if each % many == 0)
            return cls(column.name, unit, f"M8[{own}]", zoned)
        return cls(column.name, unit, "M8[us]", zoned, column.values[~column.missing][0])

    def encode(self, column: Column) -> "tuple[Floats, Dates]":
        """Dates as numbers, NaN if missing; what is finer than a quarter of a microsecond is rounded."""
        missing = column.missing
        if missing.all():
            return np.full(len(missing), np.nan), self
        if not column.dated:
            raise WrongType(
                f"Column {self.name!r} held dates in training but holds {column.values[~missing].tolist()[0]!r} here: "
                "convert it."
            )
        ticks, each = column.ticks
        if ticks.dtype == object and "ns" in (self.unit, np.datetime_data(self.dtype)[0]):
            raise BadInput(
                f"Column {self.name!r} holds dates too far from 1970 for nanoseconds: convert it, or training."
            )
        step = max(1, UNITS[self.unit] // each)
        values = (ticks // step + ticks % step / step) * max(1, each // UNITS[self.unit])
        return np.where(missing, np.nan, values.astype(np.float64)), self

    def decode(self, values: Floats) -> Array:
        """Dates of the column's own type, rounded to its precision; of Python objects in their time zone.

        To microseconds if the unit is coarser, since a fraction of a day holds no nanoseconds.
        """
        own = UNITS[np.datetime_data(self.dtype)[0]]
        least = max(own, UNITS["us"]) if UNITS[self.unit] > UNITS["us"] else own
        many = UNITS[self.unit] // least
        missing, example = np.isnan(values), self.example
        present = np.where(missing, 0.0, values)
        whole = np.floor(present)
        parts = whole.astype(np.int64) * many + np.rint((present - whole) * many).astype(np.int64)
        dates: Array = (parts * (least // own)).astype(self.dtype)
        dates[missing] = np.datetime64("NaT")
        if example is None:
            return dates
        objects = dates.astype("M8[us]" if isinstance(example, datetime.datetime) else "M8[D]").tolist()
        zone = getattr(example, "tzinfo", None)
        if zone is not None:
            objects = [date and date.replace(tzinfo=datetime.UTC).astimezone(zone) for date in objects]
        return to_objects(objects)

    def readable(self, value: float) -> Moment:
        """A number of units as a date that rules can name: the last one of whole units that is no later."""
        return Moment(math.floor(value) * UNITS[self.unit], self.zoned)


Scale = Numbers | Dates | Categories
