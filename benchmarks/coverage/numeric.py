"""Systems of numeric predictions whose true measures are known by enumeration.

A system gives every explanation a list of equally likely predictions, thousands of them where the tail matters, so that
sums over all pairs are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from systems import Chance, Covers, FinitePopulation, Floats, Ints, beside, nested, sliding

import faithscope as fs
from faithscope.testing.systems import equal, long_tail

EPS = 1.0  # of Close and Tolerance; predictions are made so that it matters
AGREEMENTS = {"close": fs.Close(EPS), "tolerance": fs.Tolerance(EPS), "spread": fs.Spread()}


@dataclass(frozen=True, eq=False)
class NumericSystem:
    """Explanations drawn with chances p; each has equally likely predictions, and covers itself or what `covers` says.

    Attributes
    ----------
    p : (k,) array
    predictions : (k, m) array, or (k, m, outputs)
    covers : (k, k) bool array, optional
    """

    p: Floats
    predictions: Floats
    covers: Covers | None = None

    def draw(self, n: int, rng: Chance) -> tuple[Ints, Floats]:
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
        others = np.column_stack([square, mean])
        if self.covers is not None:
            others = self.covers @ (self.p[:, None] * others) / (self.covers @ self.p)[:, None]
        within = (square + others[:, 0]) / 2 - (mean * others[:, 1:]).sum(axis=1)
        return float(1 - self.p @ within / (self.p @ square))

    def _mean(self, sums: Callable[[Floats, Floats, Floats], Floats]) -> float:
        total = 0.0
        for code, mass in enumerate(self.p):
            others = [code] if self.covers is None else np.flatnonzero(self.covers[code])
            values = self.predictions[others].reshape(-1)
            weight = np.repeat(self.p[others], self.predictions.shape[1])
            order = np.argsort(values)
            agreeing = sums(self.predictions[code], values[order], weight[order]) / weight.sum()
            total += mass * float(agreeing.mean())
        return total

    @cached_property
    def places(self) -> FinitePopulation:
        """Its explanations, for their rules."""
        return FinitePopulation(self.p, np.ones((len(self.p), 1)), self.covers)


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


def measured(system: NumericSystem, n: int, rng: Chance, measure: str, names: tuple[str, ...]) -> dict[str, Any]:
    """The intervals of one measure, by several agreements, on the same rows."""
    codes, y = system.draw(n, rng)
    answers = {}
    for name in names:
        if name == "spread" and np.ptp(y.reshape(n, -1), axis=0).max() == 0:
            continue  # predictions that are all equal are refused
        asked = {"predictions": y, "agreement": AGREEMENTS[name]}
        if measure == "consistency":
            estimate = fs.consistency(codes, **asked)
        elif measure == "within":
            estimate = fs.within(codes[:, None].astype(float), tau=system.places.reach + 0.5, **asked)
        else:
            estimate = fs.sufficiency(**system.places.ruled(codes), **asked)
        answers[f"{measure}, {name}"] = estimate.low, estimate.high, getattr(system, name)
    return answers


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


def jumping(p: Floats, usual: Any, odd: Any, share: float, m: int = 10_000) -> NumericSystem:
    """Every explanation draws from an odd shape now and then."""
    rng, many = np.random.default_rng(23), round(share * m)
    values = np.concatenate([quantiles(usual, m - many), quantiles(odd, many)])
    return NumericSystem(p, rng.normal(size=len(p))[:, None] + values)


def wavy(shape: Any, scale: Any, covers: Covers, m: int = 400) -> NumericSystem:
    """Rows on a line; predictions rise and fall along it."""
    points, values = len(covers), quantiles(shape, m)
    wave = 2 * np.sin(np.linspace(0, 6, points))[:, None]
    stretch = np.broadcast_to(scale, points)[:, None]
    return NumericSystem(equal(points), wave + stretch * (values - values.mean()), covers)


CONSTANT = stats.randint(0, 1)  # always 0
STEPS = np.geomspace(0.02, 3, 20)
NUMERIC = {
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
    "constant but for jumps": jumping(equal(20), CONSTANT, stats.norm(5, 1), 0.02),
    "80% zeros": jumping(equal(20), CONSTANT, stats.expon, 0.2),
    "meaningless": moved(equal(20), stats.norm, 1.0, apart=0.0),
    "meaningless, t3": moved(equal(20), stats.t(3), 1.0, apart=0.0),
    "probabilities": betas(equal(20), 20.0),
    "probabilities, loose": betas(equal(200), 2.0),
    "probabilities, tight": betas(long_tail(200), 200.0),
    "sparse, 20,000": moved(equal(20_000), stats.norm, m=50),
}
UNSEEN = {  # one row in a hundred holds most of the variance: Spread is not judged, as 200 rows may lack that row
    "one rare and wild": moved(np.append(np.full(9, 0.11), 0.01), stats.norm, np.append(np.full(9, 0.1), 20)),
    "1% outliers": jumping(equal(20), stats.norm(0, 0.5), stats.norm(0, 10), 0.01),
}
_ONE_HOT = np.where(np.arange(400) % 5 > 0, np.arange(20)[:, None] % 5, np.arange(400) // 5 % 5)
VECTORS = {
    "3 classes": outputs(equal(20), 3, 10.0),
    "10 classes, long tail": outputs(long_tail(200), 10, 20.0),
    "one-hot, 5 classes": NumericSystem(equal(20), np.eye(5)[_ONE_HOT]),
    "2 outputs, heavy tails": NumericSystem(
        equal(20), np.random.default_rng(25).standard_t(3, (20, 5_000, 2)) + np.arange(20)[:, None, None] / 8
    ),
}
NUMERIC_WITHIN = {
    "sliding, normal": wavy(stats.norm, 0.5, sliding(100, 5)),
    "sliding, Student t3": wavy(stats.t(3), 0.5, sliding(100, 5)),
    "sliding, lognormal": wavy(stats.lognorm(1), 0.5, sliding(100, 10)),
    "sliding, heteroscedastic": wavy(stats.norm, np.geomspace(0.02, 3, 100), sliding(100, 5)),
    "sliding, constant": wavy(CONSTANT, 0.0, sliding(100, 3)),
    "sliding, sparse": wavy(stats.norm, 0.5, sliding(600, 1)),
}
NUMERIC_COVERED = {
    **NUMERIC_WITHIN,
    "nested, normal": wavy(stats.norm, 0.5, nested(100, 5)),
    "nested, lognormal": wavy(stats.lognorm(1), 0.5, nested(100, 10)),
    "beside its own row": wavy(stats.expon, 0.5, beside(100, 1, 8)),
}
