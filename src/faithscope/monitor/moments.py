"""When rows happened: a date or moment for all of them, or one per row, as days since 1970."""

from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.columns import hold_dates
from faithscope.inputs.dates import UNITS, Moment, has_zone, in_utc, to_ticks
from faithscope.inputs.missing import refuse_missing

_FIRST, _LAST = -719_162, 2_932_896  # the years 1 to 9999, which Python's dates have


def to_date(day: int) -> date:
    """The date of a day since 1970.

    Examples
    --------
    >>> to_date(20_513)
    datetime.date(2026, 3, 1)
    """
    return date.fromordinal(int(day) - _FIRST + 1)


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
    moment = _moment(datetime.now(UTC) if when is None else when)
    if moment is not None:
        days = np.full(rows, moment.nanoseconds // UNITS["D"], np.int64)
    elif isinstance(when, str) or not hasattr(when, "__len__"):
        raise BadInput(
            f"when is no date or moment: got {when!r}; pass a date or moment such as '2026-03-01', or one per row."
        )
    else:
        column = in_utc(when) if has_zone(when) and hasattr(when, "dt") else to_vector(when, "when")
        same_length(explanations=rows, when=len(column))
        refuse_missing(column, "Moments of when")
        if len(column) and not hold_dates(column):
            got = type(column[0]).__name__
            raise WrongType(f"when must hold dates or moments; got {got}: convert them, such as with pd.to_datetime.")
        ticks, unit = to_ticks(column)
        days = np.asarray(ticks // (UNITS["D"] // unit), np.int64)
    if len(days) and not _FIRST <= int(days.min()) <= int(days.max()) <= _LAST:
        raise BadInput("when holds moments outside the years 1 to 9999: leave such rows out.")
    return days


def column_named(when: Any) -> str | None:
    """The name of a column, if that is what `when` is, and no moment."""
    return when if isinstance(when, str) and _moment(when) is None else None


def _moment(when: Any) -> Moment | None:
    if isinstance(when, str):
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return None
    return Moment.of(when)


def times_unsaid(words: str, advice: str) -> BadInput:
    """What is said of rows that would count as of today, although there is a column of times."""
    return BadInput(
        f"{words} holds dates or moments, and without when= all rows would count as of today: pass when={advice}, or "
        f"one date for all rows, such as when='{datetime.now(UTC).date()}'."
    )
