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


def test_a_log_is_audited(log, tmp_path):
    found = run("audit", log, *HOW, "--by", "region", "--by-time", "when", "--report", tmp_path / "r.html")
    assert found.exit_code == 0, found.output
    for said in ("consistency", "north: ", "south: ", "2026-01-01"):
        assert said in found.output
    assert "<html" in (tmp_path / "r.html").read_text()


def test_json_is_all_that_is_printed(log):
    found = json.loads(run("audit", log, *HOW, "--json").stdout)
    assert found["consistency"]["value"] == pytest.approx(1.0)
    assert found["discretizer"] == "Sign()"


def test_the_threshold_is_judged_by_the_lower_limit(log):
    assert run("audit", log, *HOW, "--fail-under", "0.9").exit_code == 0
    assert run("audit", log, *HOW, "--fail-under", "0.999").exit_code == 1


def test_a_plan_says_how_many_rows(log):
    found = run("plan", log, *HOW)
    assert found.exit_code == 0
    assert "unverifiable" in found.output
    assert json.loads(run("plan", log, *HOW, "--json").stdout)["n"] == 300


@pytest.mark.parametrize(
    "words",
    [
        ["audit"],
        ["audit", "--table", "t", *HOW],
        ["audit", "LOG", "--prediction", "nope", "--explanation", "phi_*"],
        ["audit", "LOG", *HOW, "--nulls", "maybe"],
        ["audit", "no-such*.parquet", *HOW],
        ["audit", "--connect", "postgres://u:hunter2@127.0.0.1:1/x", "--table", "t", *HOW],
    ],
)
def test_mistakes_are_one_clear_line(words, log):
    found = run(*(log if word == "LOG" else word for word in words))
    assert isinstance(found.exception, BadInput)
    assert "\n" not in str(found.exception)
    assert "hunter2" not in str(found.exception)


def test_a_mistake_exits_with_2_and_no_traceback(log):
    start = "from faithscope.cli import main; main()"
    made = subprocess.run(
        [sys.executable, "-c", start, "audit", log, "--prediction", "yhta"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 2
    assert made.stderr.count("\n") == 1
    assert "Near it: 'yhat'" in made.stderr
