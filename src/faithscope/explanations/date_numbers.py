"""Dates as numbers: nanoseconds since 1970, in UTC where a zone is known; and back, to read."""

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.inputs import is_missing

_EPOCH = dt.date(1970, 1, 1).toordinal()
_SECOND = 10**9
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND}
_UNITS |= {"D": 24 * _UNITS["h"], "W": 7 * 24 * _UNITS["h"]}


def are_dates(column: NDArray[Any]) -> bool:
    """Whether a column holds dates and missing values, and at least one date."""
    if column.dtype != object:
        return column.dtype.kind == "M"
    others = (item for item in column if not isinstance(item, dt.date | np.datetime64))
    return all(map(is_missing, others)) and not all(map(is_missing, column))


def nanoseconds(column: NDArray[Any]) -> list[int | None]:
    """Dates or spans of time as whole numbers, whatever their unit and however far away; None where one is missing."""
    if column.dtype == object:
        return [None if is_missing(item) else _nanoseconds(item) for item in column]
    values, factor = _in_units(column)
    missing = np.isnat(column).tolist()
    return [None if absent else value * factor for value, absent in zip(values.tolist(), missing, strict=True)]


def as_floats(column: NDArray[Any]) -> NDArray[np.float64]:
    """The same as floats, NaN where one is missing."""
    if column.dtype == object:
        return np.array([np.nan if one is None else one for one in nanoseconds(column)], np.float64)
    values, factor = _in_units(column)
    return np.where(np.isnat(column), np.nan, values.astype(np.float64) * factor)


def _in_units(column: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Whole numbers of a unit, and how many nanoseconds that has."""
    unit, count = np.datetime_data(column.dtype)
    if unit not in _UNITS:  # years and months differ in length; what is finer than a nanosecond is cut off
        unit, count = ("D", 1) if unit in "YM" else ("ns", 1)
        column = column.astype(f"{column.dtype.kind}8[{unit}]")
    return column.astype(np.int64), _UNITS[unit] * count


def _nanoseconds(item: Any) -> int | None:
    if isinstance(item, np.datetime64):
        return nanoseconds(np.array([item]))[0]
    if getattr(item, "tzinfo", None) is not None:
        item = item.astimezone(dt.UTC)
    hours, minutes, seconds = (getattr(item, part, 0) for part in ("hour", "minute", "second"))
    whole = (((item.toordinal() - _EPOCH) * 24 + hours) * 60 + minutes) * 60 + seconds
    return int(whole * _SECOND + getattr(item, "microsecond", 0) * 1000 + getattr(item, "nanosecond", 0))


def moment(value: float) -> str:
    """A date to read, from its nanoseconds: without the time at midnight, without what is zero behind the seconds.

    Examples
    --------
    >>> moment(1_767_225_600 * 10**9), moment(1_767_225_600 * 10**9 + 5 * 10**8)
    ('2026-01-01', '2026-01-01 00:00:00.5')
    """
    days, rest = divmod(int(value), _UNITS["D"])
    day = str(np.datetime64(days, "D"))
    return f"{day} {_clock(rest)}" if rest else day


def span(value: int) -> str:
    """A change of a date to read, from its nanoseconds.

    Examples
    --------
    >>> span(3 * 86_400 * 10**9), span(-3_600 * 10**9), span(0)
    ('+3 days', '-01:00:00', '0 days')
    """
    days, rest = divmod(abs(int(value)), _UNITS["D"])
    count = [f"{days} {'day' if days == 1 else 'days'}"] if days or not rest else []
    sign = "-" if value < 0 else "+" if value else ""
    return sign + " ".join(count + ([_clock(rest)] if rest else []))


def _clock(value: int) -> str:
    seconds, fraction = divmod(value, _SECOND)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{fraction:09}".rstrip("0") if fraction else clock
