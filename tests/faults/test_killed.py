"""Killed in the middle: the next run goes on with the same answer, and nothing half written is ever read back."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.random import default_rng

import faithscope.runtime.files
from faults.children import evaluate, everything, expected, killed, same
from fuzz.outcomes import injected


def slowly(folder):
    """An evaluation whose files take long to write, and whose second file is never whole: every first run is cut."""
    flushed, begun = os.fsync, []

    def slow(number):
        begun.append(number)
        time.sleep(0.004 if len(begun) < 2 else 10)
        flushed(number)

    faithscope.runtime.files.os.fsync = slow  # in a child, which ends with it
    evaluate(folder, 0.002)


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, *(pytest.param(how, marks=pytest.mark.thorough) for how in (signal.SIGTERM, signal.SIGINT))]
)
def test_a_run_killed_again_and_again_ends_with_the_same_answer(tmp_path, how):
    moments = np.sort(default_rng(int(how)).uniform(0.0, 0.08, 12))  # what is whole is not cut again
    cut = 0
    for moment in moments:
        before = everything(tmp_path)
        cut += killed(lambda: slowly(tmp_path), moment, how)
        whole = {name: content for name, content in before.items() if not name.startswith(".")}
        assert whole.items() <= everything(tmp_path).items(), "a kept part was lost"
    assert same(evaluate(tmp_path), expected())
    assert cut > 0
    for _ in range(cut):
        injected(f"killed by {signal.Signals(how).name} while a cache is written")


@pytest.mark.parametrize(
    ("kind", "kills"),
    [("report.html", 2), ("log.parquet", 8), pytest.param("report.html", 8, marks=pytest.mark.thorough)],
)
def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path, kind, kills):
    path = tmp_path / kind
    ev = expected()
    write = ev.to_html if kind == "report.html" else ev.to_parquet
    write(path)
    first = path.read_bytes()

    def again():
        for _ in range(50):
            write(path)

    cut = 0
    for moment in default_rng(1).uniform(0.0, 0.3, kills):
        cut += killed(again, moment)
        if kind == "log.parquet":
            assert pq.read_table(path).num_rows == len(ev.predictions)
        else:
            assert path.read_bytes().rstrip().endswith(b"</html>")
            assert abs(path.stat().st_size - len(first)) < 100
    assert cut > 0
    for _ in range(cut):
        injected(f"killed while a {'log' if kind == 'log.parquet' else 'report'} is written over another")


MODULE = """
import time
from pathlib import Path
import numpy as np

class Slow:
    def explain(self, rows):
        while len(list(Path("kept").glob("explanations-*"))) == 2 and not Path("go").exists():
            time.sleep(0.01)  # until it is interrupted
        return np.round(rows.to_numpy())

system = (lambda X: X["a"].to_numpy() > 0), Slow()
"""


@pytest.mark.thorough
def test_ctrl_c_is_one_line_and_the_next_run_goes_on(tmp_path):
    (tmp_path / "slow_module.py").write_text(MODULE)
    rows = np.round(default_rng(0).normal(size=(3000, 2)), 1)
    np.savetxt(tmp_path / "rows.csv", rows, "%.1f", ",", header="a,b", comments="")
    words = ["evaluate", "--system", "slow_module:system", "--data", "rows.csv", "--json", "--cache"]
    command = [str(Path(sys.executable).parent / "faithscope"), *words]
    how = {"cwd": tmp_path, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    first = subprocess.Popen([*command, "kept"], **how)
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "kept").glob("explanations-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=60)
    assert first.returncode == 130
    assert out == ""
    # On a busy machine the progress of the phase before is told too.
    assert [line for line in err.splitlines() if "rows" not in line and "done in" not in line] == [
        "faithscope: interrupted. With --cache, the next run goes on from here."
    ]
    done = everything(tmp_path / "kept")
    (tmp_path / "go").touch()
    again, whole = (subprocess.run([*command, name], check=True, **how).stdout for name in ("kept", "other"))
    assert done.items() <= everything(tmp_path / "kept").items()
    assert again == whole
    injected("Ctrl-C in the middle of a command")


QUERY = """
import ibis
from faithscope import cli

def interrupted(expression):  # as DuckDB answers Ctrl-C; it does not hear every one
    raise RuntimeError("Query interrupted")

ibis.expr.types.Table.to_pyarrow = interrupted
cli.main()
"""


@pytest.mark.slow
def test_ctrl_c_during_a_query_is_one_line_and_nothing_is_written(tmp_path):
    np.savetxt(tmp_path / "log.csv", np.eye(4), "%.1f", ",", header="a,b,c,y", comments="")
    words = ["audit", "log.csv", "--prediction", "y", "--explanation", "a", "--report", "page.html", "--json"]
    command = [sys.executable, "-c", QUERY, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "faithscope: interrupted.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]
    injected("Ctrl-C in the middle of a query")
