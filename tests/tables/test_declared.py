"""fs.Log: every verb gives of a log what memory gives of its rows, where they are or read into memory."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, NotProven, NotScoped, WrongType
from noted import noted
from refused import refused
from tables import engines
from tables.logs import (
    CUSTOMER,
    KINDS,
    LABEL,
    LABELS,
    MOMENT,
    NUMBERS,
    POPULATION,
    POPULATIONS,
    ROWS,
    WEIGHT,
    WEIGHTS,
    table,
)


def logged(kind, predictions=LABELS, **how):
    columns, said = KINDS[kind][1], KINDS[kind][2]
    rows = table({**columns, WEIGHT: WEIGHTS}, predictions)
    return fs.Log(**engines.put("duckdb", f"declared {kind}", rows), prediction=LABEL, **said, **how)


def assert_equal(ours, theirs):
    assert (ours.n, ours.distinct) == (theirs.n, theirs.distinct)
    for name in ("value", "unverifiable", "chance", "low", "high"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-9), name


FEATURES = KINDS["columns"][0].names
GROUPED = fs.Grouped({"both": list(FEATURES[:2]), **{name: [name] for name in FEATURES[2:]}})


@pytest.mark.parametrize(
    ("predictions", "options"),
    [
        (LABELS, {"discretizer": GROUPED}),
        (LABELS, {"discretizer": lambda given: given}),
        (NUMBERS, {"discretizer": "sign", "agreement": lambda a, b: np.exp(-np.abs(a - b))}),
    ],
)
def test_discretizers_and_agreements_that_no_engine_knows_are_those_of_memory(predictions, options):
    ours = fs.consistency(logged("columns", predictions=predictions), **options)
    assert_equal(ours, fs.consistency(KINDS["columns"][0], predictions, **options))


def test_reasons_leak_the_same():
    texts, words = KINDS["reasons"][0], ["yes", "no"]
    for how, options in (({}, {}), ({"weights": WEIGHT}, {"weights": WEIGHTS})):
        ours = fs.leakage(logged("reasons", **how), words=words, discretizer=fs.Template())
        theirs = fs.leakage(texts, LABELS, words=words, discretizer=fs.Template(), **options)
        assert (ours.share, ours.own) == pytest.approx((theirs.share, theirs.own))
        assert_equal(ours.masked, theirs.masked)


def test_certificates_plans_and_groups():
    log, explanations = logged("columns"), KINDS["columns"][0]
    certificate = fs.certify(log, discretizers=["sign", "rank"], interval=None)
    assert certificate.low == pytest.approx(fs.certify(explanations, LABELS, ["sign", "rank"], interval=None).low)
    assert str(fs.plan(log)) == str(fs.plan(fs.consistency(explanations, LABELS)))
    for weights, options in ((None, {}), (WEIGHT, {"weights": WEIGHTS})):
        ours = fs.consistency(logged("columns", weights=weights), discretizer="sign", by=POPULATION)
        theirs = fs.consistency(explanations, LABELS, discretizer="sign", by=POPULATIONS, **options)
        for group, estimate in theirs.estimates.items():
            assert_equal(ours[group], estimate)
            assert_equal(ours.among[group], theirs.among[group])


def test_an_audit_and_a_monitor_take_the_log_with_its_options():
    log = logged("columns", time=MOMENT, clusters=CUSTOMER)
    told = {"prediction": LABEL, "explanation": "phi_*", "clusters": CUSTOMER}
    audited = fs.audit(log, discretizer="sign", every="1w", by=POPULATION)
    assert (
        audited.to_dict()
        == fs.audit(log.table, **told, discretizer="sign", time=MOMENT, every="1w", by=POPULATION).to_dict()
    )
    assert fs.audit(log, discretizer="sign").windows is None
    halves = log.only("half = 0"), log.only("half = 1")
    beside = fs.audit(halves[0], discretizer="sign", against=halves[1])
    whole = fs.audit(log.table, **told, discretizer="sign", where="half = 1")
    assert_equal(beside.reference.estimates["consistency"], whole.consistency)
    monitor = fs.Monitor()
    added = monitor.add(log, discretizer="sign", batch="first")
    again = fs.Monitor().add_log(log.table, **told, discretizer="sign", when=MOMENT, batch="first")
    assert (added.rows, str(added)) == (again.rows, str(again))
    assert not monitor.add(log, discretizer="sign", batch="first").counted


def test_only_joins_conditions_and_takes_the_later_moment():
    log = logged("keys", time=MOMENT)
    part = log.only("half = 0").only(f"\"{POPULATION}\" = 'north' or half = 1", since="1970-01-01")
    kept = part.only(since="1969-01-01")
    assert kept.since == "1970-01-01"
    assert fs.consistency(kept).n == fs.consistency(part).n == len(part.read().predictions) < ROWS / 4
    assert noted(fs.consistency(part), "rows, where")
    assert noted(part.read().explanations, "rows, where")
    assert repr(part).startswith("Log(<")


def test_rows_that_are_dropped_are_told_in_memory_too():
    rows = pd.DataFrame({"k": list("aabbcc"), "y": [1, 1, 0, None, 0, 0], "w": [1.0, 2, 1, 1, None, 1]})
    log = fs.Log(rows, prediction="y", explanation="k", weights="w", nulls="drop")
    estimate = fs.consistency(log)
    assert estimate.n == 4
    assert any(note == "2 rows were dropped: values missing" for note in estimate.notes)
    refused(
        BadInput,
        "Values are missing.*'w' in 1",
        fs.consistency,
        fs.Log(rows.dropna(subset="y"), prediction="y", explanation="k", weights="w"),
    )


@pytest.mark.parametrize("labels", [[1, 1, None, None, 0, 0], ["a", "a", None, None, "missing", "b"]])
def test_missing_labels_and_clusters_are_a_value_in_memory_too(labels):
    rows = pd.DataFrame({"k": list("aabbcc"), "y": labels, "w": [1.0] * 6, "owner": [None, 1, 2, None, 3, 3]})
    how = {"prediction": "y", "explanation": "k", "nulls": "key"}
    assert fs.consistency(fs.Log(rows, **how)).value == fs.consistency(fs.Log(rows, **how, weights="w")).value
    owned = [fs.consistency(fs.Log(rows, **how, clusters="owner", **more)) for more in ({}, {"weights": "w"})]
    assert owned[0].value == owned[1].value
    assert owned[0].unverifiable == owned[1].unverifiable


def test_rows_that_repeat_and_several_columns_of_groups_are_told_in_memory_too():
    rng = default_rng(1)
    rows = pd.DataFrame({"k": rng.integers(0, 8, 200), "y": rng.choice(["a", "b"], 200), "w": rng.uniform(1, 2, 200)})
    rows = rows.assign(g=rng.choice(["n", "s"], 200), h=rng.choice(["p", "q"], 200), x=rng.normal(size=200))
    plain, weighted = (fs.Log(rows, prediction="y", explanation="k", kind="keys", weights=w) for w in (None, "w"))
    twice = pd.concat([rows, rows])
    for log in (plain, weighted):
        assert not noted(fs.consistency(log), "repeat an earlier row")
        again = fs.consistency(replace(log, table=twice))
        assert noted(again, "50% of rows repeat an earlier row")
    one, other = (fs.consistency(log, by=["g", "h"]) for log in (plain, weighted))
    assert one.by == other.by == "g × h"
    assert list(one.estimates) == list(other.estimates)


def test_a_query_is_read_once_and_asked_often():
    rows = pa.table({"k": list("aabb") * 10, "y": [0, 0, 1, 0] * 10})
    log = fs.Log(pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()), prediction="y", explanation="k")
    assert fs.consistency(log) == fs.consistency(log)
    assert fs.plan(log).n == fs.audit(log).consistency.n == 40


FRAME = pd.DataFrame({"phi_a": [0.1, 0.2, 0.3], "phi_b": [0.0, 0.5, 1.0], "y": [0, 1, 1], "w": [1, 2, 3], "text": "a"})
LOG = fs.Log(FRAME, prediction="y", explanation="phi_*")
WEIGHED = fs.Log(FRAME, prediction="y", explanation="phi_*", weights="w")
REFUSED = {
    r"predictions=: name the column in the log, fs.Log\(..., prediction=...\)": (
        BadInput,
        lambda: fs.consistency(LOG, [1, 2, 3]),
    ),
    r"clusters=: name the column in the log": (BadInput, lambda: fs.sufficiency(LOG, clusters=[1, 2, 3])),
    r"askers=, which are rows in memory": (BadInput, lambda: fs.consistency(LOG, askers=[True] * 3)),
    r"pass relation=fs.Alike\(\)": (NotScoped, lambda: fs.sufficiency(LOG)),
    r"got a Log and prediction=: say it in the log": (BadInput, lambda: fs.audit(LOG, prediction="y")),
    r"holds string, and weights are numbers": (WrongType, lambda: fs.audit(replace(WEIGHED, weights="text"))),
    r"'y' is named both for weights and for prediction": (BadInput, lambda: fs.audit(replace(WEIGHED, weights="y"))),
    r"must not be negative": (BadInput, lambda: fs.audit(replace(WEIGHED, table=FRAME.assign(w=[-1, 1, 1])))),
    r"counts every row once: leave weights": (NotProven, lambda: fs.Monitor().add(WEIGHED)),
    r"rows that count alike, and the log has weights": (NotProven, lambda: fs.certify(WEIGHED)),
    r"got a log and clusters=, which are columns": (BadInput, lambda: fs.Monitor().add(LOG, clusters=[1, 2, 3])),
    r"got a Log and where=: say it": (BadInput, lambda: fs.Monitor().add_log(LOG, where="y = 1")),
    r"windows of time: name their column": (BadInput, lambda: fs.audit(LOG, every="1d")),
    r"fs.audit has no option 'predictions'. .*prediction": (WrongType, lambda: fs.audit(FRAME, predictions="y")),
    r"A Log was made of a Log": (WrongType, lambda: fs.Log(LOG)),
    r"nulls must be|nulls=": (FaithscopeError, lambda: fs.Log(FRAME, nulls="maybe")),
    r"since is a date": (BadInput, lambda: LOG.only(since="soon")),
    r"Column 'c' holds .*, and weights are numbers": (
        WrongType,
        lambda: fs.consistency(fs.Log(FRAME.assign(c="x"), prediction="y", explanation="phi_*", weights="c")),
    ),
    r"no column 'weight' for weights": (
        BadInput,
        lambda: fs.consistency(fs.Log(FRAME, prediction="y", explanation="phi_a", weights="weight")),
    ),
    r"got explanations alone: pass fs.consistency\(explanations, predictions\)": (
        WrongType,
        lambda: fs.consistency(FRAME[["phi_a"]]),
    ),
    r"rows = log.read\(\)": (WrongType, lambda: fs.within(LOG, [1, 2, 3], 0.1)),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_a_log_refuses_is_one_sentence(words):
    refused(REFUSED[words][0], words, REFUSED[words][1])


def test_groups_by_dates_of_a_weighted_log_are_called_by_their_dates():
    table = pd.DataFrame({"leaf": [1, 1, 2, 2] * 10, "y": [0, 1] * 20, "how": 1.5, "g": ["n", "s"] * 20})
    table["day"] = pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(40) % 2, unit="D")
    log = fs.Log(table, prediction="y", explanation="leaf", kind="keys", weights="how")
    names = {day for _, day in fs.consistency(log, by=["g", "day"]).estimates}
    assert {f"{day:%Y-%m-%d}" for day in names} == {"2026-01-01", "2026-01-02"}


def test_lengths_of_windows_are_checked_before_the_log_is_read(monkeypatch):
    monkeypatch.setattr("faithscope.tables.audit.open_log", None)
    refused(
        fs.errors.BadInput,
        "every must be a number with",
        fs.audit,
        "no such file",
        prediction="y",
        explanation="leaf",
        time="day",
        every="month",
    )


def test_rows_of_weight_0_count_nowhere_and_weights_are_those_of_the_reference():
    rng = default_rng(1)
    leaf, group, weight = rng.integers(0, 4, 400), rng.choice(list("pqrs"), 400), 1.0 * (rng.random(400) < 0.6)
    label = np.where((leaf % 2 == 0) ^ (rng.random(400) < np.where(group == "p", 0.5, 0.05)), "a", "b")
    frame = pd.DataFrame(
        {"leaf": leaf, "y": label, "w": np.where(group == "q", 0, weight), "g": group, "row": range(400)}
    )
    told = {"prediction": "y", "explanation": "leaf", "kind": "keys", "id": "row"}
    ours = fs.audit(frame, **told, weights="w", by="g")
    theirs = fs.audit(frame[frame.w > 0], **told, weights="w", by="g")
    assert ours.to_dict()["populations"] == theirs.to_dict()["populations"]
    assert ours.table().equals(theirs.table())
    assert ours.counterexamples().equals(theirs.counterexamples())
    assert str(ours.slices()) == str(theirs.slices())
    assert "235 rows of weight 0 left out" in str(ours)
    memory = [
        [(found.name, found.rows, found.agreement) for found in each.slices().found]
        for rows in (frame, frame[frame.w > 0])
        for each in [fs.evaluate(rows.y.tolist(), rows.leaf.tolist(), rows[["g"]], weights=rows.w.to_numpy())]
    ]
    assert memory[0] == memory[1] != []
    refused(
        BadInput,
        r"differ in weights \(w and none\)",
        fs.audit,
        frame,
        **told,
        weights="w",
        against=fs.audit(frame[:200], **told),
    )
    refused(BadInput, "named both for weights and for clusters", fs.audit, frame, **told, weights="w", clusters="w")
