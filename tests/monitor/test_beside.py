"""Rows of later days beside those of the reference: draws by brute force, evidence, alarms, and where they are told."""

from collections import Counter
from datetime import date

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.keys import Plain
from faithscope.monitor.canonical import explanation_digests
from faithscope.monitor.sequential import PARTS
from faithscope.monitor.telling import prometheus
from monitor.watched_rows import looked
from refused import refused

DAY = np.datetime64("2026-01-01")


def log(days=20, rows=60, faulty=10, seed=0):
    """Explanations, labels, regions and days; in the south explanations go with nothing since a day."""
    rng = default_rng(seed)
    n = days * rows
    day, region = np.repeat(np.arange(days), rows), rng.choice(["north", "south", "west"], n)
    leaf = rng.integers(0, 12, n)
    label = (leaf + (rng.random(n) < 0.08)) % 2
    leaf = np.where((region == "south") & (day >= faulty), rng.integers(0, 12, n), leaf)
    return leaf, label, region, day


def watch(rows, batches=((0, 99),), **options):
    monitor = fs.Monitor(by="region", **options)
    leaf, label, region, day = rows
    for first, last in batches:
        here = (day >= first) & (day < last)
        monitor.add(leaf[here], label[here], by=region[here], when=DAY + day[here], batch=str(first))
    return monitor


def lines(monitor, query):
    with monitor._store.transaction() as connection:
        return connection.execute(query).fetchall()


def test_draws_are_those_of_brute_force():
    leaf, label, _, day = log(days=12)
    monitor = fs.Monitor(reference=5)
    monitor.add(leaf, label, when=DAY + day, batch="all")
    shares = looked(monitor, lambda look: look._shares_beside)
    draws, rows = shares.of(-1)
    assert draws.days.tolist() == [draws.days[0], *range(draws.days[0] + 5, draws.days[0] + 12)]
    before, after, rows = draws.least[0], draws.least[1:], rows[1:]
    early, late = day < 5, day >= 5
    assert before.sum() == pytest.approx(0.75 * early.sum(), abs=40)
    assert rows.tolist() == np.bincount(day[late])[5:].tolist()
    held = Counter()
    for high, code, n in zip(*(shares.closers[name].tolist() for name in ("high", "label", "rows")), strict=True):
        held[high, code] += n
    codes = {shown: code for code, shown in lines(monitor, "SELECT code, shown FROM names WHERE what = 'labels'")}
    digests = explanation_digests(Plain(range(12))).high.tolist()
    assert before.sum() + sum(held.values()) == early.sum()  # closers and openers are all rows of the reference
    expected = np.zeros((7, PARTS + 1))
    for place in np.flatnonzero(late):
        high = digests[leaf[place]]
        total = sum(n for (h, _), n in held.items() if h == high)
        part = PARTS * held.get((high, codes[str(label[place])]), 0) / total
        expected[day[place] - 5, int(np.floor(part + 0.5))] += 1
    assert np.array_equal(after, expected)


def test_a_fault_in_a_group_is_known_beside_the_reference():
    rows = log()
    apart = watch(rows)
    monitor = watch(rows, reference=10)
    alarms = monitor.alarms()
    assert alarms.keys() - {None} == {"south"}
    (alarm,) = alarms["south"]
    assert (alarm.direction, alarm.since) == ("drop beside the reference", date(2026, 1, 11))
    assert alarm.high < 0.8 < alarm.reference[1]
    told = monitor.beside("south")
    assert told.high < told.before
    assert monitor.beside("north").low < told.before < monitor.beside("north").high
    assert f"ALARM in south: {alarm}" in str(monitor)
    assert f"south: {told}" in str(monitor)
    record = monitor.to_dict()
    assert [line["group"] for line in record["beside"]] == [None, *monitor.groups]
    assert record["alarms"][0]["direction"] == "drop beside the reference"
    assert 'faithscope_monitor_alarms{group="south"} 1' in looked(monitor, prometheus)
    assert 'faithscope_monitor_alarms{group="south"} 0' in looked(apart, prometheus)


@pytest.mark.thorough
def test_later_batches_and_late_rows_of_the_reference_change_no_draw():
    rows = log()
    once, daily = (
        watch(rows, reference=10),
        watch(rows, [(0, 10), *((day, day + 1) for day in range(10, 20))], reference=10),
    )
    assert once.beside("south") == daily.beside("south")
    assert once.alarms() == daily.alarms()
    before = daily.beside("south").before
    daily.add([1, 1], [0, 0], by=["south"] * 2, when=DAY + np.array([1, -31]), batch="late")
    assert daily.beside("south").before == before
    assert daily.beside().n == once.beside().n


def test_the_reference_is_settled_when_the_state_begins(tmp_path):
    fs.Monitor(tmp_path / "s.duckdb", reference=10)
    assert fs.Monitor(tmp_path / "s.duckdb").reference == 10
    refused(
        BadInput,
        r"begun with other reference \(reference=10, here 11\)",
        fs.Monitor,
        tmp_path / "s.duckdb",
        reference=11,
    )
    plain = fs.Monitor(tmp_path / "p.duckdb")
    refused(BadInput, "begun without reference", fs.Monitor, tmp_path / "p.duckdb", reference=10)
    refused(BadInput, "begin another state with reference=30", plain.beside)


def test_the_page_tells_what_is_beside_the_reference(tmp_path):
    monitor = watch(log(), reference=10)
    monitor.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "drop beside the reference since 2026-01-11" in page
    assert "of rows since the reference agree with it" in page


def test_no_later_rows_a_new_group_and_explanations_that_the_reference_never_had_are_told_as_such(tmp_path):
    monitor = fs.Monitor(by="g", reference=5)
    monitor.add(["a", "b"] * 50, [0, 1] * 50, by=["x"] * 100, when="2026-01-01", batch="1")
    assert not monitor.alarms()
    assert str(monitor.beside()) == "none of 0 rows since the reference can be checked"
    monitor.to_html(tmp_path / "page.html")
    monitor.add(["a", "c"] * 50, [0, 1] * 50, by=["y"] * 100, when="2026-01-06", batch="2")
    told = monitor.beside("y")
    assert (told.value, told.before, told.n, told.checked) == (1.0, None, 100, 50)
    assert "none of its own rows can be checked; 50 of 100 rows can be checked" in str(told)
    assert monitor.beside("x").value is None
    assert not monitor.alarms()
    monitor.add(["c"] * 9, [0] * 9, by=["x"] * 9, when="2026-01-07", batch="3")
    assert str(monitor.beside("x")) == "none of 9 rows since the reference can be checked"
    monitor.to_html(tmp_path / "page.html")
