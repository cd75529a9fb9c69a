"""The command line audits a log of labels or numbers: 0 good, 1 below the threshold, 2 with one line; summaries."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput

RNG = default_rng(2)
VALUES = RNG.normal(size=(300, 3))
LEAF = RNG.integers(0, 6, 300)
LOG = pd.DataFrame(VALUES, columns=["phi_a", "phi_b", "phi_c"]).assign(
    yhat=np.where(VALUES[:, 0] > 0, "yes", "no"),
    region=RNG.choice(["north", "south"], 300),
    when=pd.Timestamp("2026-01-01"),
    leaf=LEAF,
    number=LEAF + 0.2 * RNG.normal(size=300),
    other=RNG.normal(size=300),
)
AUDIT = "audit log.parquet --prediction yhat --explanation phi_* --discretize sign"
PLAN = AUDIT.replace("audit", "plan", 1)
NUMBERS = "audit log.parquet --prediction number --explanation leaf --kind keys"
EVALUATE = "evaluate --system summary_system:system --data rows.parquet"
SYSTEM = """
import numpy as np

def model(rows):
    return (rows["a"] > 0).to_numpy()

def sign(rows):
    return (rows["a"] > 0.1).tolist()

def predict(rows):
    return np.asarray(rows)[:, 0] + 0.1 * np.asarray(rows)[:, 1]

def bins(rows):
    return [f"bin {round(float(x))}" for x in np.asarray(rows)[:, 0]]

