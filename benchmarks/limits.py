"""How large an input may be: seconds and memory as rows, features, labels, rules or words grow.

    nice -n 19 python benchmarks/limits.py                      # an hour; every case grows until a minute or the budget
    nice -n 19 python benchmarks/limits.py --seconds 30 --gib 14
    python benchmarks/limits.py --only within --only labels     # the cases whose name holds one of these

`seconds` are of processor time, of all threads together, so that another job on the machine does not count; where both
cores are used, the clock shows as little as half. Every size runs in a process of its own, whose memory is looked at
while it runs: one that outgrows the budget is ended. `peak` is the most that the process held, less what it held after
its imports; the input itself is included, since whoever measures has to hold it too. `bytes` is that for each of what
grows. A case grows fourfold, then twofold, until the next size is expected to take more than the time or the budget.
The last two sizes give an exponent each for time and for memory, taken as 1 at least, from which the largest size in a
minute and the largest in 24 GiB follow; `same` stands where memory does not grow.
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


def numbers(n, d=D):
    return default_rng(0).standard_normal((n, d))


def labels(n, many=2):
    return default_rng(1).integers(many, size=n)


def named(what, n, many):
    return [f"{what} {code}" for code in labels(n, many).tolist()]


COLUMNS = 20  # of rows that have rules
THRESHOLDS = np.linspace(-1.35, 1.35, 10)  # of every column, about its tenths; above or not: 400 conditions in all
written = partial(fs.Rules.from_conditions, features=range(COLUMNS))


def ruled(rows, rules, width):
    """Rows, their seven labels, the conditions of so many rules, and the number of the rule that each row is given.

    The first rows are given rule 0, 1, …, which hold there, as anchors do; others one that covers them, if tries find
    it.
    """
    random = default_rng(1)  # by which no two of 20,000 rules are equal
    X = np.asfortranarray(random.standard_normal((rows, COLUMNS)))
    total = X[:, 0] + X[:, 1] + X[:, 2]
    label = np.searchsorted(np.quantile(total, np.arange(1, 7) / 7), total)
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


def under_rules(rows, rules):
    """Rules of three conditions."""
    X, predicted, conditions, given = ruled(rows, rules, 3)
    return partial(fs.sufficiency, written(conditions).take(given), predicted, X)


def rounded_rows(n, d=D):
    return partial(fs.consistency, numbers(n, d), labels(n), discretizer=fs.Floor(1))


def apart(n):
    return partial(fs.within, numbers(n), labels(n), 3.0)


def highlighted(n, words=10_000):
    """Documents of 20 words, of which the first is highlighted."""
    drawn = (default_rng(3).zipf(1.3, size=(n, 20)) % words).tolist()
    documents = [" ".join(f"w{word}" for word in row) for row in drawn]
    given = [[f"w{row[0]}"] for row in drawn]
    predicted = labels(n)
    return lambda: fs.sufficiency(fs.Highlights(given), predicted, documents)


def changed(n):
    X = numbers(n)
    return partial(fs.sufficiency, fs.Counterfactuals(X + 0.5, X), labels(n), X)


def compared(many):
    given = {f"e{j}": np.round(default_rng(j).standard_normal((10**5, D)), 1) for j in range(many)}
    return partial(fs.compare, labels(10**5), given, np.zeros((10**5, 1)), progress=False)


def first_positive(X):
    return np.asarray(X)[:, 0] > 0


def making(explainer, train, rows, **how):
    """An explainer is made, of some training rows, and asked about others."""
    known, X = numbers(train), numbers(rows)
    return lambda: explainer(first_positive, known, **how).explain(X)


shap = partial(making, explainers.Shap, 10, output="margin", algorithm="permutation")


def report(n):
    evaluation = fs.evaluate(labels(n), numbers(n), numbers(n, 4), progress=False)

    def write():
        with tempfile.TemporaryDirectory() as folder:
            evaluation.to_html(Path(folder) / "report.html")
            return f"the report has {(Path(folder) / 'report.html').stat().st_size / 1e3:,.0f} kB"

    return write


CASES = {
    "consistency, rows": Case(f"rows of {D} numbers, Floor(1)", 10**6, rounded_rows),
    "consistency, texts": Case(
        "rows, texts as keys and labels",
        10**5,
        lambda n: partial(fs.consistency, named("leaf", n, n // 10), named("class", n, 20)),
    ),
    "consistency, features": Case(
        "features of 1,000 rows, Floor(1)",
        10**4,
        lambda d: rounded_rows(1000, d),
    ),
    "consistency, labels": Case(
        "labels, one for every two rows; 1,000 keys",
        10**6,
        lambda n: partial(fs.consistency, labels(n, 1000), np.arange(n) // 2),
    ),
    "sufficiency, rows": Case("rows; 1,000 rules, 7 labels", 10**5, lambda n: under_rules(n, 1000)),
    "sufficiency, rules": Case("rules; 100,000 rows, 7 labels", 10**3, lambda rules: under_rules(10**5, rules), 10**5),
    "highlights, documents": Case("documents of 20 words of 10,000", 10**4, highlighted),
    "counterfactuals": Case(f"rows of {D} numbers, a ball each", 2000, changed),
    "within, rows": Case(f"vectors of {D} numbers, tau = 3", 5000, apart),
    "compare": Case(f"explainers; 100,000 rows of {D} numbers", 4, compared),
    "Shap, rows": Case(f"rows of {D} features, background 10", 1000, shap),
    "Lime, rows": Case(f"rows of {D} features, 5,000 draws", 100, lambda n: making(explainers.Lime, 1000, n)),
    "Anchors, training rows": Case(
        f"training rows of {D}; 100 explained", 10**4, lambda n: making(explainers.Anchors, n, 100)
    ),
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
    memory = "same" if larger < 0.1 else rounded(last.size * (MACHINE / last.peak) ** (1 / max(larger, 1.0)))
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
