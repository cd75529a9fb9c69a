"""How an audit in DuckDB compares with the bare group-by of the same rows, as ratios measured in one run.

    python benchmarks/audit.py                  # minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/audit.py --quick          # seconds, on small logs; nothing is judged
    python benchmarks/audit.py --large          # also 100,000,000 rows inside 8 GB of memory; needs 10 GB of disk

1. A Parquet log of 10,000,000 rows and 14 importances, read in place by both. The bare SQL groups the rows by the same
   expressions and the prediction and sums the counts inside the database. Ours is the complete audit: missing values
   counted, labels found, the estimate with its jackknife interval.
2. Growth: the time for ten times the rows.
3. Many features: 20,000 rows of 60, 500 and 2,000 features, read in place, over the same file read into memory and
   measured there; and 5,000,000 rows of 14. Peak memory of a fresh process for the largest.
4. Predictions that are numbers, by `Close`, `Tolerance` and `Spread`, over labels of the same 1,000,000 rows.
5. With --large, peak memory of a fresh process that audits 100,000,000 rows with DuckDB's memory limited to 6 GB.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody.
"""

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import default_rng

import faithscope as fs
from consistency import importances
from ratios import FEATURES, Line, best_of, clock, in_fresh_process, peak_bytes, race, run, slower
from ratios import growth as ratios_growth

CHUNK = 1_000_000
FOLDER = Path(tempfile.gettempdir()) / "faithscope-benchmark"
audited = partial(fs.audit, prediction="yhat", explanation="phi_*")


SIZES = {  # rows that each part measures, in full and quickly, and which parts are asked for
    "group_by": (10_000_000, 100_000),
    "growth": ((100_000, 1_000_000, 10_000_000), (10_000, 100_000)),
    "scored": (1_000_000, 10_000),
    "runs": (3, 2),
    "features": (((20_000, 60), (20_000, 500), (20_000, 2_000), (5_000_000, 14)), ((2_000, 60), (2_000, 300))),
}


def written(n, width=FEATURES, spread=None, decimals=15):
    """A log of normal importances, by a spread or alike, and of labels that depend on them."""
    FOLDER.mkdir(exist_ok=True)
    path, writer, step = FOLDER / f"{spread}-{decimals}-{width}-{n}.parquet", None, CHUNK * FEATURES // width
    if path.exists():
        return path
    for start in range(0, n, step):
        rows = min(step, n - start)
        if spread:
            values, labels = importances(rows, spread, seed=start)
        else:
            values = default_rng(start).standard_normal((rows, width))
            labels = (values[:, 0] > 0).astype(np.int64)
        columns = {f"phi_{j}": column for j, column in enumerate(np.round(values, decimals).T)}
        table = pa.table({**columns, "yhat": labels, "score": np.round(values[:, :3].sum(axis=1), 3)})
        writer = writer or pq.ParquetWriter(path.with_suffix(".part"), table.schema, compression="zstd")
        writer.write_table(table)
    writer.close()
    return path.with_suffix(".part").rename(path)


def bare(path, expression):
    """Rows counted by the same group-by, in plain SQL."""
    keys = ", ".join(f"{expression.format(f'phi_{j}')} AS k{j}" for j in range(FEATURES))
    database = duckdb.connect()
    grouped = f"SELECT {keys}, yhat, count(*) AS given FROM '{path}' GROUP BY ALL"
    return lambda: float(database.execute(f"SELECT sum(given), count(*) FROM ({grouped})").fetchone()[0])


def rows_counted(path, discretizer):
    """The complete audit, which tells how many rows it counted."""
    return lambda: float(audited(path, discretizer=discretizer).consistency.n)


CASES = {
    "as they are, many": ("many", None, "{}"),
    "1-fp, few": ("few", fs.Floor(1), "floor({} * 10) / 10"),
    "1-fp, many": ("many", fs.Floor(1), "floor({} * 10) / 10"),
    "sign": ("many", fs.Sign(), "sign({})"),
    "sign of top 5 over the bare signs": ("many", fs.SignOfTop(5), "sign({})"),
}


