"""Does `plan` hold what it promises? Its interval for larger samples, on systems whose unverifiable share is known.

None of these systems was looked at when the settings of the interval were chosen (those were equal chances, Zipf's law,
lognormal chances, two rates, and half of the rows never repeating). The truth at m rows is ``Σ p (1 - p)^(m-1)``, and
rows whose explanations never repeat add their share.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.measures.planning.band import Band

Floats = NDArray[np.float64]
TIMES = (2, 4, 10)
DRAWS = {250: 100, 1_000: 60, 4_000: 30}
OTHER_CONFIDENCES = (0.5, 0.8, 0.99)  # asked from 1,000 rows to 4,000 only


class System(Protocol):
    """Where rows come from, and what share of them is unverifiable."""

    def measure(self, n: int, rng: np.random.Generator) -> fs.Estimate:
        """The estimate of n rows."""

    def silent(self, rows: int) -> float:
        """The unverifiable share expected of so many rows."""


@dataclass(frozen=True, eq=False)
class Chances:
    """Explanations that occur with these chances; `never` of the rows have explanations of their own."""

    chances: Floats
    never: float = 0.0

    def measure(self, n: int, rng: np.random.Generator) -> fs.Estimate:
        alone = rng.binomial(n, self.never)
        repeating = rng.choice(len(self.chances), n - alone, p=self.chances)
        explanations = np.concatenate([repeating, len(self.chances) + np.arange(alone)])
        return fs.consistency(explanations, np.zeros(n))

    def silent(self, rows: int) -> float:
        p = (1 - self.never) * self.chances
        return self.never + float(np.sum(p * np.exp((rows - 1) * np.log1p(-p))))


@dataclass(frozen=True)
class Near:
    """Points on a line with the density e^-x, each covering those within `tau`: relations overlap."""

    tau: float

    def measure(self, n: int, rng: np.random.Generator) -> fs.Estimate:
        return fs.within(rng.exponential(size=(n, 1)), np.zeros(n), self.tau)

    def silent(self, rows: int) -> float:
        x = -np.log(1 - (np.arange(20_000) + 0.5) / 20_000)
        covered = np.exp(-np.maximum(x - self.tau, 0)) - np.exp(-(x + self.tau))
        return float(np.mean((1 - covered) ** (rows - 1)))


@dataclass(frozen=True)
class Hub:
    """Directions in 200 dimensions, far from each other but near the zero vector, which is rare."""

    chance: float

    def measure(self, n: int, rng: np.random.Generator) -> fs.Estimate:
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

    def measure(self, n: int, rng: np.random.Generator) -> fs.Estimate:
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
SYSTEMS: dict[str, System] = {
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
}
HARD: dict[str, System] = {  # what the interval does not promise: unseen hubs, rows that are not independent
    "unseen hub, chance .001": Hub(0.001),
    "customers, a tenth alike": Customers(shares(0.999 ** np.arange(20_000)), 0.1),
    "customers, half alike": Customers(shares(0.999 ** np.arange(20_000)), 0.5),
}


@dataclass(frozen=True)
class PlanCell:
    """The interval of `plan` on one system, from n rows to `times` as many.

    Attributes
    ----------
    covered, above, below : float
        Shares of intervals that hold the truth, lie wholly above it, and wholly below it.
    width : float
        Mean of high - low.
    off : float
        Mean error of the point forecast; NaN beyond 4 n.
    odd : float
        Share of draws that were taken for rows that are not independent, for which nothing is told.
    """

    system: str
    n: int
    times: int
    confidence: float
    draws: int
    truth: float
    covered: float
    above: float
    below: float
    width: float
    off: float
    odd: float

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the coverage."""
        return float(np.sqrt(self.covered * (1 - self.covered) / self.draws))

    @property
    def short(self) -> bool:
        """Whether coverage is below nominal by more than two Monte-Carlo errors."""
        return self.covered < self.confidence - 2 * self.error


