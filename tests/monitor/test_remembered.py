"""A state remembers with its first rows what was said of their log, so that later ones need only be named."""

import datetime

import duckdb
import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from fuzz.outcomes import one_sentence
from refused import refused

SAID = {"prediction": "yhat", "explanation": "phi_*", "discretizer": "sign", "clusters": "who", "nulls": "drop"}


def day(number):
    return datetime.date(2026, 3, 1) + datetime.timedelta(number)


@pytest.fixture(autouse=True)
def logs(tmp_path, monkeypatch):
    """Three days of a log, in which values are missing."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        rng = default_rng(number)
        phi = rng.normal(size=(400, 2))
        frame = pd.DataFrame(phi, columns=["phi_a", "phi_b"]).assign(yhat=np.where(phi[:, 0] > 0, "yes", "no"))
        frame = frame.assign(area=rng.choice(["eu", "us"], 400), who=np.arange(400) + 400 * number)
        frame.loc[::50, "phi_b"] = np.nan
        frame["ts"] = pd.Timestamp(day(number)) + pd.to_timedelta(np.arange(400), "min")
        frame.to_parquet(f"log-{day(number)}.parquet")


def log(number):
    return f"log-{day(number)}.parquet"


def begun(store=None, **how):
    monitor = fs.Monitor(store, by="region")
    monitor.add_log(log(0), **{**SAID, **how}, when="ts", by="area", batch="0")
    return monitor


def test_later_logs_need_only_be_named():
    said, state = begun(), begun("state.duckdb")
    for number in (1, 2):
        said.add_log(log(number), **SAID, when="ts", by="area", batch=str(number))
        later = fs.Monitor("state.duckdb")
        added = later.add(log(number), batch=str(number)) if number == 1 else later.add_log(log(2), batch="2")
        assert "8 rows were dropped: values missing" in added.notes
    assert state.to_dict() == said.to_dict()
    assert sorted(state.groups) == ["eu", "us"]
    assert not state.add(fs.Log(log(2)), batch="2").counted
    assert state.add(pd.read_parquet(log(2)).pipe(fs.Log), batch="2").counted is False


def test_what_is_said_again_must_be_the_same():
    monitor = begun("state.duckdb")
    again = {"prediction": ["yhat"], "explanation": ["phi_*"], "clusters": "who"}
    monitor.add_log(log(1), **again, batch="1")
    for option, other in (
        ("prediction", "area"),
        ("explanation", "phi_a"),
        ("clusters", "area"),
        ("by", "who"),
        ("time", "other"),
    ):
        with pytest.raises(BadInput, match=f"remembers {option}=.* of its first log") as told:
            monitor.add_log(log(2), **{option: other}, batch="2")
        one_sentence(str(told.value))
    refused(BadInput, "one explainer and one discretizer", monitor.add_log, log(2), discretizer="rank", batch="2")
    assert monitor.limits().n == 2 * 392
    monitor.add_log(log(2), nulls="key", when="2026-03-09", batch="2")
    assert monitor.limits().n == 2 * 392 + 400


def test_which_rows_were_meant_is_not_remembered_and_must_be_said():
    monitor = begun(where="area = 'eu'")
    with pytest.raises(BadInput, match="were chosen from their log by where=\"area = 'eu'\"") as told:
        monitor.add(log(1), batch="1")
    one_sentence(str(told.value))
    rows = pd.read_parquet(log(1)).dropna()
    assert monitor.add(fs.Log(log(1)).only("area = 'us'"), batch="1").rows == (rows["area"] == "us").sum()
    assert monitor.add_log(log(2), **SAID, batch="2").rows == 392


def test_a_discretizer_that_has_no_word_must_be_said_again():
    monitor = fs.Monitor()
    how = {"prediction": "yhat", "explanation": "phi_*", "nulls": "drop", "when": "ts"}
    monitor.add_log(log(0), **how, discretizer=fs.Sign())
    refused(BadInput, "one explainer and one discretizer", monitor.add, log(1))
    assert monitor.add(log(1), discretizer=fs.Sign()).counted


def test_a_state_that_remembers_nothing_yet_remembers_the_next_log():
    monitor = begun("state.duckdb")
    with duckdb.connect("state.duckdb") as held:  # as earlier versions wrote it
        held.execute("DELETE FROM settings WHERE name = 'log'")
    refused(BadInput, "no column 'region'", monitor.add, log(1), batch="1")
    monitor.add_log(log(1), **SAID, when="ts", by="area", batch="1")
    assert monitor.add(log(2), batch="2").rows == 392


def test_a_path_is_a_log_only_without_predictions_and_what_belongs_to_rows():
    refused(BadInput, "predictions=", begun().add, fs.Log(log(1)), [0, 1])
    refused(BadInput, "No file", begun().add, "nowhere.parquet")
