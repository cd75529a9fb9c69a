"""The page of a monitor: it needs no network, shows every alarm and group, and runs no text as code."""

import json
import re

import pytest

from faithscope.report.watched import render, write
from watched_example import HOSTILE, watched_record


def _specs(page: str) -> dict[str, dict]:
    return json.loads(re.search(r'<script type="application/json" id="charts">(.*?)</script>', page, re.S)[1])["specs"]


def test_every_alarm_and_group_is_shown():
    record = watched_record()
    page = render(record)
    alarms = [alarm for line in record.lines for alarm in line.alarms]
    assert {line.name for line in record.lines if line.alarms} == {"all rows", "south"}
    assert page.count("drop</span>") + page.count("↓ drop") >= len(alarms)
    assert all(str(alarm.since) in page for alarm in alarms)
    assert len(_specs(page)) == len(record.lines) == page.count('class="drawing')


def test_every_day_is_drawn_with_both_intervals():
    record = watched_record()
    rows = [row for rows in _specs(render(record))["chart-0"]["datasets"].values() for row in rows if "once_low" in row]
    assert {row["day"] for row in rows} == set(record.lines[0].days)
    assert all(row["low"] <= row["once_low"] <= row["once_high"] <= row["high"] for row in rows)


def test_texts_of_a_log_are_never_code_and_nothing_is_fetched():
    page = render(watched_record())
    assert "<script>alert" not in page
    assert "<b>a long" not in page
    assert "\u202e" not in page
    own = page[: page.index('<script type="application/json"')]
    assert "http" not in own.replace("http-equiv", "")
    assert HOSTILE not in page


@pytest.mark.parametrize("days", [0, 1, 2])
def test_few_days_are_shown_too(days, tmp_path):
    record = watched_record(days)
    write(record, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No alarm." in page
    assert ("No rows were added yet." in page) == (days == 0)
