"""How large an input may be: seconds and memory as rows, features, labels, rules or words grow.

    nice -n 19 python benchmarks/limits.py                      # an hour; every case grows until a minute or the budget
    nice -n 19 python benchmarks/limits.py --seconds 30 --gib 14
    python benchmarks/limits.py --only within --only labels     # the cases whose name holds one of these

`seconds` are of processor time, of all threads together, so that another job on the machine does not count; where both
cores are used, the clock shows as little as half. Every size runs in a process of its own, whose memory is looked at
while it runs: one that outgrows the budget is ended. `peak` is the most that the process held, less what it held after
its imports; the input itself is included, since whoever measures has to hold it too. `bytes` is that for each of what
grows. A case grows fourfold, then twofold, until the next size is expected to take more than the time or the budget.
The last two sizes give an exponent each for time and for memory, taken as 1 at least (2 where a table of all pairs is
made), from which the largest size in a minute and the largest in 24 GiB follow; `same` stands where memory does not
grow.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
from faithscope import explainers
from faithscope.runtime.memory import available
from ratios import HERE, describe_machine, options, peak_bytes

D = 14  # features, as in the other benchmarks


@dataclass(frozen=True)
class Case:
    """Something that grows: `prepare` makes an input of a given size, and gives the work on it."""

    grows: str
    start: int
    prepare: Callable
    most: int = 10**9
    power: float = 1.0  # by which memory grows in the end, where a table of all pairs is made


def numbers(n, d=D):
    return default_rng(0).standard_normal((n, d))


def labels(n, many=2):
    return default_rng(1).integers(many, size=n)


def named(what, n, many):
    return [f"{what} {code}" for code in labels(n, many).tolist()]


def watched(groups):
    """The text of a monitor, of rows that were added before."""
    monitor = fs.Monitor(by="group", at_least=0.9)
    for day in range(20):
        leaf, group = labels(5000, 50), labels(5000, groups)
        monitor.add(leaf, leaf % 2, by=group, when=np.datetime64("2026-01-01") + day, batch=f"day {day}")
    return lambda: len(str(monitor))


def grouped(groups):
    evaluation = fs.evaluate(labels(10**6), labels(10**6, 1000), np.zeros((10**6, 1)), progress=False)
    return partial(evaluation.by, labels(10**6, groups))


def differing(groups, against):
    evaluation = fs.evaluate(labels(10**5), labels(10**5, 20), np.zeros((10**5, 1)), progress=False)
    return partial(evaluation.by(labels(10**5, groups)).differences, against=against)


COLUMNS = 20  # of rows that have rules
THRESHOLDS = np.linspace(-1.35, 1.35, 10)  # of every column, about its tenths; above or not: 400 conditions in all
written = partial(fs.Rules.from_conditions, features=range(COLUMNS))


def ruled(rows, rules, labels, width):
    """Rows, so many labels, the conditions of each rule, so many, and the number of the rule that each row is given.

    The first rows are given rule 0, 1, …, which hold there, as anchors do; others one that covers them, if tries find
    it.
    """
    random = default_rng(1)  # by which no two of 20,000 rules are equal
    X = np.asfortranarray(random.standard_normal((rows, COLUMNS)))
    total = X[:, 0] + X[:, 1] + X[:, 2]
    label = np.searchsorted(np.quantile(total, np.arange(1, labels) / labels), total)
    on = np.argsort(random.random((rules, COLUMNS)), axis=1)[:, :width]
    bound = THRESHOLDS[random.integers(10, size=(rules, width))]
    above = X[np.arange(rules)[:, None], on] > bound
    given = np.concatenate([np.arange(rules), random.integers(rules, size=rows - rules)])
    for _ in range(20):
        rule = given[rules:]
        holds = (X[np.arange(rules, rows)[:, None], on[rule]] > bound[rule]) == above[rule]
        missed = rules + np.flatnonzero(~holds.all(axis=1))
        given[missed] = random.integers(rules, size=len(missed))
    parts = zip(on.tolist(), np.where(above, ">", "<=").tolist(), bound.tolist(), strict=True)
    return X, label, [list(zip(*rule, strict=True)) for rule in parts], given


def under_rules(rows, rules, many):
    """Rules of three conditions, so many labels."""
    X, predicted, conditions, given = ruled(rows, rules, many, 3)
    return partial(fs.sufficiency, written(conditions).take(given), predicted, X)


def highlighted(n, words, chosen):
    """Documents of 20 words, of which one is highlighted."""
    drawn = (default_rng(3).zipf(1.3, size=(n, 20)) % words).tolist()
    documents = [" ".join(f"w{word}" for word in row) for row in drawn]
    given = [[f"w{chosen(place, row[0])}"] for place, row in enumerate(drawn)]
    predicted = labels(n)
    return lambda: fs.sufficiency(fs.Highlights(given), predicted, documents)


def nearest(many):
    points, X, predicted = numbers(many), numbers(20_000), labels(20_000)
    return lambda: fs.sufficiency(explainers.NearestNeighbors(points).explain(X), predicted, X)


def in_balls(n):
    given = fs.Prototypes(np.arange(n) % 2000, numbers(2000))
    return partial(fs.sufficiency, given, labels(n), numbers(n), relation=fs.Ball(3.0))


def changed(n):
    X = numbers(n)
    return partial(fs.sufficiency, fs.Counterfactuals(X + 0.5, X), labels(n), X)


def compared(many):
    given = {f"e{j}": np.round(default_rng(j).standard_normal((10**5, D)), 1) for j in range(many)}
    return partial(fs.compare, labels(10**5), given, np.zeros((10**5, 1)), progress=False)


def first_positive(X):
    return np.asarray(X)[:, 0] > 0


def making(explainer, train, rows, d=D, **how):
    """An explainer is made, of some training rows, and asked about others."""
    known, X = numbers(train, d), numbers(rows, d)
    return lambda: explainer(first_positive, known, **how).explain(X)


shap = partial(making, explainers.Shap, output="margin", algorithm="permutation")


def report(n):
    evaluation = fs.evaluate(labels(n), numbers(n), numbers(n, 4), progress=False)

    def write():
        with tempfile.TemporaryDirectory() as folder:
            evaluation.to_html(Path(folder) / "report.html")
            return f"the report has {(Path(folder) / 'report.html').stat().st_size / 1e3:,.0f} kB"

    return write


def audited_json(keys):
    rows = [json.dumps(dict(enumerate(row))) for row in numbers(5_000, keys).round(3).tolist()]
    frame = pd.DataFrame({"phi": rows, "y": labels(5_000)})
    return partial(fs.audit, frame, prediction="y", explanation="phi", **TOP)


def audited_csv(unused):
    frame = pd.DataFrame(numbers(2_000, unused).round(3)).assign(key=labels(2_000, 9), y=labels(2_000))

    def read():
        with tempfile.TemporaryDirectory() as folder:
            frame.to_csv(Path(folder) / "log.csv", index=False)
            return fs.audit(Path(folder) / "log.csv", prediction="y", explanation="key")

    return read


def contradicted(n):
    return partial(fs.evaluate(labels(n), ["same"] * n, numbers(n), progress=False).counterexamples, 10)


FLOOR, TOP = {"discretizer": fs.Floor(1)}, {"discretizer": fs.SignOfTop(5)}
consistent, within = partial(partial, fs.consistency), partial(partial, fs.within)
CASES = {
    "consistency, rows": Case(
        f"rows of {D} numbers, Floor(1)", 10**6, lambda n: consistent(numbers(n), labels(n), **FLOOR)
    ),
    "consistency, keys": Case(
        "rows, a number as key, n/10 of them",
        4 * 10**6,
        lambda n: consistent(labels(n, n // 10), labels(n).astype(bool)),
        2 * 10**8,
    ),
    "consistency, texts": Case(
        "rows, texts as keys and labels", 10**5, lambda n: consistent(named("leaf", n, n // 10), named("class", n, 20))
    ),
    "consistency, features": Case(
        "features of 1,000 rows, Floor(1)", 10**4, lambda d: consistent(numbers(1000, d), labels(1000), **FLOOR)
    ),
    "consistency, top 5": Case(
        "features of 1,000 rows, SignOfTop(5)", 10**4, lambda d: consistent(numbers(1000, d), labels(1000), **TOP)
    ),
    "consistency, labels": Case(
        "labels, one for every two rows; 1,000 keys", 10**6, lambda n: consistent(labels(n, 1000), np.arange(n) // 2)
    ),
    "audit, JSON": Case("keys of JSON objects in 5,000 rows, SignOfTop(5)", 40, audited_json, 1_000),
    "audit, CSV": Case("columns of 2,000 rows that are not asked for", 100, audited_csv, 10_000),
    "counterexamples": Case(f"rows of one explanation, {D} numbers", 10**5, contradicted),
    "populations": Case("groups of 1,000,000 rows", 250, grouped, 10**3),
    "differences, each": Case("groups of 100,000 rows, every 2", 25, lambda many: differing(many, "each"), 10**3, 2.0),
    "differences, rest": Case("groups of 100,000 rows, with the rest", 25, lambda many: differing(many, "rest"), 10**3),
    "monitor, text": Case("groups of 100,000 rows in 20 days", 40, watched, 10**3),
    "sufficiency, rows": Case("rows; 1,000 rules, 7 labels", 10**5, lambda n: under_rules(n, 1000, 7)),
    "sufficiency, rules": Case(
        "rules; 100,000 rows, 7 labels", 10**3, lambda rules: under_rules(10**5, rules, 7), 10**5
    ),
    "sufficiency, labels": Case(
        "labels; 100,000 rows, 1,000 rules", 100, lambda many: under_rules(10**5, 1000, many), 10**5
    ),
    "rules, conditions": Case(
        "conditions of one rule on one feature",
        2000,
        lambda n: partial(fs.Rules.parse, [[f"job != v{value}" for value in range(n)]]),
    ),
    "highlights, documents": Case(
        "documents of 20 words of 10,000", 10**4, lambda n: highlighted(n, 10**4, lambda _, first: first)
    ),
    "highlights, words": Case(
        "words highlighted; 100,000 documents",
        2000,
        lambda words: highlighted(10**5, words, lambda place, _: place % words),
        10**5,
    ),
    "prototypes, nearest": Case(f"prototypes of {D} numbers; 20,000 rows", 10**3, nearest),
    "prototypes, balls": Case("rows; 2,000 prototypes, Ball(3)", 10**4, in_balls),
    "counterfactuals": Case(f"rows of {D} numbers, a ball each", 2000, changed),
    "within, rows": Case(f"vectors of {D} numbers, tau = 3", 5000, lambda n: within(numbers(n), labels(n), 3.0)),
    "within, features": Case(
        "features of 2,000 vectors", 10**3, lambda d: within(numbers(2000, d), labels(2000), 1.3 * d**0.5)
    ),
    "within_curve": Case(
        f"vectors of {D} numbers, 10 distances",
        2500,
        lambda n: partial(fs.within_curve, numbers(n), labels(n), np.linspace(1, 5, 10)),
    ),
    "compare": Case(f"explainers; 100,000 rows of {D} numbers", 4, compared),
    "Shap, rows": Case(f"rows of {D} features, background 10", 1000, lambda n: shap(10, n)),
    "Shap, background": Case(f"background of 100 rows, {D} features", 100, lambda n: shap(n, 100)),
    "Shap, features": Case("features; 10 rows, background 1", 100, lambda d: shap(1, 10, d), power=2.0),
    "Lime, rows": Case(f"rows of {D} features, 5,000 draws", 100, lambda n: making(explainers.Lime, 1000, n)),
    "Lime, features": Case(
        "features of 10 rows, 5,000 draws", 50, lambda d: making(explainers.Lime, 1000, 10, d), power=2.0
    ),
    "Anchors, training rows": Case(
        f"training rows of {D}; 100 explained", 10**4, lambda n: making(explainers.Anchors, n, 100)
    ),
    "Anchors, features": Case("features of 10 rows", 50, lambda d: making(explainers.Anchors, 1000, 10, d)),
    "report": Case(f"explanations of {D} numbers, all different", 25_000, report),
}


GIB = 2**30
MACHINE = 24 * GIB  # what sizes are extrapolated to
PATIENCE = 6  # times the limit that a process may take, making its input included


Run = namedtuple("Run", "size seconds peak note")  # what one size took; the peak in bytes beyond imports


def measure(name, size):
    """Print seconds and memory of one size, in this process."""
    for each in fs.__all__:
        getattr(fs, each)  # loaded when first used
    held = peak_bytes()
    work = CASES[name].prepare(size)
    begun = time.process_time()
    note = work()
    seconds = time.process_time() - begun
    print(json.dumps([size, seconds, peak_bytes() - held, note if isinstance(note, str) else ""]))


def grow(name, seconds, budget):
    """Larger and larger sizes, as long as the next one is expected to fit: to grow at least as its size does."""
    size, before, steps = CASES[name].start, None, [4.0, 2.0]
    while steps and size <= CASES[name].most and (run := in_process(name, size, seconds, budget)):
        yield run
        slower, larger = (max(1.0, power) for power in exponents(before, run))
        steps = [step for step in steps if run.seconds * step**slower <= seconds and run.peak * step**larger <= budget]
        before, size = run, int(size * steps[0]) if steps else size


def in_process(name, size, seconds, budget):
    """One size in a process of its own; None where it failed, or was ended for what it took."""
    command = [sys.executable, "-c", f"from limits import measure; measure({name!r}, {size})"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": HERE}
    with subprocess.Popen(command, **pipes, env=os.environ | {"PYTHONWARNINGS": "ignore"}) as child:
        limit = time.monotonic() + PATIENCE * seconds
        while child.poll() is None:
            time.sleep(0.05)
            if resident(child.pid) > budget or time.monotonic() > limit:
                child.kill()
                child.wait()
                return None
        output, problem = child.communicate()
    if child.returncode:
        print(f"{name}, {size:,}: {problem.strip().splitlines()[-1] if problem.strip() else child.returncode}")
        return None
    return Run(*json.loads(output.splitlines()[-1]))


def resident(pid):
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:  # it has just ended
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def exponents(before, after):
    """How time and memory grow with the size: 1 where they double when it doubles, or nothing is known."""
    if before is None:
        return 1.0, 1.0
    larger = math.log(after.size / before.size)
    slower = math.log(max(after.seconds, 1e-3) / max(before.seconds, 1e-3)) / larger
    return slower, math.log(max(after.peak, 1) / max(before.peak, 1)) / larger


HEAD = (
    f"{'case':<26}{'what grows':<38}{'largest tried':>14}{'seconds':>9}{'peak GiB':>10}{'bytes each':>12}"
    f"{'in a minute':>14}{'in 24 GiB':>14}"
)


def line(name, runs):
    """The line of the table; runs are of growing size."""
    case = CASES[name]
    if not runs:
        return f"{name:<26}{case.grows:<38}{'none fits':>14}"
    *_, before, last = None, *runs
    slower, larger = exponents(before, last)
    minute = rounded(last.size * (60 / last.seconds) ** (1 / max(slower, 1.0)))
    memory = "same" if larger < 0.1 else rounded(last.size * (MACHINE / last.peak) ** (1 / max(larger, case.power)))
    numbers = f"{last.size:>14,}{last.seconds:>9.1f}{last.peak / GIB:>10.2f}{last.peak / last.size:>12,.0f}"
    return f"{name:<26}{case.grows:<38}{numbers}{minute:>14}{memory:>14}  {last.note}".rstrip()


def rounded(size):
    """Two digits, rounded down: it is a guess."""
    place = 10 ** max(0, math.floor(math.log10(size)) - 1)
    return f"{int(size // place * place):,}"


if __name__ == "__main__":
    chosen = options(__doc__, seconds=60.0, gib=float, only=[])
    print(describe_machine(("faithscope", "numpy", "scipy", "sklearn", "duckdb")))
    budget = int(GIB * chosen.gib if chosen.gib else 0.75 * available())
    print(f"at most {chosen.seconds:g} s and {budget / GIB:.0f} GiB a size; sizes beyond are extrapolated\n")
    print(HEAD)
    for name in CASES:
        if not chosen.only or any(part in name for part in chosen.only):
            print(line(name, list(grow(name, chosen.seconds, budget))), flush=True)