def against_group_by(sizes):
    n = sizes.group_by
    for name, (spread, discretizer, expression) in CASES.items():
        path = written(n, spread=spread)
        best = race({"faithscope": rows_counted(path, discretizer), "bare SQL": bare(path, expression)}, sizes.runs)
        bar = None if "over the bare signs" in name else 3
        note = f"{audited(path, discretizer=discretizer).consistency.distinct:,} explanations"
        yield slower(f"time over bare SQL, n = {n:,}, {name}", best, at_most=bar, note=note)


def growth(sizes):
    best = {n: best_of(rows_counted(written(n, spread="few"), fs.Floor(1)), sizes.runs) for n in sizes.growth}
    yield from ratios_growth(best, "time for {} times the rows, 1-fp, few")


def in_memory(path, discretizer):
    """Rows counted after the file was read whole."""
    table = pq.read_table(path)
    values = np.column_stack([column.to_numpy() for column in table.drop_columns(["yhat", "score"]).columns])
    return float(fs.consistency(values, table.column("yhat").to_numpy(), discretizer=discretizer).n)


def many_features(sizes):
    for n, width in sizes.features:
        path = written(n, width)
        runs = sizes.runs if n * width > 5_000_000 else 10  # tenths of a second: the best of few is mostly chance
        for discretizer in (fs.SignOfTop(5), fs.Rank(), fs.Sign()):
            work = {"faithscope": rows_counted(path, discretizer), "in memory": partial(in_memory, path, discretizer)}
            what = f"time over in memory, {n:,} x {width:,}, {discretizer!r}"
            # Signs are expressions of DuckDB, whose compilation takes some tenths of a second: not judged.
            bar = 3 if discretizer != fs.Sign() else None
            yield slower(what, race(work, runs), at_most=bar)
    peak = in_fresh_process(peak_gigabytes, str(path))
    yield Line(f"peak memory, {n:,} x {width:,}, SignOfTop(k=5)", peak, "GB", at_most=2)


def numbers(sizes):
    path = written(sizes.scored, spread="many")
    for agreement, bar in ((fs.Close(0.5), 3), (fs.Tolerance(0.5), 3), (fs.Spread(), None)):
        scored = partial(audited, path, prediction="score", discretizer=fs.Sign(), agreement=agreement)
        work = {"numbers": lambda scored=scored: float(scored().consistency.n), "labels": rows_counted(path, fs.Sign())}
        what = f"time over labels, n = {sizes.scored:,}, sign, {agreement!r}"
        yield slower(what, race(work, sizes.runs), at_most=bar)


def peak_gigabytes(path, decimals=None):
    """The most memory a process holds that audits a log; where decimals are kept, with DuckDB's memory limited."""
    if decimals is None:
        audited(path, discretizer=fs.SignOfTop(5))
    else:
        limited = audited(path, discretizer=fs.Floor(decimals), connect="duckdb://?memory_limit=6GB")
        print(f"  {limited.consistency}", file=sys.stderr)
    return peak_bytes() / 1e9


def large(n=100_000_000):
    path = written(n, spread="few", decimals=3)
    for decimals, what in ((1, "few differ"), (2, "all differ")):
        seconds, peak = clock(partial(in_fresh_process, peak_gigabytes, str(path), decimals))
        times, note = {"faithscope": seconds}, "DuckDB's limit is 6 GB"
        yield Line(f"peak memory, n = {n:,}, {what}", peak, "GB", at_most=8, seconds=times, note=note)


def all_parts(sizes):
    try:
        for part in (against_group_by, growth, many_features, numbers):
            yield from part(sizes)
        if sizes.large:
            yield from large()
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


if __name__ == "__main__":
    libraries = ("faithscope", "numpy", "duckdb", "pyarrow")
    run(__doc__, libraries, (all_parts,), SIZES, large=False)
