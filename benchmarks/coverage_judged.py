"""Does the interval of sufficiency hold if a judge was asked about some pairs only? Simulations with known truth.

    python benchmarks/coverage_judged.py             # five minutes; exits 1 where the bar is missed
    python benchmarks/coverage_judged.py --quick     # seconds; too few trials to judge

Places on a line, each with an explanation that applies to some of the others, and a judge who says to which. Rows are
drawn, `fs.pairs_to_ask` draws the pairs, and the truth is that of the population. Reasons are worded anew for every row
("free text"), or shared by the rows of one place ("shared"). Coverage and width of the 95% interval, the unverifiable
share, and how often a warning says that pairs do not look random. The bar: every interval covers at least .93, up to
two Monte-Carlo errors, and at most .01 of samples are warned about, up to two errors.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from ratios import describe_machine, options

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROWS = (60, 300, 1_000)
ASKED = (2, 5, 20, None)  # rows per explanation; None for all
TRIALS = {60: 150, 300: 100, 1_000: 40}
BAR, ALARMS = 0.93, 0.01
PLACES = 200
WRITTEN = Path(__file__).parent / "results" / "coverage_judged.txt"


@dataclass(frozen=True, eq=False)
class JudgedSystem:
    """Places on a line, chances of labels, and the places to which the explanation of each applies.

    Attributes
    ----------
    chances : (places, labels) array
    applies : (places, places) bool array
        Whether the explanation of the one place applies to the other.
    free : bool
        Whether every row has an explanation of its own; else rows of one place share it.
    p : (places,) array
        The probability of each place.
    drawn : (places,) array, optional
        The probability with which places are drawn, if rows are weighted.
    together : int
        Rows per cluster, which share their place two times in three.
    values : (labels,) array, optional
        The numbers that labels stand for, which agree within 1.
    panel : bool
        Whether all explanations are asked about the same rows.
    """

    chances: Floats
    applies: NDArray[np.bool_]
    free: bool = True
    p: Floats | None = None
    drawn: Floats | None = None
    together: int = 1
    values: Floats | None = None
    panel: bool = False

    @cached_property
    def mass(self) -> Floats:
        return np.full(PLACES, 1 / PLACES) if self.p is None else self.p

    @cached_property
    def truth(self) -> float:
        """The mean over rows of the share of the rows under their explanation that agree with them."""
        labels = range(self.chances.shape[1])
        alike_labels = np.array([[agree(self, y, z) for z in labels] for y in labels], float)
        alike = self.applies @ (self.mass[:, None] * (self.chances @ alike_labels))
        share = alike / (self.applies @ self.mass)[:, None]
        return float(np.sum(self.mass[:, None] * self.chances * share))

    def estimate(self, n: int, asked: int | None, rng: np.random.Generator) -> fs.Estimate:
        """Sufficiency on n rows, by answers about so many rows per explanation."""
        place = self._places(n, rng)
        label = (rng.random((n, 1)) > np.cumsum(self.chances, axis=1)[place]).sum(axis=1)
        label = np.minimum(label, self.chances.shape[1] - 1)
        how: dict[str, object] = {}
        if self.drawn is not None:
            how["weights"] = (self.mass / self.drawn)[place]
        if self.together > 1:
            how["clusters"] = np.arange(n) // self.together
        if self.values is not None:
            how["agreement"] = fs.Tolerance(1.0)
        predictions = label if self.values is None else self.values[label]
        reasons = np.arange(n) if self.free else place
        return fs.sufficiency(reasons, predictions, relation=self._judge(place, asked, rng), **how)

    def _judge(self, place: Ints, asked: int | None, rng: np.random.Generator) -> fs.Judged:
        """The answers about random pairs."""
        first = np.arange(len(place)) if self.free else np.sort(np.unique(place, return_index=True)[1])
        if asked is None or self.panel:
            answers = self.applies[place[first]][:, place].T.astype(float)
            if asked is not None:
                answers[rng.permutation(len(place))[asked:]] = np.nan
            return fs.Judged(answers)
        reasons = np.arange(len(place)) if self.free else place
        table = fs.pairs_to_ask(reasons, asked, seed=int(rng.integers(2**31)))
        table["applies"] = self.applies[place[first[table["explanation"]]], place[table["row"]]]
        return fs.Judged(table.drop(columns="text"))

    def _places(self, n: int, rng: np.random.Generator) -> Ints:
        place = rng.choice(PLACES, n, p=self.mass if self.drawn is None else self.drawn)
        firsts = place[np.arange(n) // self.together * self.together]
        return np.where(rng.random(n) < 2 / 3, firsts, place) if self.together > 1 else place


def agree(system: JudgedSystem, y: int, z: int) -> bool:
    """Whether two labels agree, or the numbers that they stand for."""
    return y == z if system.values is None else bool(abs(system.values[y] - system.values[z]) <= 1)


X = (np.arange(PLACES) + 0.5) / PLACES


def noisy(labels: Ints, noise: float) -> Floats:
    """Chances of labels of which some are drawn from all instead."""
    chances = np.eye(int(labels.max()) + 1)[labels]
    return (1 - noise) * chances + noise * chances.mean(axis=0)


def near(width: float, shift: float = 0.0) -> NDArray[np.bool_]:
    """Explanations that apply to the places near their own, or near another."""
    return np.abs((X + shift)[:, None] - X) <= width


def leaves(many: int) -> NDArray[np.bool_]:
    """Explanations that apply to their own part of the line."""
    part = np.floor(X * many).astype(int)
    return part[:, None] == part


HALF, TWENTIETH = (X > 0.5).astype(int), (X > 0.95).astype(int)
BROAD = JudgedSystem(noisy(HALF, 0.3), near(0.2))
HUB = JudgedSystem(noisy(HALF, 0.0), np.eye(PLACES, dtype=bool) | (np.arange(PLACES) == 0))
SYSTEMS = {
    "broad, noisy": BROAD,
    "narrow": JudgedSystem(noisy(HALF, 0.0), near(0.02)),
    "applies everywhere": JudgedSystem(noisy(HALF, 0.0), np.ones((PLACES, PLACES), bool)),
    "rarely wrong": JudgedSystem(noisy(TWENTIETH, 0.0), near(0.1)),
    "never wrong": JudgedSystem(noisy(HALF, 0.0), leaves(10)),
    "not to its own row": JudgedSystem(noisy(HALF, 0.1), near(0.1, shift=0.25) | near(0.1, shift=-0.25)),
    "shared, ten leaves, noisy": JudgedSystem(noisy(np.floor(3 * X).astype(int), 0.3), leaves(10), free=False),
    "shared, broad, noisy": replace(BROAD, free=False),
    "hub of a tenth": replace(HUB, p=np.r_[0.1, np.full(PLACES - 1, 0.9 / (PLACES - 1))]),
    "one panel of rows, broad": replace(BROAD, panel=True),
    "weighted: broad, noisy": replace(BROAD, drawn=(1 + 8 * X) / np.sum(1 + 8 * X)),
    "clustered: broad, noisy": replace(BROAD, together=5),
    "numbers: broad": JudgedSystem(noisy(np.floor(8 * X).astype(int), 0.2), near(0.15), values=0.8 * np.arange(8)),
}


class Cell(NamedTuple):
    """Of one system, rows and pairs: coverage, mean width, unverifiable share, and how often pairs look chosen."""

    system: str
    n: int
    asked: int | None
    trials: int
    truth: float
    covered: float
    width: float
    unverifiable: float
    warned: float

    def error(self, share: float) -> float:
        """The Monte-Carlo error of a share."""
        return float(np.sqrt(max(share * (1 - share), 0.05 * 0.95) / self.trials))


def cell(name: str, n: int, asked: int | None, trials: int) -> Cell:
    """Many samples of one system."""
    system, rng = SYSTEMS[name], np.random.default_rng([n, asked or 0, *map(ord, name)])
    estimates = [system.estimate(n, asked, rng) for _ in range(trials)]
    truth = system.truth
    covered = np.mean([each.low - 1e-9 <= truth <= each.high + 1e-9 for each in estimates])
    width, silent = np.mean([(each.high - each.low, each.unverifiable) for each in estimates], axis=0)
    warned = np.mean([any("do not look random" in note for note in each.notes) for each in estimates])
    return Cell(name, n, asked, trials, truth, float(covered), float(width), float(silent), float(warned))


def short(cells: list[Cell]) -> Iterator[str]:
    """What misses the bar by more than two Monte-Carlo errors."""
    for each in cells:
        place = f"{each.system}, n = {each.n:,}, {each.asked or 'all'} asked"
        if each.covered + 2 * each.error(each.covered) < BAR:
            yield f"{place}: covers {each.covered:.3f}"
        if each.warned - 2 * each.error(each.warned) > ALARMS:
            yield f"{place}: {each.warned:.3f} warned"


def table(cells: list[Cell]) -> Iterator[str]:
    """One line per system, number of rows and of pairs."""
    yield f"{'system':<28}{'n':>6}{'asked':>7}{'truth':>8}{'covered':>9}{'width':>8}{'unverifiable':>14}{'warned':>8}"
    for each in cells:
        yield (
            f"{each.system:<28}{each.n:>6,}{each.asked or 'all':>7}{each.truth:>8.3f}{each.covered:>9.3f}"
            f"{each.width:>8.3f}{each.unverifiable:>14.3f}{each.warned:>8.3f}"
        )


def by_pairs(cells: list[Cell]) -> Iterator[str]:
    """Means over all systems."""
    yield f"{'all systems':<28}{'n':>6}{'asked':>7}{'covered':>9}{'lowest':>8}{'width':>8}{'unverifiable':>14}"
    for n in ROWS:
        for asked in ASKED:
            chosen = [each for each in cells if (each.n, each.asked) == (n, asked)]
            covered, width, silent = np.mean([(c.covered, c.width, c.unverifiable) for c in chosen], axis=0)
            lowest = min(each.covered for each in chosen)
            yield f"{'':<28}{n:>6,}{asked or 'all':>7}{covered:>9.3f}{lowest:>8.3f}{width:>8.3f}{silent:>14.3f}"


def main() -> None:
    chosen = options(__doc__).parse_args()
    trials = {n: 3 if chosen.quick else many for n, many in TRIALS.items()}
    cells = [cell(name, n, asked, trials[n]) for name in SYSTEMS for n in ROWS for asked in ASKED]
    missed = list(short(cells))
    samples = sum(each.trials for each in cells)
    title = f"Coverage, nominal .95, of sufficiency by a judge: {len(SYSTEMS)} systems, {samples:,} samples"
    verdict = f"The bar of {BAR}, and of {ALARMS} false alarms: " + ("met" if not missed else "; ".join(missed))
    lines = [describe_machine(("faithscope", "numpy", "scipy")), "", title, "", *by_pairs(cells), "", *table(cells)]
    told = "\n".join([*lines, "", verdict])
    print(told)
    if not chosen.quick:
        WRITTEN.write_text(told + "\n")
    if missed and not chosen.quick:
        sys.exit(1)


if __name__ == "__main__":
    main()
