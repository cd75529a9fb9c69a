"""How fast and how small `consistency` is, as ratios measured in one run on one machine.

    python benchmarks/consistency.py            # a few minutes; exits 1, naming what failed, where a bar is missed
    python benchmarks/consistency.py --quick    # seconds, on small samples; nothing is judged
    python benchmarks/consistency.py --json results.json

1. Against Quantus 0.6.0 ``Consistency`` with ``batch_size=n``; also our very first call in a fresh process, held
   against Quantus's best.
2. Against the bare group-by of Polars (result materialised) and DuckDB (a table in memory; counts summed inside the
   database, so no result is transferred). Ours is the complete estimate, jackknife interval included.
3. Peak memory of a fresh process beyond its imports, over the bytes of its input; the input itself is included.
4. Growth: the time for ten times the rows.
5. Import time beyond NumPy's.

Times are the best of a few runs in turns, so that a busy moment of the machine hits everybody.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import faithscope as fs

FEATURES = 14
SPREADS = {"few": (0.02, 0.05), "many": (0.08, 0.15)}  # of φ: rounded to a decimal, 1 row in 12 or nearly all differ


@dataclass(frozen=True)
class Sizes:
    """How many rows each part measures."""

    quantus: tuple[int, ...] = (1_000, 10_000, 20_000)
    group_by: int = 1_000_000
    memory: int = 5_000_000
    growth: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    runs: int = 5


QUICK = Sizes((500, 1_000, 2_000), 100_000, 500_000, (10_000, 100_000, 1_000_000), 2)


@dataclass(frozen=True)
class Line:
    """One measured number, the bar it must reach, and what it was made from."""

    what: str
    value: float
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the bar is reached; a line without one always is."""
        enough = self.at_least is None or self.value >= self.at_least
        return enough and (self.at_most is None or self.value <= self.at_most)

    def to_text(self, judged: bool) -> str:
        """The line of the table."""
        bar = f"at least {self.at_least:g}" if self.at_least else f"at most {self.at_most:g}" if self.at_most else ""
        verdict = "" if not bar else "not judged" if not judged else "met" if self.met else "MISSED"
        times = [f"{name} {1e3 * seconds:,.1f} ms" for name, seconds in self.seconds.items()]
        parts = "; ".join([*times, self.note] if self.note else times)
        return f"{self.what:<47}{self.value:>8,.2f} {self.unit:<3}{bar:<14}{verdict:<12}{parts}".rstrip()


