"""Repeatability: how runs explain rows, with luck of their own or shared; agreement of two explainers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from harness import Answers, ends, said
from systems import Chance, Floats, Ints

import faithscope as fs


@dataclass(frozen=True)
class RunSystem:
    """How runs explain rows: a draw of (runs, rows) explanations by number, and the probability that two agree."""

    draw: Callable[[Chance, int, int], Ints]
    truth: float
    luck: str = "own"  # whose luck it is: "own", "shared" or "kinds"


def _others(rng: Chance, runs: int, rows: int, rate: Callable[[Chance, int, int], Any], others: int) -> Ints:
    """Another explanation with the probability that `rate` draws."""
    chances = rate(rng, runs, rows)
    return np.where(rng.random((runs, rows)) < chances, rng.integers(1, others + 1, (runs, rows)), 0)


def own(rate: float) -> RunSystem:
    """Each explanation is another one with a probability, whatever the row and the run."""
    draw = partial(_others, rate=lambda *_: rate, others=4)
    return RunSystem(draw, (1 - rate) ** 2 + rate**2 / 4)


def by_row(a: float, b: float) -> RunSystem:
    """That probability is the row's, drawn from a beta distribution."""
    mean, square = a / (a + b), a * (a + 1) / ((a + b) * (a + b + 1))

    def draw(rng: Chance, runs: int, rows: int) -> Ints:
        return np.where(rng.random((runs, rows)) < rng.beta(a, b, rows), rng.integers(1, 4, (runs, rows)), 0)

    return RunSystem(draw, 1 - 2 * mean + square + square / 3)


def by_run(a: float, b: float) -> RunSystem:
    """That probability is the run's, drawn from a beta distribution."""
    mean, draw = a / (a + b), partial(_others, rate=lambda rng, runs, _: rng.beta(a, b, (runs, 1)), others=3)
    return RunSystem(draw, (1 - mean) ** 2 + mean**2 / 3, "shared")


def shifted(size: float) -> RunSystem:
    """The sign of a number that a run shifts for all rows alike, and each explanation a little."""

    def draw(rng: Chance, runs: int, rows: int) -> Ints:
        luck = size * rng.standard_normal((runs, 1)) + 0.3 * rng.standard_normal((runs, rows))
        return (rng.standard_normal(rows) + luck > 0).astype(int)

    return RunSystem(draw, 0.5 + math.asin(1 / (1 + size**2 + 0.09)) / math.pi, "shared")


def moving(size: float, bins: int = 8) -> RunSystem:
    """The leaf of a tree whose thresholds move from run to run, as those of a retrained tree do."""
    middle = np.arange(1, bins) / bins

    def draw(rng: Chance, runs: int, rows: int) -> Ints:
        thresholds = middle + size * rng.standard_normal((runs, bins - 1))
        return (rng.random(rows)[None, :, None] > thresholds[:, None, :]).sum(axis=2)

    rng = np.random.default_rng(0)
    pairs = [draw(rng, 2, 2_000) for _ in range(2_000)]
    return RunSystem(draw, float(np.mean([one == other for one, other in pairs])), "shared")


def kinds(probability: float, share: float) -> RunSystem:
    """Each run is of one kind or the other, which decides the explanations of a share of rows."""

    def draw(rng: Chance, runs: int, rows: int) -> Ints:
        return (rng.random((runs, 1)) < probability) * (rng.random(rows) < share).astype(int)

    return RunSystem(draw, 1 - share * 2 * probability * (1 - probability), "kinds")


RUNS = {
    "own luck, .3": own(0.3),
    "own luck, .01": own(0.01),
    "own luck, .001": own(0.001),
    "rows differ": by_row(0.3, 0.7),
    "some rows differ": by_row(0.1, 5),
    "runs differ much": by_run(2, 8),
    "runs differ": by_run(20, 80),
    "runs differ a little": by_run(200, 800),
    "shifted by .1": shifted(0.1),
    "shifted by .5": shifted(0.5),
    "shifted by 1": shifted(1.0),
    "moving thresholds, .01": moving(0.01),
    "moving thresholds, .05": moving(0.05),
    "two kinds, 30% of rows": kinds(0.5, 0.3),
    "a rare kind, 30% of rows": kinds(0.1, 0.3),
}


def repeatability(system: RunSystem, n: int, rng: Chance, runs: int) -> Answers:
    """The interval over rows and runs, that over rows alone, and whether a note says that runs differ."""
    told = fs.repeatability(list(system.draw(rng, runs, n)))
    return {
        f"{runs} runs: rows and runs": ends(told, system.truth),
        f"{runs} runs: rows alone": (told.rows_low, told.rows_high, system.truth),
        f"{runs} runs: noted": said(any(note.startswith("runs differ") for note in told.notes)),
    }


def repeated_bar(system: str, interval: str, n: int) -> float | None:
    """From 3 runs on: .93 if luck is each explanation's own, .86 if runs share it, .88 from 5 runs on."""
    runs, luck = int(interval.split()[0]), RUNS[system].luck
    if runs < 3 or luck == "kinds" or not interval.endswith("rows and runs"):
        return None
    return 0.93 if luck == "own" else 0.86 if runs < 5 else 0.88


