"""What the scripts share: ratios beside their bars, what a machine can do at best, options, tables that are kept."""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FEATURES = 14


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
    limit: dict[str, float] = field(default_factory=dict)  # seconds below which no program could come, by what sets it

    @property
    def reached(self) -> float | None:
        """The limit over our own time, 1 at best; None if either is not known."""
        ours = self.seconds.get("faithscope")
        return max(self.limit.values()) / ours if self.limit and ours else None

    @property
    def met(self) -> bool:
        """Whether the bar is reached; a line without one always is."""
        enough = self.at_least is None or self.value >= self.at_least
        return bool(enough and (self.at_most is None or self.value <= self.at_most))

    def to_text(self, judged: bool) -> str:
        """The line of the table."""
        bar = f"at least {self.at_least:g}" if self.at_least else f"at most {self.at_most:g}" if self.at_most else ""
        verdict = "" if not bar else "not judged" if not judged else "met" if self.met else "MISSED"
        parts = [f"{name} {1e3 * seconds:,.1f} ms" for name, seconds in self.seconds.items()]
        if self.reached is not None:
            slowest = max(self.limit, key=self.limit.get)
            parts.append(f"limit {1e3 * self.limit[slowest]:,.1f} ms by {slowest}, {self.reached:.0%} reached")
        told = "; ".join(parts + [self.note] * bool(self.note))
        return f"{self.what:<47}{self.value:>8,.2f} {self.unit:<3}{bar:<14}{verdict:<12}{told}".rstrip()


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that some work takes, and what it gives."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def best_of(work: Callable[[], Any], runs: int) -> float:
    """Seconds of the fastest of a few runs."""
    return min(clock(work)[0] for _ in range(runs))


def race(contestants: dict[str, Callable[[], Any]], runs: int) -> dict[str, float]:
    """Best seconds of each contestant, taking turns; all must give the same number, or array."""
    best, answers = dict.fromkeys(contestants, float("inf")), {}
    for _ in range(runs):
        for name, work in contestants.items():
            seconds, answers[name] = clock(work)
            best[name] = min(best[name], seconds)
    first, *others = answers.values()
    if any(np.shape(first) != np.shape(other) or not np.allclose(first, other, 0, 1e-6) for other in others):
        sys.exit(f"The answers differ, so their times mean nothing: {answers}")
    return best


def faster(what: str, best: dict[str, float], **more: Any) -> Line:
    """How many times the first of two is faster than the second."""
    ours, theirs = best.values()
    return Line(what, theirs / ours, seconds=best, **more)


def slower(what: str, best: dict[str, float], **more: Any) -> Line:
    """The time of the first of two over that of the second."""
    ours, theirs = best.values()
    return Line(what, ours / theirs, seconds=best, **more)


def growth(seconds: dict[int, float], what: str, at_most: float = 15) -> Iterator[Line]:
    """How many times the time of one number the next takes; `what` has a place for how many times the number is."""
    for less, more in pairwise(seconds):
        times = {f"n = {n:,}": seconds[n] for n in (more, less)}
        note = f"{seconds[more] / more * 1e9:.0f} and {seconds[less] / less * 1e9:.0f} ns each"
        yield slower(what.format(more // less), times, at_most=at_most, note=note)


def in_fresh_process(work: Callable[..., float], *given: Any) -> float:
    """What a function of a script answers in a Python that has imported nothing yet."""
    script = Path(work.__code__.co_filename).stem
    code = f"from {script} import {work.__name__} as work; print(work(*{given!r}))"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, cwd=HERE, stdout=subprocess.PIPE, text=True, check=True).stdout)


def import_seconds(name: str) -> float:
    """How long it takes to import a library, beyond NumPy."""
    return clock(lambda: importlib.import_module(name))[0]


@cache
def bandwidth() -> float:
    """Bytes per second that all cores together read from memory and add up."""
    cores, read = os.cpu_count() or 1, 2**25  # numbers, 256 MB: no cache holds them
    parts = np.array_split(np.ones(read), cores)
    with ThreadPoolExecutor(cores) as pool:
        return 8 * read / best_of(lambda: list(pool.map(np.sum, parts)), 5)


@cache
def product_rate() -> float:
    """Operations per second of a large matrix product in single precision, on all cores."""
    side = 2_048
    a, b = np.random.default_rng(0).standard_normal((2, side, side), np.float32)
    return 2 * side**3 / best_of(lambda: a @ b, 5)


def reading(count: float) -> dict[str, float]:
    """The seconds in which so many bytes can be read once."""
    return {"memory": count / bandwidth()}


def multiplying(operations: float) -> dict[str, float]:
    """The seconds of so many additions and multiplications in a plain matrix product."""
    return {"products": operations / product_rate()}


