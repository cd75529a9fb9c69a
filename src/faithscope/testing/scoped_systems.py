"""Simulated systems of explanations that overlap, whose true sufficiency is known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from faithscope.inputs.array_types import Bools, Floats, Ints

Interval = Callable[[Floats], tuple[Floats, Floats]]

GRID = (np.arange(20_000) + 0.5) / 20_000


@dataclass(frozen=True)
class Scoped:
    """Rows x, a probability p(x) of label 1, and per row the interval of x that its explanation covers.

    Examples
    --------
    >>> import numpy as np
    >>> from faithscope.testing import SCOPED
    >>> system = SCOPED["sliding, noisy"]
    >>> round(system.truth, 3)
    0.788
    >>> x, labels, low, high = system.draw(100, np.random.default_rng(0))
    """

    chance: Callable[[Floats], Floats]
    interval: Interval

    @property
    def truth(self) -> float:
        """Sufficiency: the mean over x of the probability that a covered row has x's label, on a fine grid of x."""
        p = self.chance(GRID)
        upto = np.concatenate([[0.0], np.cumsum(p)])
        low, high = (np.searchsorted(GRID, bound, side="right") for bound in self.interval(GRID))
        ones = (upto[high] - upto[low]) / (high - low)
        return float(np.mean(p * ones + (1 - p) * (1 - ones)))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints, Floats, Floats]:
        """Rows: x, label, and the bounds (low, high] of their explanations."""
        x = rng.random(n)
        return x, (rng.random(n) < self.chance(x)).astype(int), *self.interval(x)


def _sliding(width: float) -> Interval:
    return lambda x: (np.round(x, 2) - width, np.round(x, 2) + width)


def _nested(steps: int) -> Interval:
    return lambda x: (np.full(len(x), -1.0), np.ceil(x * steps) / steps)


SCOPED = {
    "sliding, step": Scoped(lambda x: (x > 0.5).astype(float), _sliding(0.05)),
    "sliding, noisy": Scoped(lambda x: np.where(x > 0.3, 0.9, 0.1), _sliding(0.1)),
    "sliding, narrow": Scoped(lambda x: 0.5 + 0.5 * np.sin(6 * x), _sliding(0.01)),
    "nested": Scoped(lambda x: 0.9 - 0.5 * x, _nested(20)),
    "nested, all alike": Scoped(lambda x: np.where(x < 0.01, 0.0, 1.0), _nested(50)),
}


@dataclass(frozen=True)
class Hub:
    """Every explanation covers its own row and a hub that holds a share of all rows; labels of the hub vary.

    Examples
    --------
    >>> from faithscope.testing import Hub
    >>> Hub(share=0.1, ones=1.0).truth
    1.0
    """

    share: float
    ones: float  # chance of label 1 in the hub; all other rows have label 1

    @property
    def truth(self) -> float:
        """Sufficiency: rows outside the hub are compared with the hub, rows of the hub with each other."""
        return (1 - self.share) * self.ones + self.share * (self.ones**2 + (1 - self.ones) ** 2)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Rows: their place (0: the hub), and their label."""
        hub = rng.random(n) < self.share
        return np.where(hub, 0.0, 1 + rng.random(n)), np.where(hub, rng.random(n) < self.ones, 1).astype(int)


def covers(X: Floats, place: float) -> Bools:
    """The hub's relation: an explanation covers its own place and the hub."""
    return np.asarray((X[:, 0] == place) | (X[:, 0] == 0))
