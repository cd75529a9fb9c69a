"""Systems of numeric predictions whose true measures are known by enumeration: what `coverage_numbers.py` draws from.

A system gives every explanation a list of equally likely predictions, thousands of them where the tail matters, so that
sums over all pairs are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import faithscope as fs
from faithscope.testing.systems import equal, long_tail

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EPS = 1.0  # of Close and Tolerance; predictions are made so that it matters


@dataclass(frozen=True, eq=False)
class NumericSystem:
    """Explanations drawn with chances p; each has equally likely predictions.

    Attributes
    ----------
    p : (k,) array
    predictions : (k, m) array, or (k, m, outputs)
    first, last : (k,) arrays, optional
        The explanations whose rows each explanation covers, from first to last; by default itself.
    """

    p: Floats
    predictions: Floats
    first: Ints | None = None
    last: Ints | None = None

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Rows: their explanations and their predictions."""
        upto = np.cumsum(self.p)
        codes = np.minimum(np.searchsorted(upto, rng.random(n) * upto[-1], side="right"), len(self.p) - 1)
        return codes, self.predictions[codes, rng.integers(0, self.predictions.shape[1], n)]

    @cached_property
    def close(self) -> float:
        """The mean over pairs of a row and a row that its explanation covers of ``max(0, 1 - |y - y'| / EPS)``."""
        return self._mean(_close_sums)

    @cached_property
    def tolerance(self) -> float:
        """The probability that a row and a row that its explanation covers are at most EPS apart."""
        return self._mean(_tolerance_sums)

    @cached_property
    def spread(self) -> float:
        """One minus the mean of half the squared distance from a covered row, over the variance of all predictions."""
        outputs = self.predictions.reshape(*self.predictions.shape[:2], -1)
        center = np.einsum("k,kmo->o", self.p, outputs) / outputs.shape[1]
        mean, square = (outputs - center).mean(axis=1), ((outputs - center) ** 2).mean(axis=1).sum(axis=1)
        others = [self._covered_mean(column) for column in (square, *mean.T)]
        within = (square + others[0]) / 2 - (mean * np.stack(others[1:], axis=1)).sum(axis=1)
        return float(1 - self.p @ within / (self.p @ square))

    def _covered_mean(self, values: Floats) -> Floats:
        """The mean of a number per explanation over the rows that each explanation covers."""
        if self.first is None or self.last is None:
            return values
        mass, total = (np.concatenate([[0.0], np.cumsum(part)]) for part in (self.p, self.p * values))
        return (total[self.last + 1] - total[self.first]) / (mass[self.last + 1] - mass[self.first])

    def _mean(self, sums: Callable[[Floats, Floats, Floats], Floats]) -> float:
        total = 0.0
        for code, mass in enumerate(self.p):
            others = [code] if self.first is None else np.arange(self.first[code], self.last[code] + 1)
            values = self.predictions[others].reshape(-1)
            weight = np.repeat(self.p[others], self.predictions.shape[1])
            order = np.argsort(values)
            agreeing = sums(self.predictions[code], values[order], weight[order]) / weight.sum()
            total += mass * float(agreeing.mean())
        return total

    @cached_property
    def rules(self) -> fs.Rules:
        """One rule per explanation, about the number of a row's own explanation."""
        return fs.Rules.from_bins(self.first[:, None] - 0.5, self.last[:, None] + 0.5, ["x"])


def _tolerance_sums(y: Floats, values: Floats, weight: Floats) -> Floats:
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    return upto[np.searchsorted(values, y + EPS, "right")] - upto[np.searchsorted(values, y - EPS, "left")]


