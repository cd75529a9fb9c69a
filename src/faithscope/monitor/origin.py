"""The day on which a watch began, which never moves: from it the reference and all windows are counted."""

from typing import Any

from faithscope.monitor.moments import to_date
from faithscope.monitor.queries import fetch_value

FIRST_DAYS = 91  # days that are merged into weeks and no further, so that later ones can be compared with them
_WEEK = 7


def origin(connection: Any) -> int | None:
    """The first day of the first batch; None without rows."""
    query = "SELECT first_day FROM batches WHERE first_day IS NOT NULL ORDER BY number LIMIT 1"
    day: int | None = fetch_value(connection, query)
    return day


def block_start(day: int, begun: int) -> int:
    """The first day of the block into which a closed day is merged: a week of the first 91 days, else a month.

    Examples
    --------
    >>> block_start(20_523, begun=20_513), to_date(block_start(20_700, begun=20_513))
    (20520, datetime.date(2026, 9, 1))
    """
    if begun <= day < begun + FIRST_DAYS:
        return day - (day - begun) % _WEEK
    first = day - to_date(day).day + 1
    return max(first, begun + FIRST_DAYS) if day >= begun else first


def reference_end(begun: int, days: int) -> int:
    """The last day of the first so many days, in whole weeks of the first 91 days, which stay apart for ever.

    Examples
    --------
    >>> reference_end(20_513, 30) - 20_513 + 1
    35
    """
    return begun + (-(-days // _WEEK) * _WEEK if days <= FIRST_DAYS else days) - 1


def known_until(begun: int, days: int) -> int:
    """The last day of the first half of a reference, in whole weeks: by it explanations are known or new."""
    return begun + max(1, days // (2 * _WEEK)) * _WEEK - 1


def months(first: int, last: int) -> int:
    """How many months after the month of one day that of another day is."""
    start, end = to_date(first), to_date(last)
    return (end.year - start.year) * 12 + end.month - start.month
