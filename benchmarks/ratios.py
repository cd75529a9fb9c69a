"""What the scripts share: ratios beside their bars, options, tables that are kept."""

import argparse
import importlib.metadata
import importlib.util
import io
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
FEATURES = 14


@dataclass(frozen=True)
class Line:
    """One measured number, the bar it must reach, and what it was made from."""

    what: str
    value: float
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None
    seconds: dict = field(default_factory=dict)
    note: str = ""

    @property
    def met(self):
        """Whether the bar is reached; a line without one always is."""
        enough = self.at_least is None or self.value >= self.at_least
        return bool(enough and (self.at_most is None or self.value <= self.at_most))

    def to_text(self, judged):
        """The line of the table."""
        bar = f"at least {self.at_least:g}" if self.at_least else f"at most {self.at_most:g}" if self.at_most else ""
        verdict = "" if not bar else "not judged" if not judged else "met" if self.met else "MISSED"
        parts = [f"{name} {1e3 * seconds:,.1f} ms" for name, seconds in self.seconds.items()]
        told = "; ".join(parts + [self.note] * bool(self.note))
        return f"{self.what:<47}{self.value:>8,.2f} {self.unit:<3}{bar:<14}{verdict:<12}{told}".rstrip()


def clock(work):
    """Seconds that some work takes, and what it gives."""
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def best_of(work, runs):
    """Seconds of the fastest of a few runs."""
    return min(clock(work)[0] for _ in range(runs))


def race(contestants, runs):
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


def faster(what, best, **more):
    """How many times the first of two is faster than the second."""
    ours, theirs = best.values()
    return Line(what, theirs / ours, seconds=best, **more)


def slower(what, best, **more):
    """The time of the first of two over that of the second."""
    ours, theirs = best.values()
    return Line(what, ours / theirs, seconds=best, **more)


