"""Dates and spans of time as numbers of nanoseconds, some of them missing; and changes of dates as text."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.dates import UNITS, Moment, to_ticks
from faithscope.inputs.missing import missing_values


def nanoseconds(column: Array) -> list[int | None]:
    """Dates or spans as whole numbers, whatever their unit and however far away; None for a missing one."""
    ticks, unit = to_ticks(column)
    pairs = zip(ticks.tolist(), missing_values(column).tolist(), strict=True)
    return [None if missing else tick * unit for tick, missing in pairs]


def exact_objects(column: Array, *, zoned: bool) -> Array:
    """Dates or spans of any unit and library as Python's own: equal if they are the same, midnight and its day too.

    Those that Python's own cannot hold, such as nanoseconds, are a `Moment`, or NumPy's span.
    """
    values, places = np.unique(column, return_inverse=True)
    objects = [_exact(tick or 0, zoned, column.dtype.kind == "m") for tick in nanoseconds(values)]
    return to_objects(objects)[places]


def _exact(tick: int, zoned: bool, is_span: bool) -> Any:
    try:
        span = timedelta(microseconds=tick // 1000)
        if tick % 1000 == 0:
            return span if is_span else datetime(1970, 1, 1, tzinfo=UTC if zoned else None) + span
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
    seconds, fraction = divmod(value, UNITS["s"])
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{clock}.{fraction:09}".rstrip("0") if fraction else clock
