"""The command line audits a log: 0 good, 1 below the threshold, 2 with one line."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from faithscope.cli import app
from faithscope.errors import BadInput

RNG = np.random.default_rng(2)
VALUES = RNG.normal(size=(300, 3))
LOG = pd.DataFrame(VALUES, columns=["phi_a", "phi_b", "phi_c"]).assign(
    yhat=np.where(VALUES[:, 0] > 0, "yes", "no"),
    region=RNG.choice(["north", "south"], 300),
    when=pd.Timestamp("2026-01-01"),
)
HOW = ["--prediction", "yhat", "--explanation", "phi_*", "--discretize", "sign"]


@pytest.fixture
def log(tmp_path):
    LOG.to_parquet(tmp_path / "log.parquet")
    return str(tmp_path / "log.parquet")


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


@pytest.mark.slow
def test_a_log_is_audited(log, tmp_path):
    done = run("audit", log, *HOW, "--by", "region", "--by-time", "when", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    for words in ("consistency by region", "north", "south", "consistency in windows of 1d", "2026-01-01"):
        assert words in done.output
    assert "<html" in (tmp_path / "r.html").read_text()


def test_json_is_all_that_is_printed(log):
    numbers = json.loads(run("audit", log, *HOW, "--json").stdout)
    assert numbers["consistency"]["value"] == pytest.approx(1.0)
    assert numbers["discretizer"] == "Sign()"


def test_the_threshold_is_judged_by_the_lower_limit(log):
    assert run("audit", log, *HOW, "--fail-under", "0.9").exit_code == 0
    assert run("audit", log, *HOW, "--fail-under", "0.999").exit_code == 1


def test_every_population_is_judged_and_whoever_fails_is_named(log, tmp_path):
    done = run("audit", log, *HOW, "--by", "region", "--fail-under", "0.95")
    lows = json.loads(run("audit", log, *HOW, "--by", "region", "--json").stdout)["populations"]["groups"]
    failed = sorted(group["group"] for group in lows if group["low"] < 0.95)
    lines = [line for line in done.stderr.splitlines() if "was not shown to be at least 0.95" in line]
    assert failed
    assert sorted(line.split("region ")[1].split(":")[0] for line in lines) == failed
    assert all(line.startswith(f"{log}, region ") and ": consistency was not" in line for line in lines)
    assert done.exit_code == 1
    assert run("audit", log, *HOW, "--fail-under", "0.95").exit_code == 0


def test_sufficiency_is_judged_too(tmp_path):
    # Each label has a rule of its own, and both apply everywhere.
    labels = np.arange(300) % 2
    path = tmp_path / "rules.parquet"
    pd.DataFrame({"yhat": labels, "why": [f"a >= {-y}" for y in labels], "a": 1.0}).to_parquet(path)
    words = ("audit", path, "--prediction", "yhat", "--explanation", "why", "--kind", "rules", "--fail-under", "0.9")
    done = run(*words)
    assert done.exit_code == 1
    assert f"{path}: sufficiency was not shown to be at least 0.9: its lower limit is 0.4" in done.stderr
    assert run(*words, "--measure", "consistency").exit_code == 0
    assert run(*words, "--measure", "sufficiency").exit_code == 1


def test_a_plan_says_how_many_rows(log):
    done = run("plan", log, *HOW)
    assert done.exit_code == 0
    assert "unverifiable" in done.output
    assert json.loads(run("plan", log, *HOW, "--json").stdout)["n"] == 300


@pytest.mark.parametrize(
    "words",
    [
        ["audit"],
        ["audit", "--table", "t", *HOW],
        ["audit", "LOG", "--prediction", "nope", "--explanation", "phi_*"],
        ["audit", "LOG", *HOW, "--nulls", "maybe"],
        ["audit", "LOG", *HOW, "--measure", "sufficiency"],
        ["audit", "LOG", *HOW, "--measure", "sufficiency", "--fail-under", "0.9"],
        ["audit", "LOG", *HOW, "--measure", "maybe", "--fail-under", "0.9"],
        ["audit", "no-such*.parquet", *HOW],
        ["audit", "--connect", "postgres://u:hunter2@127.0.0.1:1/x", "--table", "t", *HOW],
    ],
)
def test_mistakes_are_one_clear_line(words, log):
    done = run(*(log if word == "LOG" else word for word in words))
    assert isinstance(done.exception, BadInput)
    assert "\n" not in str(done.exception)
    assert "hunter2" not in str(done.exception)


@pytest.mark.slow
def test_a_mistake_exits_with_2_and_no_traceback(log):
    start = "from faithscope.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", start, "audit", log, "--prediction", "yhta"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Did you mean 'yhat'" in done.stderr


def test_a_measure_that_got_worse_is_said_on_standard_error(tmp_path):
    rows = pd.DataFrame({"leaf": [1, 2] * 150})
    rows.assign(y=[0, 1] * 150).to_parquet(tmp_path / "last.parquet")
    rows.assign(y=RNG.integers(0, 2, 300)).to_parquet(tmp_path / "this.parquet")
    words = ("--prediction", "y", "--explanation", "leaf", "--fail-if-worse", "--reference")
    done = run("audit", tmp_path / "this.parquet", *words, tmp_path / "last.parquet")
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert "consistency is lower than that of" in done.stderr
    better = run("audit", tmp_path / "last.parquet", *words, tmp_path / "this.parquet")
    assert (better.exit_code, better.stderr) == (0, "")
