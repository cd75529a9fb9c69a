"""What the benchmarks share: ratios measured in one run on one machine, each beside the bar it must reach."""

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
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from machine import describe_rates

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
        times = [f"{name} {1e3 * seconds:,.1f} ms" for name, seconds in self.seconds.items()]
        parts = "; ".join(part for part in (*times, self._limit_text(), self.note) if part)
        return f"{self.what:<47}{self.value:>8,.2f} {self.unit:<3}{bar:<14}{verdict:<12}{parts}".rstrip()

    def _limit_text(self) -> str:
        if self.reached is None:
            return ""
        name, seconds = max(self.limit.items(), key=lambda item: item[1])
        return f"limit {1e3 * seconds:,.1f} ms by {name}, {self.reached:.0%} reached"


def race(contestants: dict[str, Callable[[], float]], runs: int) -> dict[str, float]:
    """Best seconds of each contestant, taking turns; all must give the same answer."""
    best, answers = dict.fromkeys(contestants, float("inf")), {}
    for _ in range(runs):
        for name, work in contestants.items():
            seconds, answers[name] = clock(work)
            best[name] = min(best[name], seconds)
    if max(answers.values()) - min(answers.values()) > 1e-6:
        sys.exit(f"The answers differ, so their times mean nothing: {answers}")
    return best


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that some work takes, and what it gives."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def in_fresh_process(code: str) -> float:
    """The number that this code prints, run beside this file by a Python that has imported nothing yet."""
    command, folder = [sys.executable, "-c", code], Path(__file__).resolve().parent
    return float(subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout)


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
    known = importlib.metadata.packages_distributions()
    distributions = [known[name][0] for name in libraries if name in known]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in distributions]
    return f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {', '.join(versions)}"


def options(description: str) -> argparse.ArgumentParser:
    """What every benchmark can be asked."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small samples; nothing is judged")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers here")
    return parser


def measure(parts: Iterable[Callable[[Any], Iterator[Line]]], sizes: Any, judged: bool) -> list[Line]:
    """The lines of all parts, each printed once it is known."""
    lines = []
    for part in parts:
        for line in part(sizes):
            print(line.to_text(judged), flush=True)
            lines.append(line)
    return lines


def growth(seconds: dict[int, float], what: str) -> Iterator[Line]:
    """How many times the time of one number of rows the next takes; `what` has a place for how many times the rows."""
    for less, more in pairwise(seconds):
        times = {f"n = {n:,}": seconds[n] for n in (less, more)}
        note = f"{seconds[less] / less * 1e9:.0f} and {seconds[more] / more * 1e9:.0f} ns a row"
        yield Line(what.format(more // less), seconds[more] / seconds[less], at_most=15, seconds=times, note=note)


def run(doc: str, libraries: tuple[str, ...], parts: Any, full: Any, quick: Any) -> None:
    """A whole benchmark without options of its own: asked, measured and concluded."""
    chosen = options(doc).parse_args()
    machine = describe_machine(libraries)
    print(f"{machine}; {describe_rates()}")
    conclude(measure(parts, quick if chosen.quick else full, not chosen.quick), machine, chosen)


def conclude(lines: list[Line], machine: str, chosen: argparse.Namespace) -> None:
    """Write the numbers where asked, and exit 1 where a bar is missed."""
    judged = not chosen.quick
    if chosen.json:
        numbers = [asdict(line) | {"met": line.met if judged else None, "reached": line.reached} for line in lines]
        chosen.json.write_text(json.dumps({"machine": machine, "lines": numbers}, indent=2, default=float) + "\n")
    missed = [line.what.strip() for line in lines if not line.met]
    if judged and missed:
        sys.exit("Missed: " + "; ".join(missed))
