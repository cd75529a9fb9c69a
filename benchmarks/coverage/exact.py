"""One explanation, two labels: coverage without Monte-Carlo error, by summing over the number of contradictions.

How many of n rows have the rarer label is binomial, and the interval depends on that number alone. Also whether an
engine and memory give the same intervals: random logs, whole and by group, counted by DuckDB and by NumPy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from systems import Floats

import faithscope as fs
from faithscope.counting.leaving_out.leave_out import leave_out_rows
from faithscope.measures.intervals.margins import Deviations
from faithscope.testing import hard_systems

Ends = tuple[Floats, Floats]
EXPECTED = np.arange(1.0, 100.01, 0.05)  # contradictions expected among n rows
SHARES = np.linspace(0.02, 0.5, 961)  # of the rarer label, if it is not rare
PARTS = {"few": ((5.0, 20.0), (20.0, 100.0)), "any": ((0.1, 0.25), (0.25, 0.5))}


def sample(n: int, contradictions: int) -> tuple[Any, Any]:
    """N rows with one explanation, so many of which have the other label."""
    return np.zeros(n, int), (np.arange(n) < contradictions).astype(int)


@cache
def bounds(n: int, confidence: float, how: str) -> Ends:
    """Ends by the number of contradictions; of many rows far more of them than the 100 that are expected at most."""
    rows = [sample(n, k) for k in range((n if n <= 1_000 else 260) + 1)]
    if how in ("jackknife", "default"):
        asked = {"interval": "jackknife"} if how == "jackknife" else {}
        estimates = [fs.consistency(*each, confidence=confidence, **asked) for each in rows]
        return np.array([each.low for each in estimates]), np.array([each.high for each in estimates])
    low = {
        "limit": lambda each: fs.consistency(*each, confidence=confidence).limit,
        "certify": lambda each: fs.certify(*each, [None], confidence=confidence, interval="jackknife").low,
        "certify before": lambda each: certified_before(each, confidence),
    }[how]
    return np.array([low(each) for each in rows]), np.ones(len(rows))


def certified_before(rows: tuple[Any, Any], confidence: float) -> float:
    """What `certify` did before it allowed for skew: Student's t, with the degrees of freedom of the interval."""
    estimate = fs.consistency(*rows)
    left_out = leave_out_rows(estimate.counts.profile().kinds())
    times = np.ones(len(left_out.value)) if left_out.rows is None else left_out.rows
    margin, _ = Deviations.of(left_out.value, times).margin(1 - confidence)
    return max(0.0, estimate.value - max(margin, 2 * np.log(1 / (1 - confidence)) / estimate.n))


def misses(ends: Ends, n: int, shares: Floats) -> tuple[Floats, Floats]:
    """Chances that the interval lies above, and below, the truth, by the share of the rarer label."""
    low, high = ends
    truth = shares**2 + (1 - shares) ** 2
    chance = stats.binom.pmf(np.arange(len(low))[:, None], n, shares)
    above = (chance * (low[:, None] > truth + 1e-12)).sum(axis=0)
    return above, (chance * (high[:, None] < truth - 1e-12)).sum(axis=0)


@dataclass(frozen=True)
class Promise:
    """What is promised of an interval, or of a lower bound, before and after; over few contradictions, or any share."""

    what: str
    before: str
    after: str
    over: str = "few"
    told: Callable[[Floats, Floats], Floats] = lambda above, below: 1 - above - below

    def line(self, n: int, confidence: float) -> str:
        """The worst (and where), and the means over few contradictions (5 to 20) and over many, before and after."""
        grid = SHARES if self.over == "any" else EXPECTED[n / 2 >= EXPECTED]
        missing = self.what.endswith("misses")
        halves = []
        for how in (self.before, self.after):
            curve = self.told(*misses(bounds(n, confidence, how), n, grid if self.over == "any" else grid / n))
            place = int(curve.argmax() if missing else curve.argmin())
            few, many = (float(curve[(low <= grid) & (high >= grid)].mean()) for low, high in PARTS[self.over])
            at = f"({round(float(grid[place]), 4):g})"
            halves.append(f"{curve[place]:>8.4f}{at:>8}{few:>8.4f}{many:>8.4f}")
        nominal = (1 - confidence) / 2 if missing else confidence
        return f"  {self.what:<22}{n:>7,}{nominal:>9.4g}{'   |'.join(halves)}"


COVERED = Promise("interval, covered", "jackknife", "default")
ANY_SHARE = Promise("interval, any share", "jackknife", "default", "any")
LIMIT = Promise("lower limit, misses", "jackknife", "limit", told=lambda above, _: above)
CERTIFIED = Promise("certify, covered", "certify before", "certify", told=lambda above, _: 1 - above)
QUICK = ((COVERED, 200, 0.95), (ANY_SHARE, 100, 0.95), (LIMIT, 200, 0.95), (CERTIFIED, 200, 0.95))
ALL = (
    *((COVERED, 2_000, confidence) for confidence in (0.5, 0.8, 0.95, 0.99, 0.999)),
    *((ANY_SHARE, n, 0.95) for n in (100, 200, 400, 1_000)),
    *((LIMIT, 2_000, confidence) for confidence in (0.9, 0.95, 0.99)),
    *((CERTIFIED, n, 0.95) for n in (200, 1_000, 5_000, 20_000)),
    *((CERTIFIED, 2_000, confidence) for confidence in (0.9, 0.99)),
)


def table(quick: bool) -> Iterator[str]:
    """All promises: worst over 1 to 100 expected contradictions, or over shares of the rarer label, and means."""
    half = f"{'worst':>8}{'(at)':>8}{'few':>8}{'many':>8}"
    yield f"  {'':<22}{'n':>7}{'nominal':>9}{half}   |{half}"
    for promise, n, confidence in QUICK if quick else ALL:
        yield promise.line(n, confidence)
    gap = max(gap for seed in range(2 if quick else 12) for gap in engine_gaps(seed))
    yield f"\nThe same log in DuckDB and in memory: ends of intervals differ by at most {gap:.1e}"


LOGGED = ("n/2 explanations", "3n explanations", "long tail of 3,000", "20 equal labels")


def engine_gaps(seed: int) -> Iterator[float]:
    """Differences of two ends of an interval that an engine and memory give for the same rows."""
    rng = np.random.default_rng(seed)
    rows = hard_systems(int(rng.integers(50, 3_000)))[LOGGED[seed % len(LOGGED)]].draw(rng)
    groups = rng.integers(0, 3, len(rows["predictions"]))
    log = pd.DataFrame({"why": rows["explanations"], "label": rows["predictions"], "group": groups})
    for how in ({}, {"interval": "jackknife"}, {"interval": "mcdiarmid"}):
        audit = fs.audit(log, prediction="label", explanation="why", by="group", **how)
        pairs = [(audit.consistency, fs.consistency(**rows, **how))]
        for group, estimate in audit.populations.estimates.items():
            part = {name: column[groups == group] for name, column in rows.items()}
            pairs.append((estimate, fs.consistency(**part, **how)))
        yield max(max(abs(a.low - b.low), abs(a.high - b.high)) for a, b in pairs)
