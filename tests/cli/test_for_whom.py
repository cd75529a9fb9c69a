"""The command line finds a region whose reasons are random since March, which groups among themselves do not show."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from typer.testing import CliRunner

from faithscope.cli import app

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text(encoding="utf-8"))
CODES, ROWS = 60, 3000


def log(seed=0):
    """Decisions with a reason code each; the codes of the South are in another order since March."""
    rng = default_rng(seed)
    region = rng.choice(["north", "east", "south", "west"], ROWS)
    date = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 151, ROWS), "D")
    code = rng.zipf(1.4, ROWS) % CODES
    denied = np.where(code % 4 == 0, rng.random(ROWS) < 0.85, rng.random(ROWS) < 0.07)
    random = (region == "south") & (date >= "2026-03-01")
    code[random] = rng.permutation(code[random])
    decision, reason = np.where(denied, "deny", "approve"), [f"R{number}" for number in code]
    return pd.DataFrame({"region": region, "date": date, "decision": decision, "reason": reason})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log().to_csv("log.csv", index=False)


def run(line):
    return CliRunner().invoke(app, f"audit {line} --prediction decision --explanation reason")


@pytest.mark.thorough
def test_the_region_is_named_in_the_terminal_in_json_and_on_the_page():
    line = "log.csv --by region --by-time date --every 1mo"
    printed = run(f"{line} --report r.html").stdout
    assert "consistency by region, beside everybody" in printed
    assert "Lower than the rest: south." in printed
    assert "region × windows of 1mo, beside everybody" in printed
    assert printed.index("beside everybody") < printed.index("among themselves")
    assert "Lower than the rest: south." in Path("r.html").read_text(encoding="utf-8")
    told = json.loads(run(f"{line} --json").stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(told)
    assert told["populations"]["lower"] == ["south"]
    lowest = min(told["windows"]["by"]["groups"], key=lambda each: each["value"])["group"]
    assert lowest[0] == "south"
    assert lowest[1] >= "2026-03"


def test_options_of_one_command_are_known_to_all():
    done = run("log.csv --when date --every 1mo --html page.html --clusters region")
    assert done.exit_code == 0, done.output
    assert Path("page.html").exists()
    assert "--html" not in CliRunner().invoke(app, "monitor report --help").stdout
