"""Progress: nothing for short work, a line now and then in logs, a bar on terminals, never a change of answers."""

import time

import numpy as np
import pytest

import faithscope as fs
from faithscope import progress
from faithscope.progress import Watch


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.02)
    monkeypatch.setattr(progress, "_BETWEEN", 0.0)


def test_short_work_is_not_worth_a_word(capsys):
    with Watch().phase("explaining", 10) as step:
        step(10, 10)
    assert capsys.readouterr().err == ""


def test_long_work_is_told_in_a_log(impatient, capsys):
    with Watch().phase("explaining", 1000) as step:
        time.sleep(0.3)
        step(500, 1000)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "explaining: 1,000 rows"
    assert lines[1] == "explaining: 500 of 1,000 rows"
    assert lines[-1] == "explaining: done in 0 s"


def test_work_that_never_tells_how_far_it_is_is_shown_too(impatient, capsys):
    with Watch().phase("measuring", 5):
        time.sleep(0.3)
    assert capsys.readouterr().err.splitlines() == ["measuring: 5 rows", "measuring: done in 0 s"]


def test_nothing_is_shown_where_nothing_is_wanted(impatient, capsys):
    with Watch(progress=False).phase("explaining", 5):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_bar_shows_names_as_they_are(impatient, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_display", progress.Bar)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Watch().phase("explaining with [red]x[/red]", 4) as step:
        time.sleep(0.3)
        step(2, 4)
    assert "[red]x[/red]" in capsys.readouterr().err


def test_a_function_is_told_every_phase():
    told = []
    X = np.random.default_rng(0).normal(size=(40, 2))
    fs.evaluate(
        lambda rows: rows[:, 0] > 0,
        fs.explainers.Lime(lambda rows: np.clip(rows[:, 0], 0, 1), X, samples=50),
        X,
        progress=lambda *what: told.append(what),
    )
    assert told[-1] == ("explaining with Lime", 40, 40)


def test_an_error_in_a_phase_ends_it(impatient, capsys):
    def fail():
        with Watch().phase("explaining", 5):
            time.sleep(0.2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert capsys.readouterr().err.splitlines()[-1] == "explaining: done in 0 s"


def test_progress_is_a_yes_a_no_or_a_function():
    with pytest.raises(fs.errors.WrongType, match="progress must be"):
        fs.evaluate([0, 1], ["a", "b"], [[0], [1]], progress="yes")
