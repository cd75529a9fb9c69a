"""How large a monitor's state becomes, and how long a day's add takes beside the bare scan, measured in one run.

    python benchmarks/monitor.py                # minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/monitor.py --days 100     # fewer days; the result is not written to results/monitor.txt

1. Add: a day of 1,000,000 rows in Parquet, 14 importances by their signs, added to a state. The bare scan is what
   DuckDB itself does with the same file: it is opened, and the rows are counted by signs, day and label, with GROUP BY,
   into an Arrow table. It looks for no missing value, and keeps nothing. Processor time of all threads, which other
   programs on the machine change less than the time of day, and seconds; both are the least of a few runs in turns.
2. State: 1,000 days of 1,000,000 rows each, whose counts are drawn outright: 200,000 explanations by Zipf's law, three
   labels, and on every day 2,000 rows with explanations that never come again. The size of the file, what merging left
   of the cells, whether a day's add takes longer in the end than in the beginning, and whether consistency and the
   unverifiable share of all rows are those of the counts that were drawn, and limits and alarms the same before and
   after days are merged.
"""

import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import default_rng

import faithscope as fs
from faithscope.monitor.adding import add_batch
from faithscope.monitor.batch import Batch, Names
from faithscope.monitor.canonical import Digests
from faithscope.monitor.compaction import compact
from faithscope.monitor.store import Store
from ratios import describe_machine, options, tell

ROWS, EXPLANATIONS, LONE = 1_000_000, 200_000, 2_000
FEATURES = [f"phi_{j}" for j in range(14)]
WORDS = default_rng(1).integers(0, 2**64, (2, 2**22), np.uint64)  # of digests, two per explanation
LARGEST, SLOWEST = 1e9, 2.0  # bytes, and add over the bare scan


def day_counts(day, shares):
    """Explanation, label and rows of each cell of a day."""
    rng = default_rng(day)
    rows = rng.poisson(shares * (ROWS - LONE))
    seen = np.flatnonzero(rows)
    first = rng.binomial(rows[seen], 0.9)
    second = rng.binomial(rows[seen] - first, 0.7)
    table = np.column_stack([first, second, rows[seen] - first - second])
    place, turn = np.nonzero(table)
    lone = EXPLANATIONS + day * LONE + np.arange(LONE)
    labels = np.concatenate([(seen[place] + turn) % 3, lone % 3])
    return np.concatenate([seen[place], lone]), labels, np.concatenate([table[place, turn], np.ones(LONE, np.int64)])


def to_batch(day, explanation, label, given):
    numbers, place = np.unique(explanation, return_inverse=True)
    cells = (place, np.full(len(given), 18_000 + day), np.zeros(len(given), np.int64), label, given)
    names = Names.of(("no", "perhaps", "yes")), Names.of((None,))
    return Batch(Digests(*WORDS[:, numbers]), *cells, *names, "plain keys", lambda at: (f"leaf {numbers[at]}", ()))


def filled(path, days, missed):
    """Fill a store, and say how large it is."""
    shares = 1 / np.arange(1, EXPLANATIONS + 1) ** 1.05
    shares /= shares.sum()
    store = Store(path, {"by": "[]", "seed": "0"})
    whole, largest, work = np.zeros(EXPLANATIONS * 3, np.int64), 0, []
    for day in range(days):
        explanation, label, given = day_counts(day, shares)
        batch = to_batch(day, explanation, label, given)
        before = time.process_time()
        add_batch(store, batch, f"day {day}")
        middle = time.process_time()
        compact(store, 0.95)
        work.append((middle - before, time.process_time() - middle))
        known = explanation < EXPLANATIONS
        whole += np.bincount(explanation[known] * 3 + label[known], given[known], len(whole)).astype(np.int64)
        largest = max(largest, path.stat().st_size)
    monitor = fs.Monitor(path, at_least=0.8)
    said = monitor.limits(), monitor.alarms(reference=30)
    compact(store, 0.95, anyway=True)
    assert said == (monitor.limits(), monitor.alarms(reference=30))
    table, lone = whole.reshape(-1, 3), days * LONE
    size, rows = table.sum(axis=1), int(whole.sum()) + lone
    agreeing = ((table * (table - 1)).sum(axis=1)[size > 1] / (size[size > 1] - 1)).sum()
    look = monitor.single_look()
    assert look.n == rows
    assert np.isclose(look.value, agreeing / rows, rtol=0, atol=1e-9)
    assert np.isclose(look.unverifiable, (lone + (size == 1).sum()) / rows, rtol=0, atol=1e-12)
    with duckdb.connect(str(path)) as held:
        cells = held.execute("SELECT count(*) FROM cells").fetchall()[0][0]
    yield (
        f"state of {days:,} days and {rows:,} rows: {path.stat().st_size / 1e6:.0f} MB (at most {largest / 1e6:.0f} MB "
        f"on the way), {cells:,} cells; consistency, unverifiable share, limits and alarms exact"
    )
    (adds, merges), part = np.array(work).T, min(100, days // 2)
    yield (
        f"add of a day's counts, processor time: {np.median(adds[:part]):.2f} s on the first {part} days, "
        f"{np.median(adds[-part:]):.2f} s on the last (medians); merging {merges.mean():.2f} s per day on average"
    )
    if largest > LARGEST:
        missed.append("state above 1 GB")


def raced(folder, missed, runs=8):
    """The best times of a bare group-by and of an add of the same rows, in turns."""
    rng, log = default_rng(0), folder / "day.parquet"
    phi = rng.normal(size=(ROWS, len(FEATURES))) * np.linspace(0.02, 0.3, len(FEATURES))
    seconds = rng.integers(0, 86_400, ROWS).astype("m8[s]")
    label = (phi[:, -1] + rng.normal(size=ROWS) * 0.05 > 0).astype(np.int64)
    columns = dict(zip(FEATURES, phi.T, strict=True))
    pq.write_table(pa.table({**columns, "yhat": label, "ts": np.datetime64("2026-03-01") + seconds}), log)
    signs = ", ".join(f"sign({name})" for name in FEATURES)
    query = f"SELECT {signs}, ts::DATE, yhat, count(*) FROM '{log}' GROUP BY ALL"
    how = {"prediction": "yhat", "explanation": "phi_*", "discretizer": "sign", "when": "ts"}
    times = []
    for run in range(runs):
        start = now()
        with duckdb.connect() as connection:
            connection.sql(query).to_arrow_table()
        middle = now()
        fs.Monitor(folder / "log.duckdb").add_log(log, **how, batch=f"run {run}")
        times.append((middle - start, now() - middle))
    bare, add = np.min(times, axis=0)
    told = [f"add {add[j]:.2f} s, bare group-by {bare[j]:.2f} s, ratio {add[j] / bare[j]:.2f}" for j in (0, 1)]
    yield f"a day of {ROWS:,} rows, processor time: {told[0]}"
    yield f"the same by the clock: {told[1]}"
    if add[0] > SLOWEST * bare[0]:
        missed.append(f"ratio above {SLOWEST:g}")


def now():
    """Processor time of this process, and the time of day."""
    return np.array([time.process_time(), time.perf_counter()])


if __name__ == "__main__":
    days, missed = options(__doc__, days=1000).days, []
    with tempfile.TemporaryDirectory() as name:
        parts = raced(Path(name), missed), filled(Path(name) / "s.duckdb", days, missed)
        lines = chain([describe_machine(["numpy", "duckdb"]) + "\n"], *parts)
        tell(lines, "monitor.txt" if days >= 1000 else None)
    sys.exit("; ".join(missed) or 0)
