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
from consistency import SPREADS, importances
from faithscope.agreements import Agreement
from machine import reading
from ratios import Line, race, run
from ratios import growth as ratios_growth
from sufficiency import Ruled, compare, reading_bitmaps, ruled

BARS = {"Spread": 2.0, "Close": 4.0, "Tolerance": 4.0}
EPS = 0.5


@dataclass(frozen=True)
class Sizes:
    """How many rows and rules each part measures."""

    rows: int = 1_000_000
    growth: tuple[int, ...] = (100_000, 1_000_000)
    covered: int = 50_000
    rules: int = 1_000
    runs: int = 5


QUICK = Sizes(100_000, (10_000, 100_000), 5_000, 100, 2)


def agreements() -> dict[str, Agreement]:
    return {"Spread": fs.Spread(), "Close": fs.Close(EPS), "Tolerance": fs.Tolerance(EPS)}


def numeric(n: int, spread: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Explanations, labels, and numbers that depend on the same features."""
    values, labels = importances(n, spread, discretized=True)
    return values, labels, labels + np.random.default_rng(1).standard_normal(n)


def asking(values: np.ndarray, predictions: np.ndarray, agreement: Agreement | None = None) -> Callable[[], float]:
    """Work whose answer is told by no other, so nothing is compared."""
    return lambda: 0.0 * fs.consistency(values, predictions, agreement=agreement).value


def against_labels(sizes: Sizes) -> Iterator[Line]:
    for spread in SPREADS:
        values, labels, numbers = numeric(sizes.rows, spread)
        asked = {name: asking(values, numbers, agreement) for name, agreement in agreements().items()}
        best = race({"labels": asking(values, labels)} | asked, sizes.runs)
        for name, bar in BARS.items():
            times = {"faithscope": best[name], "labels": best["labels"]}
            what = f"time of {name} over labels, n = {sizes.rows:,}, {spread}"
            limit = reading(values, numbers)
            yield Line(what, best[name] / best["labels"], at_most=bar, seconds=times, limit=limit)


def growth(sizes: Sizes) -> Iterator[Line]:
    for name, agreement in agreements().items():
        best = {}
        for n in sizes.growth:
            values, _, numbers = numeric(n, "few")
            best[n] = race({name: asking(values, numbers, agreement)}, min(3, sizes.runs))[name]
        yield from ratios_growth(best, f"{name}: time for {{}} times the rows")


def loop_over_masks(sample: Ruled, y: np.ndarray, agree: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    """The mean over rows of the mean agreement with the other rows that their rule covers."""
    holds, total = cache(partial(compare, sample.X)), 0.0
    for rule, conditions in enumerate(sample.conditions):
        mask = np.logical_and.reduce([holds(*condition) for condition in conditions])
        covered = y[mask]
        for row in np.flatnonzero(sample.given == rule):
            own = bool(mask[row])
            others = len(covered) - own
            if others:
                total += (agree(covered, y[row]).sum() - own) / others
    return total / len(y)


def close(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1 - np.abs(a - b) / EPS)


def tolerance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs(a - b) <= EPS


def loop_over_sums(sample: Ruled, y: np.ndarray) -> float:
    """The share of variance by a loop that sums predictions, and their squares, under every mask."""
    holds, within, alone, y = cache(partial(compare, sample.X)), 0.0, 0.0, y - y.mean()
    for rule, conditions in enumerate(sample.conditions):
        mask = np.logical_and.reduce([holds(*condition) for condition in conditions])
        rows = np.flatnonzero(sample.given == rule)
        count, total, square = mask.sum(), y[mask].sum(), (y[mask] ** 2).sum()
        others = count - mask[rows]
        distance = (count * y[rows] ** 2 - 2 * y[rows] * total + square) / 2
        within += np.sum(np.divide(distance, others, out=np.zeros(len(rows)), where=others > 0))
        alone += np.sum(y[rows][others == 0] ** 2)
    return float(1 - (within / len(y) + alone / (len(y) - 1)) / y.var(ddof=1))


def against_a_loop(sizes: Sizes) -> Iterator[Line]:
    sample = ruled(sizes.covered, sizes.rules)
    rules, y = sample.to_rules(), sample.X[:, :3].sum(axis=1)
    loops = {
        "Spread": partial(loop_over_sums, sample, y),
        "Close": partial(loop_over_masks, sample, y, close),
        "Tolerance": partial(loop_over_masks, sample, y, tolerance),
    }
    for name, agreement in agreements().items():
        ours = lambda agreement=agreement: fs.sufficiency(rules, y, sample.X, agreement=agreement).value  # noqa: E731
        best = race({"faithscope": ours, "loop": loops[name]}, min(3, sizes.runs))
        what = f"{name}: faster than a loop, with interval"
        note = f"{sizes.rules:,} rules, {sizes.covered:,} rows"
        limit = reading_bitmaps(sizes.rules, sizes.covered)
        yield Line(what, best["loop"] / best["faithscope"], seconds=best, note=note, limit=limit)


if __name__ == "__main__":
    run(__doc__, ("faithscope", "numpy", "scipy"), (against_labels, growth, against_a_loop), Sizes(), QUICK)