MEASURES = ("same", "kappa", "feature_agreement", "rank_agreement", "signed_rank_agreement")
K = 2


@dataclass(frozen=True, eq=False)
class PairSystem:
    """Kinds of rows: their probabilities, and the importances that two explainers give them.

    `tilt` is by how much kinds weigh (1 for all if None): rows are drawn by probability / weight. Rows come in clusters
    of `size`, each of which copies its cluster's kind with probability `copies`.
    """

    p: Floats
    a: Floats
    b: Floats
    tilt: Floats | None = None
    size: int = 1
    copies: float = 0.0

    @cached_property
    def truth(self) -> dict[str, float]:
        """Every measure of the target population."""
        same_sign = (np.sign(self.a)[:, None] == np.sign(self.b)).all(axis=2)
        same, chance = float(self.p @ np.diag(same_sign)), float(self.p @ same_sign @ self.p)
        overlaps = np.array([overlap(x, y) for x, y in zip(self.a, self.b, strict=True)])
        means = dict(zip(MEASURES[2:], (self.p @ overlaps).tolist(), strict=True))
        return {"same": same, "kappa": (same - chance) / (1 - chance), **means}

    def draw(self, n: int, rng: Chance) -> dict[str, Any]:
        """The arguments of `explainer_agreement`: n rows."""
        weights = np.ones(len(self.p)) if self.tilt is None else self.tilt
        drawn = self.p / weights / (self.p / weights).sum()
        kinds = rng.choice(len(self.p), n, p=drawn)
        cluster = np.arange(n) // self.size
        of_cluster = rng.choice(len(self.p), int(cluster.max()) + 1, p=drawn)
        kinds = np.where(rng.random(n) < self.copies, of_cluster[cluster], kinds)
        how = {"weights": None if self.tilt is None else weights[kinds], "clusters": cluster if self.size > 1 else None}
        return {"explanations": {"a": self.a[kinds], "b": self.b[kinds]}, **how}


def overlap(x: Floats, y: Floats) -> tuple[float, ...]:
    """Feature, rank and signed rank agreement of two rows."""
    first, second = (sorted(np.flatnonzero(each), key=lambda j, each=each: (-abs(each[j]), j))[:K] for each in (x, y))
    if not first and not second:
        return 1.0, 1.0, 1.0
    both = [j for j in first if j in second]
    rank = [j for j in both if first.index(j) == second.index(j)]
    signed = [j for j in rank if x[j] * y[j] > 0]
    return tuple(len(each) / max(len(first), len(second)) for each in (both, rank, signed))


def _some(seed: int, kinds: int, alike: float) -> tuple[Floats, Floats, Floats]:
    """Probabilities and importances of four features of kinds, a share of which are explained alike."""
    rng = np.random.default_rng(seed)
    a, b = (rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (kinds, 4)) for _ in range(2))
    b[: round(alike * kinds)] = a[: round(alike * kinds)]
    return rng.dirichlet(np.ones(kinds)), a, b


_ONE, _OTHER = [1.0, 0.5], [-1.0, 0.5]


def _few(shares: list[float], a: list[list[float]], b: list[list[float]]) -> tuple[Floats, Floats, Floats]:
    return np.array(shares), np.array(a), np.array(b)


_RARE = _few([0.6, 0.39, 0.01], [_ONE, _OTHER, _ONE], [_ONE, _OTHER, _OTHER])
_SIGNS = [_ONE, _ONE, _OTHER, _OTHER], [_ONE, _OTHER] * 2
PAIRS = {
    "half alike, 20 kinds": PairSystem(*_some(1, 20, 0.5)),
    "all alike, 20 kinds": PairSystem(*_some(2, 20, 1.0)),
    "never alike": PairSystem(*_few([0.5, 0.5], [_ONE, _OTHER], [_OTHER, _ONE])),
    "500 kinds": PairSystem(*_some(3, 500, 0.4)),
    "1% differ": PairSystem(*_RARE),
    "two signs, kappa .5": PairSystem(*_few([0.375, 0.125, 0.125, 0.375], *_SIGNS)),
    "one sign on 95%": PairSystem(*_few([0.93, 0.02, 0.02, 0.03], *_SIGNS)),
    "weighted 1 to 5": PairSystem(*_some(4, 20, 0.5), tilt=np.linspace(1, 5, 20)),
    "weighted by agreement": PairSystem(*_some(5, 20, 0.5), tilt=np.repeat([4.0, 1.0], 10)),
    "clusters of 5": PairSystem(*_some(6, 20, 0.5), size=5, copies=0.7),
    "clusters of 5, 1% differ": PairSystem(*_RARE, size=5, copies=0.9),
}


def agreement(system: PairSystem, n: int, rng: Chance) -> Answers:
    """The intervals of all measures of two explainers; kappa of one explanation has none."""
    (pair,) = fs.explainer_agreement(**system.draw(n, rng), discretizer=fs.Sign(), k=K).pairs
    told = {name: (getattr(pair, name), truth) for name, truth in system.truth.items()}
    return {name: ends(share, truth) for name, (share, truth) in told.items() if share is not None}
