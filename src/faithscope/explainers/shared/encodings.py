"""One column of a table as floats and back: numbers, dates and categories, each with room for missing values."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.shared.arrays import Floats
from faithscope.inputs.dates import UNITS, Moment, hold_dates, to_ticks
from faithscope.inputs.missing import is_missing, missing_values

_EXACT = 2**53
_REAL = (int, float, np.integer, np.floating, np.bool_)


def as_numbers(column: NDArray[Any]) -> NDArray[Any] | None:
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
    numbers = as_numbers(column) if len(column) else np.empty(0)
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


def known_categories(column: NDArray[Any]) -> tuple[Any, ...]:
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


def encode_categories(known: tuple[Any, ...], column: NDArray[Any]) -> Floats:
    """Place of each value among the m known categories: m if it is missing, m + 1 if it is none of them."""
    _refuse_unhashable(column)
    get = {value: place for place, value in enumerate(known)}.get
    items = column.tolist()
    places = np.array([get(item, -1) for item in items], np.float64)
    for row in np.flatnonzero(places < 0).tolist():
        places[row] = len(known) + (not is_missing(items[row]))
    return places


def palette(known: tuple[Any, ...], marker: Any, *, complete: bool) -> NDArray[Any]:
    """What the model sees for each place: the known categories, and if complete also the marker of missing, twice."""
    plain = all(type(value) in (int, float, bool) for value in known)
    if plain and not complete:
        return np.array(known)
    if plain and isinstance(marker, float):
        return np.array([*known, marker, marker], np.float64)
    return as_objects([*known, marker, marker] if complete else known)


def as_objects(items: Sequence[Any]) -> NDArray[Any]:
    """A vector of Python objects, also if these are sequences themselves."""
    objects = np.empty(len(items), object)
    objects[:] = items
    return objects
