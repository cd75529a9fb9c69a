"""One explanation, two labels: coverage without Monte-Carlo error, by summing over the number of contradictions.

How many of n rows have the rarer label is binomial, and the interval depends on that number alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import faithscope as fs
from faithscope.counting.leaving_out.leave_out import leave_out_rows
from faithscope.measures.intervals.margins import Deviations

Floats = NDArray[np.float64]
Ends = tuple[Floats, Floats]

EXPECTED = np.arange(1.0, 100.01, 0.05)  # contradictions expected among n rows
PARTS = ((5.0, 20.0), (20.0, 100.0))
SHARES = np.linspace(0.02, 0.5, 961)  # of the rarer label, if it is not rare
PARTS_OF_SHARES = ((0.1, 0.25), (0.25, 0.5))


@dataclass(frozen=True)
class ExactLine:
    """A promise on one explanation with a few contradictions, before and after.

    Attributes
    ----------
    what : str
    n : int
    nominal : float
        What is promised: coverage, or the chance that the lower end misses.
    worst, at : pairs of float
        Worst over the expected number of contradictions, or over shares, before and after; and where it is.
    few, many : pairs of float
        Mean over 5 to 20 and over 20 to 100 expected contradictions, or over shares of .1 to .25 and of .25 to .5.
    """

    what: str
    n: int
    nominal: float
    worst: list[float]
    at: list[float]
    few: list[float]
    many: list[float]


def sample(n: int, contradictions: int) -> tuple[Any, Any]:
    """N rows with one explanation, so many of which have the other label."""
    return np.zeros(n, int), (np.arange(n) < contradictions).astype(int)


def _most(n: int) -> int:
    """Contradictions that can be drawn; of many rows far more than the 100 that are expected at most."""
    return n if n <= 1_000 else 260


@cache
def interval_ends(n: int, confidence: float, **options: Any) -> Ends:
    """Ends of the interval by the number of contradictions."""
    estimates = _estimates(n, confidence, **options)
    return np.array([each.low for each in estimates]), np.array([each.high for each in estimates])


@cache
def limits(n: int, confidence: float) -> Ends:
    """The lower limit for whoever reads no upper one, and 1."""
    bounds = [each.limit for each in _estimates(n, confidence)]
    return np.array(bounds), np.ones(len(bounds))


@cache
def _estimates(n: int, confidence: float, **options: Any) -> list[fs.Estimate]:
    """The estimate of each number of contradictions."""
    return [fs.consistency(*sample(n, k), confidence=confidence, **options) for k in range(_most(n) + 1)]


@cache
def certified_ends(n: int, confidence: float) -> Ends:
    """Lower bounds of `certify(interval="jackknife")`, and 1."""
    rows = [sample(n, k) for k in range(_most(n) + 1)]
    bounds = [fs.certify(*each, [None], confidence=confidence, interval="jackknife").low for each in rows]
    return np.array(bounds), np.ones(len(bounds))


@cache
def certified_before(n: int, confidence: float) -> Ends:
    """What `certify` did before it allowed for skew: Student's t, with the degrees of freedom of the interval."""
    bounds = []
    for contradictions in range(_most(n) + 1):
        estimate = fs.consistency(*sample(n, contradictions))
        left_out = leave_out_rows(estimate.counts.profile().kinds())
        rows = np.ones(len(left_out.value)) if left_out.rows is None else left_out.rows
        margin, _ = Deviations.of(left_out.value, rows).margin(1 - confidence)
        bounds.append(max(0.0, estimate.value - max(margin, 2 * np.log(1 / (1 - confidence)) / n)))
    return np.array(bounds), np.ones(len(bounds))


def misses(ends: Ends, n: int, shares: Floats) -> tuple[Floats, Floats]:
    """Chances that the interval lies above, and below, the truth, by the share of the rarer label."""
    low, high = ends
    truth = shares**2 + (1 - shares) ** 2
    chance = stats.binom.pmf(np.arange(len(low))[:, None], n, shares)
    above = (chance * (low[:, None] > truth + 1e-12)).sum(axis=0)
    return above, (chance * (high[:, None] < truth - 1e-12)).sum(axis=0)


