"""A monitor: what it counts is what all rows together give, whatever the batches, the order and the engine."""

import datetime
import json
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import default_rng
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput, FaithscopeError, UnknownName, WrongType
from faithscope.monitor.store import VERSION
from faithscope.monitor.telling import prometheus
from monitor.watched_rows import looked
from noted import noted
from refused import refused

DAY = pd.Timestamp("2026-01-01")


KEYS = default_rng(0).integers(0, 6, 200)
FORMS = {
    "integers": {"k": KEYS},
    "numbers": {"k": KEYS / 2},
    "dates": {"k": DAY + pd.to_timedelta(KEYS, "D")},
    "records": {"k": KEYS.astype(str), "l": KEYS},
}


def test_a_key_of_any_type_is_the_same_from_memory_and_from_a_log():
    for form in FORMS:
        table, monitor, yhat = pd.DataFrame(FORMS[form]), fs.Monitor(), KEYS % 2
        added = monitor.add(table if form == "records" else list(table["k"]), yhat, when="2026-01-01")
        log = {"prediction": "yhat", "explanation": list(table), "kind": "keys", "when": "2026-01-01"}
        with pytest.warns(UserWarning, match="added before"):
            assert monitor.add_log(table.assign(yhat=yhat), **log).batch == added.batch


MARCH = datetime.date(2026, 3, 1)
EVENING = pd.Series(pd.to_datetime(["2026-02-28 20:00", "2026-02-28 23:00"]))


