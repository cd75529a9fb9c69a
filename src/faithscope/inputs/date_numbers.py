"""Dates and spans of time as numbers of nanoseconds, some of them missing; and changes of dates as text."""

from faithscope.inputs.array_types import Array
from faithscope.inputs.dates import UNITS, to_ticks
from faithscope.inputs.missing import missing_values


def nanoseconds(column: Array) -> list[int | None]:
    """Dates or spans as whole numbers, whatever their unit and however far away; None for a missing one."""
    ticks, unit = to_ticks(column)
    pairs = zip(ticks.tolist(), missing_values(column).tolist(), strict=True)
    return [None if missing else tick * unit for tick, missing in pairs]


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
