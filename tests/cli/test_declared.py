"""The options of a log in a file, which audit, plan and monitor add read alike."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from faithscope.cli import app
from faithscope.errors import BadInput
from refused import refused

TOML = """
prediction = "yhat"
explanation = ["phi_*"]
discretize = "sign"
id = "customer"
time = "day"
nulls = "drop"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"phi_a": [1.0, -1, 2, -2] * 10, "phi_b": [1.0, 1, None, 1] * 10, "yhat": [1, 0, 1, 1] * 10})
    rows = rows.assign(customer=range(40), day=pd.date_range("2026-03-01", periods=40), region=["n", "s"] * 20)
    rows.to_csv("log.csv", index=False)
    (tmp_path / "log.toml").write_text(TOML)


def run(line):
    done = CliRunner().invoke(app, line)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


TYPED = "--prediction yhat --explanation 'phi_*' --discretize sign --nulls drop"


def test_commands_answer_as_if_the_options_were_typed():
    for command in ("audit log.csv --id customer --json", "audit log.csv --by region --json", "plan log.csv --json"):
        assert json.loads(run(f"{command} --log log.toml")) == json.loads(run(f"{command} {TYPED}"))
    added = [
        run(f"monitor add log.csv --batch a --state {number}.duckdb {how}")
        for number, how in enumerate(("--log log.toml", f"{TYPED} --by-time day"))
    ]
    assert added[0] == added[1] != ""


def test_what_is_typed_goes_before_the_file_and_windows_are_asked_for():
    told = json.loads(run("audit log.csv --log log.toml --discretize original --json"))
    assert (told["discretizer"], told["windows"]) == ("Original()", None)
    assert len(json.loads(run("audit log.csv --log log.toml --every 1w --json"))["windows"]["windows"]) > 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("predictions = 'yhat'", "says 'predictions', which is nothing that a log has. .*prediction"),
        ("prediction = 3", "says prediction = 3: write a text"),
        ("prediction = ", "cannot be read .TOMLDecodeError"),
        (None, "No such file"),
        ("clusters = ['a', 'b']", "says clusters = "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(text, words, tmp_path):
    if text is not None:
        (tmp_path / "other.toml").write_text(text)
    refused(BadInput, words, run, "audit log.csv --log other.toml")
