"""The scripts of docs/monitor.md for every night do what the page says of them."""

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import pytest
import yaml
from numpy.random import default_rng

pytestmark = pytest.mark.thorough

PAGE = (Path(__file__).parents[2] / "docs" / "monitor.md").read_text()
YESTERDAY = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=1)


def log(n=400):
    """Yesterday's rows, whose explanations say nothing about the prediction."""
    rng = default_rng(0)
    phi = rng.choice([-1.0, 1.0], (n, 3))
    yhat = rng.random(n) < 0.5
    moments = pd.Timestamp(YESTERDAY) + pd.to_timedelta(rng.integers(0, 86_400, n), "s")
    return pd.DataFrame({f"phi_{j}": phi[:, j] for j in range(3)} | {"yhat": yhat.astype(int), "logged_at": moments})


@pytest.fixture
def night(tmp_path):
    """Runs a script in a folder of its own, with this faithscope on its path."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "faithscope"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m faithscope "$@"\n')
    command.chmod(0o755)

    def run(script, **names):
        env = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", **names}
        script = script.replace("/srv/monitor", str(tmp_path))
        return subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )

    return run


def test_the_script_for_cron_exits_with_one_on_an_alarm_and_writes_whole_files(night, tmp_path):
    begin, script = (re.search(rf"```bash\n({word}.*?)```", PAGE, re.S)[1] for word in ("cd /srv/", "set -eu"))
    before = YESTERDAY - datetime.timedelta(days=1)
    moments = {"logged_at": pd.Timestamp(before)}
    log(20).assign(**moments).to_parquet(tmp_path / f"log-{before}.parquet")
    assert night(begin.replace("2026-03-01", str(before))).stdout == f"batch {before}: 20 rows added\n"
    log().to_parquet(tmp_path / f"log-{YESTERDAY}.parquet")
    for _ in range(2):  # again, as after a crash
        result = night(script)
        assert result.returncode == 1, result.stderr
        assert "faithscope_monitor_rows 420\n" in (tmp_path / "faithscope.prom").read_text()
        assert not (tmp_path / "new.prom").exists()
    assert "<html" in (tmp_path / "page.html").read_text()


def test_the_steps_for_github_keep_the_state_before_they_fail(night, tmp_path):
    steps = yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGE, re.S)[1])["jobs"]["monitor"]["steps"]
    uses = [step.get("uses", step.get("run", "")).split("@")[0] for step in steps]
    adds, saves, reports = (
        next(j for j, told in enumerate(uses) if told.startswith(word))
        for word in ("faithscope monitor add", "actions/cache/save", "faithscope monitor report")
    )
    assert adds < saves < reports
    with duckdb.connect(str(tmp_path / "log.duckdb")) as held:
        held.register("rows", log())
        held.execute(
            "CREATE TABLE predictions AS SELECT * FROM rows UNION ALL"
            " SELECT * REPLACE (logged_at + INTERVAL 1 DAY AS logged_at) FROM rows"
        )
    names = {"DATABASE": f"duckdb://{tmp_path / 'log.duckdb'}", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    added = night(steps[adds]["run"], **names)
    assert added.stdout.startswith(f"batch {YESTERDAY}: 400 rows added\n400 of 800 rows"), added.stderr
    assert night(steps[reports]["run"], **names).returncode == 1
    assert "consistency" in (tmp_path / "summary.md").read_text()
