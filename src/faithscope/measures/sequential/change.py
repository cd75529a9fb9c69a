"""Has a mean changed since a reference period? Alarms, false with probability at most δ over all looks ever."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from faithscope.measures.sequential.draws import DailyDraws
from faithscope.measures.sequential.evidence import Numbers, log_evidence_below, lower_limit, upper_limit
from faithscope.measures.sequential.windows import Integers, shares, watched


@dataclass(frozen=True)
class Alarm:
    """A mean left the range of its reference: on which day that was known, and since when.

    Attributes
    ----------
    direction : str
        "drop" or "rise".
    day : object
        The first day whose draws prove it.
    since : object
        The first day of the window that proves it: the change came about then.
    low, high : float
        Limits of the mean of that window, as of the last day.
    reference : tuple of float
        Limits of the reference.
    """

    direction: str
    day: Any
    since: Any
    low: float
    high: float
    reference: tuple[float, float]

    def __str__(self) -> str:
        side, end = ("below", self.reference[0]) if self.direction == "drop" else ("above", self.reference[1])
        limits, known = f"between {self.low:.3f} and {self.high:.3f}", f"since {self.since}, known on {self.day}"
        if (
            self.high >= end if self.direction == "drop" else self.low <= end
        ):  # later days were better: together they no longer show what some of them did
            return f"{self.direction} {known}: {side} {end:.3f} then; since {self.since} {limits} by now"
        return f"{self.direction} {known}: {limits}, {side} {end:.3f}"


def reference_limits(reference: DailyDraws, error: float) -> tuple[float, float]:
    """Limits of the mean of a period whose end was fixed beforehand: a single look, at its end."""
    if not len(reference):
        return 0.0, 1.0
    low, high = reference.single_look(error)
    return float(low[-1]), float(high[-1])


def changes(draws: DailyDraws, reference: int, error: float, start: int | None = None) -> tuple[Alarm, ...]:
    """Alarms of the days after the first `reference` days: whether the mean dropped or rose, each at most once.

    Days are those of the calendar, with or without draws, so that a day that comes late moves neither the reference
    nor any window. `start` is the ordinal of the first of them, by default that of the first day with draws.

    Half of the error is that of the reference's limits, a quarter that of all windows after it for either direction.
    Nothing is ever withdrawn: more partners for openers that wait only narrow what is known.

    Examples
    --------
    >>> agreeing = [475] * 20 + [430] * 5
    >>> draws = DailyDraws.known(range(25), [500] * 25, agreeing)
    >>> print(*changes(draws, reference=10, error=0.05))
    drop since 20, known on 20: between 0.823 and 0.894, below 0.943
    """
    if not len(draws):
        return ()
    days = draws.ordinals
    end = (int(days[0]) if start is None else start) + reference
    low, high = reference_limits(draws.take(days < end), error / 2)
    return departures(draws.take(days >= end), (low, high), error / 4, end)


def departures(
    draws: DailyDraws, bounds: tuple[float, float], error: float, start: int | None = None
) -> tuple[Alarm, ...]:
    """Alarms of days on which a window proves a mean below, or above, the bounds; `error` is that of each direction.

    `start` is the ordinal of the first day on which a window may begin, by default the first day with draws.

    A bound of 0 or 1 cannot be left. Its error is not spent on the other one: as openers find partners a reference gets
    narrower, and what was an alarm has to stay one.
    """
    low, high = bounds
    sides = [True] * (low > 0) + [False] * (high < 1)
    days = draws.ordinals
    offsets = days - (start if start is not None else days[:1].sum())
    alarms = (_departure(draws, offsets, drop, bounds, error) for drop in sides)
    return tuple(alarm for alarm in alarms if alarm is not None)


def _departure(
    draws: DailyDraws, offsets: Integers, drop: bool, bounds: tuple[float, float], error: float
) -> Alarm | None:
    first, last = watched(offsets)
    errors = error * shares(offsets[first])
    n, failures = _sums(draws.draws, first, last), _sums(draws.draws - draws.most if drop else draws.least, first, last)
    bound = 1 - bounds[0] if drop else bounds[1]  # a drop is a rise of what is missing
    proves = np.flatnonzero(_divergence(failures, n, bound) >= -np.log(errors))
    evidence = log_evidence_below(n[proves] - failures[proves], n[proves], 1 - bound)
    proves = proves[evidence >= -np.log(errors[proves])]
    if not len(proves):
        return None
    window = proves[np.lexsort((-_rate(failures, n)[proves], last[proves]))[0]]
    start, stop = int(first[window]), len(draws)
    least, most, seen = (float(column[start:stop].sum()) for column in (draws.least, draws.most, draws.draws))
    return Alarm(
        "drop" if drop else "rise",
        _plain(draws.days[last[window]]),
        _plain(draws.days[start]),
        float(lower_limit(least, seen, errors[window])),
        float(upper_limit(most, seen, errors[window])),
        bounds,
    )


def _sums(column: Numbers, first: Integers, last: Integers) -> Numbers:
    total = np.concatenate([[0.0], np.cumsum(column)])
    return np.asarray(total[last + 1] - total[first])


def _rate(total: Numbers, n: Numbers) -> Numbers:
    return np.asarray(total / np.maximum(n, 1e-300))


def _divergence(total: Numbers, n: Numbers, mean: float) -> Numbers:
    """The most that evidence for a mean above `mean` can be, in logarithms: the largest likelihood ratio."""
    rate = _rate(total, n)
    most = n * (special.rel_entr(rate, mean) + special.rel_entr(1 - rate, 1 - mean))
    return np.where(rate > mean, most, 0.0)


def _plain(day: Any) -> Any:
    return day.item() if isinstance(day, np.generic) else day
