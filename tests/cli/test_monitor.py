"""faithscope monitor: add and report, their exit status, and what they print."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import typer
from numpy.random import default_rng
from typer.testing import CliRunner

from faithscope.cli import app
from faithscope.cli.monitor import _judge
from faithscope.errors import BadInput
from faithscope.monitor.monitor import Monitor
from refused import refused

STATE = "state.duckdb"
REPORT = f"report --state {STATE}"
ADD = f"add log.parquet --state {STATE} --prediction yhat --explanation leaf --kind keys --when ts --by region"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = default_rng(0)
    leaf = rng.integers(0, 20, 3000)
    moments = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(3000) // 1000, "D")
    wrong = rng.random(3000) < 0.2
    rows = {"leaf": leaf, "yhat": leaf % 2 ^ wrong, "ts": moments, "region": rng.choice(["eu", "u|s"], 3000)}
    pd.DataFrame(rows).to_parquet("log.parquet")


def run(line):
    result = CliRunner().invoke(app, ["monitor", *shlex.split(line)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_examples_in_help_run():
    rng = default_rng(0)
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
        told = " ".join(run(f"{command} --help").stdout.replace("│", " ").split())
        line = re.search(r"Example: faithscope monitor (.+?) (?=Options|Arguments|╭)", told)[1]
        assert run(line).exit_code == 0
    assert Path("page.html").exists()


def test_a_log_is_added_once_and_reported():
    assert "3,000 rows added" in run(f"{ADD} --batch a").output
    assert json.loads(run(f"{ADD} --batch a --json").stdout)["counted"] is False
    result = run(f"{REPORT} --html page.html --summary summary.md")
    assert result.exit_code == 0
    assert "n=3,000" in result.output
    assert "<script src" not in Path("page.html").read_text(encoding="utf-8")
    assert "consistency" in Path("summary.md").read_text(encoding="utf-8")


def test_the_exit_status_tells_an_alarm_and_a_low_limit():
    run(ADD)
    for words, status in (
        ("--at-least 0.5", 0),
        ("--at-least 0.9", 1),
        ("--fail-under 0.5", 0),
        ("--fail-under 0.67", 1),
    ):
        result = run(f"{REPORT} {words}")
        assert result.exit_code == status
        assert ("ALARM" in result.output) == (words == "--at-least 0.9")
        assert ("lower limit" in result.stderr) == (words == "--fail-under 0.67")


def test_json_and_metrics_hold_the_same_numbers():
    run(ADD)
    told = json.loads(run(f"{REPORT} --json --at-least 0.9").stdout)
    lines = run(f"{REPORT} --metrics").stdout.splitlines()
    metrics = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    rows = {group["group"]: group["n"] for group in told["groups"]}
    assert float(metrics["faithscope_monitor_low"]) == told["limits"]["low"]
    assert float(metrics['faithscope_monitor_rows{group="u|s"}']) == rows["u|s"]
    assert told["limits"]["verdict"] == "alarm"
    assert [day["n"] for day in told["days"] if "in" not in day] == [1000] * 3


def test_mistakes_are_one_sentence():
    for line in (
        "report --state none.duckdb",
        f"{REPORT} --json --metrics",
        f"{REPORT} --fail-under 2",
        f"add --state {STATE}",
    ):
        with pytest.raises(BadInput):
            run(line)


def test_a_limit_that_is_doubted_fails_and_one_of_clusters_passes():
    rows = pd.DataFrame(
        {"customer_id": 1_000 + 7 * np.arange(400), "leaf": np.arange(400) % 4, "yhat": np.arange(400) % 2}
    )
    add = "--prediction yhat --explanation leaf --kind keys --when ts"
    for day in (1, 2):
        rows.assign(ts=pd.Timestamp(f"2026-01-{day:02d}")).to_parquet(f"{day}.parquet")
        run(f"add {day}.parquet --state plain.duckdb --batch {day} {add}")
        run(f"add {day}.parquet --state once.duckdb --batch {day} {add} --cluster customer_id")
    doubted = run("report --state plain.duckdb --fail-under 0.5")
    assert (doubted.exit_code, "rows seem to come back: begin another state" in doubted.stderr) == (1, True)
    assert run("report --state plain.duckdb").exit_code == 0
    assert run("report --state once.duckdb --fail-under 0.5").exit_code == 0


def test_a_first_add_that_fails_settles_nothing():
    refused(BadInput, "yhatt", run, ADD.replace("yhat", "yhatt").replace("region", "leaf"))
    assert not Path(STATE).exists()
    assert run(ADD).exit_code == 0


def test_a_settled_reference_is_read_from_the_state():
    assert run(f"{ADD} --reference 1").exit_code == 0
    assert "beside the reference" in run(REPORT).stdout
    refused(BadInput, "begun with other reference", run, f"{ADD} --reference 2")


def test_the_exit_status_is_that_of_alarms_alone_which_share_one_error():
    run(ADD)
    limits = replace(Monitor(STATE, at_least=0.9).limits(), high=0.5)
    assert limits.verdict == "alarm"
    _judge(SimpleNamespace(limits={None: limits}, alarms={}), None)
    with pytest.raises(typer.Exit):
        _judge(SimpleNamespace(limits={None: limits}, alarms={None: ("drop",)}), None)
