"""How large a monitor's state becomes, and how long a day's add takes beside the bare scan, measured in one run.

    python benchmarks/monitor.py                # minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/monitor.py --days 100     # fewer days; the state of 1,000 is not judged
    python benchmarks/monitor.py --json results.json

1. State: 1,000 days of 1,000,000 rows each, whose counts are drawn outright: 200,000 explanations by Zipf's law, three
   labels, and on every day 2,000 rows with explanations that never come again. The size of the file, what merging left
   of the cells, and whether consistency of all rows is that of the counts that were drawn.
2. Add: a day of 1,000,000 rows in Parquet, 14 importances by their signs, added to that state, over the bare group-by
   of the same expressions in DuckDB. Times are the best of a few runs in turns.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import faithscope as fs
from faithscope.monitor.adding import add_batch
from faithscope.monitor.batch import Batch, Names
from faithscope.monitor.canonical import Digests
from faithscope.monitor.compaction import compact
from faithscope.monitor.store import Store

ROWS, EXPLANATIONS, LONE = 1_000_000, 200_000, 2_000
FEATURES = [f"phi_{j}" for j in range(14)]
LARGEST, SLOWEST = 1e9, 2.0


def drawn_digests(numbers: np.ndarray) -> Digests:
    """Two words per explanation, by its number."""
    high, low = (np.random.default_rng(seed).integers(0, 2**64, 1, np.uint64) for seed in (1, 2))
    words = [(numbers.astype(np.uint64) + start) * np.uint64(0x9E3779B97F4A7C15) for start in (high, low)]
    return Digests(*(word ^ (word >> np.uint64(29)) for word in words))


def day_counts(day: int, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Explanation, label and rows of each cell of a day."""
    rng = np.random.default_rng(day)
    rows = rng.poisson(shares * (ROWS - LONE))
    seen = np.flatnonzero(rows)
    first = rng.binomial(rows[seen], 0.9)
    second = rng.binomial(rows[seen] - first, 0.7)
    table = np.column_stack([first, second, rows[seen] - first - second])
    place, turn = np.nonzero(table)
    lone = EXPLANATIONS + day * LONE + np.arange(LONE)
    labels = np.concatenate([(seen[place] + turn) % 3, lone % 3])
    return np.concatenate([seen[place], lone]), labels, np.concatenate([table[place, turn], np.ones(LONE, np.int64)])


def to_batch(day: int, explanation: np.ndarray, label: np.ndarray, given: np.ndarray) -> Batch:
    numbers, place = np.unique(explanation, return_inverse=True)
    days = np.full(len(given), 18_000 + day)
    group = np.zeros(len(given), np.int64)
    names = Names(("no", "perhaps", "yes")), Names((None,))
    cells = (place, days, group, label, given)
    return Batch(drawn_digests(numbers), *cells, *names, "plain keys", lambda at: f"leaf {numbers[at]}")


def filled(path: Path, days: int) -> dict[str, float]:
    """Fill a store, and say how large it is."""
    shares = 1 / np.arange(1, EXPLANATIONS + 1) ** 1.05
    shares /= shares.sum()
    store = Store(path, {"by": "[]", "seed": "0"})
    whole, lone, rows, largest, start = np.zeros(EXPLANATIONS * 3, np.int64), 0, 0, 0, time.perf_counter()
    for day in range(days):
        explanation, label, given = day_counts(day, shares)
        add_batch(store, to_batch(day, explanation, label, given), f"day {day}")
        compact(store, 0.95)
        known = explanation < EXPLANATIONS
        whole += np.bincount(explanation[known] * 3 + label[known], given[known], len(whole)).astype(np.int64)
        lone, rows, largest = lone + LONE, rows + int(given.sum()), max(largest, path.stat().st_size)
        if day % 50 == 49:
            told = f"day {day + 1}: {path.stat().st_size / 1e6:.0f} MB, {time.perf_counter() - start:.0f} s"
            print(told, file=sys.stderr, flush=True)
    compact(store, 0.95, anyway=True)
    table = whole.reshape(-1, 3)
    size = table.sum(axis=1)
    agreeing = ((table * (table - 1)).sum(axis=1)[size > 1] / (size[size > 1] - 1)).sum()
    look = fs.Monitor(path).single_look()
    assert look.n == rows
    assert np.isclose(look.value, agreeing / rows, rtol=0, atol=1e-9)
    assert np.isclose(look.unverifiable, (lone + (size == 1).sum()) / rows, rtol=0, atol=1e-12)
    with duckdb.connect(str(path)) as held:
        cells = held.execute("SELECT count(*) FROM cells").fetchall()[0][0]
    return {"days": days, "rows": rows, "megabytes": path.stat().st_size / 1e6, "most": largest / 1e6, "cells": cells}


def day_log(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(ROWS, len(FEATURES))) * np.linspace(0.02, 0.3, len(FEATURES))
    seconds = rng.integers(0, 86_400, ROWS).astype("m8[s]")
    columns = {name: phi[:, j] for j, name in enumerate(FEATURES)}
    label = (phi[:, -1] + rng.normal(size=ROWS) * 0.05 > 0).astype(np.int64)
    path = folder / "day.parquet"
    pq.write_table(pa.table({**columns, "yhat": label, "ts": np.datetime64("2026-03-01") + seconds}), path)
    return path


def raced(state: Path, log: Path, runs: int = 5) -> dict[str, float]:
    """The best times of a bare group-by and of an add of the same rows, in turns."""
    signs = ", ".join(f"sign({name})" for name in FEATURES)
    query = f"SELECT {signs}, ts::DATE, yhat, count(*) FROM '{log}' GROUP BY ALL"
    how = {"prediction": "yhat", "explanation": "phi_*", "discretizer": "sign", "when": "ts"}
    bare, added = [], []
    for run in range(runs):
        start = time.perf_counter()
        with duckdb.connect() as connection:
            connection.sql(query).to_arrow_table()
        middle = time.perf_counter()
        fs.Monitor(state).add_log(log, **how, batch=f"run {run}")
        bare, added = [*bare, middle - start], [*added, time.perf_counter() - middle]
    return {"bare": min(bare), "add": min(added), "ratio": min(added) / min(bare)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        told = {
            "add": raced(folder / "log.duckdb", day_log(folder)),
            "state": filled(folder / "s.duckdb", options.days),
        }
    state, add = told["state"], told["add"]
    print(f"add of a day: {add['add']:.2f} s, bare group-by {add['bare']:.2f} s, ratio {add['ratio']:.2f}")
    print(
        f"state of {state['days']:,.0f} days and {state['rows']:,.0f} rows: {state['megabytes']:.0f} MB "
        f"(at most {state['most']:.0f} MB on the way), {state['cells']:,.0f} cells; consistency exact"
    )
    if options.json:
        options.json.write_text(json.dumps(told, indent=2))
    missed = [f"ratio above {SLOWEST:g}"] * (add["ratio"] > SLOWEST)
    missed += ["state above 1 GB"] * (options.days >= 1000 and state["most"] * 1e6 > LARGEST)
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
