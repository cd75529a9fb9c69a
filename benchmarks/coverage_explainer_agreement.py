"""Do the intervals of the agreement of explainers hold what they promise? Simulations with known truth.

    python benchmarks/coverage_explainer_agreement.py             # two minutes; exits 1 where the bar is missed
    python benchmarks/coverage_explainer_agreement.py --quick     # seconds; too few trials to judge

A system is a list of kinds of rows, each with its probability and what two explainers say of it, so that the truth of
every measure is a finite sum. The bar: from 200 rows on every 95% interval covers at least .93, up to two Monte-Carlo
errors. Writes results/coverage_explainer_agreement.txt.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import faithscope as fs
from ratios import describe_machine, options

ROWS = (50, 200, 1_000)
TRIALS = 1_000
BAR = 0.93
MEASURES = ("same", "kappa", "feature_agreement", "rank_agreement", "signed_rank_agreement")
K = 2


@dataclass(frozen=True)
class PairSystem:
    """Kinds of rows: their probabilities, and the importances that two explainers give them.

    `tilt` is by how much kinds weigh (1 for all if None): rows are drawn by probability / weight. Rows come in clusters
    of `size`, each of which copies its cluster's kind with probability `copies`.
    """

    p: np.ndarray
    a: np.ndarray
    b: np.ndarray
    tilt: np.ndarray | None = None
    size: int = 1
    copies: float = 0.0

    def truth(self) -> dict[str, float]:
        """Every measure of the target population."""
        same_sign = np.array([[np.array_equal(np.sign(x), np.sign(y)) for y in self.b] for x in self.a])
        same = float(self.p @ np.diag(same_sign))
        chance = float(self.p @ same_sign @ self.p)
        overlaps = np.array([overlap(x, y) for x, y in zip(self.a, self.b, strict=True)])
        means = dict(zip(MEASURES[2:], (self.p @ overlaps).tolist(), strict=True))
        return {"same": same, "kappa": (same - chance) / (1 - chance), **means}

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, object]:
        """The arguments of `explainer_agreement`: n rows."""
        weights = np.ones(len(self.p)) if self.tilt is None else self.tilt
        drawn = self.p / weights / (self.p / weights).sum()
        kinds = rng.choice(len(self.p), n, p=drawn)
        cluster = np.arange(n) // self.size
        of_cluster = rng.choice(len(self.p), int(cluster.max()) + 1, p=drawn)
        kinds = np.where(rng.random(n) < self.copies, of_cluster[cluster], kinds)
        how = {"weights": None if self.tilt is None else weights[kinds], "clusters": cluster if self.size > 1 else None}
        return {"explanations": {"a": self.a[kinds], "b": self.b[kinds]}, **how}


def overlap(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Feature, rank and signed rank agreement of two rows."""
    first, second = (sorted(np.flatnonzero(each), key=lambda j, each=each: (-abs(each[j]), j))[:K] for each in (x, y))
    most = max(len(first), len(second), 1)
    both = [j for j in first if j in second]
    rank = [j for j in both if first.index(j) == second.index(j)]
    signed = [j for j in rank if x[j] * y[j] > 0]
    shares = tuple(len(each) / most for each in (both, rank, signed))
    return shares if first or second else (1.0, 1.0, 1.0)


