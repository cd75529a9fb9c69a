"""Limits and alarms of the mean of independent draws between 0 and 1 that hold at all looks together.

Evidence that a mean is above m is what a gambler wins who bets a fixed share λ of the wealth on each draw z, at odds
that are fair if the mean is m (wealth 1 becomes ``1 - λ + λ z/m``), on average over some λ. If the mean is at most m,
that is a nonnegative supermartingale, so it ever exceeds 1/δ with probability at most δ (Ville). `docs/proofs.md` has
the proofs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.rounding import down, up

PARTS = 64  # shares are counted in so many parts of 1
_BETS = np.array([15 / 16, *(2.0 ** -np.arange(1, 12, 2))])  # shares of the wealth: 15/16, 1/2, 1/8, … 1/2048
_STEPS = 45
_AGES = 8
_MEANS = np.arange(1001) / 1000
_ROUNDING = 1e-9


def _gains(values: int, mean: ArrayLike) -> Floats:
    """Logarithms of what each bet makes of 1 with draws of 0, … 1, so many values; shape (..., bets, values)."""
    ratio = np.linspace(0, 1, values) / np.maximum(mean, 1e-12)[..., None]
    return np.asarray(np.log1p(_BETS[:, None] * (ratio[..., None, :] - 1)), np.float64)


def _mixed(wealth: Floats) -> Floats:
    """The average over bets, the last axis, of logarithms."""
    return np.asarray(logsumexp(wealth, axis=-1) - np.log(len(_BETS)), np.float64)


def log_evidence(draws: ArrayLike, mean: ArrayLike) -> Floats:
    """Logarithm of the evidence that the mean of draws exceeds `mean`; it falls in `mean`.

    Parameters
    ----------
    draws : array-like, shape (..., v)
        How many draws are 0, 1/(v - 1), … 1. In the opposite order, and with 1 - mean, it is the evidence that the mean
        of draws is less.

    Examples
    --------
    >>> log_evidence([5, 95], [0.8, 0.9, 0.95]).round(2)
    array([ 5.97,  0.49, -0.27])
    """
    counts = np.asarray(draws, np.float64)
    return _mixed(np.einsum("...v,...bv->...b", counts, _gains(counts.shape[-1], mean)))


def lower_limit(draws: ArrayLike, error: ArrayLike) -> Floats:
    """A number that the mean ever lies below, at any number of draws, with probability at most `error`.

    Examples
    --------
    >>> lower_limit([[5, 95], [50, 950], [500, 9_500]], 0.05).round(3)
    array([0.845, 0.922, 0.943])
    """
    counts = np.asarray(draws, np.float64)
    shape = np.broadcast_shapes(counts.shape[:-1], np.shape(error))
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = log_evidence(counts, middle) >= -np.log(error)
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low


def upper_limit(draws: ArrayLike, error: ArrayLike) -> Floats:
    """A number that the mean ever lies above, at any number of draws, with probability at most `error`."""
    return 1 - lower_limit(np.asarray(draws)[..., ::-1], error)


@dataclass(frozen=True)
class Draws:
    """Draws per day, counted by value, shape (n_days, v): as small, and as large, as those that wait may turn out.

    Days are whole numbers, in order; days without draws may be missing.

    Examples
    --------
    >>> draws = Draws.of_pairs(days=[1, 2], openers=[500, 500], matched=[500, 490], agreeing=[480, 470])
    >>> [round(float(end[-1]), 3) for end in draws.limits(0.05)]
    [0.921, 0.979]
    """

    days: Ints
    least: Floats
    most: Floats

    @classmethod
    def of_pairs(cls, days: ArrayLike, openers: ArrayLike, matched: ArrayLike, agreeing: ArrayLike) -> Self:
        """Agreements of openers with their partners; those of openers that wait lie between 0 and 1."""
        n, met, k = (np.asarray(column, np.float64) for column in (openers, matched, agreeing))
        return cls(np.asarray(days, np.int64), np.column_stack([n - k, k]), np.column_stack([met - k, k + n - met]))

    def take(self, places: Any) -> Self:
        """The days at these places."""
        return type(self)(*(column[places] for column in vars(self).values()))

    def ends(self, error: float) -> tuple[float, float]:
        """Limits of the mean of all days, each missed with probability `error`."""
        return float(lower_limit(self.least.sum(axis=0), error)), float(upper_limit(self.most.sum(axis=0), error))

    def limits(self, error: ArrayLike) -> tuple[Floats, Floats]:
        """Limits of the mean as of each day that hold on all days together, with probability 1 - error."""
        half = np.asarray(error) / 2
        return lower_limit(self.least.cumsum(axis=0), half), upper_limit(self.most.cumsum(axis=0), half)


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
    starts, forever = np.arange(len(days)), int(days[-1]) + 1 if len(days) else 1
    twos = np.where(days > 0, days & -days, forever)
    lives = np.searchsorted(days, days + _AGES * twos) - starts
    first = np.repeat(starts, lives)
    return first, first + np.arange(len(first)) - np.repeat(np.cumsum(lives) - lives, lives)


def shares(first: Ints) -> Floats:
    """The share of the error of windows by their first day j, counted from 0.

    It is 6 / (π² (j + 1)²), which sum to 1 over all days ever.
    """
    return np.asarray(6 / (np.pi * (first + 1.0)) ** 2, np.float64)


@dataclass(frozen=True)
class Alarm:
    """A mean left what was promised, or the range of its reference: on which day that was known, and since when.

    Attributes
    ----------
    direction : str
        "drop" or "rise"; of rows beside those of the reference, "drop beside the reference".
    day : date
        The first day whose draws prove it.
    since : date
        The first day of the window that proves it: the change came about then.
    low, high : float
        Limits of the mean of that window, as of the last day.
    reference : tuple of float
        Limits of the reference; the level that was promised, and 1.
    promised : bool
        Whether that is a level.
    """

    direction: str
    day: Any
    since: Any
    low: float
    high: float
    reference: tuple[float, float]
    promised: bool = False

    def __str__(self) -> str:
        least, most = self.reference
        was = f"at least {least:.3f} was promised" if self.promised else f"the reference {between(least, most)}"
        return f"{self.direction} since {self.since}, known on {self.day}: {between(self.low, self.high)}, {was}"


def between(low: float, high: float) -> str:
    """Limits in words, rounded outward."""
    return f"between {down(low)} and {up(high)}"


def below_level(draws: Draws, level: float, error: float) -> tuple[Alarm, ...]:
    """An alarm of a day on which a window proves a mean below the level that was promised."""
    start = int(draws.days[:1].sum())
    return tuple(_alarm("drop", draws, start, error, np.array([level]), np.zeros(1), (level, 1.0), promised=True))


def changes(
    draws: Draws, reference: int, error: float, start: int = 0, directions: Sequence[str] = ("drop", "rise")
) -> tuple[Alarm, ...]:
    """Alarms of the days after the first `reference` days: whether the mean dropped or rose, each at most once.

    Days are those of the calendar, with or without draws, so that a day that comes late moves neither the reference
    nor any window; `start` is the first of them.

    For every b, the evidence that the mean of the reference is above b, times that of a window that its mean is below
    b, is a supermartingale if both means are b. So the least of these products over all b is evidence that they are not
    the same. Both factors are monotone in b: between two thousandths neither is less than at its end there. Nothing is
    ever withdrawn: more partners for openers that wait only narrow what is known.

    Examples
    --------
    >>> draws = Draws.of_pairs(range(25), [500] * 25, [500] * 25, [475] * 20 + [430] * 5)
    >>> print(*changes(draws, reference=10, error=0.05))
    drop since 20, known on 20: between 0.821 and 0.891, the reference between 0.938 and 0.960
    """
    end = start + reference
    before, after = draws.take(draws.days < end), draws.take(draws.days >= end)
    error = error / len(directions)
    limits = before.ends(error)
    alarms = list[Alarm]()
    for direction in directions:
        held = before.most[:, ::-1] if direction == "rise" else before.least
        known = log_evidence(held.sum(axis=0), _MEANS[1:])
        alarms += _alarm(direction, after, end, error, _MEANS[:-1], known, limits)
    return tuple(alarms)


def _alarm(
    direction: str,
    draws: Draws,
    start: int,
    error: float,
    means: Floats,
    known: Floats,
    limits: tuple[float, float],
    *,
    promised: bool = False,
) -> Iterator[Alarm]:
    """An alarm of the first window whose mean is proven below what is known, with all days since that window began.

    Parameters
    ----------
    direction : str
        A rise is a drop of what is missing.
    draws : Draws
    start : int
        The first day on which a window may begin.
    error : float
    means, known : arrays
        Some means, in order, and the evidence of each that the draws of this window should have a higher one.
    limits, promised
        What the alarm says of the reference.
    """
    days, counted = draws.days - start, draws.least[:, ::-1] if direction == "rise" else draws.most
    first, last = watched(days)
    errors = error * shares(days[first])
    sums = np.pad(counted.cumsum(axis=0), ((1, 0), (0, 0)))[:, ::-1]
    # Most windows are known to prove nothing at one of the means.
    guess = int(np.abs(known).argmin())
    wealth = sums @ _gains(counted.shape[1], 1 - means[guess]).T
    evidence = _mixed(wealth[last + 1] - wealth[first]) + known[guess]
    places = np.flatnonzero(evidence >= -np.log(errors) - _ROUNDING)
    for end in np.unique(last[places]):
        here = places[last[places] == end]
        counts = sums[end + 1] - sums[first[here]]
        proven = (log_evidence(counts[:, None], 1 - means) + known).min(axis=1) + np.log(errors[here])
        if proven.max() >= 0:
            window = here[proven.argmax()]
            ends = draws.take(slice(first[window], None)).ends(errors[window])
            day, since = draws.days[[end, first[window]]].tolist()
            yield Alarm(direction, day, since, *ends, limits, promised)
            return


def mean_share(draws: Array) -> float | None:
    """The mean of draws counted by value; None if there are none."""
    total = float(draws.sum())
    return float(np.linspace(0, 1, len(draws)) @ draws / total) if total else None
