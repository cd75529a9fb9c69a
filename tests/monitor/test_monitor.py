"""A monitor: what it counts is what all rows together give, whatever the batches, the order and the engine."""

import datetime
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, Incompatible, UnknownName, WrongType
from faithscope.monitor import compaction
from faithscope.monitor.limits import group_shares
from faithscope.monitor.schema import VERSION

DAY = pd.Timestamp("2026-01-01")
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 3), st.sampled_from("ab")), min_size=1)


def log(days, rows=300, seed=0):
    """Rows of so many days, in two regions."""
    rng = np.random.default_rng(seed)
    n = days * rows
    leaf = rng.zipf(1.6, n) % 60
    return pd.DataFrame(
        {
            "leaf": leaf,
            "yhat": (leaf + (rng.random(n) < 0.2)) % 3,
            "region": rng.choice(["eu", "us"], n),
            "ts": DAY + pd.to_timedelta(np.arange(n) // rows, "D") + pd.to_timedelta(rng.integers(0, 86400, n), "s"),
        }
    )


def same(estimate, rows):
    expected = fs.consistency(rows["leaf"].to_numpy(), rows["yhat"].to_numpy())
    assert estimate.n == expected.n
    for name in ("value", "unverifiable", "low", "high", "chance"):
        assert np.isclose(getattr(estimate, name), getattr(expected, name), rtol=0, atol=1e-12), name


def holds_every_day(monitor, rows):
    table = monitor.table()
    for line in table.itertuples():
        part = rows[rows["ts"].dt.date == line.day]
        part = part if pd.isna(line.group) else part[part["region"] == line.group]
        expected = fs.consistency(part["leaf"].to_numpy(), part["yhat"].to_numpy())
        assert line.n == expected.n
        assert np.isclose(line.value, expected.value, rtol=0, atol=1e-12)
        assert np.isclose(line.unverifiable, expected.unverifiable, rtol=0, atol=1e-12)
        assert line.parts > 1 or np.isclose(line.low, expected.low, rtol=0, atol=1e-12)
    assert table[table["group"].isna()]["n"].sum() == len(rows)


def quickly(monkeypatch, **limits):
    for name, value in {"_FEW": 0, **limits}.items():
        monkeypatch.setattr(compaction, name, value)


@pytest.mark.parametrize("compacted", [False, True])
def test_the_whole_and_every_day_and_group_are_those_of_all_rows(tmp_path, monkeypatch, compacted):
    if compacted:
        quickly(monkeypatch, OPEN_DAYS=2, OPEN_MONTHS=0, FIRST_DAYS=0)
    rows = log(40)
    monitor = fs.Monitor(tmp_path / "state.duckdb", by="region")
    for day, part in rows.groupby(rows["ts"].dt.date):
        if day.day % 2:
            monitor.add(part["leaf"], part["yhat"], when=part["ts"], by=part["region"])
        else:
            monitor.add_log(part, prediction="yhat", explanation="leaf", kind="keys", when="ts")
    same(monitor.single_look(), rows)
    for region, part in rows.groupby("region"):
        same(monitor.single_look(region), part)
    holds_every_day(monitor, rows)
    with duckdb.connect(str(tmp_path / "state.duckdb")) as held:
        levels = {line[0] for line in held.execute("SELECT DISTINCT level FROM cells").fetchall()}
    assert levels == ({0, 1, 2} if compacted else {0})
    pairs = monitor._history.pairs.of_group(-1)
    assert pairs.rows.sum() == len(rows)
    assert pairs.matched.sum() <= pairs.openers.sum()
    assert (pairs.agreeing <= pairs.matched).all()


@given(ROWS, st.integers(1, 4))
def test_how_rows_are_divided_into_batches_does_not_matter(rows, parts):
    monitor = fs.Monitor()
    for place in range(parts):
        part = rows[place::parts]
        if part:
            leaf, yhat, day, _ = zip(*part, strict=True)
            monitor.add(list(leaf), list(yhat), when=[datetime.date(2026, 1, 1 + d) for d in day], batch=str(place))
    leaf, yhat, day, _ = zip(*rows, strict=True)
    expected = fs.consistency(list(leaf), list(yhat))
    look = monitor.single_look()
    assert (look.n, look.distinct) == (expected.n, expected.distinct)
    assert np.isclose(look.value, expected.value)
    assert look.unverifiable == expected.unverifiable
    limits = monitor.limits()
    assert 0 <= limits.low <= limits.high <= 1
    assert limits.openers == limits.pairs + limits.waiting <= limits.n
    assert set(monitor.table()["day"]) == {datetime.date(2026, 1, 1 + d) for d in day}


def test_a_batch_counts_once(tmp_path):
    rows = log(1)
    monitor = fs.Monitor(tmp_path / "state.duckdb")
    first = monitor.add(rows["leaf"], rows["yhat"], when="2026-01-01", batch="b")
    before = monitor.to_dict()
    again = fs.Monitor(tmp_path / "state.duckdb").add(rows["leaf"], rows["yhat"], batch="b")
    assert first.counted
    assert not again.counted
    assert "added before" in str(again)
    assert monitor.to_dict() == before


@pytest.mark.parametrize("compacted", [False, True])
def test_the_name_of_a_batch_is_not_taken_for_other_rows(monkeypatch, compacted):
    if compacted:
        quickly(monkeypatch, OPEN_DAYS=0)
    monitor = fs.Monitor(by="g")
    for day in (1, 2, 3):
        monitor.add(["a", "a", "b"], [0, 1, 1], by=["x", "y", "y"], when=datetime.date(2026, 1, day), batch=str(day))
    same_rows = monitor.add(["b", "a", "a"], [1, 1, 0], by=["y", "y", "x"], when="2027-01-01", batch="1")
    assert not same_rows.counted
    others = [
        (["a", "a", "b"], [0, 1, 0], ["x", "y", "y"]),
        (["a", "b", "b"], [0, 1, 1], ["x", "y", "y"]),
        (["a", "a", "b"], [0, 1, 1], ["y", "x", "y"]),
        (["a", "a"], [0, 1], ["x", "y"]),
    ]
    for keys, labels, groups in others:
        with pytest.raises(BadInput, match="with other rows"):
            monitor.add(keys, labels, by=groups, when="2026-01-01", batch="1")
    assert monitor.limits().n == 9


def test_the_same_rows_of_the_same_day_count_once_in_any_order_and_from_anywhere():
    rows = log(1)
    monitor = fs.Monitor()
    first = monitor.add(rows["leaf"].to_numpy(), rows["yhat"].to_numpy(), when="2026-01-01")
    shuffled = rows.sample(frac=1, random_state=0)
    with pytest.warns(UserWarning, match="nothing was counted"):
        again = monitor.add(shuffled["leaf"].to_numpy(), shuffled["yhat"].to_numpy(), when="2026-01-01T15:00")
    with pytest.warns(UserWarning, match="batch="):
        logged = monitor.add_log(pl.from_pandas(rows), prediction="yhat", explanation="leaf", kind="keys", when="ts")
    assert not again.counted
    assert not logged.counted
    assert first.batch == again.batch == logged.batch
    assert monitor.add(rows["leaf"].to_numpy(), rows["yhat"].to_numpy(), when="2026-01-02").counted
    assert monitor.limits().n == 2 * len(rows)


def test_a_replay_draws_the_same_pairs(tmp_path):
    rows = log(5)
    told = []
    for name in ("a", "b"):
        monitor = fs.Monitor(tmp_path / name)
        for day, part in rows.groupby(rows["ts"].dt.date):
            part = part if name == "a" else part.sample(frac=1, random_state=1)
            monitor.add(part["leaf"].to_numpy(), part["yhat"].to_numpy(), when=day, batch=str(day))
        told.append(monitor.to_dict())
    assert told[0] == told[1]
    other = fs.Monitor(seed=1)
    other.add(rows["leaf"], rows["yhat"], when=rows["ts"])
    assert other.limits().openers != monitor.limits().openers


def test_late_rows_of_a_closed_day_are_counted_and_the_table_says_so(monkeypatch):
    quickly(monkeypatch, OPEN_DAYS=1)
    rows = log(6)
    monitor = fs.Monitor()
    for day, part in rows.groupby(rows["ts"].dt.date):
        monitor.add(part["leaf"], part["yhat"], when=day)
    monitor.add(rows["leaf"][:50], rows["yhat"][:50], when=DAY)
    line = monitor.table().iloc[0]
    assert (line["n"], line["parts"]) == (350, 2)
    assert pd.isna(line["low"])
    same(monitor.single_look(), pd.concat([rows, rows[:50]]))


def test_explanations_forgotten_make_the_value_no_higher_and_are_told(monkeypatch):
    quickly(monkeypatch, OPEN_DAYS=0, OPEN_MONTHS=0, FIRST_DAYS=0, MOST_CELLS=10)
    rows = log(70, rows=20)
    rows["leaf"] = np.where(np.arange(len(rows)) % 4 == 0, 1000 + np.arange(len(rows)) % 700, rows["leaf"])
    monitor = fs.Monitor()
    for day, part in rows.groupby(rows["ts"].dt.date):
        monitor.add(part["leaf"], part["yhat"], when=day)
    expected, look = fs.consistency(rows["leaf"], rows["yhat"]), monitor.single_look()
    assert monitor._history.forgotten > 0
    assert look.n == expected.n
    assert look.value <= expected.value + 1e-12
    assert look.value + look.unverifiable >= expected.value + expected.unverifiable - 1e-12
    assert np.isclose(look.chance, expected.chance)
    assert "no longer known" in str(monitor)
    limits = monitor.limits()
    assert limits.openers == limits.pairs + limits.waiting


@pytest.mark.parametrize("closed", [False, True])
def test_two_monitors_of_different_batches_add_up_to_that_of_all(tmp_path, monkeypatch, closed):
    if closed:
        quickly(monkeypatch, OPEN_DAYS=1)
    rows = log(8)
    parts = [fs.Monitor(tmp_path / str(j), by="region") for j in range(2)]
    for j, (day, part) in enumerate(rows.groupby(rows["ts"].dt.date)):
        part = part if j % 2 else part.iloc[::-1]
        parts[j % 2].add(part["leaf"], part["yhat"], when=day, by=part["region"], batch=str(day))
    merged = parts[0] + parts[1]
    same(merged.single_look(), rows)
    same(merged.single_look("eu"), rows[rows["region"] == "eu"])
    holds_every_day(merged, rows)
    limits, each = merged.limits(), [part.limits() for part in parts]
    assert limits.n == len(rows)
    assert limits.openers == sum(one.openers for one in each)
    assert sum(one.pairs for one in each) <= limits.pairs <= limits.openers
    merged.save(tmp_path / "all")
    assert fs.Monitor(tmp_path / "all").to_dict() == merged.to_dict()
    with pytest.raises(BadInput, match="already"):
        merged.save(tmp_path / "all")


def test_a_batch_in_both_monitors_counts_once():
    rows = log(4)
    days = [part for _, part in rows.groupby(rows["ts"].dt.date)]
    first, second = fs.Monitor(), fs.Monitor()
    for monitor, chosen in ((first, (0, 1, 2)), (second, (1, 2, 3))):
        for j in chosen:
            monitor.add(days[j]["leaf"], days[j]["yhat"], when=days[j]["ts"])
    for merged in (first + second, second + first):
        same(merged.single_look(), rows)
        holds_every_day(merged, rows.assign(region="eu"))
    same((first + first).single_look(), pd.concat(days[:3]))
    assert (first + fs.Monitor()).to_dict() == first.to_dict()


def test_what_cannot_be_merged_is_refused(monkeypatch):
    named = [fs.Monitor(), fs.Monitor()]
    for label, monitor in enumerate(named):
        monitor.add(["a", "a"], [0, label], batch="b", when="2026-01-01")
    with pytest.raises(Incompatible, match="different rows"):
        named[0] + named[1]
    with pytest.raises(Incompatible, match="groups"):
        fs.Monitor(by="region") + fs.Monitor()
    first, second = fs.Monitor(), fs.Monitor()
    first.add(["a", "a"], [0, 1])
    second.add([[0.5, 1.0], [0.5, 1.0]], [0, 1])
    with pytest.raises(BadInput, match="plain keys"):
        first + second
    quickly(monkeypatch, OPEN_DAYS=0)
    closed = [fs.Monitor(), fs.Monitor()]
    for monitor in closed:
        for day in (1, 2, 3):
            monitor.add(["a", "a"], [0, 1], when=datetime.date(2026, 1, day))
    with pytest.raises(Incompatible, match="different batches"):
        closed[0] + closed[1]


KEYS = np.random.default_rng(0).integers(0, 6, 200)
LABELS = np.where(KEYS % 2, "yes", "no")
IMPORTANCES = pd.DataFrame(
    np.random.default_rng(1).normal(size=(200, 4)).round(1), columns=[f"phi_{c}" for c in "abcd"]
)
FORMS = {
    "integers": (KEYS, {"k": KEYS}, {"kind": "keys"}),
    "numbers": (KEYS / 2, {"k": KEYS / 2}, {"kind": "keys"}),
    "texts": (KEYS.astype(str), {"k": KEYS.astype(str)}, {}),
    "dates": (list(DAY + pd.to_timedelta(KEYS, "D")), {"k": DAY + pd.to_timedelta(KEYS, "D")}, {"kind": "keys"}),
    "words": (
        fs.Highlights([{f"w{i}" for i in range(key)} for key in KEYS]),
        {"k": [[f"w{i}" for i in range(key)] for key in KEYS]},
        {"kind": "words"},
    ),
    "codes": (
        fs.Codes([{f"w{i}" for i in range(key)} for key in KEYS]),
        {"k": [[f"w{i}" for i in range(key)] for key in KEYS]},
        {"kind": "codes"},
    ),
    "rules": (
        fs.Rules.parse([f"age <= {key}" for key in KEYS]),
        {"k": [f"age <= {key}" for key in KEYS]},
        {"kind": "rules"},
    ),
    "reasons": (
        fs.Reasons([f"Since {key}." for key in KEYS]),
        {"k": [f"since {key}" for key in KEYS]},
        {"kind": "reasons"},
    ),
    "records": (
        pd.DataFrame({"k": KEYS.astype(str), "l": KEYS}),
        {"k": KEYS.astype(str), "l": KEYS},
        {"explanation": ["k", "l"]},
    ),
    **{
        f"importances, {word}": (IMPORTANCES, dict(IMPORTANCES), {"explanation": "phi_*", "discretizer": word})
        for word in ("original", "1-fp", "sign", "rank", "sign-of-top-2")
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_an_explanation_is_the_same_from_memory_and_from_a_log(form):
    explanations, columns, how = FORMS[form]
    monitor = fs.Monitor()
    added = monitor.add(explanations, LABELS, discretizer=how.get("discretizer"), when="2026-01-01")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pd.DataFrame({**columns, "yhat": LABELS})
        logged = monitor.add_log(table, **{"prediction": "yhat", "explanation": "k", "when": "2026-01-01", **how})
    assert logged.batch == added.batch
    assert not logged.counted


def test_rules_of_another_day_that_speak_of_other_features_are_the_same_rules():
    monitor = fs.Monitor()
    monitor.add(fs.Rules.parse(["age <= 3 and sex == 'f'", "job == 'x'"]), [0, 1], batch="a")
    monitor.add(fs.Rules.parse(["sex == 'f' and age <= 3", "pay > 5"]), [0, 1], batch="b")
    assert monitor.single_look().distinct == 3


@pytest.mark.parametrize(
    "when",
    [
        "2026-03-01",
        datetime.date(2026, 3, 1),
        datetime.datetime(2026, 3, 2, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
        np.datetime64("2026-03-01T23:59:59"),
        pd.Timestamp("2026-03-01 12:00"),
        [datetime.date(2026, 3, 1)] * 2,
        pd.Series(pd.to_datetime(["2026-03-01 10:00", "2026-03-01 11:00"]), index=[7, 3]),
        pd.Series(pd.to_datetime(["2026-02-28 20:00", "2026-02-28 23:00"])).dt.tz_localize("America/New_York"),
        pl.Series([datetime.datetime(2026, 3, 1, 5)] * 2),
        pa.array([datetime.datetime(2026, 3, 1, 5)] * 2),
    ],
    ids=lambda when: type(when).__name__,
)
def test_a_day_is_that_of_utc_whatever_holds_the_moment(when):
    monitor = fs.Monitor()
    monitor.add(["a", "a"], [0, 1], when=when)
    assert monitor.table()["day"].tolist() == [datetime.date(2026, 3, 1)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"when": "soon"}, "no date"),
        ({"when": 20}, "no date"),
        ({"when": ["2026-01-01"] * 3}, "dates or moments"),
        ({"when": [datetime.date(2026, 1, 1)]}, "when"),
        ({"when": [datetime.date(2026, 1, 1), None, datetime.date(2026, 1, 1)]}, "missing"),
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
        ({"explanations": ["a"] * 60, "predictions": np.linspace(0, 1, 60)}, r"labels: add .*digitize\(predictions"),
    ],
)
def test_what_cannot_be_added_is_refused_in_one_sentence_and_nothing_is_counted(arguments, words):
    monitor = fs.Monitor()
    with pytest.raises(FaithscopeError, match=words):
        monitor.add(**{"explanations": ["a", "b", "a"], "predictions": [0, 1, 1], **arguments})
    assert monitor.limits().n == 0


def test_a_clock_that_goes_back_or_ahead_is_told():
    monitor = fs.Monitor()
    assert monitor.add(["a", "a"], [0, 1], when="2026-01-01", batch="a").notes == ()
    back = monitor.add(["a", "a"], [0, 1], when="1999-01-01", batch="b")
    assert "older than the first batch" in back.notes[0]
    ahead = monitor.add(["a", "a"], [0, 1], when="9000-01-01", batch="c")
    assert "future" in ahead.notes[0]
    assert monitor.limits().n == 6


def test_groups_are_asked_for_and_matched_by_name():
    monitor = fs.Monitor(by=["region", "sex"])
    with pytest.raises(BadInput, match="pass by="):
        monitor.add(["a", "a"], [0, 1])
    with pytest.raises(WrongType, match="mapping"):
        monitor.add(["a", "a"], [0, 1], by=["eu", "us"])
    with pytest.raises(BadInput, match="'sex'"):
        monitor.add(["a", "a"], [0, 1], by={"region": ["eu", "us"]})
    monitor.add(["a", "a"], [0, 1], by=pd.DataFrame({"sex": ["f", "f"], "region": ["eu", "us"]}))
    monitor.add_log(
        pd.DataFrame({"k": ["a"], "y": [1], "where": ["eu"], "sex": ["f"]}),
        prediction="y",
        explanation="k",
        by=["where", "sex"],
    )
    assert monitor.groups == [("eu", "f"), ("us", "f")]
    assert monitor.limits(("eu", "f")).n == 2
    with pytest.raises(UnknownName, match="no group"):
        monitor.limits("asia")
    with pytest.raises(BadInput, match="begun by region"):
        monitor.add_log(pd.DataFrame({"k": ["a"], "y": [1]}), prediction="y", explanation="k", by="y")


def test_another_discretizer_is_refused():
    numbers = np.random.default_rng(0).normal(size=(20, 3))
    monitor = fs.Monitor()
    monitor.add(numbers, [0, 1] * 10, discretizer=fs.Sign(), batch="a")
    for other in (None, fs.SignOfTop(2), fs.Floor(1)):
        with pytest.raises(BadInput, match="one discretizer"):
            monitor.add(numbers, [0, 1] * 10, discretizer=other, batch="b")
    keys = fs.Monitor()
    keys.add(["a", "b"], [0, 1], discretizer=fs.Codebook({"a": "x", "b": "x"}))
    with pytest.raises(BadInput, match="one discretizer"):
        keys.add(["a", "b"], [0, 1], discretizer=fs.Codebook({"a": "x", "b": "y"}), batch="b")
    assert monitor.limits().n == 20


def test_limits_of_groups_hold_for_all_groups_together_and_groups_may_come_later():
    rng = np.random.default_rng(0)
    leaf, alone = rng.integers(0, 5, 400), fs.Monitor()
    alone.add(leaf, leaf % 2, when="2026-01-01", batch="b")
    few, many = fs.Monitor(by="g"), fs.Monitor(by="g")
    for monitor, groups in ((few, 2), (many, 20)):
        monitor.add(leaf, leaf % 2, by=np.arange(400) % groups, when="2026-01-01", batch="b")
    assert few.limits().low == alone.limits().low
    shares = [sum(group_shares(monitor._history.pairs).values()) for monitor in (few, many)]
    assert shares == pytest.approx([0.5, 0.5])
    before = few.limits(0)
    few.add(leaf, leaf % 2, by=2 + np.arange(400) % 3, when="2026-01-02", batch="c")
    assert few.limits(0) == before
    shares = group_shares(few._history.pairs)
    assert list(shares.values()) == pytest.approx([1 / 4, 1 / 4, 1 / 18, 1 / 18, 1 / 18])


def test_features_in_another_order_are_refused():
    monitor = fs.Monitor()
    names = [f"phi_{j}" for j in range(20)]
    table = pd.DataFrame(np.eye(20), columns=names)
    monitor.add(table, [0, 1] * 10)
    with pytest.raises(BadInput, match="same order"):
        monitor.add(table[[*names[:15], *names[:14:-1]]], [0, 1] * 10)
    monitor.add(table.to_numpy(), [1, 0] * 10)


def test_missing_values_of_a_log_are_refused_or_dropped_and_told():
    table = pd.DataFrame({"k": ["a", "a", "b"], "y": [0, 1, 1], "ts": [DAY, pd.NaT, DAY], "g": ["x", "x", None]})
    how = {"prediction": "y", "explanation": "k", "when": "ts"}
    monitor = fs.Monitor(by="g")
    with pytest.raises(BadInput, match="missing in 1 rows"):
        monitor.add_log(table.assign(g="x"), **how)
    with pytest.raises(BadInput, match="missing"):
        monitor.add_log(table.assign(ts=DAY), **how)
    added = monitor.add_log(table, **how, nulls="drop")
    assert added.rows == 1
    assert any("2 rows were dropped" in note for note in added.notes)
    with pytest.raises(BadInput, match="not dates"):
        monitor.add_log(table.assign(ts="soon", g="x"), **how)
    with pytest.raises(BadInput, match="no column 'tz'"):
        monitor.add_log(table.assign(g="x"), prediction="y", explanation="k", when="tz")


def test_only_the_rows_that_are_asked_for_are_added():
    rows = log(4)
    monitor = fs.Monitor()
    how = {"prediction": "yhat", "explanation": "leaf", "kind": "keys", "when": "ts"}
    monitor.add_log(rows, **how, since="2026-01-03", where="region = 'eu'")
    expected = rows[(rows["ts"] >= "2026-01-03") & (rows["region"] == "eu")]
    same(monitor.single_look(), expected)


def test_a_loss_is_found_and_a_promise_that_holds_raises_no_alarm():
    rng = np.random.default_rng(0)
    monitor = fs.Monitor(at_least=0.85, by="region")
    for day in range(40):
        leaf, region = rng.integers(0, 30, 600), rng.choice(["eu", "us"], 600)
        wrong = rng.random(600) < np.where((day >= 25) & (region == "us"), 0.4, 0.02)
        monitor.add(leaf, leaf % 2 ^ wrong, when=DAY + pd.Timedelta(days=day), by=region)
    alarms = monitor.alarms()
    assert "us" in alarms
    assert "eu" not in alarms
    assert datetime.date(2026, 1, 25) < alarms["us"][0].day <= datetime.date(2026, 1, 31)
    assert "us" in monitor.alarms(reference=10)
    assert "ALARM in us" in str(monitor)
    assert monitor.limits("eu").verdict == "holds"
    assert fs.Monitor(at_least=0.9).alarms() == {}
    assert fs.Monitor().limits().verdict == "no level was promised"


def test_a_store_of_something_else_or_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "x.duckdb"
    with duckdb.connect(str(path)) as held:
        held.execute("CREATE TABLE settings (a INTEGER)")
    with pytest.raises(BadInput, match="something else"):
        fs.Monitor(path)
    (tmp_path / "text").write_text("not a database, but long enough " * 1000)
    with pytest.raises(BadInput, match="name another file"):
        fs.Monitor(tmp_path / "text")
    with pytest.raises(BadInput, match="name another file"):
        fs.Monitor(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="folder"):
        fs.Monitor(tmp_path / "file" / "state.duckdb")
    newer = tmp_path / "newer.duckdb"
    fs.Monitor(newer)
    with duckdb.connect(str(newer)) as held:
        held.execute("UPDATE settings SET value = ? WHERE name = 'version'", [str(VERSION + 1)])
    with pytest.raises(BadInput, match="newer faithscope"):
        fs.Monitor(newer)


def test_settings_stay_those_with_which_the_store_began(tmp_path):
    path = tmp_path / "state.duckdb"
    fs.Monitor(path, by="region", seed=3)
    assert fs.Monitor(path).by == ("region",)
    with pytest.raises(BadInput, match="begun by region"):
        fs.Monitor(path, by="sex")


def test_an_empty_monitor_says_so():
    monitor = fs.Monitor()
    assert str(monitor) == "no rows were added yet"
    assert len(monitor.table()) == 0
    assert (monitor.limits().low, monitor.limits().high) == (0, 1)
    assert monitor.to_dict()["single_look"] is None
    with pytest.raises(BadInput, match="add some first"):
        monitor.single_look()


def test_hostile_texts_of_explanations_labels_and_groups_are_kept_apart_and_shown():
    texts = ["a'; DROP TABLE cells; --", "\x1b[31mred", "ü" * 5000, "\ud800", "", "a\nb"]
    monitor = fs.Monitor(by="g")
    monitor.add(
        [text for text in texts for _ in range(4)], [0, 0, 1, 1] * 6, by=[text for text in texts for _ in range(4)]
    )
    assert monitor.single_look().distinct == len(texts)
    assert set(monitor.groups) == set(texts)
    assert "\x1b" not in str(monitor)
    assert monitor.limits(texts[0]).n == 4
    assert "DROP" in monitor.to_markdown()


def test_a_state_prints_no_bars(tmp_path):
    for held in (None, tmp_path / "state.duckdb"):
        with fs.Monitor(held)._store.opened() as connection:
            assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