def _kinds(seed: int, kinds: int, alike: float, features: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities and importances of kinds, a share of which are explained alike."""
    rng = np.random.default_rng(seed)
    a, b = (rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (kinds, features)) for _ in range(2))
    b[: round(alike * kinds)] = a[: round(alike * kinds)]
    return rng.dirichlet(np.ones(kinds)), a, b


def _shares(*shares: float) -> np.ndarray:
    return np.array(shares)


_ONE, _OTHER = [1.0, 0.5], [-1.0, 0.5]
SYSTEMS = {
    "half alike, 20 kinds": PairSystem(*_kinds(1, 20, 0.5)),
    "all alike, 20 kinds": PairSystem(*_kinds(2, 20, 1.0)),
    "never alike": PairSystem(np.ones(2) / 2, np.array([_ONE, _OTHER]), np.array([_OTHER, _ONE])),
    "500 kinds": PairSystem(*_kinds(3, 500, 0.4)),
    "1% differ": PairSystem(_shares(0.6, 0.39, 0.01), np.array([_ONE, _OTHER, _ONE]), np.array([_ONE, _OTHER, _OTHER])),
    "two signs, kappa .5": PairSystem(
        _shares(0.375, 0.125, 0.125, 0.375), np.array([_ONE, _ONE, _OTHER, _OTHER]), np.array([_ONE, _OTHER] * 2)
    ),
    "one sign on 95%": PairSystem(
        _shares(0.93, 0.02, 0.02, 0.03), np.array([_ONE, _ONE, _OTHER, _OTHER]), np.array([_ONE, _OTHER] * 2)
    ),
    "weighted 1 to 5": PairSystem(*_kinds(4, 20, 0.5), tilt=np.linspace(1, 5, 20)),
    "weighted by agreement": PairSystem(*_kinds(5, 20, 0.5), tilt=np.repeat([4.0, 1.0], 10)),
    "clusters of 5": PairSystem(*_kinds(6, 20, 0.5), size=5, copies=0.7),
    "clusters of 5, 1% differ": PairSystem(
        _shares(0.6, 0.39, 0.01),
        np.array([_ONE, _OTHER, _ONE]),
        np.array([_ONE, _OTHER, _OTHER]),
        size=5,
        copies=0.9,
    ),
}


def covered(system: PairSystem, n: int, trials: int, seed: int) -> dict[str, tuple[float, float]]:
    """Per measure, how often the interval holds the truth, and its mean width."""
    truth, rng = system.truth(), np.random.default_rng(seed)
    hits, widths = {name: [] for name in MEASURES}, {name: [] for name in MEASURES}
    for _ in range(trials):
        (pair,) = fs.explainer_agreement(**system.draw(n, rng), discretizer=fs.Sign(), k=K).pairs
        for name in MEASURES:
            share = getattr(pair, name)
            if share is not None:  # kappa of one explanation
                hits[name].append(share.low - 1e-12 <= truth[name] <= share.high + 1e-12)
                widths[name].append(share.high - share.low)
    return {name: (float(np.mean(hits[name])), float(np.mean(widths[name]))) for name in MEASURES}


def study(trials: int, rows: tuple[int, ...] = ROWS) -> tuple[list[str], list[str]]:
    """Lines of the table, and the cells that miss the bar."""
    lines = [f"{'system':<26}{'n':>6}" + "".join(f"{name.replace('_agreement', ''):>16}" for name in MEASURES)]
    missed = []
    for place, (name, system) in enumerate(SYSTEMS.items()):
        for n in rows:
            cells = covered(system, n, trials, 1_000 * place + n)
            lines.append(f"{name:<26}{n:>6,}" + "".join(f"{c:>8.3f} w{w:>5.3f} " for c, w in cells.values()))
            error = 2 * np.sqrt(BAR * (1 - BAR) / trials)
            missed += [f"{m} on {name}, n={n}: {c:.3f}" for m, (c, _) in cells.items() if n >= 200 and c < BAR - error]
    return lines, missed


def main() -> None:
    chosen = options(__doc__).parse_args()
    machine = describe_machine(("faithscope", "numpy", "scipy"))
    lines, missed = study(20, ROWS[:2]) if chosen.quick else study(TRIALS)
    verdict = f"The bar of {BAR} from 200 rows on: " + ("met" if not missed else "; ".join(missed))
    text = "\n".join([machine, "", "Coverage, nominal .95, and mean width w", "", *lines, "", verdict, ""])
    print(text)
    if not chosen.quick:
        (Path(__file__).parent / "results" / "coverage_explainer_agreement.txt").write_text(text, encoding="utf-8")
        if missed:
            sys.exit("Missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
