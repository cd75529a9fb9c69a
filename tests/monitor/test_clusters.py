"""A cluster is one draw: it counts once, by a row of its first day, whatever the batches and the order."""

import datetime

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from monitor.watched_rows import START, add, drawn
from noted import noted
from refused import refused

KEYS = {"prediction": "y", "explanation": "rule", "kind": "keys", "clusters": "who"}
HOW = {"prediction": "y", "explanation": "rule", "kind": "rules"}


def day(number):
    return START + datetime.timedelta(number)


def customers(n, many, seed=0, days=1):
    """Rows of customers who come back, with texts as names."""
    rng = np.random.default_rng(seed)
    return drawn(n, seed, days).assign(who=[f"c{who}" for who in rng.integers(0, many, n)])


def heard(monitor):
    """The rows by which clusters count: day, group, label and explanation, by their numbers."""
    with monitor._store.transaction() as connection:
        return set(connection.execute("SELECT cluster, day, grp, label, high FROM cells").fetchall())


def test_clusters_of_one_row_change_nothing():
    rows = drawn(300)
    plain, clustered = (fs.Monitor(by="g", at_least=0.5) for _ in range(2))
    for place in range(2):
        part = rows[150 * place : 150 * (place + 1)]
        add(plain, part, when=day(place), batch=str(place))
        add(clustered, part, clusters=part.index, when=day(place), batch=str(place))
    mine, theirs = clustered.to_dict(), plain.to_dict()
    assert mine.pop("notes")[0].startswith("300 rows are of 300 clusters")
    theirs.pop("notes")
    for told, clustered in ((mine, True), (theirs, False)):
        assert {line.pop("clustered") for line in (told["limits"], *told["groups"])} == {clustered}
    assert mine == theirs


@pytest.mark.parametrize("seed", [0, 1])
def test_a_cluster_counts_by_a_row_of_its_first_day_whatever_the_order_and_the_batches(seed):
    rows = customers(12 + 24 * seed, 9, seed, days=3)
    rows["d"] = [(when - START).days for when in rows["day"]]
    rows["rule"] = rows["rule"].sample(frac=1, random_state=seed).tolist()  # also rows that their rules do not cover
    told = []
    for part in ([rows], [rows[::-1]], [rows[rows["d"] == number] for number in range(3)]):
        monitor = fs.Monitor(by="g", seed=seed)
        for number, each in enumerate(part):
            if len(each):
                add(monitor, each, clusters=each["who"].tolist(), when=each["day"].tolist(), batch=str(number))
        told.append(monitor)
    assert heard(told[0]) == heard(told[1])
    assert told[0].to_dict() == told[1].to_dict()
    for monitor in told[::2]:
        table = monitor.table()
        whole = table[table["group"].isna()].set_index("day")["n"].to_dict()
        first = rows.groupby("who")["day"].min().value_counts().to_dict()
        assert whole == first
        assert monitor.limits().n == rows["who"].nunique()
    # The row of one day is the same in batches of days: labels and groups may have other numbers there.
    days = [sorted(line[:2] for line in heard(monitor)) for monitor in told]
    assert days[0] == days[2]


def test_monitors_added_up_are_a_replay_and_a_batch_of_both_counts_once(tmp_path):
    rows = customers(160, 60)
    parts = [rows[40 * place : 40 * (place + 1)] for place in range(4)]

    def watched(*places):
        monitor = fs.Monitor(by="g")
        for place in places:
            add(monitor, parts[place], clusters=parts[place]["who"], when=day(place), batch=str(place))
        return monitor

    for ours, theirs in (((0, 1), (2,)), ((1, 3), (0, 1, 2))):
        merged, replayed = watched(*ours) + watched(*theirs), watched(*sorted({*ours, *theirs}))
        assert heard(merged) == heard(replayed)
        assert merged.limits().to_dict() == replayed.limits().to_dict()
        assert merged.single_look().to_dict() == replayed.single_look().to_dict()
        merged.save(tmp_path / f"{ours}")
        saved = fs.Monitor(tmp_path / f"{ours}")
        assert saved.to_dict() == merged.to_dict()
        assert not add(saved, parts[ours[0]], clusters=parts[ours[0]]["who"], when=day(9), batch=str(ours[0])).counted
    assert (fs.Monitor(by="g") + watched(0)).limits() == watched(0).limits()


