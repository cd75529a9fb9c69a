"""A monitor killed in the middle of adding, and written by several processes at once: nothing lost, nothing twice."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.monitor import store
from refused import refused

DAYS = 12
POINTS = ["adding:_insert", "adding:registered", "adding:_pair", "adding:pair", "adding:insert", "store:_checkpoint"]
ADDING = """
import importlib
import os
import signal
import sys
# What is imported here, no child imports again; fs.Monitor would be imported when it is first used.
import duckdb, numpy as np, pandas, pyarrow, pyarrow.pandas_compat
from faithscope.monitor.monitor import Monitor

def dies(module, name):
    module = importlib.import_module("faithscope.monitor." + module)
    call, calls = getattr(module, name), []

    def last(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)

    setattr(module, name, last)

def add(path, days, point):
    monitor = Monitor(path)
    print("begun", flush=True)
    if point:
        dies(*point.split(":"))
    for day in days:
        rng = np.random.default_rng(day)
        leaf = rng.zipf(1.5, 4000) % 500
        yhat = leaf % 2 ^ (rng.random(4000) < 0.2)
        monitor.add(leaf, yhat, when=np.datetime64("2026-01-01") + day, batch=f"day {day}")

for line in sys.stdin:
    first, last, point, path = line.rstrip("\\n").split(" ", 3)
    child = os.fork()
    if not child:
        status = 1
        try:
            add(path, range(int(first), int(last)), point)
            status = 0
        finally:
            os._exit(status)
    if sys.stdin.readline() == "kill\\n":
        os.kill(child, signal.SIGKILL)  # nobody has waited for it yet, so the number is still its own
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Adder:
    """A process that has imported the package, and forks whenever rows are to be added: only children are killed."""

    def __enter__(self):
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", ADDING], **pipe, text=True)
        return self

    def __exit__(self, *failure):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait()
        self.process.stdout.close()

    def begin(self, path, first=0, last=DAYS, point=""):
        """Let a child add these days, and die when it comes to the point for the second time."""
        self._say(f"{first} {last} {point} {path}")
        assert self.process.stdout.readline() == "begun\n"

    def end(self, how="wait"):
        """Kill the child or wait for it; its exit status, negative if it was killed."""
        self._say(how)
        return int(self.process.stdout.readline())

    def _say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()


def holds_all(path, days=DAYS):
    parts = []
    for day in range(days):
        rng = default_rng(day)
        leaf = rng.zipf(1.5, 4000) % 500
        parts.append((leaf, leaf % 2 ^ (rng.random(4000) < 0.2)))
    look, whole = fs.Monitor(path).single_look(), fs.consistency(*map(np.concatenate, zip(*parts, strict=True)))
    assert (look.n, look.distinct) == (whole.n, whole.distinct)
    assert np.isclose(look.value, whole.value, rtol=0, atol=1e-12)
    assert fs.Monitor(path).table()["n"].tolist() == [4000] * days


def killed_again_and_again(adder, path, kills):
    """Kill whoever adds, at points or moments, and begin again until all is added; how often it was still at work."""
    cut = days = 0
    for kill in kills:
        named = isinstance(kill, str)
        adder.begin(path, max(0, days - 1), point=kill if named else "")  # one day again that was added before
        time.sleep(0 if named else kill)
        cut += (status := adder.end("wait" if named else "kill")) == -signal.SIGKILL
        assert status == -signal.SIGKILL or (status == 0 and not named)
        days, part = divmod(fs.Monitor(path).limits().n, 4000)
        assert part == 0, "a part of a batch was counted"
        assert days <= DAYS, "a batch was counted twice"
    adder.begin(path)
    assert adder.end() == 0
    holds_all(path)
    return cut


@pytest.mark.thorough
def test_nothing_is_lost_or_counted_twice_if_whoever_adds_is_killed(tmp_path):
    with Adder() as adder:
        assert killed_again_and_again(adder, tmp_path / "state.duckdb", POINTS) == len(POINTS)


@pytest.mark.thorough
def test_two_processes_that_add_at_once_wait_for_each_other(tmp_path):
    path = tmp_path / "state.duckdb"
    with Adder() as one, Adder() as other:
        one.begin(path, 0, 5)
        other.begin(path, 3, 8)
        assert (one.end(), other.end()) == (0, 0)
    holds_all(path, 8)


def test_a_state_that_stays_open_elsewhere_is_refused_after_a_while(tmp_path, monkeypatch):
    path = tmp_path / "state.duckdb"
    fs.Monitor(path)
    hold = f"import duckdb, time; held = duckdb.connect({str(path)!r}); print('held', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    try:
        child.stdout.readline()
        monkeypatch.setattr(store, "_PATIENCE", 0.2)
        refused(BadInput, "another process", fs.Monitor, path)
    finally:
        child.kill()
        child.wait()
