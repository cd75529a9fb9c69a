"""Repeatability: how runs explain rows, with luck of their own or shared; agreement of two explainers."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from harness import ends, said
from numpy.random import default_rng
from systems import Kinds

import faithscope as fs


@dataclass(frozen=True)
class RunSystem:
    """How runs explain rows: a draw of (runs, rows) explanations by number, and the probability that two agree."""

    draw: Callable
    truth: float
    luck: str = "own"  # whose luck it is: "own", "shared" or "kinds"


def others(rate, mean, square, count, luck="own"):
    """One of so many other explanations at a rate; given are its mean, and that of the product of two runs' rates."""

    def draw(rng, runs, rows):
        rates = rate(rng, runs, rows)
        return np.where(rng.random((runs, rows)) < rates, rng.integers(1, count + 1, (runs, rows)), 0)

    return RunSystem(draw, 1 - 2 * mean + square + square / count, luck)


def own(rate):
    """The rate is the same, whatever the row and the run."""
    return others(lambda *_: rate, rate, rate**2, 4)


def by_row(a, b):
    """The rate is the row's, drawn from a beta distribution."""
    square = a * (a + 1) / ((a + b) * (a + b + 1))
    return others(lambda rng, _, rows: rng.beta(a, b, rows), a / (a + b), square, 3)


def by_run(a, b):
    """The rate is the run's, drawn from a beta distribution."""
    mean = a / (a + b)
    return others(lambda rng, runs, _: rng.beta(a, b, (runs, 1)), mean, mean**2, 3, "shared")


def shifted(size):
    """The sign of a number that a run shifts for all rows alike, and each explanation a little."""

    def draw(rng, runs, rows):
        luck = size * rng.standard_normal((runs, 1)) + 0.3 * rng.standard_normal((runs, rows))
        return (rng.standard_normal(rows) + luck > 0).astype(int)

    return RunSystem(draw, 0.5 + math.asin(1 / (1 + size**2 + 0.09)) / math.pi, "shared")


def moving(size):
    """The leaf of a tree of eight whose thresholds move from run to run, as those of a retrained tree do."""

    def draw(rng, runs, rows):
        thresholds = np.arange(1, 8) / 8 + size * rng.standard_normal((runs, 7))
        return (rng.random(rows)[None, :, None] > thresholds[:, None, :]).sum(axis=2)

    rng = default_rng(0)
    return RunSystem(draw, np.mean([np.equal(*draw(rng, 2, 2_000)) for _ in range(2_000)]), "shared")


def kinds(probability, share):
    """Each run is of one kind or the other, which decides the explanations of a share of rows."""

    def draw(rng, runs, rows):
        return (rng.random((runs, 1)) < probability) * (rng.random(rows) < share).astype(int)

    return RunSystem(draw, 1 - share * 2 * probability * (1 - probability), "kinds")


RUNS = {
    "own luck, .3": own(0.3),
    "own luck, .01": own(0.01),
    "rows differ": by_row(0.3, 0.7),
    "runs differ much": by_run(2, 8),
    "shifted by .5": shifted(0.5),
    "shifted by 1": shifted(1.0),
    "moving thresholds, .05": moving(0.05),
    "two kinds, 30% of rows": kinds(0.5, 0.3),
    "a rare kind, 30% of rows": kinds(0.1, 0.3),
}


def repeatability(system, n, rng, runs):
    """The interval over rows and runs, that over rows alone, and whether a note says that runs differ."""
    told = fs.repeatability(list(system.draw(rng, runs, n)))
    return {
        f"{runs} runs: rows and runs": ends(told, system.truth),
        f"{runs} runs: rows alone": (told.rows_low, told.rows_high, system.truth),
        f"{runs} runs: noted": said(any(note.startswith("runs differ") for note in told.notes)),
    }


def repeated_bar(system, interval, n):
    """From 3 runs on: .93 if luck is each explanation's own, .86 if runs share it, .88 from 5 runs on."""
    runs, luck = int(interval.split()[0]), RUNS[system].luck
    if runs < 3 or luck == "kinds" or not interval.endswith("rows and runs"):
        return None
    return 0.93 if luck == "own" else 0.86 if runs < 5 else 0.88


MEASURES = ("same", "kappa", "feature_agreement", "sign_agreement")
K = 2


@dataclass(frozen=True, eq=False)
class PairSystem(Kinds):
    """Kinds of rows with the importances that two explainers give them: q is a (2, kinds, features) array."""

    @cached_property
    def truth(self):
        """Every measure of the target population."""
        first, second = np.sign(self.q)
        same_sign = (first[:, None] == second).all(axis=2)
        same, chance = self.p @ np.diag(same_sign), self.p @ same_sign @ self.p
        means = self.p @ [overlap(x, y) for x, y in zip(*self.q, strict=True)]
        return dict(zip(MEASURES, (same, (same - chance) / (1 - chance), *means.tolist()), strict=True))


def overlap(x, y):
    """Feature and sign agreement of two rows."""
    first, second = (sorted(np.flatnonzero(each), key=lambda j, each=each: (-abs(each[j]), j))[:K] for each in (x, y))
    if not first and not second:
        return 1.0, 1.0
    both = [j for j in first if j in second]
    signed = [j for j in both if x[j] * y[j] > 0]
    return tuple(len(each) / max(len(first), len(second)) for each in (both, signed))


def some(seed, kinds, alike, **how):
    """Importances of four features of kinds, a share of which are explained alike."""
    rng = default_rng(seed)
    q = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (2, kinds, 4))
    q[1, : round(alike * kinds)] = q[0, : round(alike * kinds)]
    return PairSystem(rng.dirichlet(np.ones(kinds)), q, **how)


def few(shares, *signs, **how):
    """Two features, of which the first is positive or negative."""
    return PairSystem(np.array(shares), np.array([[[sign, 0.5] for sign in each] for each in signs]), **how)


def weighted(system, weights):
    """The same population, of which kinds are drawn less often by their weights."""
    return replace(system, drawn=system.p / weights / (system.p / weights).sum())


_RARE = few([0.6, 0.39, 0.01], [1, -1, 1], [1, -1, -1])
_SIGNS = [1, 1, -1, -1], [1, -1, 1, -1]
PAIRS = {
    "half alike, 20 kinds": some(1, 20, 0.5),
    "all alike, 20 kinds": some(2, 20, 1.0),
    "never alike": few([0.5, 0.5], [1, -1], [-1, 1]),
    "500 kinds": some(3, 500, 0.4),
    "1% differ": _RARE,
    "two signs, kappa .5": few([0.375, 0.125, 0.125, 0.375], *_SIGNS),
    "one sign on 95%": few([0.93, 0.02, 0.02, 0.03], *_SIGNS),
    "weighted 1 to 5": weighted(some(4, 20, 0.5), np.linspace(1, 5, 20)),
    "weighted by agreement": weighted(some(5, 20, 0.5), np.repeat([4.0, 1.0], 10)),
    "clusters of 5": some(6, 20, 0.5, together=5),
    "clusters of 5, 1% differ": replace(_RARE, together=5),
}


def agreement(system, n, rng):
    """The intervals of all measures of two explainers; kappa of one explanation has none."""
    kinds = system.kinds(n, rng)
    given = dict(zip("ab", system.q[:, kinds], strict=True))
    (pair,) = fs.explainer_agreement(given, **system.known(kinds), discretizer=fs.Sign(), k=K).pairs
    told = {name: (getattr(pair, name), truth) for name, truth in system.truth.items()}
    return {name: ends(share, truth) for name, (share, truth) in told.items() if share is not None}