def importances(n: int, spread: str, discretized: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Normal importances, wider from feature to feature, and one of three labels that depends on them."""
    values = np.random.default_rng(0).standard_normal((n, FEATURES))
    labels = np.digitize(values.sum(axis=1), [-2.0, 2.0])
    values *= np.geomspace(*SPREADS[spread], FEATURES) * (10 if discretized else 1)
    return np.floor(values, out=values) if discretized else values, labels


def race(contestants: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """Best seconds of each contestant, taking turns; all must give the same answer."""
    best, answers = dict.fromkeys(contestants, float("inf")), {}
    for _ in range(runs):
        for name, work in contestants.items():
            start = time.perf_counter()
            answers[name] = work()
            best[name] = min(best[name], time.perf_counter() - start)
    if max(answers.values()) - min(answers.values()) > 1e-6:
        sys.exit(f"The answers differ, so their times mean nothing: {answers}")
    return best


def in_fresh_process(code: str) -> float:
    """The number that this code prints, run beside this file by a Python that has imported nothing yet."""
    command, here = [sys.executable, "-c", code], Path(__file__).resolve().parent
    return float(subprocess.run(command, cwd=here, stdout=subprocess.PIPE, text=True, check=True).stdout)


def is_missing(library: str) -> bool:
    """Whether a library to compare with is not installed; says so."""
    if missing := importlib.util.find_spec(library) is None:
        print(f"skipped: {library} is not installed (pip install 'faithscope[bench]')")
    return missing


def quantus_value(values: np.ndarray, labels: np.ndarray) -> Callable[[], float]:
    """Quantus's answer by the steps of its ``__call__``, which itself takes only models of torch and TensorFlow."""
    quantus = importlib.import_module("quantus")
    one_hot = np.eye(labels.max() + 1)[labels]
    model = SimpleNamespace(shape_input=lambda x, *_, **__: x, predict=lambda _: one_hot)
    given = {"x_batch": values, "y_batch": labels, "a_batch": values}
    unused = "model s_batch custom_batch channel_first explain_func explain_func_kwargs model_predict_kwargs softmax"
    options = {"discretise_func": quantus.functions.discretise_func.sign, "abs": False, "normalise": False}

    def value() -> float:
        metric = quantus.Consistency(**options, disable_warnings=True)
        prepared = metric.general_preprocess(**given, **dict.fromkeys(unused.split()), device=None) | {"model": model}
        batches = metric.generate_batches(data=prepared, batch_size=len(values))
        return float(np.mean([metric.evaluate_batch(**metric.batch_preprocess(batch)) for batch in batches]))

    return value


def our_value(values: np.ndarray, labels: np.ndarray) -> float:
    return fs.consistency(values, labels, discretizer=fs.Sign()).value


def first_call(n: int) -> float:
    """Seconds of one call of ours: of the very first, in a fresh process."""
    return race({"first": partial(our_value, *importances(n, "few"))}, runs=1)["first"]


def against_quantus(sizes: Sizes) -> Iterator[Line]:
    for n in () if is_missing("quantus") else sizes.quantus:
        sample = importances(n, "few")
        best = race({"faithscope": partial(our_value, *sample), "Quantus": quantus_value(*sample)}, min(3, sizes.runs))
        bar = 100 if n == 10_000 else None
        yield Line(f"faster than Quantus, n = {n:,}", best["Quantus"] / best["faithscope"], at_least=bar, seconds=best)
        first = in_fresh_process(f"from consistency import first_call; print(first_call({n}))")
        yield Line("  our first call in a fresh process", best["Quantus"] / first, seconds={"faithscope": first})


def polars_cells(columns: dict[str, np.ndarray]) -> Callable[[], float]:
    frame = importlib.import_module("polars").DataFrame(columns)
    return lambda: frame.group_by(list(columns)).len().height


def duckdb_cells(columns: dict[str, np.ndarray]) -> Callable[[], float]:
    database = importlib.import_module("duckdb").connect()
    database.register("arrays", columns)
    database.execute("CREATE TABLE explained AS SELECT * FROM arrays")
    # The sum keeps the database from skipping the counts.
    grouped = "SELECT *, count(*) AS given FROM explained GROUP BY ALL"
    return lambda: database.execute(f"SELECT count(*), sum(given) FROM ({grouped})").fetchone()[0]


def against_group_by(sizes: Sizes) -> Iterator[Line]:
    known = {"polars": (polars_cells, 2), "duckdb": (duckdb_cells, 3)}
    rivals = {name: rival for name, rival in known.items() if not is_missing(name)}
    for spread in SPREADS if rivals else ():
        values, labels = importances(sizes.group_by, spread, discretized=True)
        columns = {f"phi_{j}": values[:, j].copy() for j in range(FEATURES)} | {"y": labels}
        contestants = {"faithscope": lambda v=values, y=labels: len(fs.consistency(v, y).counts.given)}
        best = race(contestants | {name: build(columns) for name, (build, _) in rivals.items()}, sizes.runs)
        note = f"{fs.consistency(values, labels).distinct:,} explanations"
        for name, (_, bar) in rivals.items():
            times = {who: best[who] for who in ("faithscope", name)}
            what = f"time over {name}, n = {sizes.group_by:,}, {spread}"
            yield Line(what, best["faithscope"] / best[name], at_most=bar, seconds=times, note=note)


def peak_bytes() -> int:
    """The most memory this process has held; ru_maxrss will not do, as a child inherits its parent's."""
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def peak_over_input(n: int, spread: str) -> float:
    """Peak memory of making one estimate, input included, over the bytes of the input."""
    before = peak_bytes()
    values, labels = importances(n, spread)
    fs.consistency(values, labels, discretizer=fs.Floor(1))
    return (peak_bytes() - before) / (values.nbytes + labels.nbytes)


def memory(sizes: Sizes) -> Iterator[Line]:
    if not Path("/proc/self/status").exists():
        print("skipped: peak memory is read from /proc/self/status, which this system does not have")
        return
    for spread in SPREADS:
        call = f"peak_over_input({sizes.memory}, {spread!r})"
        peak = in_fresh_process(f"from consistency import peak_over_input; print({call})")
        note = f"{sizes.memory * (FEATURES + 1) * 8 / 1e6:,.0f} MB of input; Floor(1)"
        yield Line(f"peak memory over input, n = {sizes.memory:,}, {spread}", peak, at_most=3, note=note)


def growth(sizes: Sizes) -> Iterator[Line]:
    for spread in SPREADS:
        best = {}
        for n in sizes.growth:
            values, labels = importances(n, spread, discretized=True)
            work = {"faithscope": lambda v=values, y=labels: fs.consistency(v, y).value}
            best[n] = race(work, sizes.runs)["faithscope"]
        for less, more in pairwise(sizes.growth):
            times = {f"n = {n:,}": best[n] for n in (less, more)}
            note = f"{best[less] / less * 1e9:.0f} and {best[more] / more * 1e9:.0f} ns a row"
            what = f"time for {more // less} times the rows, {spread}"
            yield Line(what, best[more] / best[less], at_most=15, seconds=times, note=note)


def import_time(sizes: Sizes) -> Iterator[Line]:
    code = "import numpy, time; t = time.perf_counter(); import faithscope; print(time.perf_counter() - t)"
    best = min(in_fresh_process(code) for _ in range(sizes.runs))
    yield Line("import faithscope, beyond numpy", best, "s", at_most=0.5)


def describe_machine() -> str:
    libraries = ("faithscope", "numpy", "quantus", "polars", "duckdb")
    versions = [f"{name} {importlib.metadata.version(name)}" for name in libraries if importlib.util.find_spec(name)]
    return f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {', '.join(versions)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small samples; nothing is judged")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers here")
    chosen = parser.parse_args()
    judged, lines, machine = not chosen.quick, [], describe_machine()
    print(machine)
    for part in (against_quantus, against_group_by, memory, growth, import_time):
        for line in part(Sizes() if judged else QUICK):
            print(line.to_text(judged), flush=True)
            lines.append(line)
    if chosen.json:
        found = [asdict(line) | {"met": line.met if judged else None} for line in lines]
        chosen.json.write_text(json.dumps({"machine": machine, "lines": found}, indent=2) + "\n")
    missed = [line.what.strip() for line in lines if not line.met]
    if judged and missed:
        sys.exit("Missed: " + "; ".join(missed))


if __name__ == "__main__":
    main()