def is_missing(library: str) -> bool:
    """Whether a library to compare with is not installed; says so."""
    if missing := importlib.util.find_spec(library) is None:
        print(f"skipped: {library} is not installed (pip install 'faithscope[bench]')")
    return missing


def quantus_value(
    metric: Callable[[], Any],
    values: np.ndarray,
    labels: np.ndarray,
    batch_size: int | None = None,
    outputs: np.ndarray | None = None,
) -> Callable[[], float]:
    """Quantus's answer by the steps of its ``__call__``, which itself takes only models of torch and TensorFlow.

    The model's outputs are one column per class, by default 1 for the label; a regressor has a single column.
    """
    answers = np.eye(labels.max() + 1)[labels] if outputs is None else outputs
    # Rows are their own numbers, by which the model knows its predictions, whatever the batch.
    model = SimpleNamespace(shape_input=lambda x, *_, **__: x, predict=lambda rows: answers[rows[:, 0].astype(int)])
    numbers = np.broadcast_to(np.arange(len(values))[:, None], values.shape).copy()
    given = {"x_batch": numbers, "y_batch": labels, "a_batch": values}
    unused = "model s_batch custom_batch channel_first explain_func explain_func_kwargs model_predict_kwargs softmax"

    def value() -> float:
        measure = metric()
        prepared = measure.general_preprocess(**given, **dict.fromkeys(unused.split()), device=None) | {"model": model}
        batches = measure.generate_batches(data=prepared, batch_size=batch_size or len(values))
        return float(
            np.mean(np.concatenate([measure.evaluate_batch(**measure.batch_preprocess(batch)) for batch in batches]))
        )

    return value


def has_peak() -> bool:
    """Whether this system tells the most memory a process has held; says so where it does not."""
    if not (known := Path("/proc/self/status").exists()):
        print("skipped: peak memory is read from /proc/self/status, which this system does not have")
    return known


def peak_bytes() -> int:
    """The most memory this process has held; ru_maxrss will not do, as a child inherits its parent's."""
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def numbers(table: Any) -> np.ndarray:
    """Rows as numbers: categories by their codes, what is missing by the middle of its column."""
    columns = []
    for name in table.columns:
        column = table[name]
        codes = column if column.dtype.kind in "biuf" else column.astype("category").cat.codes
        values = codes.to_numpy(np.float64)
        columns.append(np.where(np.isnan(values), np.nanmedian(values), values))
    return np.column_stack(columns)


def describe_machine(libraries: Iterable[str]) -> str:
    """The processor, its cores, and the versions of Python and of libraries by the names that are imported."""
    known = importlib.metadata.packages_distributions()
    distributions = [known[name][0] for name in libraries if name in known]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in distributions]
    return f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {', '.join(versions)}"


def options(doc: str, **known: Any) -> argparse.Namespace:
    """What a script is asked: a flag where False stands, else a value of the default's type, or of a type itself."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in known.items():
        if value is False:
            parser.add_argument(f"--{name}", action="store_true")
        else:
            default, kind = (None, value) if isinstance(value, type) else (value, type(value))
            parser.add_argument(f"--{name}", type=kind, default=default)
    return parser.parse_args()


def tell(lines: Iterable[str], kept: str | None = None) -> list[str]:
    """Print lines once they are known, and keep them in the file of this name among the results."""
    told = []
    for line in lines:
        print(line, flush=True)
        told.append(line)
    if kept:
        (HERE / "results" / kept).write_text("\n".join([*told, ""]), encoding="utf-8")
    return told


def run(
    doc: str,
    libraries: tuple[str, ...],
    parts: Iterable[Callable[[Any], Iterator[Line]]],
    full: Any,
    quick: Any,
    **more: Any,
) -> None:
    """A whole benchmark: asked, measured and printed, and exit 1 where a bar is missed.

    An option in `more` sets the size of the same name; what is quick is not judged.
    """
    chosen = options(doc, quick=False, json=Path, **more)
    asked = {name: value for name in more if (value := getattr(chosen, name)) is not None}
    sizes, judged, lines = replace(quick if chosen.quick else full, **asked), not chosen.quick, []
    machine = describe_machine(libraries)
    rates = f"{bandwidth() / 1e9:,.1f} GB/s read, {product_rate() / 1e9:,.0f} billion operations/s multiplied"
    print(f"{machine}; at best {rates}")
    for part in parts:
        for line in part(sizes):
            print(line.to_text(judged), flush=True)
            lines.append(line)
    if chosen.json:
        numbers = [asdict(line) | {"met": line.met if judged else None, "reached": line.reached} for line in lines]
        chosen.json.write_text(json.dumps({"machine": machine, "lines": numbers}, indent=2, default=float) + "\n")
    missed = [line.what.strip() for line in lines if not line.met]
    if judged and missed:
        sys.exit("Missed: " + "; ".join(missed))
