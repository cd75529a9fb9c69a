"""faithscope monitor: add and report, their exit status, and what they print."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from faithscope.cli import app
from faithscope.errors import BadInput

HOW = ["--prediction", "yhat", "--explanation", "leaf", "--kind", "keys", "--when", "ts", "--by", "region"]


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    leaf = rng.integers(0, 20, 3000)
    moments = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(3000) // 1000, "D")
    wrong = rng.random(3000) < 0.2
    rows = {"leaf": leaf, "yhat": leaf % 2 ^ wrong, "ts": moments, "region": rng.choice(["eu", "u|s"], 3000)}
    pd.DataFrame(rows).to_parquet("log.parquet")
    return "state.duckdb"


def run(*words):
    result = CliRunner().invoke(app, ["monitor", *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_examples_in_help_run(state):
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], (2000, 2))
    rows = {
        "yhat": signs[:, 0],
        "phi_a": signs[:, 0],
        "phi_b": signs[:, 1],
        "region": "eu",
        "logged_at": pd.Timestamp("2026-01-01"),
    }
    pd.DataFrame(rows).to_parquet("today.parquet")
    for command in ("add", "report"):
        told = " ".join(run(command, "--help").stdout.replace("│", " ").split())
        words = shlex.split(re.search(r"Example: faithscope monitor (.+?) (?=Options|Arguments|╭)", told)[1])
        assert run(*words).exit_code == 0
    assert Path("page.html").exists()


def test_a_log_is_added_once_and_reported(state):
    assert "3,000 rows added" in run("add", "log.parquet", "--state", state, *HOW, "--batch", "a").output
    again = run("add", "log.parquet", "--state", state, *HOW, "--batch", "a", "--json")
    assert json.loads(again.stdout)["counted"] is False
    result = run("report", "--state", state, "--html", "page.html", "--summary", "summary.md")
    assert result.exit_code == 0
    assert "n=3,000" in result.output
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "consistency" in Path("summary.md").read_text(encoding="utf-8")


def test_the_exit_status_tells_an_alarm_and_a_low_limit(state):
    run("add", "log.parquet", "--state", state, *HOW)
    assert run("report", "--state", state, "--at-least", "0.5").exit_code == 0
    alarm = run("report", "--state", state, "--at-least", "0.9")
    assert alarm.exit_code == 1
    assert "ALARM" in alarm.output
    low = run("report", "--state", state, "--fail-under", "0.5")
    assert low.exit_code == 0
    low = run("report", "--state", state, "--fail-under", "0.67")
    assert low.exit_code == 1
    assert "lower limit" in low.stderr


def test_json_and_metrics_hold_the_same_numbers(state):
    run("add", "log.parquet", "--state", state, *HOW)
    told = json.loads(run("report", "--state", state, "--json", "--at-least", "0.9").stdout)
    lines = run("report", "--state", state, "--metrics").stdout.splitlines()
    metrics = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(metrics["faithscope_monitor_low"]) == told["limits"]["low"]
    assert float(metrics['faithscope_monitor_rows{group="u|s"}']) == next(
        group["n"] for group in told["groups"] if group["group"] == "u|s"
    )
    assert told["limits"]["verdict"] == "alarm"
    assert [day["n"] for day in told["days"] if "in" not in day] == [1000] * 3


def test_mistakes_are_one_sentence(state):
    for words in (
        ["report", "--state", "none.duckdb"],
        ["report", "--state", state, "--json", "--metrics"],
        ["report", "--state", state, "--fail-under", "2"],
        ["add", "--state", state],
    ):
        with pytest.raises(BadInput):
            run(*words)