def test_a_day_is_that_of_utc_whatever_holds_the_moment():
    for when in (
        "2026-03-01",
        MARCH,
        datetime.datetime(2026, 3, 2, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
        np.datetime64("2026-03-01T23:59:59"),
        pd.Timestamp("2026-03-01 12:00"),
        [MARCH] * 2,
        pd.Series(pd.to_datetime(["2026-03-01 10:00", "2026-03-01 11:00"]), index=[7, 3]),
        EVENING.dt.tz_localize("America/New_York"),
        pl.Series([datetime.datetime(2026, 3, 1, 5)] * 2),
        pa.array([datetime.datetime(2026, 3, 1, 5)] * 2),
    ):
        monitor = fs.Monitor()
        monitor.add(["a", "a"], [0, 1], when=when)
        assert monitor.table()["day"].tolist() == [MARCH], when


def test_what_cannot_be_added_is_refused_in_one_sentence_and_nothing_is_counted():
    for arguments, words in [
        ({"when": "soon"}, "no date"),
        ({"when": 20}, "no date"),
        ({"when": ["2026-01-01"] * 3}, "dates or moments"),
        ({"when": [MARCH]}, "when"),
        ({"when": [MARCH, None, MARCH]}, "missing"),
        ({"batch": ""}, "batch"),
        ({"batch": 2.5}, "batch"),
        ({"batch": "\ud800"}, "written"),
        ({"by": ["x", "y", "z"]}, "without groups"),
        ({"discretizer": fs.CommonPhrases(2)}, "learns"),
        ({"discretizer": fs.Template()}, "labels"),
        ({"explanations": ["a", "b"]}, "rows"),
        ({"explanations": [object(), object(), object()]}, "equal by value"),
        ({"predictions": [0, 1, None]}, "missing"),
        ({"explanations": [], "predictions": []}, "row"),
        ({"explanations": ["a"] * 60, "predictions": np.linspace(0, 1, 60)}, r"bins, .*digitize\(predictions"),
    ]:
        monitor = fs.Monitor()
        with pytest.raises(FaithscopeError, match=words):
            monitor.add(**{"explanations": ["a", "b", "a"], "predictions": [0, 1, 1], **arguments})
        assert monitor.limits().n == 0


def test_a_clock_that_goes_back_or_ahead_is_told():
    monitor = fs.Monitor()
    notes = [
        monitor.add(["a", "a"], [0, 1], when=when, batch=when).notes
        for when in ("2026-01-01", "1999-01-01", "9000-01-01")
    ]
    assert notes[0] == ()
    assert "older than the first batch" in notes[1][0]
    assert "future" in notes[2][0]
    assert monitor.limits().n == 6


def test_groups_are_asked_for_and_named():
    monitor = fs.Monitor(by="region")
    refused(BadInput, "pass by=", monitor.add, ["a", "a"], [0, 1])
    refused(BadInput, "groups have 1", monitor.add, ["a", "a"], [0, 1], by=["eu"])
    monitor.add(["a", "a"], [0, 1], by=["eu", "us"])
    table = pd.DataFrame({"k": ["a"], "y": [1], "where": ["eu"], "sex": ["f"]})
    monitor.add_log(table, prediction="y", explanation="k", by="where")
    assert monitor.groups == ["eu", "us"]
    assert monitor.limits("eu").n == 2
    refused(UnknownName, "no group", monitor.limits, "asia")
    with pytest.raises(BadInput, match="begun by region"):
        fs.Monitor(by="region").add_log(table, prediction="y", explanation="k", by=["where", "sex"])
    refused(WrongType, "join several into one", fs.Monitor, by=["region", "sex"])


def test_another_discretizer_is_refused():
    numbers = default_rng(0).normal(size=(20, 3))
    monitor = fs.Monitor()
    monitor.add(numbers, [0, 1] * 10, discretizer=fs.Sign(), batch="a")
    for other in (None, fs.SignOfTop(2), fs.Floor(1)):
        refused(BadInput, "one discretizer", monitor.add, numbers, [0, 1] * 10, discretizer=other, batch="b")
    keys = fs.Monitor()
    keys.add(["a", "b"], [0, 1], discretizer=fs.Codebook({"a": "x", "b": "x"}))
    with pytest.raises(BadInput, match="one discretizer"):
        keys.add(["a", "b"], [0, 1], discretizer=fs.Codebook({"a": "x", "b": "y"}), batch="b")
    assert monitor.limits().n == 20


def error_shares(look):
    return {group: share for group, share in look.shares.items() if group is not None}


def test_limits_of_groups_hold_for_all_groups_together_and_groups_may_come_later():
    rng = default_rng(0)
    leaf, alone = rng.integers(0, 5, 400), fs.Monitor()
    alone.add(leaf, leaf % 2, when="2026-01-01", batch="b")
    few, many = fs.Monitor(by="g"), fs.Monitor(by="g")
    for monitor, groups in ((few, 2), (many, 20)):
        monitor.add(leaf, leaf % 2, by=np.arange(400) % groups, when="2026-01-01", batch="b")
    assert few.limits().low == alone.limits().low
    shares = [sum(looked(monitor, error_shares).values()) for monitor in (few, many)]
    assert shares == pytest.approx([0.5, 0.5])
    before = few.limits(0)
    few.add(leaf, leaf % 2, by=2 + np.arange(400) % 3, when="2026-01-02", batch="c")
    assert few.limits(0) == before
    shares = looked(few, error_shares)
    assert list(shares.values()) == pytest.approx([1 / 4, 1 / 4, 1 / 18, 1 / 18, 1 / 18])


def test_features_in_another_order_are_refused():
    monitor = fs.Monitor()
    names = [f"phi_{j}" for j in range(20)]
    table = pd.DataFrame(np.eye(20), columns=names)
    monitor.add(table, [0, 1] * 10)
    refused(BadInput, "same order", monitor.add, table[[*names[:15], *names[:14:-1]]], [0, 1] * 10)
    monitor.add(table.to_numpy(), [1, 0] * 10)


def test_missing_values_of_a_log_are_refused_or_dropped_and_told():
    table = pd.DataFrame({"k": ["a", "a", "b"], "y": [0, 1, 1], "ts": [DAY, pd.NaT, DAY], "g": ["x", "x", None]})
    how = {"prediction": "y", "explanation": "k", "when": "ts"}
    monitor = fs.Monitor(by="g")
    for changes, words in (
        ({"g": "x"}, "missing in 1 rows"),
        ({"ts": DAY}, "missing"),
        ({"ts": "soon", "g": "x"}, "not dates"),
    ):
        refused(BadInput, words, monitor.add_log, table.assign(**changes), **how)
    added = monitor.add_log(table, **how, nulls="drop")
    assert added.rows == 1
    assert noted(added, "2 rows were dropped")
    with pytest.raises(BadInput, match="no column 'tz'"):
        fs.Monitor(by="g").add_log(table.assign(g="x"), **{**how, "when": "tz"})


def test_rows_that_say_when_they_happened_are_never_filed_under_today():
    moments = pd.date_range("2025-11-01", "2026-02-28")
    log = pd.DataFrame({"k": "a", "y": np.arange(len(moments)) % 2, "logged_at": moments})
    explanations, predictions = log["k"], log["y"]
    when = moments.date
    calls = [
        (lambda **how: fs.Monitor().add_log(log, prediction="y", explanation="k", **how), "when='logged_at'"),
        (
            lambda **how: fs.Monitor().add_log(log.assign(logged_at=when), prediction="y", explanation="k", **how),
            "--by-time logged_at",
        ),
        (lambda **how: fs.Monitor().add(explanations, predictions.set_axis(moments), **how), "when=predictions.index"),
    ]
    for call, advice in calls:
        with pytest.raises(BadInput, match="would count as of today") as refused:
            call()
        assert advice in str(refused.value)
        date = re.search(r"such as when='(.+)'", str(refused.value))[1]
        assert call(when=date).rows == len(log)
    monitor = fs.Monitor()
    monitor.add_log(log, prediction="y", explanation="k", when="logged_at")
    assert len(monitor.table()) == len(moments)
    by_day = log.rename(columns={"logged_at": "g"})  # what is read as a group says nothing about when
    assert fs.Monitor(by="g").add_log(by_day, prediction="y", explanation="k").rows == len(log)


GOOD, BAD = [0] * 400, [0, 1] * 80
DATE = datetime.date(2026, 3, 1)
MISSING = (None,)  # how a monitor names the rows whose group is missing: None stands for all rows
ALIKE = [(MISSING, "None"), (MISSING, "(None)"), ("all rows", "x"), (1, "1")]


@pytest.mark.parametrize("pair", [*ALIKE, ALIKE[0][::-1]])
def test_groups_that_read_the_same_stay_apart_at_every_door_and_an_alarm_of_either_is_told(pair, tmp_path):
    monitor = fs.Monitor(tmp_path / "state.duckdb" if pair == ALIKE[0] else None, by="g", at_least=0.9)
    for group, labels in zip(pair, (GOOD, BAD), strict=True):
        columns = {"k": ["a"] * len(labels), "y": labels, "g": [None if group is MISSING else group] * len(labels)}
        monitor.add_log(
            pa.table(columns), prediction="y", explanation="k", nulls="key", when=DAY, batch=f"{len(labels)} rows"
        )
    assert [monitor.limits(name).n for name in (None, *monitor.groups)] == [560, 400, 160]
    assert [monitor.limits(name).n for name in pair] == [400, 160]
    assert [monitor.single_look(name).value for name in pair] == [1.0, fs.consistency(["a"] * 160, BAD).value]
    assert list(monitor.alarms()) == [monitor.groups[1]]
    assert sorted(monitor.table().groupby("group", dropna=False)["n"].sum()) == [160, 400, 560]
    told = monitor.to_dict()
    assert len({json.dumps(each["group"]) for each in (*told["groups"], {"group": None})}) == 3
    assert [each["group"] for each in told["alarms"]] == [told["groups"][1]["group"]]
    assert len({line.split(": ")[0] for line in str(monitor).splitlines() if "n=400" in line or "n=160," in line}) == 2
    numbers = [line.rsplit(" ", 1)[0] for line in looked(monitor, prometheus).splitlines() if line[0] != "#"]
    assert len(set(numbers)) == len(numbers)
    assert len(set(looked(monitor, lambda look: look.names).values())) == 3
    for words in ("--at-least 0.9", "--fail-under 0.7") if pair == ALIKE[0] else ():
        status = CliRunner().invoke(app, ["monitor", "report", "--state", monitor._store.name, *words.split()])
        assert status.exit_code == 1


def test_groups_by_dates_are_those_of_their_texts():
    monitor = fs.Monitor(by="g")
    for group in (DATE, str(DATE), np.datetime64(DATE)):
        monitor.add(["a", "b"] * 9, [0, 1] * 9, by=[group] * 18, when=DAY, batch=str(type(group)))
    assert monitor.groups == [str(DATE)]
    assert monitor.limits(DATE).n == monitor.limits(str(DATE)).n == 54


def test_a_loss_is_found_and_a_promise_that_holds_raises_no_alarm():
    rng = default_rng(0)
    monitor = fs.Monitor(at_least=0.85, by="region", reference=10)
    for day in range(32):
        leaf, region = rng.integers(0, 30, 600), rng.choice(["eu", "us"], 600)
        wrong = rng.random(600) < np.where((day >= 25) & (region == "us"), 0.4, 0.02)
        monitor.add(leaf, leaf % 2 ^ wrong, when=DAY + pd.Timedelta(days=day), by=region)
    alarms = monitor.alarms()
    assert "us" in alarms
    assert "eu" not in alarms
    assert datetime.date(2026, 1, 25) < alarms["us"][0].day <= datetime.date(2026, 1, 31)
    assert "ALARM in us" in str(monitor)
    assert monitor.limits("eu").verdict == "holds"
    assert fs.Monitor(at_least=0.9).alarms() == {}
    assert fs.Monitor().limits().verdict == "no level was promised"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other", "something else"),
        ("text", "name another file"),
        (".", "name another file"),
        ("text/state.duckdb", "name another file"),
        ("newer", "newer faithscope"),
        ("older", "older faithscope"),
    ],
)
def test_a_store_of_something_else_or_of_another_version_is_refused(tmp_path, name, words):
    (tmp_path / "text").write_text("not a database, but long enough " * 1000)
    with duckdb.connect(str(tmp_path / "other")) as held:
        held.execute("CREATE TABLE settings (a INTEGER)")
    for other, version in (("newer", VERSION + 1), ("older", VERSION - 1)):
        fs.Monitor(tmp_path / other)
        with duckdb.connect(str(tmp_path / other)) as held:
            held.execute("UPDATE settings SET value = ? WHERE name = 'version'", [str(version)])
    refused(BadInput, words, fs.Monitor, tmp_path / name)