def simulate(systems: dict[str, System], draws: dict[int, int]) -> Iterator[PlanCell]:
    """Every system and number of rows; the chance of a cell depends on its name and rows alone."""
    for name, system in systems.items():
        for n, count in draws.items():
            rng = np.random.default_rng([zlib.crc32(f"plan {name}".encode()), n])
            kept: dict[tuple[int, float], list[tuple[float, ...]]] = {}
            for _ in range(count):
                for place, answer in _ask(system.measure(n, rng)).items():
                    kept.setdefault(place, []).append(answer)
            for (times, confidence), answers in kept.items():
                yield _cell(name, n, times, confidence, system.silent(times * n), np.array(answers))


def _ask(estimate: fs.Estimate) -> dict[tuple[int, float], tuple[float, ...]]:
    """Low, high, point and oddness by times and confidence."""
    plan, n = fs.plan(estimate, unverifiable=0.999), estimate.n
    odd = float(not plan.forecastable and estimate.unverifiable < 1)
    answers = {}
    for times in TIMES:
        point = plan.at(times * n) if plan.forecastable and times <= 4 else np.nan
        answers[times, plan.confidence] = (*plan.interval(times * n), point, odd)
    profile = estimate.counts.profile()
    for confidence in OTHER_CONFIDENCES if n == 1_000 else ():
        band = Band.of(profile.others, profile.rows.astype(float), confidence)
        answers[4, confidence] = (*band.at((4 * n - 1) / (n - 1)), np.nan, float(band.odd))
    return answers


def _cell(name: str, n: int, times: int, confidence: float, truth: float, answers: Floats) -> PlanCell:
    low, high, point, odd = answers.T
    above, below = np.mean(low > truth + 1e-6), np.mean(high < truth - 1e-6)  # the solver's tolerance
    off = float(np.nanmean(point) - truth) if not np.isnan(point).all() else float("nan")
    numbers = map(float, (1 - above - below, above, below, np.mean(high - low)))
    return PlanCell(name, n, times, confidence, len(answers), truth, *numbers, off, float(odd.mean()))


def plan_table(cells: list[PlanCell]) -> Iterator[str]:
    """Coverage, width and error of the point by system; then other confidences."""
    sizes = sorted({cell.n for cell in cells})
    for n in sizes:
        chosen = [cell for cell in cells if cell.n == n and cell.confidence == 0.95]
        draws = max(cell.draws for cell in chosen)
        yield f"\nfrom n = {n:,} rows, {draws} draws: truth, coverage (* short), mean width, mean error of the point"
        yield f"{'':<26}" + "".join(f"{f'{times} n':>14}{'':<16}" for times in TIMES) + f"{'odd':>7}"
        for system in dict.fromkeys(cell.system for cell in chosen):
            line = [cell for cell in chosen if cell.system == system]
            yield f"{system:<26}" + "".join(map(_shown, line)) + f"{line[0].odd:>7.2f}"
    yield "\nfrom 1,000 rows to 4,000 by confidence: mean coverage and width, least coverage; without the last three"
    without = [cell for cell in cells if (cell.n, cell.times) == (1_000, 4) and cell.system not in HARD]
    for confidence in sorted({cell.confidence for cell in without}):
        chosen = [cell for cell in without if cell.confidence == confidence]
        least = min(chosen, key=lambda cell: cell.covered)
        mean, width = np.mean([(cell.covered, cell.width) for cell in chosen], axis=0)
        place = f"{least.covered:.2f} ± {least.error:.2f} ({least.system})"
        yield f"  {confidence:<6g}{mean:.3f}, width {width:.3f}; {place}"


def _shown(cell: PlanCell) -> str:
    off = "" if np.isnan(cell.off) else f"{cell.off:+.3f}"
    return f"{cell.truth:>7.3f}{cell.covered:>7.2f}{'*' if cell.short else ' '}{cell.width:>6.3f}{off:>7} "
