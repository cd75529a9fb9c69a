"""Limits and alarms of the mean of independent draws between 0 and 1 that hold at all looks together.

Of n draws with sum k and mean m, ``θ^k (1-θ)^(n-k) / (m^k (1-m)^(n-k))`` is a nonnegative supermartingale for every
θ. Its average over θ > m, by the arcsine distribution, is evidence that the mean is above m. If it is not, the
evidence ever exceeds 1/δ with probability at most δ (Ville). `docs/proofs.md` has the proof.

Draws that lie anywhere between 0 and 1, such as shares, vary less than those that are 0 or 1 with the same mean, and
the likelihood of coins cannot see it. Of them evidence is what a gambler wins who bets a fixed share of the wealth on
each draw at odds that are fair if the mean is m.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.rounding import down, up

_PRIOR = 0.5
_STEPS = 45
_AGES = 8
PARTS = 64  # shares are counted in so many parts of 1
_MEANS = 1000  # and means in thousandths
_AT_ONCE, _ROUNDING = 50_000, 1e-9
_BETS = np.array([1 / 2, 1 / 8, 1 / 32, 1 / 128])  # shares of the wealth


def log_evidence_above(total: ArrayLike, draws: ArrayLike, mean: ArrayLike) -> Floats:
    """Logarithm of the evidence that the mean of the draws, whose sum is `total`, exceeds `mean`.

    Examples
    --------
    >>> log_evidence_above(95, 100, [0.8, 0.9, 0.95]).round(2)
    array([ 8.08,  0.68, -1.35])
    """
    k, n, m = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (total, draws, mean)))
    inside = np.clip(m, 1e-300, 1 - 1e-16)
    likelihood = special.xlogy(k, inside) + special.xlog1py(n - k, -inside)
    return np.asarray(_log_mass(k, n - k, inside) - _log_mass(0, 0, inside) - likelihood, np.float64)


def _log_mass(successes: Any, failures: Any, m: Floats) -> Any:
    """Logarithm of the integral of likelihood times prior over means above m; -inf where it is too small."""
    a, b = successes + _PRIOR, failures + _PRIOR
    with np.errstate(divide="ignore"):
        return special.betaln(a, b) + np.log(special.betaincc(a, b, m))


def log_evidence_below(total: ArrayLike, draws: ArrayLike, mean: ArrayLike) -> Floats:
    """Logarithm of the evidence that the mean of the draws, whose sum is `total`, is less than `mean`."""
    k, n, m = (np.asarray(value, np.float64) for value in (total, draws, mean))
    return log_evidence_above(n - k, n, 1 - m)


def lower_limit(total: ArrayLike, draws: ArrayLike, error: ArrayLike) -> Floats:
    """A number that the mean ever lies below, at any number of draws, with probability at most `error`.

    Evidence falls in the mean up to ``(k - 1/2) / n``; the limit is the place there at which it is 1 / error.

    Examples
    --------
    >>> lower_limit([95, 950, 9_500], [100, 1_000, 10_000], 0.05).round(3)
    array([0.863, 0.925, 0.942])
    """
    k, n, error = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (total, draws, error)))
    low, high = np.zeros(k.shape), np.clip((k - 0.5) / np.maximum(n, 1), 0, 1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = log_evidence_above(k, n, middle) >= -np.log(error)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low


def upper_limit(total: ArrayLike, draws: ArrayLike, error: ArrayLike) -> Floats:
    """A number that the mean ever lies above, at any number of draws, with probability at most `error`."""
    k, n = np.asarray(total, np.float64), np.asarray(draws, np.float64)
    return 1 - lower_limit(n - k, n, error)


@dataclass(frozen=True)
class DailyDraws:
    """Of `draws` draws per day, whose sum lies between `least` and `most`: more is not known of draws that wait.

    Examples
    --------
    >>> draws = DailyDraws.of_pairs(days=[1, 2], openers=[500, 500], matched=[500, 490], agreeing=[480, 470])
    >>> [round(float(end[-1]), 3) for end in draws.limits(0.05)]
    [0.923, 0.979]
    >>> [round(float(end[-1]), 3) for end in draws.single_look(0.05)]
    [0.935, 0.971]
    """

    days: Array
    draws: Floats
    least: Floats
    most: Floats

    @classmethod
    def of_pairs(cls, days: ArrayLike, openers: ArrayLike, matched: ArrayLike, agreeing: ArrayLike) -> Self:
        """Agreements of openers with their partners; those of openers that wait lie between 0 and 1."""
        n, met, k = (np.asarray(column, np.float64) for column in (openers, matched, agreeing))
        return cls(np.asarray(days), n, k, k + (n - met))

    def __len__(self) -> int:
        return len(self.days)

    @property
    def ordinals(self) -> Ints:
        """The days as whole numbers: dates by Python's ordinals."""
        if self.days.dtype.kind in "iu":
            return self.days.astype(np.int64)
        return np.array([day.toordinal() for day in self.days.tolist()], np.int64)

    def take(self, places: Any) -> Self:
        """The days at these places."""
        return type(self)(*(column[places] for column in vars(self).values()))

    def limits(self, error: float) -> tuple[Floats, Floats]:
        """Limits of the mean as of each day that hold on all days together, with probability 1 - error."""
        n, least, most = np.cumsum([self.draws, self.least, self.most], axis=1)
        return lower_limit(least, n, error / 2), upper_limit(most, n, error / 2)

    def single_look(self, error: float) -> tuple[Floats, Floats]:
        """Clopper and Pearson's limits as of each day, each of which holds if it is the only one that is looked at."""
        n, least, most = np.cumsum([self.draws, self.least, self.most], axis=1)
        return clopper_pearson(least, n, 1 - error)[0], clopper_pearson(most, n, 1 - error)[1]


