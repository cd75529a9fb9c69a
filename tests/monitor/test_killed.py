"""A monitor killed in the middle of adding, and written by several processes at once: nothing lost, nothing twice."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.monitor import store
from fuzz.outcomes import injected

DAYS = 12
ADDING = """
import sys
import numpy as np
import faithscope as fs
from faithscope.monitor import compaction
compaction._FEW, compaction.OPEN_DAYS = 0, 2  # so that kills fall into merging too
first, last, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
monitor = fs.Monitor(path)
print("begun", flush=True)
for day in range(first, last):
    rng = np.random.default_rng(day)
    leaf = rng.zipf(1.5, 4000) % 500
    monitor.add(leaf, leaf % 2 ^ (rng.random(4000) < 0.2), when=np.datetime64("2026-01-01") + day, batch=f"day {day}")
"""


def adding(path, first=0, last=DAYS):
    command = [sys.executable, "-c", ADDING, str(first), str(last), str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def expected(days=DAYS):
    parts = []
    for day in range(days):
        rng = np.random.default_rng(day)
        leaf = rng.zipf(1.5, 4000) % 500
        parts.append((leaf, leaf % 2 ^ (rng.random(4000) < 0.2)))
    leaf, yhat = (np.concatenate(column) for column in zip(*parts, strict=True))
    return fs.consistency(leaf, yhat)


def holds_all(path, days=DAYS):
    look, whole = fs.Monitor(path).single_look(), expected(days)
    assert (look.n, look.distinct) == (whole.n, whole.distinct)
    assert np.isclose(look.value, whole.value, rtol=0, atol=1e-12)
    assert fs.Monitor(path).table()["n"].tolist() == [4000] * days


def killed_again_and_again(path, times, seed):
    """Kill whoever adds, at random moments, and begin again; how often it was still at work."""
    moments, cut = np.random.default_rng(seed).uniform(0, 0.8, times), 0
    for moment in moments:
        child = adding(path)
        child.stdout.readline()
        time.sleep(moment)
        os.kill(child.pid, signal.SIGKILL)
        cut += child.wait() != 0
        look = fs.Monitor(path).limits()
        assert look.n % 4000 == 0, "a part of a batch was counted"
    last = adding(path)
    last.communicate()
    assert last.returncode == 0
    return cut


def test_nothing_is_lost_or_counted_twice_if_whoever_adds_is_killed(tmp_path):
    assert killed_again_and_again(tmp_path / "state.duckdb", 3, 0) > 0
    holds_all(tmp_path / "state.duckdb")


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice_in_fifty_kills(tmp_path):
    cut = sum(killed_again_and_again(tmp_path / f"{seed}.duckdb", 10, seed) for seed in range(1, 6))
    for seed in range(1, 6):
        holds_all(tmp_path / f"{seed}.duckdb")
    assert cut >= 25
    for _ in range(cut):
        injected("killed while a monitor adds")


def test_two_processes_that_add_at_once_wait_for_each_other(tmp_path):
    path = tmp_path / "state.duckdb"
    children = [adding(path, 0, 5), adding(path, 3, 8)]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    holds_all(path, 8)


def test_a_state_that_stays_open_elsewhere_is_refused_after_a_while(tmp_path, monkeypatch):
    path = tmp_path / "state.duckdb"
    fs.Monitor(path)
    hold = f"import duckdb, time; held = duckdb.connect({str(path)!r}); print('held', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    try:
        child.stdout.readline()
        monkeypatch.setattr(store, "_PATIENCE", 0.2)
        with pytest.raises(BadInput, match="another process"):
            fs.Monitor(path)
    finally:
        child.kill()
        child.wait()
