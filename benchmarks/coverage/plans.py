"""Does `plan` hold what it promises? Its interval for larger samples, on systems whose unverifiable share is known.

None of these systems was looked at when the settings of the interval were chosen (those were equal chances, Zipf's law,
lognormal chances, two rates, and half of the rows never repeating). The truth at m rows is ``Σ p (1 - p)^(m-1)``, and
rows whose explanations never repeat add their share.
"""

import numpy as np
from harness import Line, none
from numpy.random import default_rng

import faithscope as fs
from faithscope.measures.planning import Band

TIMES = (2, 4, 10)
DRAWS = {250: 100, 1_000: 60, 4_000: 30}
OTHER_CONFIDENCES = (0.5, 0.8, 0.99)  # asked from 1,000 rows to 4,000 only
SOLVER = 1e-6  # its tolerance


# A system is two functions: the estimate of n rows, and the unverifiable share expected of so many rows.


def chances(weights, never=0.0):
    """Explanations in proportion to these weights; `never` of the rows have explanations of their own."""
    shares = np.asarray(weights) / np.sum(weights)

    def measure(n, rng):
        alone = rng.binomial(n, never)
        repeating = rng.choice(len(shares), n - alone, p=shares)
        return fs.consistency(np.append(repeating, len(shares) + np.arange(alone)), np.zeros(n))

    def silent(rows):
        p = (1 - never) * shares
        return never + np.sum(p * np.exp((rows - 1) * np.log1p(-p)))

    return measure, silent


def near(tau):
    """Points on a line with the density e^-x, each covering those within `tau`: relations overlap."""

    def silent(rows):
        x = -np.log(1 - (np.arange(20_000) + 0.5) / 20_000)
        covered = np.exp(-np.maximum(x - tau, 0)) - np.exp(-(x + tau))
        return np.mean((1 - covered) ** (rows - 1))

    return lambda n, rng: fs.within(rng.exponential(size=(n, 1)), np.zeros(n), tau), silent


def unseen_hub(chance):
    """Directions in 200 dimensions, far from each other but near the zero vector, which is rare."""

    def measure(n, rng):
        points = rng.normal(size=(n, 200))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points[rng.random(n) < chance] = 0
        return fs.within(points, np.zeros(n), 1.05)

    return measure, lambda rows: (1 - chance) ** rows


def customers(weights, alike):
    """Five rows per customer: each has the customer's own explanation with the chance `alike`, else one drawn anew."""
    p = np.asarray(weights) / np.sum(weights)

    def measure(n, rng):
        own = np.repeat(rng.choice(len(p), n // 5, p=p), 5)
        anew = rng.choice(len(p), len(own), p=p)
        return fs.consistency(np.where(rng.random(len(own)) < alike, own, anew), np.zeros(len(own)))

    def silent(rows):
        anew = 1 - alike  # chances that 5, or 4, rows of a customer lack an explanation: their own, and another
        (held, lacked), (mates_held, mates_lacked) = (((anew * (1 - p)) ** k, (1 - anew * p) ** k) for k in (5, 4))
        mates = alike * mates_held + anew * (p * mates_held + (1 - p) * mates_lacked)
        return np.sum(p * mates * (p * held + (1 - p) * lacked) ** (rows // 5 - 1))

    return measure, silent


def sticks(discount, strength, count):
    """Chances of a Pitman-Yor process, by breaking sticks; the rest of the stick is left to those broken."""
    k, rng = np.arange(1, count + 1), default_rng(7)
    broken = rng.beta(1 - discount, strength + discount * k)
    return broken * np.exp(np.append(0, np.cumsum(np.log1p(-broken))[:-1]))


def leaves(count):
    """Chances of the leaves of a tree that splits a leaf at random, at a random place."""
    rng, chances = default_rng(8), [1.0]
    while len(chances) < count:
        leaf, left = chances.pop(rng.integers(len(chances))), rng.beta(2, 2)
        chances += [leaf * left, leaf * (1 - left)]
    return np.array(chances)


def signs(features):
    """Chances of all sign vectors of independent features that are positive with different chances."""
    chances = np.ones(1)
    for positive in np.linspace(0.5, 0.97, features):
        chances = np.concatenate([chances * positive, chances * (1 - positive)])
    return chances


_GAMMA = default_rng(9)
PLANNED = {
    "geometric, ratio .99": chances(0.99 ** np.arange(3_000)),
    "geometric, ratio .999": chances(0.999 ** np.arange(20_000)),
    "Dirichlet process, 300": chances(sticks(0.0, 300, 20_000)),
    "Pitman-Yor .5, 20": chances(sticks(0.5, 20, 300_000)),
    "gamma .2, 2,000": chances(_GAMMA.gamma(0.2, size=2_000)),
    "gamma 2, 5,000": chances(_GAMMA.gamma(2.0, size=5_000)),
    "ramp, 3,000": chances(np.arange(1, 3_001)),
    "stretched exponential": chances(np.exp(-np.sqrt(np.arange(20_000) / 20))),
    "bent power law": chances((np.arange(200_000) + 50.0) ** -2),
    "leaves of a random tree": chances(leaves(2_000)),
    "signs of 14 features": chances(signs(14)),
    "three rates": chances(np.repeat([0.5 / 20, 0.3 / 2_000, 0.2 / 50_000], [20, 2_000, 50_000])),
    "three common, 20,000 rare": chances(np.repeat([0.5 / 3, 0.5 / 20_000], [3, 20_000])),
    "500 equal, a tenth never": chances(np.full(500, 1 / 500), never=0.1),
    "million equal": chances(np.full(10**6, 1e-6)),
    "within, exponential": near(0.0005),
    # What the interval does not promise: unseen hubs, rows that are not independent.
    "unseen hub, chance .001": unseen_hub(0.001),
    "customers, a tenth alike": customers(0.999 ** np.arange(20_000), 0.1),
    "customers, half alike": customers(0.999 ** np.arange(20_000), 0.5),
}


def planned(system, n, rng):
    """The interval at larger samples, by times and confidence; the error of the point; whether rows look dependent."""
    measure, silent = system
    estimate = measure(n, rng)
    plan, answers = fs.plan(estimate, unverifiable=0.999), {}
    for times in TIMES:
        truth = silent(times * n)
        answers[f"{times} n"] = (*plan.interval(times * n), truth, SOLVER)
        if plan.forecastable and times <= 4:
            answers[f"{times} n: error of the point"] = plan.at(times * n) - truth
    profile, truth = estimate.counts.profile(), silent(4 * n)
    for confidence in OTHER_CONFIDENCES if n == 1_000 else ():
        band = Band.of(profile.others, profile.rows.astype(float), confidence)
        answers[f"4 n at {confidence:g}"] = (
            *(end((4 * n - 1) / (n - 1)) for end in (band.low, band.high)),
            truth,
            SOLVER,
        )
    answers["taken for rows that are not independent"] = float(not plan.forecastable and estimate.unverifiable < 1)
    return answers


def lines():
    """The study of plans."""
    yield Line("plans", planned, PLANNED, DRAWS, bar=none)
