"""Does `plan` hold what it promises? Its interval for larger samples, on systems whose unverifiable share is known.

None of these systems was looked at when the settings of the interval were chosen (those were equal chances, Zipf's law,
lognormal chances, two rates, and half of the rows never repeating). The truth at m rows is ``Σ p (1 - p)^(m-1)``, and
rows whose explanations never repeat add their share.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Answers, Line, named
from systems import Chance, Floats

import faithscope as fs
from faithscope.measures.planning.band import Band

TIMES = (2, 4, 10)
DRAWS = {250: 100, 1_000: 60, 4_000: 30}
OTHER_CONFIDENCES = (0.5, 0.8, 0.99)  # asked from 1,000 rows to 4,000 only
SOLVER = 1e-6  # its tolerance


@dataclass(frozen=True, eq=False)
class Chances:
    """Explanations that occur with these chances; `never` of the rows have explanations of their own."""

    chances: Floats
    never: float = 0.0

    def measure(self, n: int, rng: Chance) -> fs.Estimate:
        """The estimate of n rows."""
        alone = rng.binomial(n, self.never)
        repeating = rng.choice(len(self.chances), n - alone, p=self.chances)
        explanations = np.concatenate([repeating, len(self.chances) + np.arange(alone)])
        return fs.consistency(explanations, np.zeros(n))

    def silent(self, rows: int) -> float:
        """The unverifiable share expected of so many rows."""
        p = (1 - self.never) * self.chances
        return self.never + float(np.sum(p * np.exp((rows - 1) * np.log1p(-p))))


@dataclass(frozen=True)
class Near:
    """Points on a line with the density e^-x, each covering those within `tau`: relations overlap."""

    tau: float

    def measure(self, n: int, rng: Chance) -> fs.Estimate:
        return fs.within(rng.exponential(size=(n, 1)), np.zeros(n), self.tau)

    def silent(self, rows: int) -> float:
        x = -np.log(1 - (np.arange(20_000) + 0.5) / 20_000)
        covered = np.exp(-np.maximum(x - self.tau, 0)) - np.exp(-(x + self.tau))
        return float(np.mean((1 - covered) ** (rows - 1)))


@dataclass(frozen=True)
class UnseenHub:
    """Directions in 200 dimensions, far from each other but near the zero vector, which is rare."""

    chance: float

    def measure(self, n: int, rng: Chance) -> fs.Estimate:
        points = rng.normal(size=(n, 200))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points[rng.random(n) < self.chance] = 0
        return fs.within(points, np.zeros(n), 1.05)

    def silent(self, rows: int) -> float:
        return float((1 - self.chance) ** rows)


@dataclass(frozen=True, eq=False)
class Customers:
    """Five rows per customer: each has the customer's own explanation with the chance `alike`, else one drawn anew."""

    chances: Floats
    alike: float

    def measure(self, n: int, rng: Chance) -> fs.Estimate:
        own = np.repeat(rng.choice(len(self.chances), n // 5, p=self.chances), 5)
        anew = rng.choice(len(self.chances), len(own), p=self.chances)
        return fs.consistency(np.where(rng.random(len(own)) < self.alike, own, anew), np.zeros(len(own)))

    def silent(self, rows: int) -> float:
        p, anew = self.chances, 1 - self.alike

        def none(size: int) -> tuple[Floats, Floats]:
            """Chances that so many rows of a customer lack an explanation which is their own, and which is not."""
            return (anew * (1 - p)) ** size, (1 - anew * p) ** size

        (held, lacked), (mates_held, mates_lacked) = none(5), none(4)
        mates = self.alike * mates_held + anew * (p * mates_held + (1 - p) * mates_lacked)
        return float(np.sum(p * mates * (p * held + (1 - p) * lacked) ** (rows // 5 - 1)))


def shares(weights: Any) -> Floats:
    """Weights that add up to one."""
    weights = np.asarray(weights, float)
    return np.asarray(weights / weights.sum())


def sticks(discount: float, strength: float, count: int) -> Floats:
    """Chances of a Pitman-Yor process, by breaking sticks; the rest of the stick is left to those broken."""
    k, rng = np.arange(1, count + 1), np.random.default_rng(7)
    broken = rng.beta(1 - discount, strength + discount * k)
    return shares(broken * np.exp(np.append(0, np.cumsum(np.log1p(-broken))[:-1])))


def leaves(count: int) -> Floats:
    """Chances of the leaves of a tree that splits a leaf at random, at a random place."""
    rng, chances = np.random.default_rng(8), [1.0]
    while len(chances) < count:
        leaf, left = chances.pop(rng.integers(len(chances))), rng.beta(2, 2)
        chances += [leaf * left, leaf * (1 - left)]
    return shares(chances)


def signs(features: int) -> Floats:
    """Chances of all sign vectors of independent features that are positive with different chances."""
    chances = np.ones(1)
    for positive in np.linspace(0.5, 0.97, features):
        chances = np.concatenate([chances * positive, chances * (1 - positive)])
    return chances


_GAMMA = np.random.default_rng(9)
PLANNED = {
    "geometric, ratio .99": Chances(shares(0.99 ** np.arange(3_000))),
    "geometric, ratio .999": Chances(shares(0.999 ** np.arange(20_000))),
    "Dirichlet process, 300": Chances(sticks(0.0, 300, 20_000)),
    "Pitman-Yor .5, 20": Chances(sticks(0.5, 20, 300_000)),
    "gamma .2, 2,000": Chances(shares(_GAMMA.gamma(0.2, size=2_000))),
    "gamma 2, 5,000": Chances(shares(_GAMMA.gamma(2.0, size=5_000))),
    "ramp, 3,000": Chances(shares(np.arange(1, 3_001))),
    "stretched exponential": Chances(shares(np.exp(-np.sqrt(np.arange(20_000) / 20)))),
    "bent power law": Chances(shares((np.arange(200_000) + 50.0) ** -2)),
    "leaves of a random tree": Chances(leaves(2_000)),
    "signs of 14 features": Chances(signs(14)),
    "three rates": Chances(np.repeat([0.5 / 20, 0.3 / 2_000, 0.2 / 50_000], [20, 2_000, 50_000])),
    "three common, 20,000 rare": Chances(np.repeat([0.5 / 3, 0.5 / 20_000], [3, 20_000])),
    "500 equal, a tenth never": Chances(np.full(500, 1 / 500), never=0.1),
    "million equal": Chances(np.full(10**6, 1e-6)),
    "within, exponential": Near(0.0005),
    # What the interval does not promise: unseen hubs, rows that are not independent.
    "unseen hub, chance .001": UnseenHub(0.001),
    "customers, a tenth alike": Customers(shares(0.999 ** np.arange(20_000)), 0.1),
    "customers, half alike": Customers(shares(0.999 ** np.arange(20_000)), 0.5),
}


def planned(system: Any, n: int, rng: Chance) -> Answers:
    """The interval at larger samples, by times and confidence; the error of the point; whether rows look dependent."""
    estimate = system.measure(n, rng)
    plan, answers = fs.plan(estimate, unverifiable=0.999), {}
    for times in TIMES:
        truth = system.silent(times * n)
        answers[f"{times} n"] = (*plan.interval(times * n), truth, SOLVER)
        if plan.forecastable and times <= 4:
            answers[f"{times} n: error of the point"] = plan.at(times * n) - truth
    profile, truth = estimate.counts.profile(), system.silent(4 * n)
    for confidence in OTHER_CONFIDENCES if n == 1_000 else ():
        band = Band.of(profile.others, profile.rows.astype(float), confidence)
        answers[f"4 n at {confidence:g}"] = (*band.at((4 * n - 1) / (n - 1)), truth, SOLVER)
    answers["taken for rows that are not independent"] = float(not plan.forecastable and estimate.unverifiable < 1)
    return answers


def lines() -> Iterator[Line]:
    """The study of plans."""
    yield Line("plans", "plans", planned, PLANNED, tuple(DRAWS), DRAWS, named("plan"))
