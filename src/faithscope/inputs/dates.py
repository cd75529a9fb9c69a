"""Dates as exact numbers that read as dates: nanoseconds since 1970, whatever unit and library they come from."""

import datetime
import re
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.missing import is_missing, missing_values

UNITS = {  # in nanoseconds, coarsest first
    "D": 86_400 * 10**9,
    "h": 3_600 * 10**9,
    "m": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
WRITTEN = r"-?\d{4,}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?Z?"


@total_ordering
@dataclass(frozen=True, slots=True)
class Moment:
    """A date, or a date and time: ordered among its like, and against -inf and inf.

    Attributes
    ----------
    nanoseconds : int
        Since the start of 1970.
    zoned : bool
        Whether it comes from a column with a time zone; it is then in UTC, and written with a Z.

    Examples
    --------
    >>> str(Moment.parse("2024-03-01")), str(Moment.parse("2024-03-01T12:30Z"))
    ('2024-03-01', '2024-03-01T12:30Z')
    """

    nanoseconds: int
    zoned: bool = False

    @classmethod
    def of(cls, value: Any) -> "Moment | None":
        """A date of Python, NumPy or pandas; None for anything else."""
        if not isinstance(value, np.datetime64 | datetime.date) or is_missing(value):
            return None
        (tick,) = nanoseconds(np.array([value]))
        return cls(tick, getattr(value, "tzinfo", None) is not None)

    @classmethod
    def parse(cls, text: str) -> "Moment":
        """From the text that `str` makes; a ValueError if there is no such date."""
        if not re.fullmatch(WRITTEN, text):
            raise ValueError(f"{text!r} is no date")
        day, _, clock = text.removesuffix("Z").partition("T")
        ticks = np.datetime64(f"1970-01-01T{clock}", "ns").astype(np.int64) if clock else 0
        return cls(int(np.datetime64(day, "D").astype(np.int64)) * UNITS["D"] + int(ticks), text.endswith("Z"))

    def __lt__(self, other: Any) -> bool:
        return bool(self.nanoseconds < getattr(other, "nanoseconds", other))

    def __str__(self) -> str:
        days, rest = divmod(self.nanoseconds, UNITS["D"])
        clock = f"T{_clock(rest).removesuffix(':00')}" if rest else ""
        return f"{np.datetime64(days, 'D')}{clock}" + "Z" * self.zoned

    def in_unit(self, operator: str, unit: int) -> tuple[str, int] | bool:
        """The comparison with this moment as one with whole numbers of a unit (in nanoseconds).

        A bool if the answer is the same for all of them.
        """
        whole, rest = divmod(self.nanoseconds, unit)
        if not rest:
            return operator, whole
        if operator in ("==", "!="):
            return operator == "!="
        return ("<=" if "<" in operator else ">"), whole


def _nanoseconds(value: datetime.date) -> int:
    if getattr(value, "tzinfo", None) is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)  # type: ignore[attr-defined]
    return int(np.datetime64(value, "us").astype(np.int64)) * 1000 + getattr(value, "nanosecond", 0)


def to_ticks(column: Array) -> tuple[Array, int]:
    """A column of dates as whole numbers of a unit, and that unit in nanoseconds; any number for a missing date.

    Parameters
    ----------
    column : (n,) array of datetime64 or timedelta64, or of Python's or pandas' dates
    """
    if column.dtype.kind == "m":  # read a span as the date that lies so long after the start of 1970
        column = column.view(column.dtype.str.replace("m8", "M8"))
    if column.dtype.kind == "M":
        name, many = np.datetime_data(column.dtype)
        if name in ("ps", "fs", "as"):
            raise BadInput(
                f"Dates are in units of {name}, finer than nanoseconds: pass dates.astype('datetime64[ns]')."
            )
        if name not in UNITS:
            column, name, many = column.astype("M8[D]"), "D", 1
        return column.astype(np.int64), UNITS[name] * many
    ticks = [0 if is_missing(date) else _nanoseconds(date) for date in column.tolist()]
    try:
        return np.array(ticks, np.int64), 1
    except OverflowError:
        return np.array(ticks, object), 1


def has_zone(column: Any) -> bool:
    """Whether a column of a pandas, polars or Arrow table has a time zone."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    kind = getattr(kind, "pyarrow_dtype", kind)
    return (getattr(kind, "tz", None) or getattr(kind, "time_zone", None)) is not None


def in_utc(series: Any) -> Array:
    """A pandas column with a time zone as datetime64, in UTC."""
    return np.asarray(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())


def nanoseconds(column: Array) -> list[int]:
    """Dates or spans as whole numbers, whatever their unit and however far away; 0 for a missing one."""
    ticks, unit = to_ticks(column)
    return [tick * unit for tick in np.where(missing_values(column), 0, ticks).tolist()]


def exact_objects(column: Array, *, zoned: bool) -> Array:
    """Dates or spans of any unit and library as Python's own: equal if they are the same, midnight and its day too.

    Those that Python's own cannot hold, such as nanoseconds, are a `Moment`, or NumPy's span.
    """
    values, places = np.unique(column, return_inverse=True)
    return to_objects([_exact(tick, zoned, column.dtype.kind == "m") for tick in nanoseconds(values)])[places]


def _exact(tick: int, zoned: bool, is_span: bool) -> Any:
    try:
        span = datetime.timedelta(microseconds=tick // 1000)
        if tick % 1000 == 0:
            return span if is_span else datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC if zoned else None) + span
    except OverflowError:  # beyond the years 1 to 9999
        pass
    return np.timedelta64(tick, "ns") if is_span else Moment(tick, zoned)


def span(value: int) -> str:
    """The text for a change of a date, from its nanoseconds.

    Examples
    --------
    >>> span(3 * UNITS["D"]), span(-UNITS["h"]), span(UNITS["D"] + 5 * UNITS["ms"]), span(0)
    ('+3 days', '-01:00:00', '+1 day 00:00:00.005', '0 days')
    """
    days, rest = divmod(abs(value), UNITS["D"])
    count = [f"{days} {'day' if days == 1 else 'days'}"] if days or not rest else []
    sign = "-" if value < 0 else "+" if value else ""
    return sign + " ".join([*count, _clock(rest)] if rest else count)


def _clock(value: int) -> str:
    """The time of day after so many nanoseconds."""
    return str(np.datetime64(value, "ns")).partition("T")[2].rstrip("0").rstrip(".")