@pytest.mark.parametrize("who", [None, range(40)])
def test_the_order_of_two_monitors_that_are_added_up_says_nothing(who):
    north, south = fs.Monitor(), fs.Monitor()
    for monitor, label in ((north, "yes"), (south, "no")):  # two machines, and a batch of each on every day
        for place in range(2):
            given = {"clusters": who, "when": day(place), "batch": f"{label} {place}"}
            monitor.add(["a", "b"] * 20, [label, "yes"] * 20, **given)
    assert (north + south).to_dict() == (south + north).to_dict()


def test_a_log_adds_what_its_rows_add_and_customers_are_known_again(tmp_path):
    rows = customers(900, 200)
    memory, log = (fs.Monitor(tmp_path / name, by="g") for name in ("memory", "log"))
    for place in range(3):
        part = rows[300 * place : 300 * (place + 1)]
        memory.add(
            fs.Rules.parse(part["rule"]),
            part["y"].tolist(),
            by=part["g"],
            clusters=part["who"],
            when=day(place),
            batch=str(place),
        )
        table = part.sample(frac=1, random_state=place).drop(columns="day")
        table.to_parquet(tmp_path / "log.parquet")
        given_table = tmp_path / "log.parquet" if place % 2 else table
        state = fs.Monitor(log._store.path)
        added = state.add_log(given_table, **HOW, clusters="who", when=str(day(place)), batch=str(place))
        assert noted(added, "for the first time")
    assert heard(memory) == heard(log)
    assert memory.to_dict() == log.to_dict()
    assert "one row per cluster" in str(memory)
    assert memory.limits().n == rows["who"].nunique()


def test_a_monitor_that_hears_nobody_new_says_that_it_would_hardly_see_a_change():
    rows = customers(600, 30, days=10)
    monitor = fs.Monitor(at_least=0.2)
    for number, (when, part) in enumerate(rows.groupby("day")):
        add(monitor, part, clusters=part["who"], when=when, batch=str(number))
    assert monitor.limits().n == 30
    assert noted(monitor, "is hardly seen: begin another state")
    assert noted(monitor, "600 rows are of 30 clusters")
    monitor.add(["a"] * 10, [0] * 10, clusters=[f"new {j}" for j in range(10)], when=rows["day"].max(), batch="new")
    assert monitor.limits().n == 40


def test_the_same_rows_of_other_clusters_are_another_batch():
    monitor = fs.Monitor()
    assert monitor.add(["a", "b"], [0, 1], clusters=["x", "y"], when=day(0)).counted
    assert monitor.add(["a", "b"], [0, 1], clusters=["z", "y"], when=day(0)).counted
    with pytest.warns(UserWarning, match="added before"):
        assert not monitor.add(["b", "a"], [1, 0], clusters=["y", "x"], when=day(0)).counted
    assert monitor.limits().n == 3


def test_what_does_not_fit_the_clusters_of_a_state_is_refused_in_one_sentence(tmp_path):
    plain, clustered = fs.Monitor(), fs.Monitor()
    plain.add(["a"], [0], when=day(0), batch="a")
    clustered.add(["a"], [0], clusters=["x"], when=day(0), batch="a")
    with pytest.raises(BadInput, match="begun with clusters none, and these rows have clusters texts"):
        plain.add(["a"], [0], clusters=["x"], when=day(1))
    with pytest.raises(BadInput, match="begun with clusters texts, and these rows have clusters none"):
        clustered.add(["a"], [0], when=day(1))
    with pytest.raises(BadInput, match="clusters texts, and these rows have clusters numbers"):
        clustered.add(["a"], [0], clusters=[7], when=day(1))
    for clusters, words in (
        ([None], "missing"),
        (["x", "y"], "clusters have 2"),
        ([object()], "only ever equals itself"),
    ):
        refused((BadInput, WrongType), words, clustered.add, ["a"], [0], clusters=clusters, when=day(1))
    rows = pd.DataFrame({"rule": ["a", "b", "c"], "y": [0, 1, 0], "who": ["u", None, "v"]})
    for nulls in ("error", "key"):
        refused(BadInput, "missing", clustered.add_log, rows, **KEYS, when="2026-03-01", nulls=nulls)
    assert clustered.limits().n == 1
    clustered.add_log(rows, **KEYS, when="2026-03-01", nulls="drop")
    assert clustered.limits().n == 3
    refused(BadInput, r"clusters|who", clustered.add_log, rows, **KEYS | {"clusters": "whom"}, when="2026-03-02")
    with pytest.raises(BadInput, match="both for clusters and for prediction"):
        fs.Monitor().add_log(rows, **KEYS | {"clusters": "y"}, when="2026-03-02")
