"""The page of a monitor: it needs no network, shows every alarm and group, and runs no text as code."""

import json
import re
from functools import cache

import pytest

from faithscope.monitor.telling import page as render
from monitor.watched_rows import looked
from watched_example import HOSTILE, watched_monitor


@cache
def page():
    return looked(watched_monitor(), render)


@pytest.mark.thorough
def test_every_alarm_and_group_is_shown_and_every_day_with_its_limits():
    monitor = watched_monitor()
    told = monitor.alarms()
    alarms = [alarm for each in told.values() for alarm in each]
    assert told.keys() == {None, "south"}
    assert page().count("ALARM") == len(alarms) + 3  # those of the headline too
    assert all(str(alarm.since) in page() for alarm in alarms)
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page(), re.S)[1]
    specs = json.loads(charts)["specs"]
    assert len(specs) == 1 + len(monitor.groups) == page().count('class="drawing')
    rows = [row for rows in specs["chart-0"]["datasets"].values() for row in rows if "low" in row and "value" in row]
    assert {row["day"] for row in rows} == {str(day) for day in monitor.table()["day"]}
    limits = monitor.limits()
    last = max(rows, key=lambda row: row["day"])
    assert (last["low"], last["high"]) == pytest.approx((limits.low, limits.high), abs=1e-5)


def test_texts_of_a_log_are_never_code_and_nothing_is_fetched():
    assert not [text for text in ("<script>alert", "<b>a long", "\u202e", HOSTILE) if text in page()]
    own = page()[: page().index('<script type="application/json"')]
    assert "http" not in own.replace("http-equiv", "")