system = model, {"sign": sign}
regressor = predict, {"bins": bins}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a log, a log of repeated rows, rows and a system."""
    monkeypatch.chdir(tmp_path)
    LOG.to_parquet("log.parquet")
    again = pd.concat([LOG, LOG], ignore_index=True)
    again.assign(customer=[*range(300)] * 2).to_parquet("again.parquet")
    rows = pd.DataFrame({"a": LOG["phi_a"], "b": LOG["phi_b"]})
    pd.concat([rows, rows]).assign(customer=[*range(300)] * 2).to_parquet("rows.parquet")
    Path("summary_system.py").write_text(SYSTEM)
    return tmp_path


def run(line):
    return CliRunner().invoke(app, shlex.split(line))


def told(line):
    """What a command says as JSON, and nothing else."""
    done = run(f"{line} --json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("line", [AUDIT, f"{NUMBERS} --agreement close:0.5"])
def test_a_log_is_audited(line):
    done = run(f"{line} --by region --by-time when --report r.html")
    assert done.exit_code == 0, done.output
    for said in ("consistency by region", "north", "south", "consistency in windows of 1d", "2026-01-01"):
        assert said in done.output
    assert "<html" in Path("r.html").read_text()


def test_json_is_all_that_is_printed_and_a_plan_says_how_many_rows():
    numbers = told(AUDIT)
    assert numbers["consistency"]["value"] == pytest.approx(1.0)
    assert numbers["discretizer"] == "Sign()"
    assert "unverifiable" in run(PLAN).output
    for line in (PLAN, NUMBERS.replace("audit", "plan", 1) + " --agreement close:0.5"):
        assert told(line)["n"] == 300


@pytest.mark.parametrize("word", ["spread", "close:0.5", "tolerance:0.5"])
def test_a_word_names_how_numbers_are_compared(word):
    agreement = {"spread": fs.Spread(), "close:0.5": fs.Close(0.5), "tolerance:0.5": fs.Tolerance(0.5)}[word]
    said = told(f"{NUMBERS} --agreement {word} --by region --by-time when")
    assert said["agreement"] == repr(agreement)
    expected = fs.consistency(LEAF.tolist(), LOG.number, agreement=agreement)
    for name in ("value", "low", "high", "chance", "unverifiable"):
        assert said["consistency"][name] == pytest.approx(getattr(expected, name), abs=1e-9)
    groups = fs.consistency(LEAF.tolist(), LOG.number, agreement=agreement, by=LOG.region)
    for told_groups, known in ((said["populations"], groups), (said["populations"]["among"], groups.among)):
        for group in told_groups["groups"]:
            assert group["value"] == pytest.approx(known[group["group"]].value, abs=1e-9)


def test_several_predictions_are_several_outputs():
    said = told(f"{NUMBERS} --prediction other --agreement spread")["consistency"]
    expected = fs.consistency(LEAF.tolist(), LOG[["number", "other"]].to_numpy(), agreement=fs.Spread())
    assert said["value"] == pytest.approx(expected.value, abs=1e-9)


def test_the_threshold_is_judged_by_the_lower_limit():
    low = fs.consistency(LEAF.tolist(), LOG.number, agreement=fs.Spread()).low
    spread = f"{NUMBERS} --agreement spread"
    for line, limit, status in ((AUDIT, 0.9, 0), (AUDIT, 0.999, 1), (spread, low - 0.01, 0), (spread, low + 0.001, 1)):
        assert run(f"{line} --fail-under {limit}").exit_code == status


def test_every_population_is_judged_and_whoever_fails_is_named():
    done = run(f"{AUDIT} --by region --fail-under 0.95")
    lows = told(f"{AUDIT} --by region")["populations"]["groups"]
    failed = sorted(group["group"] for group in lows if group["low"] < 0.95)
    lines = [line for line in done.stderr.splitlines() if "was not shown to be at least 0.95" in line]
    assert failed
    assert sorted(line.split("region ")[1].split(":")[0] for line in lines) == failed
    assert all(line.startswith("log.parquet, region ") and ": consistency was not" in line for line in lines)
    assert done.exit_code == 1
    assert run(f"{AUDIT} --fail-under 0.95").exit_code == 0


NOWHERE = ["audit nowhere.parquet", "plan nowhere.parquet", EVALUATE]
UNWRITABLE = {"''": "only GitHub Actions sets", "' '": "names no file", "no/s.md": "No such file", ".": "Is a"}
MISTAKES = [
    ("audit", ""),
    (AUDIT.replace("log.parquet", "--table t"), ""),
    (f"{AUDIT} --prediction nope", ""),
    (f"{AUDIT} --nulls maybe", ""),
    (f"{AUDIT} --measure sufficiency", ""),
    (f"{AUDIT} --measure sufficiency --fail-under 0.9", ""),
    (AUDIT.replace("log.parquet", "no-such*.parquet"), ""),
    (AUDIT.replace("log.parquet", "--connect postgres://u:hunter2@127.0.0.1:1/x --table t"), ""),
    (NUMBERS, "--agreement spread"),
    (f"{NUMBERS} --agreement near", "No agreement is called 'near'"),
    (f"{NUMBERS} --prediction other", "one column; got 2"),
    # Before anything is read.
    *((f"{line} --summary {path}", words) for line in NOWHERE for path, words in UNWRITABLE.items()),
]


@pytest.mark.parametrize(("line", "message"), MISTAKES)
def test_mistakes_are_one_clear_line(line, message):
    done = run(line)
    assert isinstance(done.exception, BadInput)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert "hunter2" not in str(done.exception)


@pytest.mark.slow
def test_a_mistake_exits_with_2_and_no_traceback():
    start = "from faithscope.cli import main; main()"
    words = [sys.executable, "-c", start, "audit", "log.parquet", "--prediction", "yhta"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Did you mean 'yhat'" in done.stderr


def test_a_measure_that_got_worse_is_said_on_standard_error():
    rows = pd.DataFrame({"leaf": [1, 2] * 150})
    rows.assign(y=[0, 1] * 150).to_parquet("last.parquet")
    rows.assign(y=RNG.integers(0, 2, 300)).to_parquet("this.parquet")
    how = "--prediction y --explanation leaf --fail-if-worse --against"
    done = run(f"audit this.parquet {how} last.parquet")
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert "consistency is lower than that of" in done.stderr
    better = run(f"audit last.parquet {how} this.parquet")
    assert (better.exit_code, better.stderr) == (0, "")


def test_a_summary_is_appended_and_the_status_stays():
    Path("s.md").write_text("before", encoding="utf-8")
    for threshold, status in (("0.9", 0), ("0.999", 1)):
        assert run(f"{AUDIT} --fail-under {threshold} --summary s.md").exit_code == status
    text = Path("s.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### How faithful are the explanations in log.parquet?\n")
    assert text.count("### How faithful") == 2
    assert "| log.parquet | Sign() | consistency | 1.000 |" in text


@pytest.mark.parametrize("command", [AUDIT.replace("log", "again"), f"{EVALUATE} --drop customer"])
def test_advice_on_repeated_rows_can_be_typed(command):
    done = run(f"{command} --report r.html --summary s.md")
    assert done.exit_code == 0, done.output
    for text in (" ".join(done.output.split()), Path("r.html").read_text("utf-8"), Path("s.md").read_text("utf-8")):
        assert "Read with care:" in text
        assert "--cluster" in text
        assert "clusters=" not in text
    advised = run(f"{command} --cluster customer")
    assert advised.exit_code == 0
    assert "Read with care" not in advised.output
