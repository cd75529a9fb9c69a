"""Windows of days: which beginnings are still watched at each look, few enough for thousands of days."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_AGES = 8

Integers = NDArray[np.int64]


def watched(days: Integers) -> tuple[Integers, Integers]:
    """The places of the first and last day of every window that is looked at, of days in order, counted from 0.

    A window that begins on day j is watched until it is 8 · 2^v days old, where 2^v divides j; day 0 for ever. So at
    every look windows begin on each of the last eight days, then on every second, fourth, … day: after any day that is
    t days ago a window begins within t / 4 days. Days without draws may be missing: the windows of the others, which
    are those of the calendar, stay what they are when such a day comes late.

    Examples
    --------
    >>> first, last = watched(np.arange(100))
    >>> first[last == 99].tolist()
    [0, 16, 32, 40, 48, 56, 64, 68, 72, 76, 80, 84, 86, 88, 90, 92, 93, 94, 95, 96, 97, 98, 99]
    """
    return _windows(np.ascontiguousarray(days, np.int64).tobytes())


@lru_cache(maxsize=4)
def _windows(buffer: bytes) -> tuple[Integers, Integers]:
    days = np.frombuffer(buffer, np.int64)
    starts, forever = np.arange(len(days)), int(days[-1]) + 1 if len(days) else 1
    twos = np.where(days > 0, days & -days, forever)
    lives = np.searchsorted(days, days + _AGES * twos) - starts
    first = np.repeat(starts, lives)
    last = first + np.arange(len(first)) - np.repeat(np.cumsum(lives) - lives, lives)
    first.flags.writeable = last.flags.writeable = False  # kept for the next call
    return first, last


def shares(first: Integers) -> NDArray[np.float64]:
    """The share of the error of windows by their first day j, counted from 0.

    It is 6 / (π² (j + 1)²), which sum to 1 over all days ever.
    """
    return np.asarray(6 / (np.pi * (first + 1.0)) ** 2, np.float64)