def _close_sums(y: Floats, values: Floats, weight: Floats) -> Floats:
    """Σ w max(0, 1 - |y - y'| / EPS), as the mean over the tolerance: its integral from 0 to EPS."""
    values, y = values - values.mean(), y - values.mean()
    upto, moment = (np.concatenate([[0.0], np.cumsum(part)]) for part in (weight, weight * values))
    low, middle, high = (np.searchsorted(values, y + shift) for shift in (-EPS, 0.0, EPS))
    below, above = upto[middle] - upto[low], upto[high] - upto[middle]
    distance = y * below - (moment[middle] - moment[low]) + (moment[high] - moment[middle]) - y * above
    return below + above - distance / EPS


def quantiles(shape: Any, m: int) -> Floats:
    """Equally likely values of a distribution."""
    return np.asarray(shape.ppf((np.arange(m) + 0.5) / m))


def moved(p: Floats, shape: Any, scale: Any = 0.5, m: int = 0, apart: float = 1.0) -> NumericSystem:
    """Every explanation moves and stretches one shape, centered; always the same moves."""
    rng, m = np.random.default_rng(20), m or max(200, 200_000 // len(p))
    values = quantiles(shape, m)
    place, stretch = apart * rng.normal(size=len(p)), np.broadcast_to(scale, len(p))
    return NumericSystem(p, place[:, None] + stretch[:, None] * (values - values.mean()))


def betas(p: Floats, strength: float, m: int = 2_000) -> NumericSystem:
    """Probabilities around a mean per explanation, in tenths, so that EPS is a tenth."""
    mean = np.random.default_rng(21).beta(1, 1, len(p)).clip(0.02, 0.98)
    values = [10 * quantiles(stats.beta(strength * a, strength * (1 - a)), m) for a in mean]
    return NumericSystem(p, np.stack(values))


def outputs(p: Floats, classes: int, strength: float, m: int = 2_000) -> NumericSystem:
    """Vectors of probabilities of classes."""
    rng = np.random.default_rng(22)
    centers = rng.dirichlet(np.ones(classes), len(p)).clip(1e-3)
    return NumericSystem(p, np.stack([rng.dirichlet(strength * center, m) for center in centers]))


def mixed(p: Floats, usual: Any, odd: Any, share: float, m: int = 10_000) -> NumericSystem:
    """Every explanation draws from an odd shape now and then."""
    rng, many = np.random.default_rng(23), round(share * m)
    values = np.concatenate([quantiles(usual, m - many), quantiles(odd, many)])
    return NumericSystem(p, rng.normal(size=len(p))[:, None] + values)


CONSTANT = stats.randint(0, 1)  # always 0
STEPS = np.geomspace(0.02, 3, 20)
GIVEN = {
    "4, normal": moved(np.array([0.4, 0.3, 0.2, 0.1]), stats.norm),
    "20, normal": moved(equal(20), stats.norm),
    "20, uniform": moved(equal(20), stats.uniform, 2.0),
    "20, Student t3": moved(equal(20), stats.t(3)),
    "20, lognormal": moved(equal(20), stats.lognorm(1)),
    "20, lognormal, wide": moved(equal(20), stats.lognorm(1.5), 0.3),
    "20, Pareto 3": moved(equal(20), stats.pareto(3)),
    "20, exponential": moved(equal(20), stats.expon),
    "20, two humps": moved(equal(20), stats.bernoulli(0.5), 3.0),
    "20, one hump small": moved(equal(20), stats.bernoulli(0.05), 4.0),
    "20, counts": NumericSystem(equal(20), np.stack([quantiles(stats.poisson(k / 4), 2_000) for k in range(20)])),
    "200, normal": moved(equal(200), stats.norm),
    "200, lognormal": moved(equal(200), stats.lognorm(1)),
    "1,000, normal": moved(equal(1_000), stats.norm),
    "long tail, normal": moved(long_tail(1_000), stats.norm),
    "long tail, Student t3": moved(long_tail(1_000), stats.t(3), m=1_000),
    "long tail, lognormal": moved(long_tail(1_000), stats.lognorm(1), m=1_000),
    "heteroscedastic": moved(equal(20), stats.norm, STEPS),
    "heteroscedastic, t3": moved(equal(20), stats.t(3), STEPS),
    "wild where rare": moved(long_tail(100), stats.norm, np.geomspace(0.05, 5, 100)),
    "wild where common": moved(long_tail(100), stats.norm, np.geomspace(5, 0.05, 100)),
    "constant": moved(equal(50), CONSTANT),
    "mostly constant": moved(equal(50), stats.norm, np.where(np.arange(50) < 45, 0.0, 1.0)),
    "constant but for jumps": mixed(equal(20), CONSTANT, stats.norm(5, 1), 0.02),
    "80% zeros": mixed(equal(20), CONSTANT, stats.expon, 0.2),
    "meaningless": moved(equal(20), stats.norm, 1.0, apart=0.0),
    "meaningless, t3": moved(equal(20), stats.t(3), 1.0, apart=0.0),
    "probabilities": betas(equal(20), 20.0),
    "probabilities, loose": betas(equal(200), 2.0),
    "probabilities, tight": betas(long_tail(200), 200.0),
    "sparse, 20,000": moved(equal(20_000), stats.norm, m=50),
}
# One row in a hundred holds most of the variance.
UNSEEN = {
    "one rare and wild": moved(np.append(np.full(9, 0.11), 0.01), stats.norm, np.append(np.full(9, 0.1), 20)),
    "1% outliers": mixed(equal(20), stats.norm(0, 0.5), stats.norm(0, 10), 0.01),
}
VECTORS = {
    "3 classes": outputs(equal(20), 3, 10.0),
    "10 classes, long tail": outputs(long_tail(200), 10, 20.0),
    "one-hot, 5 classes": NumericSystem(
        equal(20), np.eye(5)[np.where(np.arange(400) % 5 > 0, np.arange(20)[:, None] % 5, np.arange(400) // 5 % 5)]
    ),
    "2 outputs, heavy tails": NumericSystem(
        equal(20), np.random.default_rng(25).standard_t(3, (20, 5_000, 2)) + np.arange(20)[:, None, None] / 8
    ),
}


def windows(shape: Any, scale: Any, half: int, points: int = 100, m: int = 400) -> NumericSystem:
    """Rows on a line; a rule covers so many points to either side. Predictions rise and fall along the line."""
    place, values = np.arange(points), quantiles(shape, m)
    wave = 2 * np.sin(np.linspace(0, 6, points))[:, None]
    stretch = np.broadcast_to(scale, points)[:, None]
    first, last = np.maximum(0, place - half), np.minimum(points - 1, place + half)
    return NumericSystem(equal(points), wave + stretch * (values - values.mean()), first, last)


def _nested(shape: Any, scale: float, every: int) -> NumericSystem:
    """Rules that start at 0 and end at the next multiple."""
    system = windows(shape, scale, 1)
    place = np.arange(len(system.p))
    return NumericSystem(system.p, system.predictions, place * 0, np.minimum(99, (place // every + 1) * every - 1))


def _beside(shape: Any, scale: float) -> NumericSystem:
    """Rules that cover the eight points after their own, and never their own."""
    system = windows(shape, scale, 1)
    first = np.where(np.arange(100) < 91, np.arange(100) + 1, np.arange(100) - 9)
    return NumericSystem(system.p, system.predictions, first, first + 8)


COVERED = {
    "sliding, normal": windows(stats.norm, 0.5, 5),
    "sliding, Student t3": windows(stats.t(3), 0.5, 5),
    "sliding, lognormal": windows(stats.lognorm(1), 0.5, 10),
    "sliding, heteroscedastic": windows(stats.norm, np.geomspace(0.02, 3, 100), 5),
    "sliding, constant": windows(CONSTANT, 0.0, 3),
    "sliding, sparse": windows(stats.norm, 0.5, 1, points=600),
    "nested, normal": _nested(stats.norm, 0.5, 5),
    "nested, lognormal": _nested(stats.lognorm(1), 0.5, 10),
    "beside its own row": _beside(stats.expon, 0.5),
}
