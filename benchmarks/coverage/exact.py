"""One explanation, two labels: coverage without Monte-Carlo error, by summing over the number of contradictions.

How many of n rows have the rarer label is binomial, and the interval depends on that number alone.
"""

from functools import cache

import numpy as np
from harness import NOMINAL
from scipy import stats

import faithscope as fs

# Grids, and on which parts of them means are told: contradictions expected among n rows, shares of the rarer label.
FEW = (np.arange(1.0, 100.01, 0.05), (5.0, 20.0), (20.0, 100.0))
ANY = (np.linspace(0.02, 0.5, 961), (0.1, 0.25), (0.25, 0.5))

WAYS = {  # to the ends of an interval, or to a lower bound
    "interval": lambda *rows, **how: fs.consistency(*rows, **how).interval,
    "low": lambda *rows, **how: (fs.consistency(*rows, **how).low, 1.0),
    "low, for 95% by itself": lambda *rows, confidence: (fs.consistency(*rows, confidence=2 * confidence - 1).low, 1.0),
    "certify": lambda *rows, **how: (fs.certify(*rows, [None], **how, interval=None).low, 1.0),
}
CONFIDENCES = (0.5, 0.8, 0.95, 0.99, 0.999)
PROMISES = (  # what, over which grid, by n and confidence
    ("interval", FEW, [(2_000, each) for each in CONFIDENCES]),
    ("interval", ANY, [(n, 0.95) for n in (100, 200, 400, 1_000)]),
    ("low", FEW, [(2_000, each) for each in CONFIDENCES[2:]]),
    ("low, for 95% by itself", FEW, [(2_000, 0.95)]),
    ("certify", FEW, [(n, 0.95) for n in (200, 1_000, 5_000, 20_000)]),
)


@cache
def bounds(n, confidence, way):
    """Ends by the number of contradictions; of many rows far more of them than the 100 that are expected at most."""
    rows = [(np.zeros(n, int), (np.arange(n) < k).astype(int)) for k in range((n if n <= 1_000 else 260) + 1)]
    return tuple(np.array([WAYS[way](*each, confidence=confidence) for each in rows]).T)


def misses(ends, n, shares):
    """Chances that the interval lies above, and below, the truth, by the share of the rarer label."""
    low, high = (end[:, None] for end in ends)
    truth, chance = shares**2 + (1 - shares) ** 2, stats.binom.pmf(np.arange(len(low))[:, None], n, shares)
    return (chance * (low > truth + 1e-12)).sum(axis=0), (chance * (high < truth - 1e-12)).sum(axis=0)


def table(quick):
    """The worst (and where), and the means over few contradictions and over many."""
    yield f"  {'':<24}{'n':>7}{'nominal':>9}{'worst':>8}{'(at)':>8}{'few':>8}{'many':>8}"
    for what, (points, *parts), settings in PROMISES:
        for n, confidence in [(200, NOMINAL)] if quick else settings:
            shares, grid = points is ANY[0], points if points is ANY[0] else points[points <= n / 2]
            curve = 1 - sum(misses(bounds(n, confidence, what), n, grid if shares else grid / n))
            place, at = curve.argmin(), f"({round(grid[curve.argmin()], 4):g})"
            few, many = (curve[(low <= grid) & (high >= grid)].mean() for low, high in parts)
            yield f"  {what:<24}{n:>7,}{confidence:>9.4g}{curve[place]:>8.4f}{at:>8}{few:>8.4f}{many:>8.4f}"
