"""Whole rows of a log that repeat are told, unless something tells them apart or they are all that is measured."""

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
from faithscope.notes import TOO_HIGH
from faithscope.tables import audited


def log(n=600, seed=0):
    rng = default_rng(seed)
    columns = {"leaf": rng.integers(0, 9, n), "yhat": rng.choice(["yes", "no"], n), "age": rng.normal(size=n)}
    return pd.DataFrame({**columns, "pay": rng.normal(size=n), "job": rng.choice(["a", "b", "c"], n)})


TWICE = pd.concat([log(), log()], ignore_index=True)


def told(table, **options):
    audited = fs.audit(table, **{"prediction": "yhat", "explanation": "leaf"} | options)
    return [note for note in audited.consistency.notes if "repeat an earlier row" in note]


def test_a_doubled_log_is_told_with_half_of_its_rows():
    twice = TWICE.sample(frac=1, random_state=0)
    (note,) = told(twice)
    assert note.startswith("50% of rows repeat an earlier row in every column of the log: ")
    assert TOO_HIGH in note
    assert told(twice, discretizer="sign", explanation=["age", "pay"])


def test_rows_that_something_tells_apart_and_chance_repeats_are_not_told():
    named = TWICE.assign(request=range(1200), case=np.tile(np.arange(600), 2))
    for table, options in (
        (log(), {}),
        (pd.concat([log(), log()[:4]]), {}),
        (named, {}),
        (named, {"id": "request"}),
        (named.drop(columns="request"), {"clusters": "case"}),
        *((log(2000, seed)[["leaf", "yhat", "job"]], {}) for seed in range(3)),
        (TWICE[["leaf", "yhat"]], {}),
        (TWICE.assign(words=[["a", "b"]] * 1200), {}),
    ):
        assert told(table, **options) == []
    assert told(named.drop(columns="request"))


def test_explanations_and_predictions_alone_are_what_is_counted():
    notes = fs.audit(TWICE[["age", "pay", "yhat"]], prediction="yhat", explanation=["age", "pay"]).consistency.notes
    assert any("600 explanations were given to exactly 2 rows" in note for note in notes)


def test_a_part_of_a_long_log_tells_the_same(monkeypatch, tmp_path):
    monkeypatch.setattr(audited, "_FEW", 1000)
    once = log(20_000)
    path = f"{tmp_path}/log.parquet"
    few = once.astype({"leaf": str, "age": str}).assign(pay=1.0)  # of which no fair sixteenth is chosen
    for rows in (once, few):
        pd.concat([rows, rows]).sample(frac=1, random_state=0, ignore_index=True).to_parquet(path)
        assert told(path)[0].startswith("50%")
    once.to_parquet(path)
    assert told(path) == []
    assert told(log(20_000)[["leaf", "yhat", "job"]]) == []


def test_missing_values_do_not_fail_an_audit():
    known = TWICE.age > 0
    assert told(TWICE.assign(pay=TWICE.pay.where(known), job=TWICE.job.where(known)))[0].startswith("50%")


def test_verbs_that_are_measured_in_memory_tell_of_repeated_rows_too():
    rng = default_rng(0)
    once = pd.DataFrame({"k": rng.integers(0, 9, 400).astype(str), "y": rng.normal(size=400), "z": rng.random(400)})
    for rows, told in ((once, 0), (pd.concat([once, once]), 1)):
        numbers = fs.Log(rows, prediction="y", explanation="k")
        labels = fs.Log(rows.assign(y=rows["y"] > 0), prediction="y", explanation="k")
        for found in (
            fs.consistency(numbers, agreement=fs.Close(0.5)),
            fs.consistency(labels),
            fs.certify(labels, discretizers=[None], interval=None),
        ):
            assert sum("50% of rows repeat an earlier row" in note for note in found.notes) == told
