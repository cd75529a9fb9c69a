"""Verdicts on the paper's claims: a claim holds, fails or stays undecided by a test, never by looking."""

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np

from faithscope.reproduce.records import Claim, Verdict

LEVEL = 0.05


def by_interval(low: float, high: float, **about: Any) -> Claim:
    """A claim that something is above zero: holds where the whole interval is, fails where none of it is.

    Parameters
    ----------
    low, high : float
        Interval of what the claim says is positive.
    **about
        ``table``, ``setting``, ``words``, ``test`` and perhaps ``note`` of the `Claim`.
    """
    verdict: Verdict = "holds" if low > 0 else "fails" if high < 0 else "undecided"
    return Claim(verdict=verdict, low=float(low), high=float(high), **about)


def by_p(p: float, against: float, **about: Any) -> Claim:
    """A claim with two one-sided p-values: that of chance bringing about so much for it, and so much against it."""
    verdict: Verdict = "holds" if p < LEVEL else "fails" if against < LEVEL else "undecided"
    return Claim(verdict=verdict, p=float(p), **about)


def by_signs(differences: Sequence[float], **about: Any) -> Claim:
    """A claim that differences are positive, by the sign test; those that are zero say nothing and are left out."""
    signs = np.sign([difference for difference in differences if difference])
    above = int(np.sum(signs > 0))
    return by_p(_at_least(above, len(signs)), _at_least(len(signs) - above, len(signs)), **about)


def _at_least(above: int, tosses: int) -> float:
    """Chance of so many heads or more."""
    return float(sum(comb(tosses, heads) for heads in range(above, tosses + 1)) / 2**tosses)


def by_trend(x: Sequence[float], y: Sequence[float], **about: Any) -> Claim:
    """A claim that y grows with x, by Kendall's rank correlation."""
    from scipy.stats import kendalltau

    up, down = (float(kendalltau(x, y, alternative=way).pvalue) for way in ("greater", "less"))
    # Kendall's test has no answer where y never changes: then nothing grows.
    up, down = (1.0 if np.isnan(p) else p for p in (up, down))
    return by_p(up, down, **about)
