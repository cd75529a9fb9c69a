"""Does the interval of encoding hold what it promises? Simulations with known truth.

    python benchmarks/coverage_encoding.py             # some minutes; exits 1 where the bar is missed
    python benchmarks/coverage_encoding.py --quick     # seconds; too few trials to judge

Coverage and width of the 95% interval on systems whose rules, choices and predictions have a known distribution. The
bar: every interval covers at least .93, up to two Monte-Carlo errors. Systems with rules that are hardly ever given
are judged from 200 rows on: fewer rows can test only some of their rules, and the interval is about these.
"""

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from ratios import describe_machine

Floats = NDArray[np.float64]
ROWS, TRIALS, BAR = (60, 200, 1_000), 300, 0.93
KEPT = Path(__file__).parent / "results" / "coverage_encoding.txt"


@dataclass(frozen=True)
class Choices:
    """Rows of a few cells, each given a rule that may cover several cells, with a label.

    Attributes
    ----------
    joint : (cells, rules, labels) array
        The probability of each kind of row.
    covers : (rules, cells) array of bool
    how : str
        "labels", "numbers" (by `Close`), "weights" or "clusters" of three equal rows.
    """

    joint: Floats
    covers: NDArray[np.bool_]
    how: str = "labels"

    def agreement(self) -> Floats:
        """How much two labels agree."""
        places = np.arange(self.joint.shape[2])
        if self.how != "numbers":
            return np.eye(len(places))
        return np.asarray(np.maximum(0.0, 1 - np.abs(places[:, None] - places) / 1.5))

    def truth(self) -> float:
        """The gap of the population."""
        agreement, gap = self.agreement(), 0.0
        for rule in range(self.joint.shape[1]):
            given = self.joint[:, rule].sum(axis=0)
            others = (self.joint * self.covers[rule][:, None, None]).sum(axis=0)
            others = others.sum(axis=0) - others[rule]
            share = given / given.sum()
            gap += given.sum() * float(share @ agreement @ share - share @ agreement @ (others / others.sum()))
        return gap

    def ask(self, n: int, rng: np.random.Generator) -> fs.Encoding:
        """The encoding of a sample."""
        many = n // 3 if self.how == "clusters" else n
        kinds = rng.choice(self.joint.size, many, p=self.joint.reshape(-1))
        rows = np.repeat(kinds, 3) if self.how == "clusters" else kinds
        cell, rule, label = np.unravel_index(rows, self.joint.shape)
        asked = {
            "numbers": {"agreement": fs.Close(1.5)},
            "weights": {"weights": rng.choice([0.5, 1.0, 2.0], n)},
            "clusters": {"clusters": np.arange(len(rows)) // 3},
        }
        predictions = label.astype(float) if self.how == "numbers" else label

        def applies(X: Floats, explanation: object) -> NDArray[np.bool_]:
            return self.covers[int(str(explanation)), X[:, 0].astype(int)]

        X = np.column_stack([cell, np.arange(len(rows))]).astype(float)
        return fs.encoding(rule.tolist(), predictions, X, relation=applies, **asked.get(self.how, {}))


def always(table: list[list[float]], how: str = "labels") -> Choices:
    """Rules that always hold, from the joint probabilities of rule and label."""
    joint = np.array([table]) / np.sum(table)
    return Choices(joint, np.ones((len(table), 1), bool), how)


def nested(strength: float) -> Choices:
    """Four nested rules; the label depends on the cell, and on the choice by this strength."""
    joint = np.zeros((4, 4, 2))
    for cell in range(4):
        for rule in range(cell, 4):
            yes = 0.5 + strength * (0.4 if rule % 2 else -0.4)
            joint[cell, rule] = np.array([yes, 1 - yes]) / (4 * (4 - cell))
    return Choices(joint, np.tri(4, dtype=bool))


def many_rules(rules: int, strength: float) -> Choices:
    """As many rules, each of which says the label with this strength."""
    return always([[1 + strength * (-1) ** rule, 1 - strength * (-1) ** rule] for rule in range(rules)])


SYSTEMS = {
    "nothing encoded, 2 rules": always([[1, 2], [1, 2]]),
    "nothing encoded, nested rules": nested(0.0),
    "nothing encoded, rare label": always([[98, 2], [98, 2], [49, 1]]),
    "the prediction itself": always([[1, 0], [0, 1]]),
    "nearly the prediction itself": always([[98, 2], [1, 99]]),
    "some encoding, 3 labels": always([[5, 2, 1], [2, 5, 1], [1, 2, 5]]),
    "some encoding, nested rules": nested(0.8),
    "many rules with few rows": many_rules(20, 0.8),
    "a rule that is hardly ever given": always([[60, 30], [30, 60], [1, 8]]),
    "others that are hardly ever seen": always([[90, 80], [2, 8]]),
    "of numbers": always([[5, 2, 1], [2, 5, 1], [1, 2, 5]], "numbers"),
    "with weights": always([[5, 2, 1], [2, 5, 1], [1, 2, 5]], "weights"),
    "with clusters": always([[5, 2, 1], [2, 5, 1], [1, 2, 5]], "clusters"),
}


@dataclass(frozen=True)
class Covered:
    """How often intervals covered the truth, and how wide they were."""

    name: str
    n: int
    truth: float
    covered: float
    width: float
    trials: int

    @property
    def holds(self) -> bool:
        """Whether the coverage reaches the bar, up to two Monte-Carlo errors."""
        return self.covered >= BAR - 2 * math.sqrt(BAR * (1 - BAR) / self.trials)

    def __str__(self) -> str:
        told = f"{self.name:36} {self.n:6,} {self.truth:7.3f} {self.covered:8.3f} {self.width:7.3f}"
        return told if self.holds else f"{told}  below {BAR}"


def cover(name: str, n: int, trials: int) -> Covered:
    """Ask many samples of a system."""
    system = SYSTEMS[name]
    truth, hits, widths = system.truth(), 0, 0.0
    for trial in range(trials):
        answer = system.ask(n, np.random.default_rng([trial, n]))
        hits += answer.low - 1e-12 <= truth <= answer.high + 1e-12
        widths += answer.high - answer.low
    return Covered(name, n, truth, hits / trials, widths / trials, trials)


def main() -> None:
    """Print the table, and keep it."""
    quick, start = "--quick" in sys.argv, perf_counter()
    lines = [
        describe_machine(["numpy", "scipy"]),
        "",
        f"{'system':36} {'rows':>6} {'truth':>7} {'coverage':>8} {'width':>7}",
    ]
    print("\n".join(lines))
    results = []
    for name in SYSTEMS:
        for n in ROWS:
            results.append(cover(name, n, 20 if quick else TRIALS))
            print(results[-1], flush=True)
    end = f"{'20' if quick else TRIALS} samples each, {perf_counter() - start:.0f} s"
    print(end)
    if not quick:
        KEPT.write_text("\n".join([*lines, *map(str, results), end, ""]))
    missed = [result for result in results if not result.holds and (result.n > 60 or "hardly" not in result.name)]
    sys.exit(1 if missed and not quick else 0)


if __name__ == "__main__":
    main()
