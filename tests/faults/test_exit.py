"""Processes that only read a cache end as they should, however busy the machine is.

A thread of a native library that outlives its work, and lets go of something of Python's while Python ends, aborts
the process. Arrow's reader of whole tables starts such threads, so the cache reads without it.
"""

import json
import os
import subprocess
import sys

import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.evaluation.cache import Cache
from fuzz.outcomes import injected

TIMES = int(os.environ.get("FAITHSCOPE_EXITS", "40"))

# Children are forked by a process that has imported everything, so that a few hundred take no more than minutes. Each
# ends as a program ends: Python is taken down, then what native libraries hold.
CHILDREN = """
import json, os, sys
from pathlib import Path
import numpy as np
import faithscope as fs
import pyarrow.parquet
from faithscope.evaluation.cache import Cache

folder, times, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = np.random.default_rng(0).normal(size=(400, 3))

class Rounded:
    def explain(self, rows):
        assert not Path(folder, "warm").exists(), "explained again"
        return np.round(rows)

def evaluate(cache):
    return fs.evaluate(lambda X: X[:, 0] > 0, Rounded(), rows, cache=cache, progress=False)

evaluate(Cache(folder, rows=50))  # writes, and imports what is imported on first use
Path(folder, "warm").touch()
statuses, running = [], 0
for _ in range(times + at_once):
    if running == at_once or (running and len(statuses) + running == times):
        statuses.append(os.waitstatus_to_exitcode(os.wait()[1]))
        running -= 1
    if len(statuses) + running < times:
        if os.fork() == 0:
            evaluate(Cache(folder, rows=50))
            break
        running += 1
else:
    print(json.dumps(statuses))
"""


@pytest.mark.thorough
def test_every_child_that_reads_a_cache_ends_well_on_a_busy_machine(tmp_path):
    at_once = 2 * (os.cpu_count() or 1) + 2
    command = [sys.executable, "-c", CHILDREN, str(tmp_path), str(TIMES), str(at_once)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * TIMES)
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout)
    assert statuses == [0] * TIMES, done.stderr
    for _ in statuses:
        injected("a process ends on a busy machine after it read a cache")


THREADS = """
import os, sys
import numpy as np
import pyarrow.parquet
from faithscope.evaluation.cache import Cache
from faithscope.explanations.arrow import from_arrow

before = len(os.listdir("/proc/self/task"))
for path in Cache(sys.argv[1]).folder.iterdir():
    what, key, _ = path.stem.split("-")
    from_arrow(Cache(sys.argv[1]).read(what, key))
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted where the system lists them")
def test_reading_a_cache_starts_no_thread(tmp_path):
    rows = default_rng(0).normal(size=(60, 3))

    def predict(given):
        return given[:, 0] > 0

    explainers = {
        "importances": lambda given: given,
        "tree": fs.explainers.TreePath.surrogate(predict, rows, max_leaf_nodes=4),
        "neighbors": fs.explainers.NearestNeighbors(rows[:20], k=2),
        "counterfactuals": fs.explainers.Counterfactual(predict, rows),
    }
    fs.compare(predict, explainers, rows, cache=Cache(tmp_path, rows=25), progress=False)
    done = subprocess.run([sys.executable, "-c", THREADS, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"
