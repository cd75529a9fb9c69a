"""Limits that hold at all looks together, of what a monitor has counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaln


@dataclass(frozen=True)
class Limits:
    """Limits of consistency that hold at all looks together.

    Attributes
    ----------
    value : float or None
        The share of matched pairs that agree; None if there are none.
    low, high : float
        The true consistency lies between them at every look, with the stated confidence.
    confidence : float
    n : int
        Rows.
    openers, pairs, waiting : int
        Rows that ask for a partner, those that have one, and those that wait.
    at_least : float or None
        The level that was promised.
    """

    value: float | None
    low: float
    high: float
    confidence: float
    n: int
    openers: int
    pairs: int
    waiting: int
    at_least: float | None = None

    @property
    def verdict(self) -> str:
        """`alarm` if consistency is below the promised level, `holds` if it is not, else `cannot tell`."""
        if self.at_least is None:
            return "no level was promised"
        return "alarm" if self.high < self.at_least else "holds" if self.low >= self.at_least else "cannot tell"

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        return {**vars(self), "verdict": self.verdict}

    def __str__(self) -> str:
        told = f"consistency between {self.low:.3f} and {self.high:.3f} at all looks together"
        level = "" if self.at_least is None else f"; at least {self.at_least:g}: {self.verdict}"
        return (
            f"{told} ({self.confidence:.0%} confidence); n={self.n:,}, {self.pairs:,} pairs, {self.waiting:,} rows wait"
            f"{level}"
        )

    __repr__ = __str__


def mixture_limits(openers: int, agreeing: float, waiting: int, confidence: float) -> tuple[float, float]:
    """Exact limits of a mean of draws between 0 and 1, valid at all numbers of draws (a uniform mixture of bets)."""
    level = np.log(2 / (1 - confidence))
    return _limit(openers, agreeing, level, below=True), _limit(openers, agreeing + waiting, level, below=False)


def _limit(n: int, k: float, level: float, *, below: bool) -> float:
    if n == 0:
        return 0.0 if below else 1.0

    def excess(mean: float) -> float:
        return float(betaln(k + 1, n - k + 1) - k * np.log(mean) - (n - k) * np.log1p(-mean) - level)

    end, middle = (1e-300, k / n) if below else (1 - 1e-16, k / n)
    if (below and k == 0) or (not below and k == n) or excess(end) < 0:
        return 0.0 if below else 1.0
    inside = min(max(middle, 1e-300), 1 - 1e-16)
    return float(brentq(excess, min(end, inside), max(end, inside))) if excess(inside) < 0 else float(inside)
