"""When rows happened: a date or moment for all of them, or one per row, as days since 1970."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.columns import hold_dates
from faithscope.inputs.dates import UNITS, Moment, has_zone, in_utc, to_ticks
from faithscope.inputs.missing import is_missing, refuse_missing

_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = -719_162, 2_932_896  # the years 1 to 9999, which Python's dates have
_ADVICE = "pass a date or moment such as '2026-03-01', or one per row"


def to_date(day: int) -> date:
    """The date of a day since 1970.

    Examples
    --------
    >>> to_date(20_513)
    datetime.date(2026, 3, 1)
    """
    return _EPOCH + timedelta(days=int(day))


def to_days(when: Any, rows: int) -> Ints:
    """The day of each row, in days since 1970; moments with a time zone are taken in UTC, others as they stand.

    Parameters
    ----------
    when : date, datetime, str, datetime64, array-like (n,) of these, or None for now

    Examples
    --------
    >>> to_days("2026-03-01T23:30", 2).tolist()
    [20513, 20513]
    """
    if when is None:
        when = datetime.now(UTC)
    days = _day(when, rows) if _is_moment(when) else _each_day(when, rows)
    if len(days) and not _FIRST <= int(days.min()) <= int(days.max()) <= _LAST:
        raise BadInput("when holds moments outside the years 1 to 9999: leave such rows out.")
    return days


def refuse_times(columns: Mapping[str, Any]) -> None:
    """Raise if a column tells when rows happened, and nobody said `when`: all of them would count as of today.

    Parameters
    ----------
    columns : mapping of str to array-like or None
        By the words for them in Python.
    """
    for words, column in columns.items():
        if column is not None and hold_dates(to_vector(column, words)):
            raise times_unsaid(words, words)


def times_unsaid(words: str, advice: str) -> BadInput:
    """What is said of rows that would count as of today, although there is a column of times."""
    return BadInput(
        f"{words} holds dates or moments, and without when= all rows would count as of today: pass when={advice}, or "
        f"one date for all rows, such as when='{datetime.now(UTC).date()}'."
    )


def _is_moment(when: Any) -> bool:
    return isinstance(when, str | date | np.datetime64) or (is_missing(when) and not hasattr(when, "__len__"))


def _day(when: Any, rows: int) -> Ints:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            raise BadInput(f"when is no date or moment: got {when!r}; {_ADVICE}.") from None
    moment = Moment.of(when)
    if moment is None:
        raise BadInput(f"when is no date or moment: got {when!r}; {_ADVICE}.")
    return np.full(rows, moment.nanoseconds // UNITS["D"], np.int64)


def _each_day(when: Any, rows: int) -> Ints:
    if not hasattr(when, "__len__"):
        raise WrongType(f"when is no date or moment: got {type(when).__name__}; {_ADVICE}.")
    zoned = has_zone(when) and hasattr(when, "dt")
    column = in_utc(when) if zoned else to_vector(when, "when")
    same_length(explanations=rows, when=len(column))
    if not len(column):
        return np.empty(0, np.int64)
    refuse_missing(column, "Moments of when")
    if not hold_dates(column):
        got = type(column[0]).__name__
        raise WrongType(f"when must hold dates or moments; got {got}: convert them, such as with pd.to_datetime.")
    ticks, unit = to_ticks(column)
    return np.asarray(ticks // (UNITS["D"] // unit), np.int64)
