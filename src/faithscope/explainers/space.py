"""The space that a model's rows lie in: rows of any library as a matrix of floats, and back as the model reads them."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.inputs.array_types import Bools, Floats
from faithscope.inputs.arrays import declared_categories, is_frame, to_items
from faithscope.inputs.dates import UNITS, Moment, hold_dates, to_ticks
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import is_missing, missing_values
from faithscope.inputs.rebuilt import ArrayRows, Rebuild, columns_with_names, columns_with_zones, rebuilder

_SHOWN = 5  # names of columns that are listed
_EXACT = 2**53
_REAL = (int, float, np.integer, np.floating, np.bool_)


@dataclass(frozen=True, eq=False)
class Space:
    """Columns known from training rows: numbers stay numbers, and a category becomes its place among the known ones.

    A missing number is NaN. If a feature has m categories, a missing value has place m, and categories that no training
    row has come after it, in the order in which `read` meets them. Dates are numbers of a unit since 1970.

    Attributes
    ----------
    names : tuple of str
        The features; x0, x1, … for a plain array.
    categories : tuple of tuples, or None for numbers and dates
        The categories of each feature in training, in order.
    rebuild : callable
        From columns to rows as the model reads them: an array, or a pandas, polars or Arrow table.
    dates : tuple of Dates, or None for numbers and categories
    markers : tuple
        What a missing value of each feature looks like: None or the like in a column of Python objects, else NaN.
    kinds : tuple of dtypes
        The type of each column; whole numbers are int64, also if some of them are missing.
    others : tuple of tuples
        The categories of each feature that rows have and no training row has; none before rows are read.
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    rebuild: Rebuild
    dates: "tuple[Dates | None, ...]"
    markers: tuple[Any, ...]
    kinds: tuple[np.dtype[Any], ...]
    others: tuple[tuple[Any, ...], ...]

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
        names, columns, zoned = columns_with_zones(X)
        if not columns or not len(columns[0]):
            raise BadInput("Training rows are empty: at least one row and one column are needed.")
        chosen = {_position(column, names) for column in to_categorical(categorical)} | declared_categories(X)
        kept = [column if j in chosen else _plain(column) for j, column in enumerate(columns)]
        dates = tuple(
            Dates.learn(column, zoned[j]) if j not in chosen and hold_dates(column) else None
            for j, column in enumerate(kept)
        )
        categories = tuple(
            None if dates[j] or (column.dtype.kind in "biuf" and j not in chosen) else _known_categories(column)
            for j, column in enumerate(kept)
        )
        markers = tuple(_marker(X, j, column) for j, column in enumerate(columns))
        return cls(names, categories, rebuilder(X, columns), dates, markers, _kinds(X, columns), ((),) * len(names))

    @property
    def axes(self) -> tuple[int, ...] | None:
        """The axes of one row, if rows are images or series; else None."""
        return getattr(self.rebuild, "axes", None)

    @property
    def categorical(self) -> Bools:
        """Which features are categories."""
        return np.array([known is not None for known in self.categories], bool)

    def encode(self, X: Any) -> Floats:
        """Rows as an (n, d) matrix of floats."""
        return self.read(X)[0]

    def read(self, X: Any) -> "tuple[Floats, Space]":
        """Rows as a matrix, and the space with their own categories, which decodes it."""
        names, columns = columns_with_names(X)
        if not columns and not (len(X) if hasattr(X, "__len__") else 0):
            return np.empty((0, len(self.names))), self
        if len(columns) != len(self.names):
            raise BadInput(self._other_width(names if is_frame(X) else None, len(columns)))
        if is_frame(X) and names != self.names:
            columns = self._in_order(names, columns)
        coded, others = [], []
        for column, name, known, dates in zip(columns, self.names, self.categories, self.dates, strict=True):
            strange: dict[Any, int] = {}
            if known is not None:
                coded.append(_encode_categories(known, column, strange))
            else:
                coded.append(encode_numbers(column, name) if dates is None else dates.encode(column, name))
            others.append(tuple(strange))
        matrix = np.column_stack(coded) if len(coded[0]) else np.empty((0, len(coded)))
        return matrix, replace(self, others=tuple(others))

    def alike(self, matrix: Floats) -> Floats:
        """A matrix in which all categories that no training row has are one, whatever other rows were read."""
        return np.minimum(matrix, [np.inf if known is None else len(known) + 1 for known in self.categories])

    def _other_width(self, names: tuple[str, ...] | None, width: int) -> str:
        """What to say of rows with more or fewer columns than training rows have: which ones, if they have names."""
        told = f"Rows have {several(width, 'feature', 'features')} but training rows have {len(self.names)}"
        if names is None or _only_numbered(names) or _only_numbered(self.names):
            return f"{told}: pass the same columns."
        more, fewer = (_listed(own, others) for own, others in ((names, self.names), (self.names, names)))
        sides = (("only these rows have", more), ("only training rows have", fewer))
        only = ", ".join(f"{which} {columns}" for which, columns in sides if columns)
        return f"{told}: {only or 'some columns stand twice'}. Pass the same columns."

    def _in_order(self, names: tuple[str, ...], columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """The columns in the order of training, by name; by position if either table only numbers its columns."""
        if set(names) == set(self.names):
            if len(set(names)) < len(names):
                twice = max(names, key=names.count)
                raise BadInput(
                    f"Rows have two columns {twice!r}, and their columns are in another order than those of training "
                    "rows: give each column its own name, or pass the columns in the order of training."
                )
            return [columns[names.index(name)] for name in self.names]
        if _only_numbered(names) or _only_numbered(self.names):
            return columns
        strange = next(name for name in names if name not in self.names)
        raise BadInput(
            f"Rows have a column {strange!r} that training rows do not have. {hint(strange, self.names)} "
            "Pass the columns of training, or rows.to_numpy() if they are the same columns in the same order."
        )

    def decode(self, matrix: Floats) -> Any:
        """Rows as the model reads them, from an (n, d) matrix that this space, or the one it was read with, has made.

        A category that the column's type cannot hold is missing.
        """
        numeric = isinstance(self.rebuild, ArrayRows) and self.rebuild.dtype.kind in "biuf"
        if numeric and not self.categorical.any() and not self.whole.any():  # an array of numbers, as the matrix is
            return self.rebuild(matrix.T)
        return self.rebuild([self.decode_column(j, matrix[:, j]) for j in range(len(self.names))])

    def decode_column(self, j: int, values: Floats) -> NDArray[Any]:
        """The column of feature j as `rebuild` takes it."""
        dates = self.dates[j]
        if self.categories[j] is not None:
            places = values.astype(np.int64)
            return self.palette(j, int(places.max(initial=0)))[places]
        if dates is not None:
            return dates.decode(values)
        marker = self.markers[j]
        missing = np.isnan(values) if not isinstance(marker, float) else np.zeros(0, bool)
        return np.where(missing, marker, values.astype(object)) if missing.any() else values

    def palette(self, j: int, last: int) -> NDArray[Any]:
        """What the model sees for each place of a category, up to the last place, at least of the known ones."""
        known, marker = self.categories[j] or (), self.markers[j]
        plain = last <= len(known) and all(type(value) in (int, float, bool) for value in known)
        if plain and last < len(known):
            return np.array(known)
        if plain and isinstance(marker, float):
            return np.array([*known, marker], np.float64)
        return as_objects(known if last < len(known) else [*known, marker, *self.others[j][: last - len(known)]])

    def readable(self, j: int, value: float) -> Any:
        """A number as a rule names it: the number of a date, which must be whole, as that date."""
        dates = self.dates[j]
        return float(value) if dates is None else dates.moment(value)

    @property
    def whole(self) -> Bools:
        """Which features are dates: their cuts must be whole numbers of the unit, so that rules can name them."""
        return np.array([dates is not None for dates in self.dates], bool)


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """A column as it is, unless it holds Python numbers of which some are missing: then as floats."""
    if column.dtype != object or isinstance(column[0], str):
        return column
    missing = missing_values(column)
    numbers = _as_numbers(column) if missing.any() and not missing.all() else None
    return column if numbers is None else numbers


def _marker(X: Any, j: int, column: NDArray[Any]) -> Any:
    """What a missing value looks like in a column of Python objects, None by default; NaN in any other column."""
    typed = hasattr(X, "iloc") and X.dtypes.iloc[j].kind in "biuf"  # pandas' own type, which knows missing
    if column.dtype != object or typed:
        return np.nan
    return next((item for item in column if is_missing(item)), None)


def _listed(names: tuple[str, ...], known: tuple[str, ...]) -> str:
    """The names that are not known, the first few of them."""
    strange = [name for name in names if name not in known]
    more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
    return ", ".join(map(repr, strange[:_SHOWN])) + more


def _only_numbered(names: tuple[str, ...]) -> bool:
    """Whether columns have no names of their own: those of an array, or of a frame that was made from one."""
    return names in (tuple(map(str, range(len(names)))), tuple(f"x{j}" for j in range(len(names))))


def to_categorical(given: Any) -> list[Any]:
    """Positions or names of columns as a list, from any collection of them."""
    return list(given) if isinstance(given, set | frozenset) else to_items(given, "categorical, the columns of codes,")


def _position(column: int | str, names: tuple[str, ...]) -> int:
    """The position of a column that is given by its position or its name."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return int(column)
    raise BadInput(f"categorical names {column!r}, which is no column of the training rows: {', '.join(names[:12])}.")


def _kinds(X: Any, columns: list[NDArray[Any]]) -> tuple[np.dtype[Any], ...]:
    """The type of each column; whole numbers stay whole numbers if some of them are missing."""
    declared = X.schema.types if hasattr(X, "column_names") else getattr(X, "dtypes", [""] * len(columns))
    kinds = []
    for column, kind in zip(columns, declared, strict=True):
        whole = column.dtype.kind in "iu" or str(kind).lower().startswith(("int", "uint"))
        if not whole and column.dtype == object:
            whole = all(type(item) is int or is_missing(item) for item in column)
        kinds.append(np.dtype(np.int64) if whole else column.dtype)
    return tuple(kinds)


# One column as floats and back.


def _as_numbers(column: NDArray[Any]) -> NDArray[Any] | None:
    """A column of numbers; Python's own numbers become floats, and missing ones NaN. None if it holds anything else."""
    if column.dtype.kind in "biuf":
        return column
    if column.dtype != object:
        return None
    missing = missing_values(column)
    present = column[~missing].tolist()
    if not all(isinstance(number, _REAL) and not isinstance(number, np.timedelta64) for number in present):
        return None
    if missing.any() and _beyond_floats(column):
        return None
    numbers = np.full(len(column), np.nan)
    numbers[~missing] = present
    return numbers


def encode_numbers(column: NDArray[Any], name: str) -> Floats:
    """Numbers as floats, NaN if missing; raises if the column holds infinite numbers or anything else."""
    numbers = _as_numbers(column) if len(column) else np.empty(0)
    if numbers is None:
        wrong = [row for row, item in enumerate(column.tolist()) if not (isinstance(item, _REAL) or is_missing(item))]
        raise WrongType(
            f"Column {name!r} held numbers in training but holds {column.tolist()[wrong[0] if wrong else 0]!r} here"
            f"{_at(wrong)}: convert it."
        )
    large = _beyond_floats(column)
    if large:
        raise BadInput(
            f"Column {name!r} holds whole numbers beyond 2**53, which floats cannot tell apart,{_at(large)}: name it "
            "in categorical, or leave it out."
        )
    values = numbers.astype(np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise BadInput(f"Column {name!r} holds {values[infinite[0]]}{_at(infinite)}: every number must be finite.")
    return values


def _at(rows: Any) -> str:
    """Words for the rows at which something was seen: the first, and how many more."""
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return f" at row {rows[0]}{more}" if len(rows) else ""


def _beyond_floats(column: NDArray[Any]) -> list[int]:
    """Rows whose whole number is too large to be told apart from its neighbors as a float."""
    if column.dtype.kind in "iu":
        return list(np.flatnonzero((column > _EXACT) | (column < -_EXACT)).tolist())
    items = column.tolist() if column.dtype == object else []
    return [row for row, item in enumerate(items) if isinstance(item, int | np.integer) and abs(int(item)) > _EXACT]


@dataclass(frozen=True)
class Dates:
    """A column of dates as numbers of a unit since 1970: the coarsest unit in which all training dates are whole.

    Attributes
    ----------
    unit : str
        The unit of the numbers, as NumPy calls it: "D" if all training dates are whole days.
    dtype : str
        The type of what `decode` returns: ``M8[us]`` and the like.
    zoned : bool
        Whether the column has a time zone; numbers are then in UTC.
    example : date, optional
        A training value, if the column holds Python's own dates; `decode` returns dates of its type.
    """

    unit: str
    dtype: str
    zoned: bool = False
    example: Any = None

    @classmethod
    def learn(cls, column: NDArray[Any], zoned: bool) -> "Dates":
        """The unit and type of a column for which `hold_dates` is true."""
        ticks, each = to_ticks(column)
        present = ticks[~missing_values(column)]
        unit = next(name for name, many in UNITS.items() if not (present % max(1, many // each)).any() or many <= each)
        if column.dtype.kind == "M":
            own = next(name for name, many in UNITS.items() if each % many == 0)
            return cls(unit, f"M8[{own}]", zoned)
        example = next(date for date in column if not is_missing(date))
        fine = "ns" if getattr(example, "nanosecond", None) is not None else "us"
        return cls(unit, f"M8[{fine}]", getattr(example, "tzinfo", None) is not None, example)

    def encode(self, column: NDArray[Any], name: str) -> Floats:
        """Dates as numbers, NaN if missing; raises if floats cannot hold a date exactly."""
        missing = missing_values(column)
        if missing.all():
            return np.full(len(column), np.nan)
        if not hold_dates(column):
            raise WrongType(
                f"Column {name!r} held dates in training but holds {column[~missing].tolist()[0]!r} here: convert it."
            )
        ticks, each = to_ticks(column)
        many = UNITS[self.unit]
        values = ticks.astype(np.float64) * (each // many) if each >= many else _divided(ticks, many // each)
        values = np.where(missing, np.nan, values)
        again, own = to_ticks(self._dates(values))
        wrong = again != ticks if own == each else again.astype(object) * own != ticks.astype(object) * each
        lost = np.flatnonzero(~missing & wrong)
        if len(lost):
            raise BadInput(
                f"Column {name!r} holds {column[lost[0]]}{_at(lost)}, which is too fine for floats that count the unit "
                f"of the training dates, {self.unit!r}, since 1970: round the dates."
            )
        return np.asarray(values, np.float64)

    def decode(self, values: Floats) -> NDArray[Any]:
        """Dates of the column's own type, rounded to its precision."""
        dates = self._dates(values)
        return dates if self.example is None else _like(self.example, dates)

    def _dates(self, values: Floats) -> NDArray[Any]:
        many = UNITS[self.unit] // UNITS[np.datetime_data(self.dtype)[0]]
        missing = np.isnan(values)
        present = np.where(missing, 0.0, values)
        whole = np.floor(present)
        ticks = whole.astype(np.int64) * many + np.rint((present - whole) * many).astype(np.int64)
        dates: NDArray[Any] = ticks.astype(self.dtype)
        dates[missing] = np.datetime64("NaT")
        return dates

    def moment(self, value: float) -> Moment:
        """A whole number of units as a date that rules can name."""
        return Moment(int(value) * UNITS[self.unit], self.zoned)


def _divided(ticks: NDArray[Any], many: int) -> Floats:
    whole, rest = np.divmod(ticks, many)
    return np.asarray(whole.astype(np.float64) + rest.astype(np.float64) / many)


def _like(example: Any, dates: NDArray[Any]) -> NDArray[Any]:
    """Dates as objects of the example's type, in its time zone; None if missing."""
    if hasattr(example, "nanosecond"):
        objects = [None if np.isnat(date) else type(example)(date) for date in dates]
    elif isinstance(example, datetime.datetime):
        objects = dates.astype("M8[us]").tolist()
    else:
        objects = dates.astype("M8[D]").tolist()
    zone = getattr(example, "tzinfo", None)
    if zone is not None:
        objects = [date and date.replace(tzinfo=datetime.UTC).astimezone(zone) for date in objects]
    return as_objects(objects)


def _known_categories(column: NDArray[Any]) -> tuple[Any, ...]:
    """The distinct values of a column that are not missing, in order."""
    _refuse_unhashable(column)
    values = set(column[~missing_values(column)].tolist())
    try:
        return tuple(sorted(values))
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def _refuse_unhashable(column: NDArray[Any]) -> None:
    items = column.tolist()
    unhashable = {kind for kind in set(map(type, items)) if kind.__hash__ is None}
    for row, item in enumerate(items if unhashable else ()):
        if type(item) in unhashable:
            raise WrongType(
                f"Rows hold a {type(item).__name__} ({item!r}) at row {row}, which can be no category: use a tuple, a "
                "string, or a column per value."
            )


def _encode_categories(known: tuple[Any, ...], column: NDArray[Any], strange: dict[Any, int]) -> Floats:
    """Place of each value among the m known categories: m if it is missing, then those that are added to `strange`."""
    _refuse_unhashable(column)
    get = {value: place for place, value in enumerate(known)}.get
    items = column.tolist()
    places = np.array([get(item, -1) for item in items], np.float64)
    for row in np.flatnonzero(places < 0).tolist():
        new = not is_missing(items[row])
        places[row] = len(known) + (1 + strange.setdefault(items[row], len(strange)) if new else 0)
    return places


def as_objects(items: Sequence[Any]) -> NDArray[Any]:
    """A vector of Python objects, also if these are sequences themselves."""
    objects = np.empty(len(items), object)
    objects[:] = items
    return objects