def growth(seconds, what):
    """How many times the time of one number the next takes; `what` has a place for how many times the number is."""
    for less, more in pairwise(seconds):
        times = {f"n = {n:,}": seconds[n] for n in (more, less)}
        note = f"{seconds[more] / more * 1e9:.0f} and {seconds[less] / less * 1e9:.0f} ns each"
        yield slower(what.format(more // less), times, at_most=15, note=note)


def in_fresh_process(work, *given):
    """What a function of a script answers in a Python that has imported nothing yet."""
    script = Path(work.__code__.co_filename).stem
    code = f"from {script} import {work.__name__} as work; print(work(*{given!r}))"
    command = [sys.executable, "-c", code]
    return float(subprocess.check_output(command, cwd=HERE))


def import_seconds(name):
    """How long it takes to import a library, beyond NumPy."""
    return clock(lambda: importlib.import_module(name))[0]


def is_missing(library):
    """Whether a library to compare with is not installed; says so."""
    if missing := importlib.util.find_spec(library) is None:
        print(f"skipped: {library} is not installed (pip install 'faithscope[bench]')")
    return missing


def quantus_value(metric, values, labels, batch_size=None, outputs=None):
    """Quantus's answer by the steps of its ``__call__``, which itself takes only models of torch and TensorFlow.

    The model's outputs are one column per class, by default 1 for the label; a regressor has a single column.
    """
    answers = np.eye(labels.max() + 1)[labels] if outputs is None else outputs
    # Rows are their own numbers, by which the model knows its predictions, whatever the batch.
    model = SimpleNamespace(shape_input=lambda x, *_, **__: x, predict=lambda rows: answers[rows[:, 0].astype(int)])
    numbers = np.broadcast_to(np.arange(len(values))[:, None], values.shape).copy()
    given = {"x_batch": numbers, "y_batch": labels, "a_batch": values}
    unused = "model s_batch custom_batch channel_first explain_func explain_func_kwargs model_predict_kwargs softmax"

    def value():
        measure = metric()
        prepared = measure.general_preprocess(**given, **dict.fromkeys(unused.split()), device=None) | {"model": model}
        batches = measure.generate_batches(data=prepared, batch_size=batch_size or len(values))
        answered = [measure.evaluate_batch(**measure.batch_preprocess(batch)) for batch in batches]
        return np.mean(np.concatenate(answered))

    return value


def peak_bytes():
    """The most memory this process has held; ru_maxrss will not do, as a child inherits its parent's."""
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def coded(X):
    """Rows as numbers: categories by their codes."""
    return X.apply(lambda column: column if column.dtype.kind in "iufb" else column.astype("category").cat.codes)


def numbers(X):
    """Rows as an array of numbers, what is missing by the middle of its column."""
    known = coded(X).astype(float)
    return known.fillna(known.median()).to_numpy()


def markdown(lines):
    """The lines of a table, each a mapping from heads to cells; shares with three decimals."""
    for place, told in enumerate(lines):
        if not place:
            yield f"| {' | '.join(told)} |"
            yield "|---" * len(told) + "|"
        yield f"| {' | '.join(f'{cell:.3f}' if isinstance(cell, float) else str(cell) for cell in told.values())} |"


def describe_machine(libraries):
    """The processor, its cores, and the versions of Python and of libraries by the names that are imported."""
    known = importlib.metadata.packages_distributions()
    distributions = [known[name][0] for name in libraries if name in known]
    versions = [f"{name} {importlib.metadata.version(name)}" for name in distributions]
    return f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {', '.join(versions)}"


def options(doc, words=None, **known):
    """What a script is asked: False is a flag, [] may be given again, else a value like the default, or of a type."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in known.items():
        if value is False:
            how = {"action": "store_true"}
        elif value == []:
            how = {"action": "append", "default": value}
        else:
            how = {"type": value} if isinstance(value, type) else {"type": type(value), "default": value}
        parser.add_argument(f"--{name}", **how)
    return parser.parse_args(words)


def tell(lines, kept=None):
    """Print lines once they are known, and keep them in the file of this name among the results."""
    told = []
    for line in lines:
        print(line, flush=True)
        told.append(line)
    if kept:
        (RESULTS / kept).write_text("\n".join([*told, ""]), encoding="utf-8")
    return told


def simulate(doc, report, beyond, script):
    """A whole simulation: asked, printed and kept, and exit 1 where lines are beyond the bar; quickly nothing is."""
    quick = options(doc, quick=False).quick
    machine = () if quick else (f"{describe_machine(['numpy', 'scipy'])}\n",)
    lines = tell(chain(machine, report(quick)), None if quick else f"{script}.txt")[len(machine) :]
    if not quick and (missed := beyond(lines)):
        sys.exit(f"The bar is missed: {missed}")


def marked(marks, title=None):
    """Color and shape of points, either of which is enough, by the name in their column `by`."""
    import altair as alt

    colors, shapes = (alt.Scale(domain=list(marks), range=list(each)) for each in zip(*marks.values(), strict=True))
    return alt.Color("by:N", title=title, scale=colors), alt.Shape("by:N", title=title, scale=shapes)


def save_panels(layers, rows, panel, path, title="", told="", **size):
    """Draw layers about the same rows: one panel, or one per value of a column in the order in which they come.

    Coordinates are written to a tenth of a pixel.
    """
    import altair as alt

    from faithscope.charts.theme import LIGHT, theme

    chart = alt.layer(*layers, data=alt.Data(values=rows)).properties(**size)
    if panel:
        order = list(dict.fromkeys(row[panel] for row in rows))
        header = alt.Header(labelExpr="length(datum.label) > 30 ? split(datum.label, ', ') : datum.label")
        facet = alt.Facet(f"{panel}:N", sort=order, title=None, header=header)
        chart = chart.facet(facet, columns=3, spacing=18)
    chart = chart.properties(title=alt.Title(title, subtitle=told, offset=14))
    text = {"labelFontSize": 12, "titleFontSize": 12, "labelColor": LIGHT["ink"], "labelLimit": 0}
    # Labels of marks, thousands of them, are what the tables tell.
    chart.configure(**theme(LIGHT) | {"legend": text, "aria": False}).save(written := io.StringIO(), format="svg")
    path.write_text(re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.1f}", written.getvalue()))


def run(doc, libraries, parts, sizes, **more):
    """A whole benchmark: asked, measured and printed, and exit 1 where a bar is missed.

    Sizes are pairs: in full and quick, which is not judged. An option in `more` sets the size of the same name. With
    ``--keep`` what is printed is kept among the results.
    """
    chosen, lines = options(doc, quick=False, keep=False, **more), []
    asked = {name: value for name in more if (value := getattr(chosen, name)) is not None}
    sizes = SimpleNamespace(**{name: pair[chosen.quick] for name, pair in sizes.items()} | asked)
    machine, script = describe_machine(libraries), Path(sys.argv[0]).stem

    def told():
        yield f"$ python benchmarks/{script}.py"
        yield machine
        for part in parts:
            for line in part(sizes):
                lines.append(line)
                yield line.to_text(not chosen.quick)

    tell(told(), f"{script}.txt" if chosen.keep else None)
    missed = [line.what.strip() for line in lines if not line.met]
    if missed and not chosen.quick:
        sys.exit("Missed: " + "; ".join(missed))
