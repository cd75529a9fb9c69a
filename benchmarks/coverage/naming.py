"""Sufficiency of named features beside random ones and the same for all: systems whose truth a large draw tells.

Bins of the truth are those of the population's quantiles, while the measure takes those of the sample.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from harness import ends
from numpy.random import default_rng

import faithscope as fs

MANY = 200_000
BINS = 4
SLOPES = np.array([3.0, 2.0, 1.5, 1.0, 0.6, 0.2])


@dataclass(frozen=True)
class Naming:
    """Six features between 0 and 1, a model of them, and what is named for each row: (n, 6) numbers."""

    name: Callable
    predict: Callable = lambda x, rng: (x - 0.5) @ SLOPES > 0
    k: int = 2
    draw: Callable = lambda n, rng: rng.random((n, 6))
    cluster: int = 1
    weigh: Callable | None = None  # how much rows count in the population that is asked about
    eps: float | None = None  # predictions are numbers, which agree by `Close`

    def rows(self, n, rng):
        """Rows, names and predictions; rows of one cluster are near each other."""
        x = self.draw(-(-n // self.cluster), rng).repeat(self.cluster, axis=0)[:n]
        if self.cluster > 1:
            x = (x + 0.05 * rng.random(x.shape)) % 1
        y = self.predict(x, rng)
        return x, self.name(x, rng), y if self.eps is not None else y.astype(int)

    @cache  # noqa: B019 - systems live as long as the study
    def truth(self, everybody=()):
        """What is measured of many rows, of what is named or of the same features for everybody."""
        x, phi, y = self.rows(MANY, default_rng(1))
        named = np.isin(np.arange(phi.shape[1]), everybody) * np.ones_like(phi) if everybody else phi
        return self.measured(x, named, y)

    def measured(self, x, phi, y, **known):
        """Sufficiency by what is named."""
        known |= {} if self.weigh is None else {"weights": self.weigh(x)}
        known |= {} if self.eps is None else {"agreement": fs.Close(self.eps)}
        return fs.sufficiency(phi, y, x, relation=fs.Alike(self.k, BINS), **known)


def linear(x, rng=None):
    """What each feature adds to a linear model."""
    return (x - 0.5) * SLOPES


def backward(x, rng):
    """The same in reverse order."""
    return linear(x)[:, ::-1]


def to_five(x):
    """Weights from 1 to 5."""
    return 1 + 4 * x[:, 5]


def tenths(x, rng):
    """What a linear model predicts, to a tenth."""
    return np.round((x - 0.5) @ SLOPES, 1)


def mostly_zero(n, rng):
    """Rows of which a feature is 0 for most."""
    x = rng.random((n, 6))
    return np.where(rng.random((n, 6)) < [0.7, 0.3, 0, 0, 0.9, 0.5], 0.0, x)


NAMING = {
    "what counts most": Naming(linear),
    "columns reversed": Naming(backward),
    "anything": Naming(lambda x, rng: rng.normal(size=x.shape)),
    "one row in ten is a coin": Naming(
        linear, lambda x, rng: np.where(rng.random(len(x)) < 0.1, rng.random(len(x)) < 0.5, (x - 0.5) @ SLOPES > 0)
    ),
    "rarely predicted": Naming(linear, lambda x, rng: (x - 0.5) @ SLOPES > 2.2),
    "mostly 0": Naming(lambda x, rng: np.abs(linear(x)) + 0.1, draw=mostly_zero),
    "clusters of 4": Naming(linear, cluster=4),
    "weighted 1 to 5": Naming(linear, weigh=to_five),
    "reversed, weighted 1 to 5": Naming(backward, weigh=to_five),
    "numbers": Naming(linear, tenths, eps=1.0),
    "numbers, columns reversed": Naming(backward, tenths, eps=1.0),
    "numbers, weighted": Naming(linear, tenths, eps=1.0, weigh=to_five),
}


def naming(system, n, rng):
    """The interval of sufficiency by `Alike`, and those of the two paired differences."""
    x, phi, y = system.rows(n, rng)
    found = system.measured(x, phi, y, **({"clusters": np.arange(n) // system.cluster} if system.cluster > 1 else {}))
    weights, truth = None if system.weigh is None else system.weigh(x), system.truth()
    order = np.argsort(-np.average(np.abs(phi), axis=0, weights=weights), kind="stable")
    everybody = tuple(np.sort(order[: system.k]).tolist())  # of this sample: the largest of equal ones differ
    return {
        "sufficiency": ends(found, truth.value),
        "beyond random": ends(found.beyond_random, truth.beyond_random.value),
        "beyond global": ends(found.beyond_global, truth.value - system.truth(everybody).value),
    }