def test_settings_stay_those_with_which_the_store_began(tmp_path):
    path = tmp_path / "state.duckdb"
    fs.Monitor(path, by="region", seed=3)
    assert fs.Monitor(path).by == ("region",)
    refused(BadInput, "begun with other by", fs.Monitor, path, by="sex")


def test_an_empty_monitor_says_so():
    monitor = fs.Monitor()
    assert str(monitor) == "no rows were added yet"
    assert len(monitor.table()) == 0
    assert (monitor.limits().low, monitor.limits().high) == (0, 1)
    assert monitor.to_dict()["single_look"] is None
    refused(BadInput, "add some first", monitor.single_look)


def test_cases_that_come_back_in_later_batches_are_noticed_and_nothing_is_said_to_hold():
    rng = default_rng(0)
    of_customers, labels = rng.integers(0, 10**6, 60), rng.integers(0, 2, 60)

    def watched(returning):
        monitor = fs.Monitor(at_least=0.6)
        for day in range(1, 15):
            customers = rng.choice(60, 20, replace=False)
            given = of_customers[customers] if returning else rng.integers(0, 60, 20)
            told = labels[customers] if returning else given % 2
            monitor.add(given, told, when=f"2026-02-{day:02d}", batch=str(day))
        return monitor

    monitor = watched(returning=True)
    assert monitor.limits().low > 0.6  # where the truth is .5
    assert monitor.limits().verdict == "cannot tell yet"
    assert noted(monitor, "the same cases seem to come back")
    assert "the same cases seem to come back" in str(monitor)
    independent = watched(returning=False)
    assert (independent.limits().verdict, independent.notes) == ("holds", ())


