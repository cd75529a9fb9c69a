"""The day on which a watch began: late days move neither the reference nor a window, and merging keeps both."""

import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.monitor import compaction
from faithscope.monitor.compared import compare
from faithscope.monitor.sequential import DailyDraws, changes, shares, watched
from monitor.watched_rows import looked

START = datetime.date(2026, 1, 1)


def rows(day, wrong=0.05, n=300):
    rng = np.random.default_rng(day + 10_000)
    leaf = rng.integers(0, 10, n)
    return leaf, leaf % 2 ^ (rng.random(n) < wrong)


def add(monitor, day, **how):
    return monitor.add(*rows(day, **how), when=START + datetime.timedelta(days=day), batch=f"day {day}")


def test_rows_from_before_the_first_batch_move_no_alarm_and_a_note_says_so():
    monitor = fs.Monitor(at_least=0.7)
    for day in range(20):
        add(monitor, day, wrong=0.05 if day < 12 else 0.4)
    before, limits = monitor.alarms(reference=7), monitor.limits()
    assert before[None]
    added = add(monitor, -400, wrong=0.5)
    assert "neither for the reference nor for alarms" in added.notes[0]
    assert {name: [alarm.since for alarm in each] for name, each in monitor.alarms(reference=7).items()} == {
        name: [alarm.since for alarm in each] for name, each in before.items()
    }
    assert monitor.limits().n == limits.n + 300
    assert monitor._record(7).reference_end == "2026-01-07"


def test_a_day_that_comes_late_within_a_gap_does_not_end_the_reference_earlier():
    monitor, whole = fs.Monitor(), fs.Monitor()
    for day in (0, 1, 2, 4, 5, 6, 7, 8, 3):
        add(monitor, day)
    for day in range(9):
        add(whole, day)
    assert monitor._record(6).reference_end == whole._record(6).reference_end == "2026-01-06"
    with monitor._store.transaction() as one, whole._store.transaction() as other:
        first, second = compare(one, 6), compare(other, 6)
    assert first.periods.given.sum(axis=1).tolist() == second.periods.given.sum(axis=1).tolist() == [1800, 900]


@given(st.sets(st.integers(0, 300), min_size=1), st.integers(0, 300))
@settings(max_examples=40, deadline=None)
def test_a_late_day_changes_no_window_of_other_days(days, late):
    def windows(chosen):
        order = np.array(sorted(chosen))
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
    sparse, dense = DailyDraws.of_pairs(days, n, n, k), DailyDraws.of_pairs(np.arange(42), full[0], *full)
    (few,), (many,) = changes(sparse, 10, 0.05), changes(dense, 10, 0.05)
    assert (few.day, few.reference) == (many.day, many.reference) == (40, few.reference)


@pytest.mark.thorough
def test_what_is_new_is_the_same_before_and_after_days_were_merged(monkeypatch):
    monitor = fs.Monitor()
    for day in range(40):
        leaf, yhat = rows(day)
        leaf = np.where(np.arange(len(leaf)) < (60 if day >= 25 else 3), 1000 + day, leaf)
        monitor.add(leaf, yhat, when=START + datetime.timedelta(days=day), batch=str(day))
    said = monitor._record(14).drift[0]
    with monitor._store.transaction() as connection:
        before = compare(connection, 14)
    monkeypatch.setattr(compaction, "OPEN_DAYS", 0)
    assert compaction.compact(monitor._store, 0.95, anyway=True)
    with monitor._store.transaction() as connection:
        after = compare(connection, 14)
    assert "explanations drift" in said
    assert monitor._record(14).drift[0] == said
    assert (before.begin, before.reference, before.until) == (after.begin, after.reference, after.until)
    assert before.fresh.least.sum() == after.fresh.least.sum()
    assert len(after.fresh) < len(before.fresh)
    assert np.array_equal(before.periods.given, after.periods.given)


def begun(look):
    return look.origin


def test_two_monitors_added_up_began_with_the_earlier_one_in_either_order():
    early, late = fs.Monitor(), fs.Monitor()
    for day in range(3):
        add(early, day)
        add(late, day + 5)
    both = [looked(early + late, begun), looked(late + early, begun), looked(early, begun)]
    assert len(set(both)) == 1
    assert looked(fs.Monitor() + late, begun) == looked(late, begun)


def test_a_row_from_the_future_closes_no_day(monkeypatch):
    monkeypatch.setattr(compaction, "_FEW", 0)
    monitor = fs.Monitor()
    today = datetime.datetime.now(datetime.UTC).date()
    monitor.add(*rows(0), when=today, batch="today")
    added = monitor.add(*rows(1), when="2999-01-01", batch="a wrong clock")
    assert "future" in added.notes[0]
    monitor.add(*rows(2), when=today, batch="today, later")
    assert monitor.table()["parts"].tolist() == [1, 1]
