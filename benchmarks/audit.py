"""How an audit in DuckDB compares with the bare group-by of the same rows, as ratios measured in one run.

    python benchmarks/audit.py                  # minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/audit.py --quick          # seconds, on small logs; nothing is judged
    python benchmarks/audit.py --wide           # only logs of many features
    python benchmarks/audit.py --large          # also 100,000,000 rows inside 8 GB of memory; needs 10 GB of disk
    python benchmarks/audit.py --json results.json

1. A Parquet log of 10,000,000 rows and 14 importances, read in place by both. The bare SQL groups the rows by the same
   expressions and the prediction and sums the counts inside the database. Ours is the complete audit: missing values
   counted, labels found, the estimate with its jackknife interval.
2. Growth: the time for ten times the rows.
3. Many features: 20,000 rows of 60, 500 and 2,000 features, read in place, over the same file read into memory and
   measured there; and 5,000,000 rows of 14. Peak memory of a fresh process for the largest.
4. With --large, peak memory of a fresh process that audits 100,000,000 rows with DuckDB's memory limited to 6 GB.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import faithscope as fs
from consistency import importances
from faithscope.discretizers import Discretizer
from faithscope.tables.audit import audit
from machine import describe_rates, reading_bytes
from ratios import (
    FEATURES,
    Line,
    clock,
    conclude,
    describe_machine,
    in_fresh_process,
    measure,
    options,
    peak_bytes,
    race,
)
from ratios import growth as ratios_growth

CHUNK = 1_000_000
COLUMNS = [f"phi_{j}" for j in range(FEATURES)]
FOLDER = Path(tempfile.gettempdir()) / "faithscope-benchmark"
HOW = {"prediction": "yhat", "explanation": "phi_*"}


@dataclass(frozen=True)
class Sizes:
    """How many rows each part measures."""

    group_by: int = 10_000_000
    growth: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    large: int = 0
    runs: int = 3
    wide: tuple[tuple[int, int], ...] = ((20_000, 60), (20_000, 500), (20_000, 2_000), (5_000_000, 14))


QUICK = Sizes(100_000, (10_000, 100_000), 0, 2, ((2_000, 60), (2_000, 300)))


def written(n: int, spread: str, decimals: int = 15) -> Path:
    """A log of normal importances, wider from feature to feature, and one of three labels that depends on them."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{spread}-{n}-{decimals}.parquet"
    if path.exists():
        return path
    schema = pa.schema([*((name, pa.float64()) for name in COLUMNS), ("yhat", pa.int64())])
    with pq.ParquetWriter(path.with_suffix(".part"), schema, compression="zstd") as writer:
        for start in range(0, n, CHUNK):
            writer.write_table(_part(min(CHUNK, n - start), spread, start, decimals, schema))
    path.with_suffix(".part").rename(path)
    return path


def _part(rows: int, spread: str, seed: int, decimals: int, schema: pa.Schema) -> pa.Table:
    values, labels = importances(rows, spread, seed=seed)
    values = np.round(values, decimals)
    return pa.table([*(pa.array(values[:, j]) for j in range(FEATURES)), pa.array(labels)], schema=schema)


def bare(path: Path, expression: str) -> Callable[[], float]:
    """Rows counted by the same group-by, in plain SQL."""
    keys = ", ".join(f"{expression.format(name)} AS k{j}" for j, name in enumerate(COLUMNS))
    database = duckdb.connect()
    grouped = f"SELECT {keys}, yhat, count(*) AS given FROM '{path}' GROUP BY ALL"
    return lambda: float(database.execute(f"SELECT sum(given), count(*) FROM ({grouped})").fetchone()[0])


@dataclass
class Ours:
    """An audit that counts its rows, and remembers how many explanations there were."""

    path: Path
    discretizer: Discretizer | None
    distinct: int = 0

    def __call__(self) -> float:
        """Rows counted."""
        estimate = audit(self.path, **HOW, discretizer=self.discretizer).consistency
        self.distinct = estimate.distinct
        return float(estimate.n)


CASES = {
    "as they are, many": ("many", None, "{}"),
    "1-fp, few": ("few", fs.Floor(1), "floor({} * 10) / 10"),
    "1-fp, many": ("many", fs.Floor(1), "floor({} * 10) / 10"),
    "sign": ("many", fs.Sign(), "sign({})"),
    "sign of top 5 over the bare signs": ("many", fs.SignOfTop(5), "sign({})"),
}