def watched(days: Ints) -> tuple[Ints, Ints]:
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
def _windows(buffer: bytes) -> tuple[Ints, Ints]:
    days = np.frombuffer(buffer, np.int64)
    starts, forever = np.arange(len(days)), int(days[-1]) + 1 if len(days) else 1
    twos = np.where(days > 0, days & -days, forever)
    lives = np.searchsorted(days, days + _AGES * twos) - starts
    first = np.repeat(starts, lives)
    last = first + np.arange(len(first)) - np.repeat(np.cumsum(lives) - lives, lives)
    first.flags.writeable = last.flags.writeable = False  # kept for the next call
    return first, last


def shares(first: Ints) -> Floats:
    """The share of the error of windows by their first day j, counted from 0.

    It is 6 / (π² (j + 1)²), which sum to 1 over all days ever.
    """
    return np.asarray(6 / (np.pi * (first + 1.0)) ** 2, np.float64)


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
        limits, known = f"between {down(self.low)} and {up(self.high)}", f"since {self.since}, known on {self.day}"
        if (
            self.high >= end if self.direction == "drop" else self.low <= end
        ):  # later days were better: together they no longer show what some of them did
            return f"{self.direction} {known}: {side} {end:.3f} then; since {self.since} {limits} by now"
        return f"{self.direction} {known}: {limits}, {side} {end:.3f}"


def changes(draws: DailyDraws, reference: int, error: float, start: int | None = None) -> tuple[Alarm, ...]:
    """Alarms of the days after the first `reference` days: whether the mean dropped or rose, each at most once.

    Days are those of the calendar, with or without draws, so that a day that comes late moves neither the reference
    nor any window. `start` is the ordinal of the first of them, by default that of the first day with draws.

    Half of the error is that of the reference's limits, a quarter that of all windows after it for either direction.
    The end of the reference was fixed beforehand, so its limits are those of a single look.
    Nothing is ever withdrawn: more partners for openers that wait only narrow what is known.

    Examples
    --------
    >>> draws = DailyDraws.of_pairs(range(25), [500] * 25, [500] * 25, [475] * 20 + [430] * 5)
    >>> print(*changes(draws, reference=10, error=0.05))
    drop since 20, known on 20: between 0.822 and 0.894, below 0.943
    """
    if not len(draws):
        return ()
    days = draws.ordinals
    end = (int(days[0]) if start is None else start) + reference
    low, high = (
        float(limit[-1]) if len(limit) else vacuous
        for limit, vacuous in zip(draws.take(days < end).single_look(error / 2), (0.0, 1.0), strict=True)
    )
    return departures(draws.take(days >= end), (low, high), error / 4, end)


