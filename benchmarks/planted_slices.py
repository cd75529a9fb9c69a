"""For whom does it fail? Faults planted in a log of decisions with reason codes, and whether `slices` finds them.

    python benchmarks/planted_slices.py                # 100 draws of each, about ten minutes
    python benchmarks/planted_slices.py --draws 10
    python benchmarks/planted_slices.py --speed        # a million rows, 20 columns

A log has 3,000 decisions of half a year, about a quarter of them denials, each with two reason codes; the first goes
with the decision nine times in ten. In part of the rows the codes are made wrong, and nothing else is. A fault counts
as found if a slice is listed on just its columns, of which at least 60% of the rows are in the fault, and the other way
round; so three weeks are found if they are dated to within a week.
"""

import numpy as np
import pandas as pd

import faithscope as fs
from ratios import clock, options

ROWS, CODES, SECOND, DAYS = 3_000, 24, 3, 181
START = pd.Timestamp("2026-01-01")


def decisions(rng, rows=ROWS, days=DAYS):
    """The other columns of a log, the decisions, and the two codes of each."""
    X = pd.DataFrame(
        {
            "region": rng.choice(["north", "east", "south", "west", "center"], rows),
            "product": rng.choice(["loan", "card", "lease"], rows),
            "channel": rng.choice(["branch", "web", "phone"], rows),
            "vendor": rng.choice(["A", "B", "C", "D"], rows),
            "branch": rng.integers(1, 9, rows).astype(str),
            "shop": np.where(rng.random(rows) < 0.01, "outlet", "main"),
            "age": rng.integers(18, 78, rows),
            "amount": np.round(np.exp(rng.normal(9, 1, rows)), 2),
            "date": START + pd.to_timedelta(rng.integers(0, days, rows), "D"),
        }
    )
    first, second = rng.zipf(1.3, rows) % CODES, rng.integers(0, SECOND, rows)
    denied = np.where(first % 4 == 0, rng.random(rows) < 0.85, rng.random(rows) < 0.07)
    return X, denied, first, second


def shuffled(rng, first, where):
    """The codes of these rows in another order: they go with nothing."""
    wrong = first.copy()
    wrong[where] = rng.permutation(first[where])
    return wrong


FAULTS = {  # the rows, their columns, and what their codes become
    "a region since March": (lambda X: (X.region == "south") & (X.date >= "2026-03-01"), {"region", "date"}, shuffled),
    "a region": (lambda X: X.region == "west", {"region"}, shuffled),
    "a product": (lambda X: X["product"] == "card", {"product"}, shuffled),
    "an age band": (lambda X: X.age.between(30, 41), {"age"}, shuffled),
    "three weeks": (lambda X: X.date.between("2026-04-06", "2026-04-26"), {"date"}, shuffled),
    "a pair of columns": (lambda X: (X["product"] == "loan") & (X.channel == "web"), {"product", "channel"}, shuffled),
    "a branch's codes shifted by one": (
        lambda X: X.branch == "3", {"branch"}, lambda rng, first, where: np.where(where, (first + 1) % CODES, first)
    ),
    "a vendor's reasons constant": (
        lambda X: X.vendor == "B", {"vendor"}, lambda rng, first, where: np.where(where, 0, first)
    ),
    "1% of rows": (lambda X: X["shop"] == "outlet", {"shop"}, shuffled),
    "none": (lambda X: X.region == "", set(), lambda rng, first, where: first),
}  # fmt: skip


def draw(fault, seed):
    """A log with a fault: its evaluation, and which rows are faulty."""
    rng = np.random.default_rng(seed)
    X, denied, first, second = decisions(rng)
    rows, _, wrong = FAULTS[fault]
    where = rows(X).to_numpy()
    codes = [f"R{a}, R{b}" for a, b in zip(wrong(rng, first, where), second, strict=True)]
    return fs.evaluate(denied, codes, X), where


def named(found, fault, where, X):
    """Whether a slice is this fault: its columns, and most of its rows."""
    columns = {name for name in X if f"{name} " in f"{found.name} "}
    common = where[found.places].sum()
    return columns == FAULTS[fault][1] and common >= 0.6 * max(found.rows, where.sum())


def study(draws, first):
    """How often each fault is found, and something else beside it, in draws from the first seed on."""
    for fault in FAULTS:
        told = []
        for seed in range(first, first + draws):
            evaluation, where = draw(fault, seed)
            hits = [named(each, fault, where, evaluation.X) for each in evaluation.slices().found]
            told.append((where.mean(), any(hits), not all(hits)))
        rows, found, other = np.mean(told, axis=0)
        hits = f"found {found * draws:>3.0f} of {draws}   another slice {other * draws:>3.0f}"
        print(f"{fault:<34} {rows:>6.1%} of rows   {hits}")


def speed(rows=1_000_000, columns=20):
    """Seconds for a million rows."""
    rng = np.random.default_rng(0)
    X, denied, first, second = decisions(rng, rows)
    for number in range(columns - X.shape[1]):
        X[f"x{number}"] = rng.normal(size=rows) if number % 2 else rng.integers(0, 30, rows).astype(str)
    where = FAULTS["a region since March"][0](X).to_numpy()
    codes = np.column_stack([shuffled(rng, first, where), second])
    seconds, slices = clock(fs.evaluate(denied, codes, X).slices)
    print(f"{rows:,} rows, {X.shape[1]} columns: {seconds:.1f} s\n{slices}")


if __name__ == "__main__":
    # The draws before this seed were looked at while slices were made.
    asked = options(__doc__, draws=100, seed=3_000, speed=False)
    if asked.speed:
        speed()
    else:
        study(asked.draws, asked.seed)