def against_group_by(sizes: Sizes) -> Iterator[Line]:
    n = sizes.group_by
    for name, (spread, discretizer, expression) in CASES.items():
        path = written(n, spread)
        ours = Ours(path, discretizer)
        best = race({"faithscope": ours, "bare SQL": bare(path, expression)}, sizes.runs)
        bar = None if "over the bare signs" in name else 3
        note = f"{ours.distinct:,} explanations"
        what = f"time over bare SQL, n = {n:,}, {name}"
        limit = reading_bytes(8 * n * (FEATURES + 1))
        yield Line(what, best["faithscope"] / best["bare SQL"], at_most=bar, seconds=best, note=note, limit=limit)


def growth(sizes: Sizes) -> Iterator[Line]:
    best = {}
    for n in sizes.growth:
        best[n] = race({"faithscope": Ours(written(n, "few"), fs.Floor(1))}, sizes.runs)["faithscope"]
    yield from ratios_growth(best, "time for {} times the rows, 1-fp, few")


def written_wide(n: int, width: int) -> Path:
    """A log of normal importances of any number of features."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"wide-{n}-{width}.parquet"
    if path.exists():
        return path
    with ExitStack() as stack:
        writer = None
        for start in range(0, n, CHUNK // 10):
            values = np.random.default_rng(start).standard_normal((min(CHUNK // 10, n - start), width))
            columns = {f"phi_{j}": values[:, j] for j in range(width)}
            part = pa.table({**columns, "yhat": (values[:, 0] > 0).astype(np.int64)})
            writer = writer or stack.enter_context(pq.ParquetWriter(path.with_suffix(".part"), part.schema))
            writer.write_table(part)
    path.with_suffix(".part").rename(path)
    return path


def in_memory(path: Path, discretizer: Discretizer) -> float:
    """Rows counted after the file was read whole."""
    table = pq.read_table(path)
    values = np.column_stack([column.to_numpy() for column in table.drop_columns("yhat").columns])
    return float(fs.consistency(values, table.column("yhat").to_numpy(), discretizer=discretizer).n)


def many_features(sizes: Sizes) -> Iterator[Line]:
    for n, width in sizes.wide:
        path = written_wide(n, width)
        for discretizer in (fs.SignOfTop(5), fs.Rank(), fs.Sign()):
            ours = Ours(path, discretizer)
            runs = sizes.runs if n * width > 5_000_000 else 10  # tenths of a second: the best of few is mostly chance
            best = race({"faithscope": ours, "in memory": partial(in_memory, path, discretizer)}, runs)
            what = f"time over in memory, {n:,} x {width:,}, {discretizer!r}"
            # Signs are expressions of DuckDB, whose compilation takes some tenths of a second: not judged.
            bar = 3 if discretizer != fs.Sign() else None
            limit = reading_bytes(8 * n * (width + 1))
            yield Line(what, best["faithscope"] / best["in memory"], at_most=bar, seconds=best, limit=limit)
    code = f"from audit import peak_of; print(peak_of({str(path)!r}))"
    yield Line(f"peak memory, {n:,} x {width:,}, SignOfTop(k=5)", in_fresh_process(code), "GB", at_most=2)


def peak_of(path: str) -> float:
    """The most memory a process holds that audits a log of any number of features."""
    audit(path, **HOW, discretizer=fs.SignOfTop(5))
    return peak_bytes() / 1e9


def peak_gigabytes(path: str, decimals: int) -> float:
    """The most memory a process holds that audits a large log with DuckDB's memory limited."""
    audited = audit(path, **HOW, discretizer=fs.Floor(decimals), connect="duckdb://?memory_limit=6GB")
    print(f"  {audited.consistency}", file=sys.stderr)
    return peak_bytes() / 1e9


def large(sizes: Sizes) -> Iterator[Line]:
    for decimals, what in ((1, "few differ"), (2, "all differ")) if sizes.large else ():
        path = written(sizes.large, "few", 3)
        code = f"from audit import peak_gigabytes; print(peak_gigabytes({str(path)!r}, {decimals}))"
        seconds, peak = clock(partial(in_fresh_process, code))
        name = f"peak memory, n = {sizes.large:,}, {what}"
        yield Line(name, peak, "GB", at_most=8, seconds={"faithscope": seconds}, note="DuckDB's limit is 6 GB")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--large", action="store_true", help="also 100,000,000 rows")
    parser.add_argument("--wide", action="store_true", help="logs of many features, and nothing else")
    chosen = parser.parse_args()
    machine = describe_machine(("faithscope", "numpy", "duckdb", "pyarrow"))
    print(f"{machine}; {describe_rates()}")
    sizes = QUICK if chosen.quick else Sizes(large=100_000_000 if chosen.large else 0)
    try:
        parts = (many_features,) if chosen.wide else (against_group_by, growth, many_features, large)
        lines = measure(parts, sizes, not chosen.quick)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    conclude(lines, machine, chosen)


if __name__ == "__main__":
    main()