def departures(
    draws: DailyDraws, bounds: tuple[float, float], error: float, start: int | None = None
) -> tuple[Alarm, ...]:
    """Alarms of days on which a window proves a mean below, or above, the bounds; `error` is that of each direction.

    `start` is the ordinal of the first day on which a window may begin, by default the first day with draws.

    A bound of 0 or 1 cannot be left. Its error is not spent on the other one: as openers find partners a reference gets
    narrower, and what was an alarm has to stay one.
    """
    offsets = draws.ordinals
    offsets = offsets - (start if start is not None else offsets[:1].sum())
    first, last = watched(offsets)
    errors = error * shares(offsets[first])

    def sums(column: Floats) -> Floats:
        total = np.concatenate([[0.0], np.cumsum(column)])
        return np.asarray(total[last + 1] - total[first])

    n = sums(draws.draws)
    alarms = []
    # A drop is a rise of what is missing.
    for direction, bound, column in (
        ("drop", 1 - bounds[0], draws.draws - draws.most),
        ("rise", bounds[1], draws.least),
    ):
        if bound >= 1:
            continue
        failures = sums(column)
        rate = failures / np.maximum(n, 1e-300)
        # The largest likelihood ratio is the most that evidence can be: only where it suffices is evidence computed.
        ratio = n * (special.rel_entr(rate, bound) + special.rel_entr(1 - rate, 1 - bound))
        proves = np.flatnonzero(np.where(rate > bound, ratio, 0.0) >= -np.log(errors))
        evidence = log_evidence_below(n[proves] - failures[proves], n[proves], 1 - bound)
        proves = proves[evidence >= -np.log(errors[proves])]
        if not len(proves):
            continue
        window = proves[np.lexsort((-rate[proves], last[proves]))[0]]
        since = draws.take(slice(first[window], None))
        seen, least, most = (float(column.sum()) for column in (since.draws, since.least, since.most))
        low, high = lower_limit(least, seen, errors[window]), upper_limit(most, seen, errors[window])
        day, begin = draws.days[[last[window], first[window]]].tolist()
        alarms.append(Alarm(direction, day, begin, float(low), float(high), bounds))
    return tuple(alarms)


@cache
def _gains() -> Floats:
    """Logarithms of what a bet on "more than b" makes of 1, by draw (0/64 to 64/64), bet, and b = 0.001 to 1.000."""
    draw, mean = np.arange(PARTS + 1) / PARTS, np.arange(1, _MEANS + 1) / _MEANS
    return np.log1p(_BETS[:, None] * (draw[:, None, None] / mean - 1))


def bet_above(draws: ArrayLike) -> Floats:
    """Logarithm of the evidence that a mean exceeds 0.001, 0.002, … 1.000, from draws counted by value.

    A share λ of the wealth becomes λ z/b with a draw z, so wealth is a supermartingale if the mean is at most b. It
    falls in b; the evidence is the average over four λ.

    Parameters
    ----------
    draws : array-like, shape (..., 65)
        How many draws are 0/64, 1/64, … 64/64.

    Returns
    -------
    array, shape (..., 1000)

    Examples
    --------
    >>> draws = np.bincount([60] * 90 + [4] * 10, minlength=65)  # their mean is 0.85
    >>> bet_above(draws)[[699, 799, 849]].round(2)
    array([ 6.65,  0.66, -0.25])
    """
    return _mixed(np.tensordot(np.asarray(draws, np.float64), _gains(), 1))


def bet_below(draws: ArrayLike) -> Floats:
    """Logarithm of the evidence that a mean is less than 0.000, 0.001, … 0.999; it grows with the mean."""
    return _mixed(np.tensordot(np.asarray(draws, np.float64), _losses(), 1))


def _losses() -> Floats:
    """The same of a bet on "less than b", for b = 0.000 to 0.999."""
    return _gains()[::-1, :, ::-1]