@pytest.mark.parametrize("from_log", [True, False])
def test_batches_that_share_ids_are_noticed_and_nothing_is_said_to_hold(from_log):
    """Counts alone cannot tell customers who come back from others if explanations are few."""
    rng = default_rng(0)

    def watched(first, days):
        monitor = fs.Monitor(at_least=0.6)
        for day in days:
            came = first * day + rng.choice(90, 60, replace=False)
            rows = pd.DataFrame({"leaf": came % 2, "y": came % 2, "customer_id": came, "teller_id": came % 3})
            rows["id"] = np.arange(60)  # rows that are numbered in each batch
            how = {"when": f"2026-02-0{day}", "batch": f"{first} {day}"}
            if from_log:
                monitor.add_log(rows, prediction="y", explanation="leaf", kind="keys", **how)
            else:
                rows = rows.set_index("customer_id")
                monitor.add(rows["leaf"], rows["y"], **how)
        return monitor

    back, new, other = watched(0, (1, 2, 3)), watched(1000, (1, 2, 3)), watched(1000, (4, 5))
    assert (back.limits().verdict, new.limits().verdict, new.notes) == ("cannot tell yet", "holds", ())
    assert "ids in 'customer_id' came in an earlier batch too" in back.notes[0]
    sums = [(one + two).limits().doubted for one, two in ((back, other), (other, back), (new, other), (back, back))]
    assert sums == [True, True, False, True]
