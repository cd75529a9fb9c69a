"""--summary appends Markdown, whatever the exit status; advice names options that can be typed."""

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.test_audit import HOW, LOG
from faithscope.cli import app
from faithscope.errors import BadInput
from faithscope.measures.telling.rounding import down, up

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text(encoding="utf-8"))
SYSTEM = """
def model(rows):
    return (rows["a"] > 0).to_numpy()

def sign(rows):
    return (rows["a"] > 0.1).tolist()

system = model, {"sign": sign}
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


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


EVALUATE = ("evaluate", "--system", "summary_system:system", "--data", "rows.parquet")


@pytest.mark.slow
def test_a_summary_is_appended_and_the_status_stays():
    Path("s.md").write_text("before", encoding="utf-8")
    for threshold, status in (("0.9", 0), ("0.999", 1)):
        done = run("audit", "log.parquet", *HOW, "--fail-under", threshold, "--summary", "s.md")
        assert done.exit_code == status
    text = Path("s.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### How faithful are the explanations in log.parquet?\n")
    assert text.count("### How faithful") == 2
    assert "| log.parquet | Sign() | consistency | 1.000 |" in text


def test_the_summary_beside_json_leaves_json_alone():
    done = run("audit", "log.parquet", *HOW, "--by", "region", "--json", "--summary", "s.md")
    told = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    (group, _) = told["populations"]["groups"]
    assert f"{down(group['low'])}–{up(group['high'])}" in Path("s.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_evaluate_and_plan_have_summaries_too():
    assert run(*EVALUATE, "--summary", "s.md").exit_code == 0
    assert run("plan", "log.parquet", *HOW, "--summary", "s.md").exit_code == 0
    text = Path("s.md").read_text(encoding="utf-8")
    assert "### How faithful are the explanations of summary\\_system:system?" in text
    assert "### How many rows are enough?" in text
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(run(*EVALUATE, "--json").stdout))
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(run("plan", "log.parquet", *HOW, "--json").stdout))


@pytest.mark.parametrize(
    ("path", "words"),
    [("", "only GitHub Actions sets"), (" ", "names no file"), ("no/s.md", "No such file"), (".", "Is a")],
)
@pytest.mark.parametrize("command", [("audit", "nowhere.parquet"), ("plan", "nowhere.parquet"), EVALUATE])
def test_a_summary_that_cannot_be_written_is_refused_before_anything_is_read(path, words, command):
    done = run(*command, "--summary", path)
    assert isinstance(done.exception, BadInput)
    assert words in str(done.exception)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("audit", "again.parquet", *HOW), EVALUATE])
def test_advice_on_repeated_rows_can_be_typed(command):
    done = run(*command, "--report", "r.html", "--summary", "s.md")
    assert done.exit_code == 0, done.output
    written = [" ".join(done.output.split()), Path("r.html").read_text("utf-8"), Path("s.md").read_text("utf-8")]
    for text in written:
        assert "Read with care:" in text
        assert "--cluster" in text
        assert "clusters=" not in text
    drop = () if command[0] == "audit" else ("--drop", "customer")
    advised = run(*command, "--cluster", "customer", *drop)
    assert advised.exit_code == 0
    assert "Read with care" not in advised.output


def test_a_wrong_interval_is_answered_in_the_words_of_the_command_line():
    done = run("audit", "log.parquet", *HOW, "--interval", "bootstrap")
    assert isinstance(done.exception, BadInput)
    assert str(done.exception) == (
        "--interval must be one of tight, jackknife, mcdiarmid, any; got 'bootstrap'. Without it: tight."
    )
