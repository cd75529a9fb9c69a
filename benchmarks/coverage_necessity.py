"""Do the intervals of necessity hold what they promise? Simulations with known truth.

    python benchmarks/coverage_necessity.py             # two minutes; exits 1 where the bar is missed
    python benchmarks/coverage_necessity.py --quick     # seconds; too few trials to judge

Coverage and width of the 95% interval, and how often necessity is said to be above chance, for rules that overlap,
narrow and broad ones, rare labels, weights, clusters and numbers. The bar: every interval covers at least .93, up to
two Monte-Carlo errors, and where explanations have nothing to do with predictions at most .05 of samples, up to two
errors, are said to be above chance.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from ratios import describe_machine, options

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Covers = Callable[[Floats], tuple[Floats, Floats]]

ROWS = (50, 200, 1_000)
TRIALS = 150
BAR, ALARMS = 0.93, 0.05
PLACES = 200
WRITTEN = Path(__file__).parent / "results" / "coverage_necessity.txt"


@dataclass(frozen=True, eq=False)
class LineSystem:
    """Places on a line, each with a probability, chances of labels, and the places that its rule covers.

    Attributes
    ----------
    p : (k,) array
        The probability of each place in the population.
    chances : (k, labels) array
        The chances of the labels at each place.
    first, last : (k,) arrays
        The places that the rule of each place covers, both included.
    drawn : (k,) array, optional
        The probability with which places are drawn, if rows are weighted.
    together : int
        Rows per cluster, which share their place two times in three.
    values : (labels,) array, optional
        The numbers that labels stand for, which agree within 1.
    """

    p: Floats
    chances: Floats
    first: Ints
    last: Ints
    drawn: Floats | None = None
    together: int = 1
    values: Floats | None = None

    @cached_property
    def agreeing(self) -> Floats:
        """Whether labels agree: (labels, labels)."""
        if self.values is None:
            return np.eye(self.chances.shape[1])
        return (np.abs(self.values[:, None] - self.values) <= 1).astype(float)

    @cached_property
    def truth(self) -> float:
        """The mean over rows of the share of the rows with their prediction that their rule covers."""
        alike = self.p[:, None] * (self.chances @ self.agreeing)  # (places, labels)
        upto = np.vstack([np.zeros(alike.shape[1]), np.cumsum(alike, axis=0)])
        share = (upto[self.last + 1] - upto[self.first]) / alike.sum(axis=0)
        return float(np.sum(self.p[:, None] * self.chances * share))

    @cached_property
    def rules(self) -> fs.Rules:
        """The rule of each place."""
        ends = zip(self.first.tolist(), self.last.tolist(), strict=True)
        return fs.Rules.from_conditions(
            [[("place", ">", a - 0.5), ("place", "<=", b + 0.5)] for a, b in ends], features=["place"]
        )

    def estimate(self, n: int, rng: np.random.Generator) -> fs.Estimate:
        """Necessity on n rows."""
        place = self._places(n, rng)
        label = (rng.random((n, 1)) > np.cumsum(self.chances, axis=1)[place]).sum(axis=1)
        label = np.minimum(label, self.chances.shape[1] - 1)
        asked: dict[str, object] = {}
        if self.drawn is not None:
            asked["weights"] = (self.p / self.drawn)[place]
        if self.together > 1:
            asked["clusters"] = np.arange(n) // self.together
        if self.values is not None:
            asked["agreement"] = fs.Tolerance(1.0)
        predictions = label if self.values is None else self.values[label]
        return fs.necessity(self.rules.take(place), predictions, place[:, None].astype(float), **asked)

    def _places(self, n: int, rng: np.random.Generator) -> Ints:
        place = rng.choice(len(self.p), n, p=self.p if self.drawn is None else self.drawn)
        firsts = place[np.arange(n) // self.together * self.together]
        return np.where(rng.random(n) < 2 / 3, firsts, place) if self.together > 1 else place


def on_line(label_of: Callable[[Floats], Ints], covers: Covers, noise: float = 0.0) -> LineSystem:
    """A system of equally likely places; `noise` is how often a label is drawn from all instead."""
    x = (np.arange(PLACES) + 0.5) / PLACES
    labels = label_of(x)
    chances = np.eye(int(labels.max()) + 1)[labels]
    chances = (1 - noise) * chances + noise * chances.mean(axis=0)
    low, high = covers(x)
    first, last = (np.clip(np.floor(end * PLACES).astype(int), 0, PLACES - 1) for end in (low, high))
    return LineSystem(np.full(PLACES, 1 / PLACES), chances, first, last)


def sliding(width: float) -> Covers:
    """Rules about their own place, which overlap."""
    return lambda x: (x - width, x + width)


def cut(*ends: float) -> Callable[[Floats], Ints]:
    """Which part of the line a place lies in."""
    return lambda x: np.searchsorted(np.array(ends), x)


def parts(*ends: float) -> Covers:
    """Rules that cover their own part of the line."""
    bounds = np.array([0.0, *ends, 1.0 - 1e-9])

    def covers(x: Floats) -> tuple[Floats, Floats]:
        part = np.searchsorted(bounds[1:-1], x)
        return bounds[part], bounds[part + 1] - 1e-9 * (part < len(ends))

    return covers


def nested(x: Floats) -> tuple[Floats, Floats]:
    """Rules that begin at 0."""
    return np.zeros(len(x)), np.ceil(x * 10) / 10


def one_by_one(x: Floats) -> tuple[Floats, Floats]:
    """Rules that cover their own place alone, but for the first half, which they cover as a whole."""
    return np.where(x < 0.5, 0.0, x), np.where(x < 0.5, 0.4999, x)


def tilted(system: LineSystem, label: bool = False) -> LineSystem:
    """The same population, of which some places are drawn up to nine times as often as others."""
    slope = 1 + 8 * (system.chances[:, -1] if label else np.linspace(0, 1, PLACES))
    return LineSystem(system.p, system.chances, system.first, system.last, drawn=slope / slope.sum())


def clustered(system: LineSystem) -> LineSystem:
    """The same population in clusters of five rows, most of which share their place."""
    return LineSystem(system.p, system.chances, system.first, system.last, together=5)


def numbered(system: LineSystem) -> LineSystem:
    """Numbers by place: labels stand for 0, 0.8, 1.6 ..., so that neighbors agree."""
    values = 0.8 * np.arange(system.chances.shape[1])
    return LineSystem(system.p, system.chances, system.first, system.last, values=values)


TENS = tuple(k / 10 for k in range(1, 10))
BASE = {
    "sliding, broad": on_line(cut(0.5), sliding(0.2)),
    "sliding, narrow": on_line(cut(0.5), sliding(0.01)),
    "sliding, noisy": on_line(cut(0.3), sliding(0.1), noise=0.3),
    "nested": on_line(cut(0.35), nested),
    "tree of ten leaves": on_line(cut(0.35, 0.7), parts(*TENS)),
    "the label itself": on_line(cut(0.2, 0.5, 0.9), parts(0.2, 0.5, 0.9)),
    "rare other reason": on_line(cut(0.5), parts(0.02, 0.5)),
    "rare label, whole": on_line(cut(0.98), parts(0.98)),
    "rare label, split": on_line(cut(0.98), parts(0.98, 0.99)),
    "rare label, narrow": on_line(cut(0.97), sliding(0.005)),
    "twenty rare labels": on_line(cut(*(0.6 + 0.02 * k for k in range(20))), sliding(0.01)),
    "forty labels": on_line(cut(*(k / 40 for k in range(1, 40))), parts(*(k / 40 + 0.0125 for k in range(40)))),
    "half broad, half single": on_line(cut(0.5), one_by_one),
}
UNRELATED = {
    "unrelated, broad": on_line(cut(0.5), sliding(0.2), noise=1.0),
    "unrelated, narrow": on_line(cut(0.5), sliding(0.01), noise=1.0),
    "unrelated, nested": on_line(cut(0.2), nested, noise=1.0),
    "unrelated, rare label": on_line(cut(0.95), sliding(0.1), noise=1.0),
    "unrelated, ten leaves": on_line(cut(0.3, 0.6), parts(*TENS), noise=1.0),
}
SYSTEMS = {
    **BASE,
    **{f"weighted: {name}": tilted(BASE[name]) for name in ("sliding, broad", "nested", "rare label, split")},
    "weighted by label: sliding, noisy": tilted(BASE["sliding, noisy"], label=True),
    "weighted by label: rare label, whole": tilted(BASE["rare label, whole"], label=True),
    **{f"clustered: {name}": clustered(BASE[name]) for name in ("sliding, broad", "nested", "rare label, split")},
    "numbers: ten, sliding": numbered(on_line(cut(*TENS), sliding(0.1), noise=0.3)),
    "numbers: ten, leaves": numbered(on_line(cut(*TENS), parts(*TENS))),
    **UNRELATED,
    "weighted: unrelated, broad": tilted(UNRELATED["unrelated, broad"]),
    "clustered: unrelated, narrow": clustered(UNRELATED["unrelated, narrow"]),
}


class Cell(NamedTuple):
    """Of one system at one number of rows: coverage, mean width, and how often it was said to be above chance."""

    system: str
    n: int
    trials: int
    truth: float
    covered: float
    width: float
    above: float

    def error(self, share: float) -> float:
        """The Monte-Carlo error of a share."""
        return float(np.sqrt(max(share * (1 - share), 0.05 * 0.95) / self.trials))


def cell(name: str, n: int, trials: int) -> Cell:
    """Many samples of one system."""
    system, rng = SYSTEMS[name], np.random.default_rng([n, *map(ord, name)])
    estimates = [system.estimate(n, rng) for _ in range(trials)]
    truth = system.truth
    covered = np.mean([each.low - 1e-9 <= truth <= each.high + 1e-9 for each in estimates])
    width = np.mean([each.high - each.low for each in estimates])
    above = np.mean([each.above_chance is True for each in estimates])
    return Cell(name, n, trials, truth, float(covered), float(width), float(above))


def short(cells: list[Cell]) -> Iterator[str]:
    """What misses the bar by more than two Monte-Carlo errors."""
    for each in cells:
        if each.covered + 2 * each.error(each.covered) < BAR:
            yield f"{each.system}, n = {each.n:,}: covers {each.covered:.3f}"
        if "unrelated" in each.system and each.above - 2 * each.error(each.above) > ALARMS:
            yield f"{each.system}, n = {each.n:,}: {each.above:.3f} above chance"


def table(cells: list[Cell]) -> Iterator[str]:
    """One line per system and number of rows."""
    yield f"{'system':<38}{'n':>6}{'truth':>8}{'covered':>9}{'width':>8}{'above chance':>14}"
    for each in cells:
        yield (
            f"{each.system:<38}{each.n:>6,}{each.truth:>8.3f}{each.covered:>9.3f}{each.width:>8.3f}{each.above:>14.3f}"
        )


def main() -> None:
    chosen = options(__doc__).parse_args()
    trials = 5 if chosen.quick else TRIALS
    cells = [cell(name, n, trials) for name in SYSTEMS for n in ROWS]
    missed = list(short(cells))
    title = f"Coverage, nominal .95, of necessity: {len(SYSTEMS)} systems, {trials} samples each"
    verdict = f"The bar of {BAR}, and of {ALARMS} false alarms: " + ("met" if not missed else "; ".join(missed))
    told = "\n".join([describe_machine(("faithscope", "numpy", "scipy")), "", title, "", *table(cells), "", verdict])
    print(told)
    if not chosen.quick:
        WRITTEN.write_text(told + "\n")
    if missed and not chosen.quick:
        sys.exit(1)


if __name__ == "__main__":
    main()
