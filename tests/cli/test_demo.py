"""The demo tells only what its numbers show."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app, demo

ROWS = pd.DataFrame({"a": np.tile([0.0, 1.0], 400), "b": np.repeat([0.0, 1.0], 400)})


def model(rows):
    """Decides by a; and by b too."""
    return np.where((rows["a"] > 0) & (rows["b"] > 0), "yes", "no")


def reasons(rows):
    """Names nothing but a, which tells the decision only for those with b = 0."""
    return ["a is 1" if value else "a is 0" for value in rows["a"]]


@pytest.fixture(scope="module")
def comparison():
    return fs.compare(model, {demo.CODES: reasons}, ROWS, by=np.where(ROWS["b"] > 0, "new", "old"))


def test_the_group_that_fails_is_named_only_if_its_interval_lies_lower(comparison):
    codes = comparison[demo.CODES]
    assert not list(demo.for_whom(codes, comparison.populations[demo.CODES]))
    noisy = np.where(np.arange(800) % 3 == 0, "yes", "no")
    predictions = np.where(ROWS["b"] > 0, noisy, "no")
    groups = np.where(ROWS["b"] > 0, "new", "old")
    parted = fs.compare(lambda rows: predictions[: len(rows)], {demo.CODES: reasons}, ROWS, by=groups)
    told = list(demo.for_whom(parted[demo.CODES], parted.populations[demo.CODES]))
    assert told[0] == "For whom does it fail?"
    assert "who are new" in told[-1]


def test_two_rows_are_told_apart_by_what_differs(comparison):
    told = list(demo.two_people(comparison[demo.CODES]))
    assert "the same reasons (a is 1)" in told[1]
    assert set(told[2].split()) == {"yes", "no"}
    assert [line.split()[0] for line in told[3:-1]] == ["b"]
    assert told[-1].strip() == "and alike in all 1 other columns"


@pytest.mark.thorough
def test_the_page_is_opened_only_if_asked(comparison, monkeypatch, tmp_path):
    opened = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "demonstrate", lambda *args, **kwargs: comparison)
    monkeypatch.setattr(demo, "two_people", lambda *args: ["told"])
    monkeypatch.setattr(demo.typer, "launch", lambda address: opened.append(address))
    for options, pages in (([], 0), (["--open"], 1)):
        done = CliRunner().invoke(app, ["demo", *options])
        assert done.exit_code == 0, done.output
        assert "told" in done.output
        assert len(opened) == pages
    assert opened[0].startswith("file:///")
    assert opened[0].endswith("/report.html")
