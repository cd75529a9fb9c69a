"""Verdicts on the paper's claims: a statistical test decides whether a claim holds, fails or stays undecided."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, kendalltau, t

from faithscope_reproduction.records import Claim, ClaimVerdict

LEVEL = 0.05
_BLOCKS = 20


def by_interval(claim: Claim, low: float, high: float) -> Claim:
    """The claim that a quantity is positive, decided by the quantity's interval.

    It holds if the whole interval is above zero, and fails if the whole interval is below zero.
    """
    verdict: ClaimVerdict = "holds" if low > 0 else "fails" if high < 0 else "undecided"
    return replace(claim, verdict=verdict, low=float(low), high=float(high))


def by_p(claim: Claim, p: float, against: float) -> Claim:
    """The claim, decided by two one-sided p-values: `p` of the test in its favor, `against` of the test against it."""
    verdict: ClaimVerdict = "holds" if p < LEVEL else "fails" if against < LEVEL else "undecided"
    return replace(claim, verdict=verdict, p=float(p))


def by_signs(claim: Claim, differences: Sequence[float]) -> Claim:
    """The claim that differences are positive, decided by the sign test; differences of zero are left out."""
    above, below = (sum(sign * difference > 0 for difference in differences) for sign in (1, -1))
    return by_p(claim, *(binom.sf(heads - 1, above + below, 0.5) for heads in (above, below)))


def by_trend(claim: Claim, x: Sequence[float], y: Sequence[float]) -> Claim:
    """The claim that y grows with x, decided by Kendall's rank correlation."""
    up, down = (float(kendalltau(x, y, alternative=way).pvalue) for way in ("greater", "less"))
    # Kendall's test has no answer if y never changes: then nothing grows.
    return by_p(claim, *(1.0 if np.isnan(p) else p for p in (up, down)))


def half_width(values: NDArray[np.float64]) -> Any:
    """Half the width of the 95% interval of the mean over the first axis: ``t · s / √n``, t of n - 1 degrees."""
    return t.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))


def by_blocks(
    measure: Callable[[NDArray[np.int64]], NDArray[np.float64]], n: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimates on all rows and the half-widths of their 95% intervals, by leaving out each of 20 blocks of rows.

    The interval covers the sampling error of estimates, such as the difference between two estimates that the paper
    prints. Unlike the interval of an `Estimate`, it says nothing about rows that cannot be checked.

    Parameters
    ----------
    measure : callable
        From positions of rows to an array of numbers.
    n : int
        Number of rows.
    """
    block = np.random.default_rng(seed).permutation(n) % _BLOCKS
    left_out = np.array([measure(np.flatnonzero(block != left)) for left in range(_BLOCKS)])
    squares = np.sum((left_out - left_out.mean(axis=0)) ** 2, axis=0)
    return measure(np.arange(n)), t.ppf(0.975, _BLOCKS - 1) * np.sqrt((_BLOCKS - 1) / _BLOCKS * squares)
