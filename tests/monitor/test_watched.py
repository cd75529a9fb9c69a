"""The page of a monitor: it needs no network, shows every alarm and group, and runs no text as code."""

import json
import re
from functools import cache

from faithscope.monitor.periods import Distance, TwoPeriods, drift_sentences
from faithscope.monitor.sequential import Alarm
from faithscope.monitor.watched import changed_explanations, render
from watched_example import HOSTILE, watched_record


@cache
def page():
    return render(watched_record())


def test_every_alarm_and_group_is_shown_and_every_day_with_both_intervals():
    record = watched_record()
    alarms = [alarm for line in record.lines for alarm in line.alarms]
    assert {line.name for line in record.lines if line.alarms} == {"all rows", "south"}
    assert page().count("drop</span>") + page().count("↓ drop") >= len(alarms)
    assert all(str(alarm.since) in page() for alarm in alarms)
    charts = re.search(r'<script type="application/json" id="charts">(.*?)</script>', page(), re.S)[1]
    specs = json.loads(charts)["specs"]
    assert len(specs) == len(record.lines) == page().count('class="drawing')
    rows = [row for rows in specs["chart-0"]["datasets"].values() for row in rows if "once_low" in row]
    assert {row["day"] for row in rows} == set(record.lines[0].days)
    assert all(row["low"] <= row["once_low"] <= row["once_high"] <= row["high"] for row in rows)


def test_texts_of_a_log_are_never_code_and_nothing_is_fetched():
    assert not [text for text in ("<script>alert", "<b>a long", "\u202e", HOSTILE) if text in page()]
    own = page()[: page().index('<script type="application/json"')]
    assert "http" not in own.replace("http-equiv", "")


def test_explanations_that_changed_are_told_losses_first_with_their_labels():
    periods = TwoPeriods.of([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], before=[900, 0, 50, 50, 30], after=[600, 300, 95, 5, 30])
    lost, gained = changed_explanations(periods, ["a", "b", "c"], ["no", "yes"])
    assert (lost.text, gained.text) == ("a", "b")
    assert lost.part < 0 < gained.part
    assert (lost.labels, lost.rows) == ("no: 100% → 67%, yes: 0% → 33%", (900, 900))
    assert lost.probability < 0.001


def test_a_change_of_consistency_is_told_apart_from_drift_of_explanations():
    near, far = Distance(0.1, 0.0, 0.2), Distance(0.4, 0.3, 0.5)
    alarms = [Alarm("drop", 5, 4, 0.7, 0.8, (0.9, 0.95))]
    told = [drift_sentences(changes, [], apart, 0.1) for changes in ([], alarms) for apart in (near, far)]
    assert len({first for first, *_ in told}) == 4
    assert told[1][0].startswith("The explanations drift; consistency is not")
    assert told[2][0].startswith("Consistency changed; the explanations are not")
    assert "0.300 and 0.500" in told[1][1]


def test_periods_that_cannot_be_compared_are_told_so():
    assert "no rows" in TwoPeriods.of([0], [0], [5], [0]).sentences()[0]
    assert "cannot be compared" in TwoPeriods.of([0, 1], [0, 0], [5, 0], [0, 5]).sentences()[0]
