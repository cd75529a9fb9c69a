"""How fast measures of numeric predictions are, as ratios measured in one run on one machine.

    python benchmarks/agreements.py            # a few minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/agreements.py --quick    # seconds, on small samples; nothing is judged
    python benchmarks/agreements.py --json results.json

1. Consistency of a million rows: the time with numbers, nearly all different, over the time with three labels, on the
   same explanations; interval included.
2. Growth: the time for ten times the rows.
3. Sufficiency of numbers against a loop over rules in NumPy that keeps the mask of every condition and sums the
   agreement of each given row with the rows covered. Both must give the same value; ours has the interval as well.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

import faithscope as fs
from consistency import SPREADS, importances, timed
from ratios import Line, best_of, faster, race, reading, run, slower
from ratios import growth as ratios_growth
from sufficiency import Ruled, compare, reading_bitmaps, ruled

EPS = 0.5
AGREEMENTS = {"Spread": fs.Spread(), "Close": fs.Close(EPS), "Tolerance": fs.Tolerance(EPS)}
BARS = {"Spread": 2.0, "Close": 4.0, "Tolerance": 4.0}


@dataclass(frozen=True)
class Sizes:
    """How many rows and rules each part measures."""

    rows: int = 1_000_000
    growth: tuple[int, ...] = (100_000, 1_000_000)
    covered: int = 50_000
    rules: int = 1_000
    runs: int = 5


QUICK = Sizes(100_000, (10_000, 100_000), 5_000, 100, 2)


def numeric(n: int, spread: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Explanations, labels, and numbers that depend on the same features."""
    values, labels = importances(n, spread, discretized=True)
    return values, labels, labels + np.random.default_rng(1).standard_normal(n)


def against_labels(sizes: Sizes) -> Iterator[Line]:
    for spread in SPREADS:
        values, labels, numbers = numeric(sizes.rows, spread)
        asked = {name: timed(values, numbers, agreement=agreement) for name, agreement in AGREEMENTS.items()}
        best = race({"labels": timed(values, labels)} | asked, sizes.runs)
        for name, bar in BARS.items():
            times = {"faithscope": best[name], "labels": best["labels"]}
            what = f"time of {name} over labels, n = {sizes.rows:,}, {spread}"
            yield slower(what, times, at_most=bar, limit=reading(values.nbytes + numbers.nbytes))


def growth(sizes: Sizes) -> Iterator[Line]:
    for name, agreement in AGREEMENTS.items():
        best = {}
        for n in sizes.growth:
            values, _, numbers = numeric(n, "few")
            best[n] = best_of(timed(values, numbers, agreement=agreement), min(3, sizes.runs))
        yield from ratios_growth(best, f"{name}: time for {{}} times the rows")


def covered_rows(sample: Ruled) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Whom each rule covers, by masks of conditions that are kept, and the rows that are given it."""
    holds = cache(partial(compare, sample.X))
    for rule, conditions in enumerate(sample.conditions):
        mask = np.logical_and.reduce([holds(*condition) for condition in conditions])
        yield mask, np.flatnonzero(sample.given == rule)


def loop_over_masks(sample: Ruled, y: np.ndarray, agree: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    """The mean over rows of the mean agreement with the other rows that their rule covers."""
    total = 0.0
    for mask, rows in covered_rows(sample):
        covered = y[mask]
        for row in rows:
            own = bool(mask[row])
            if others := len(covered) - own:
                total += (agree(covered, y[row]).sum() - own) / others
    return total / len(y)


def loop_over_sums(sample: Ruled, y: np.ndarray) -> float:
    """The share of variance by a loop that sums predictions, and their squares, under every mask."""
    within, alone, y = 0.0, 0.0, y - y.mean()
    for mask, rows in covered_rows(sample):
        count, total, square = mask.sum(), y[mask].sum(), (y[mask] ** 2).sum()
        others = count - mask[rows]
        distance = (count * y[rows] ** 2 - 2 * y[rows] * total + square) / 2
        within += np.sum(np.divide(distance, others, out=np.zeros(len(rows)), where=others > 0))
        alone += np.sum(y[rows][others == 0] ** 2)
    return float(1 - (within / len(y) + alone / (len(y) - 1)) / y.var(ddof=1))


LOOPS = {
    "Spread": loop_over_sums,
    "Close": partial(loop_over_masks, agree=lambda a, b: np.maximum(0.0, 1 - np.abs(a - b) / EPS)),
    "Tolerance": partial(loop_over_masks, agree=lambda a, b: np.abs(a - b) <= EPS),
}


def against_a_loop(sizes: Sizes) -> Iterator[Line]:
    sample = ruled(sizes.covered, sizes.rules)
    rules, y = sample.to_rules(), sample.X[:, :3].sum(axis=1)
    note, limit = f"{sizes.rules:,} rules, {sizes.covered:,} rows", reading_bitmaps(sizes.rules, sizes.covered)
    for name, agreement in AGREEMENTS.items():
        ours = lambda agreement=agreement: fs.sufficiency(rules, y, sample.X, agreement=agreement).value  # noqa: E731
        best = race({"faithscope": ours, "loop": partial(LOOPS[name], sample, y)}, min(3, sizes.runs))
        yield faster(f"{name}: faster than a loop, with interval", best, note=note, limit=limit)


if __name__ == "__main__":
    run(__doc__, ("faithscope", "numpy", "scipy"), (against_labels, growth, against_a_loop), Sizes(), QUICK)
