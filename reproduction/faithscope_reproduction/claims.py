"""Verdicts on the paper's claims: a statistical test decides whether a claim holds, fails or stays undecided."""

from collections.abc import Sequence
from dataclasses import replace
from math import comb

import numpy as np

from faithscope_reproduction.records import Claim, ClaimVerdict

LEVEL = 0.05


def by_interval(claim: Claim, low: float, high: float) -> Claim:
    """The claim that a quantity is positive, decided by the quantity's interval.

    It holds if the whole interval is above zero, and fails if the whole interval is below zero.

    Parameters
    ----------
    claim : Claim
        The words of the claim and of the test; its verdict is still open.
    low, high : float
        Interval of the quantity.
    """
    verdict: ClaimVerdict = "holds" if low > 0 else "fails" if high < 0 else "undecided"
    return replace(claim, verdict=verdict, low=float(low), high=float(high))


def by_p(claim: Claim, p: float, against: float) -> Claim:
    """The claim, decided by two one-sided p-values: `p` of the test in its favor, `against` of the test against it."""
    verdict: ClaimVerdict = "holds" if p < LEVEL else "fails" if against < LEVEL else "undecided"
    return replace(claim, verdict=verdict, p=float(p))


def by_signs(claim: Claim, differences: Sequence[float]) -> Claim:
    """The claim that differences are positive, decided by the sign test; differences of zero are left out."""
    signs = np.sign([difference for difference in differences if difference])
    above = int(np.sum(signs > 0))
    return by_p(claim, _at_least(above, len(signs)), _at_least(len(signs) - above, len(signs)))


def _at_least(heads: int, tosses: int) -> float:
    """Probability of at least this many heads in so many tosses of a fair coin."""
    return float(sum(comb(tosses, count) for count in range(heads, tosses + 1)) / 2**tosses)


def by_trend(claim: Claim, x: Sequence[float], y: Sequence[float]) -> Claim:
    """The claim that y grows with x, decided by Kendall's rank correlation."""
    from scipy.stats import kendalltau

    up, down = (float(kendalltau(x, y, alternative=way).pvalue) for way in ("greater", "less"))
    # Kendall's test has no answer if y never changes: then nothing grows.
    up, down = (1.0 if np.isnan(p) else p for p in (up, down))
    return by_p(claim, up, down)