def _few(n: int) -> Floats:
    return EXPECTED[n / 2 >= EXPECTED] / n


def _line(what: str, n: int, nominal: float, curves: Sequence[Floats], worst: Callable[[Floats], Any]) -> ExactLine:
    """The worst and the means of two curves, before and after, over expected contradictions or over shares."""
    over_shares = len(curves[0]) == len(SHARES)
    grid, parts = (SHARES, PARTS_OF_SHARES) if over_shares else (EXPECTED[: len(curves[0])], PARTS)
    places = [int(worst(curve)) for curve in curves]
    lowest = [float(curve[place]) for curve, place in zip(curves, places, strict=True)]
    means = [[float(curve[(low <= grid) & (high >= grid)].mean()) for curve in curves] for low, high in parts]
    return ExactLine(what, n, nominal, lowest, [round(float(grid[place]), 4) for place in places], *means)


def _both_ends(n: int, confidence: float) -> list[Ends]:
    return [interval_ends(n, confidence, interval="jackknife"), interval_ends(n, confidence)]


def _two_sided(n: int, confidence: float) -> ExactLine:
    curves = [1 - sum(misses(ends, n, _few(n))) for ends in _both_ends(n, confidence)]
    return _line("interval, covered", n, confidence, curves, np.argmin)


def _any_share(n: int, confidence: float) -> ExactLine:
    curves = [1 - sum(misses(ends, n, SHARES)) for ends in _both_ends(n, confidence)]
    return _line("interval, any share", n, confidence, curves, np.argmin)


def _lower_limit(n: int, confidence: float) -> ExactLine:
    ends = interval_ends(n, confidence, interval="jackknife"), limits(n, confidence)
    curves = [misses(each, n, _few(n))[0] for each in ends]
    return _line("lower limit, misses", n, (1 - confidence) / 2, curves, np.argmax)


def _certified(n: int, confidence: float) -> ExactLine:
    ends = certified_before(n, confidence), certified_ends(n, confidence)
    curves = [1 - misses(each, n, _few(n))[0] for each in ends]
    return _line("certify, covered", n, confidence, curves, np.argmin)


def exact_lines(quick: bool = False) -> list[ExactLine]:
    """All promises, by the number of rows."""
    if quick:
        return [_two_sided(200, 0.95), _any_share(100, 0.95), _lower_limit(200, 0.95), _certified(200, 0.95)]
    return [
        *(_two_sided(2_000, confidence) for confidence in (0.5, 0.8, 0.95, 0.99, 0.999)),
        *(_any_share(n, 0.95) for n in (100, 200, 400, 1_000)),
        *(_lower_limit(2_000, confidence) for confidence in (0.9, 0.95, 0.99)),
        *(_certified(n, 0.95) for n in (200, 1_000, 5_000, 20_000)),
        *(_certified(2_000, confidence) for confidence in (0.9, 0.99)),
    ]


def exact_table(lines: list[ExactLine]) -> Iterator[str]:
    """Worst (and the expected contradictions, or the share, where it is) and means, before and after."""
    half = f"{'worst':>8}{'(at)':>8}{'few':>8}{'many':>8}"
    yield f"  {'':<22}{'n':>7}{'nominal':>9}{half}   |{half}"
    for line in lines:
        halves = [_half(line, side) for side in (0, 1)]
        yield f"  {line.what:<22}{line.n:>7,}{line.nominal:>9.4g}{'   |'.join(halves)}"


def _half(line: ExactLine, side: int) -> str:
    place = f"({line.at[side]:g})"
    return f"{line.worst[side]:>8.4f}{place:>8}{line.few[side]:>8.4f}{line.many[side]:>8.4f}"