def _mixed(wealth: Floats) -> Floats:
    """The average over bets, the last axis but one, of logarithms."""
    most = wealth.max(axis=-2)
    return np.asarray(most + np.log(np.exp(wealth - most[..., None, :]).mean(axis=-2)), np.float64)


def share_limits(draws: ArrayLike, error: float) -> tuple[float, float]:
    """Limits of the mean of draws counted by value, in thousandths, each passed at any look with probability `error`.

    Examples
    --------
    >>> share_limits(np.bincount([60] * 90 + [4] * 10, minlength=65), 0.025)
    (0.741, 0.913)
    """
    above, below = (int(np.count_nonzero(bet(draws) >= -np.log(error))) for bet in (bet_above, bet_below))
    return above / _MEANS, (_MEANS - below) / _MEANS


class DropBeside(Alarm):
    """Rows agree less with those of the reference than rows of the reference did: a joint proof of both means."""

    def __str__(self) -> str:
        now, then = (f"between {down(low)} and {up(high)}" for low, high in ((self.low, self.high), self.reference))
        return (
            f"{self.direction} since {self.since}, known on {self.day}: rows agree with those of the reference {now}, "
            f"and rows of the reference itself {then}"
        )


def drops_beside(days: Array, before: Floats, after: Floats, error: float, start: int) -> tuple[Alarm, ...]:
    """An alarm if draws of later days have a smaller mean than those before, whatever that mean is.

    For every b, the evidence that the mean before is above b, times that of a window that its mean is below b, is a
    supermartingale if both means are b. So the least of these products over all b is evidence that the means are not
    the same. Both factors are monotone in b: between two thousandths neither is less than at its end there.

    Parameters
    ----------
    days : array of dates, shape (n_days,)
    before : array, shape (65,)
        Draws of the reference, by value.
    after : array, shape (n_days, 65)
        Draws of each day, by value.
    error : float
    start : int
        The ordinal of the first day on which a window may begin.

    Examples
    --------
    >>> from datetime import date, timedelta
    >>> days = np.array([date(2026, 3, 1) + timedelta(day) for day in range(20)], object)
    >>> good, bad = (np.bincount([60] * n + [4] * (20 - n), minlength=65) for n in (18, 13))
    >>> (alarm,) = drops_beside(days, 20 * good, np.array([good] * 8 + [bad] * 12), 0.05, days[0].toordinal())
    >>> print(alarm.since, alarm.day)
    2026-03-09 2026-03-12
    """
    offsets = np.array([day.toordinal() for day in days.tolist()], np.int64) - start
    first, last = watched(offsets)
    errors = error * shares(offsets[first])
    asked, windows = -np.log(errors), np.arange(len(first))
    known = bet_above(before)
    # Most windows are known to prove nothing at the mean before, and most others at a few.
    most = int((np.arange(PARTS + 1) @ before) / (PARTS * max(1.0, before.sum())) * (_MEANS - 1))
    for means in ([most], np.arange(0, _MEANS, _MEANS // 25)):
        wealth = np.cumsum(np.tensordot(after, _losses()[..., means], 1), axis=0)
        wealth = np.concatenate([np.zeros_like(wealth[:1]), wealth])
        parts = []
        for part in np.array_split(windows, 1 + len(windows) // _AT_ONCE):
            evidence = _mixed(wealth[last[part] + 1] - wealth[first[part]]) + known[means]
            parts.append(part[evidence.min(axis=1) >= asked[part] - _ROUNDING])
        windows = np.concatenate(parts)
    for end in np.unique(last[windows]):
        here = windows[last[windows] == end]
        draws = np.stack([after[start : end + 1].sum(axis=0) for start in first[here]])
        proven = np.min(bet_below(draws) + known, axis=1) - asked[here]
        if proven.max() >= 0:
            window = here[proven.argmax()]
            since = after[first[window] :].sum(axis=0)
            (low, high), reference = (share_limits(each, float(errors[window])) for each in (since, before))
            day, begin = days[[end, first[window]]].tolist()
            return (DropBeside("drop beside the reference", day, begin, low, high, reference),)
    return ()
