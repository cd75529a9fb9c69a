"""Progress: nothing for short work, a line now and then for long work, never a change of answers."""

import time

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.runtime import messages
from faithscope.runtime.messages import Watch
from refused import refused


class Told:
    """A clock that stands still until it is told how much time has passed."""

    def __init__(self):
        self.seconds, self.waiting = 0.0, []

    def monotonic(self):
        return self.seconds

    def timer(self, seconds, call, told):
        class Alarm:
            due = self.seconds + seconds
            start = lambda alarm: self.waiting.append(alarm)  # noqa: E731
            ring = lambda alarm: call(*told)  # noqa: E731
            cancel = lambda alarm: alarm in self.waiting and self.waiting.remove(alarm)  # noqa: E731
            join = lambda alarm: None  # noqa: E731

        return Alarm()

    def passes(self, seconds):
        self.seconds += seconds
        due = [alarm for alarm in self.waiting if alarm.due <= self.seconds]
        self.waiting = [alarm for alarm in self.waiting if alarm not in due]
        for alarm in due:
            alarm.ring()


@pytest.fixture
def clock(monkeypatch):
    clock = Told()
    monkeypatch.setattr(messages, "time", clock)
    monkeypatch.setattr(messages, "Timer", clock.timer)
    return clock


def test_short_work_is_not_worth_a_word(clock, capsys):
    with Watch().phase("explaining", 10) as step:
        clock.passes(0.9)
        step(10, 10)
    clock.passes(5)
    assert capsys.readouterr().err == ""


def test_long_work_is_told_now_and_then(clock, capsys):
    with Watch().phase("explaining", 1000) as step:
        for done in range(0, 1000, 100):
            step(done, 1000)
            clock.passes(3)
    assert capsys.readouterr().err.splitlines() == [
        "explaining: 1,000 rows",
        "explaining: 400 of 1,000 rows, about 18 s left",
        "explaining: 800 of 1,000 rows, about 6 s left",
        "explaining: done in 30 s",
    ]


def test_nothing_is_shown_where_nothing_is_wanted(clock, capsys):
    with Watch(progress=False).phase("explaining", 5):
        clock.passes(100)
    assert capsys.readouterr().err == ""


def test_a_function_is_told_every_phase():
    told = []
    X = default_rng(0).normal(size=(40, 2))
    fs.evaluate(
        lambda rows: rows[:, 0] > 0,
        fs.explainers.Lime(lambda rows: np.clip(rows[:, 0], 0, 1), X, samples=50),
        X,
        progress=lambda *what: told.append(what),
    )
    assert told[-1] == ("explaining with Lime", 40, 40)


def test_explainers_show_progress_as_evaluate_does(monkeypatch, capsys):
    monkeypatch.setattr(messages, "_PATIENCE", 0.0)
    X = default_rng(0).normal(size=(40, 2))

    def sign(rows):
        time.sleep(0.02)  # so that there is something to show
        return (rows[:, 0] > 0).astype(float)

    for explainer in (fs.explainers.Lime(sign, X, samples=50), fs.explainers.Counterfactual(sign, X)):
        asked = [explainer.explain, *([explainer.find] if hasattr(explainer, "find") else [])]
        for explain in asked:
            explain(X, progress=False)
            assert capsys.readouterr().err == ""
            explain(X, progress=True)
            assert f"explaining with {type(explainer).__name__}: 40 rows" in capsys.readouterr().err
    refused(fs.errors.WrongType, "progress must be", fs.explainers.Random().explain, X, progress=1)


def test_an_error_in_a_phase_ends_it(clock, capsys):
    def fail():
        with Watch().phase("explaining", 5):
            clock.passes(1)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert capsys.readouterr().err.splitlines() == ["explaining: 5 rows", "explaining: done in 1 s"]
