"""The day on which a watch began: late days move neither the reference nor a window."""

import datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.monitor.sequential import Draws, changes, shares, watched
from faithscope.monitor.telling import reference_end
from monitor.watched_rows import looked

START = datetime.date(2026, 1, 1)


def rows(day, wrong=0.05, n=300):
    rng = default_rng(day + 10_000)
    leaf = rng.integers(0, 10, n)
    return leaf, leaf % 2 ^ (rng.random(n) < wrong)


def add(monitor, day, **how):
    return monitor.add(*rows(day, **how), when=START + datetime.timedelta(days=day), batch=f"day {day}")


def test_rows_from_before_the_first_batch_move_no_alarm_and_a_note_says_so():
    monitor = fs.Monitor(at_least=0.7, reference=7)
    for day in range(20):
        add(monitor, day, wrong=0.05 if day < 12 else 0.4)
    before, limits = monitor.alarms(), monitor.limits()
    assert before[None]
    added = add(monitor, -400, wrong=0.5)
    assert "neither for the reference nor for alarms" in added.notes[0]
    assert {name: [alarm.since for alarm in each] for name, each in monitor.alarms().items()} == {
        name: [alarm.since for alarm in each] for name, each in before.items()
    }
    assert monitor.limits().n == limits.n + 300
    assert looked(monitor, reference_end) == "2026-01-07"


def test_a_day_that_comes_late_within_a_gap_does_not_end_the_reference_earlier():
    monitor, whole = fs.Monitor(reference=6), fs.Monitor(reference=6)
    for day in (0, 1, 2, 4, 5, 6, 7, 8, 3):
        add(monitor, day)
    for day in range(9):
        add(whole, day)
    ends = {looked(each, reference_end) for each in (monitor, whole)}
    told = [each.beside() for each in (monitor, whole)]
    assert ends == {"2026-01-06"}
    assert [each.n for each in told] == [900, 900]


@given(st.sets(st.integers(0, 300), min_size=1), st.integers(0, 300))
@settings(max_examples=40, deadline=None)
def test_a_late_day_changes_no_window_of_other_days(days, late):
    def windows(chosen):
        order = np.array(sorted(chosen), np.int64)
        first, last = watched(order)
        return {*zip(order[first].tolist(), order[last].tolist(), strict=True)}, shares(order[first])

    days = days - {late}
    (few, _), (many, parts) = windows(days), windows({*days, late})
    assert few == {window for window in many if late not in window} or not days
    assert parts.max() <= 1


def test_days_without_draws_are_days_all_the_same():
    days = np.array([0, 3, 9, 10, 40, 41])
    n, k = np.full(6, 400), np.array([380, 380, 380, 380, 250, 250])
    full = np.zeros((2, 42))
    full[:, days] = n, k
    sparse, dense = Draws.of_pairs(days, n, n, k), Draws.of_pairs(np.arange(42), full[0], *full)
    (few,), (many,) = changes(sparse, 10, 0.05), changes(dense, 10, 0.05)
    assert (few.day, few.reference) == (many.day, many.reference) == (40, few.reference)
