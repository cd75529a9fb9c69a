"""Clustered rows of a log: the same estimates as in memory, to 1e-9, and pairs of rows that are strangers."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused
from tables.logs import assert_same


def _log(n=400, **columns):
    rng = default_rng(1)
    given = {"leaf": rng.integers(0, 300, n), "yhat": rng.integers(0, 2, n), "row": np.arange(n)}
    return pd.DataFrame(given).assign(**columns)


def _ask(log, clusters=None, **how):
    return fs.audit(log, prediction="yhat", explanation="leaf", kind="keys", clusters=clusters, **how)


@pytest.mark.parametrize("agreement", [None, fs.Close(0.5)])
def test_pairs_of_strangers_are_found_behind_many_rows_of_one_customer(agreement):
    y = np.repeat([0.0, 1.0], [200, 201])
    log = pd.DataFrame({"leaf": 1, "yhat": y if agreement else y.astype(int), "customer": ["A"] * 400 + ["B"]})
    pair = _ask(log, "customer", agreement=agreement).counterexamples(1).iloc[0]
    assert {pair.customer_a, pair.customer_b} == {"A", "B"}


def test_numbers_and_texts_name_the_same_clusters(tmp_path):
    log = _log(customer=np.arange(400) // 4)
    expected = _ask(log, "customer").consistency
    log.to_csv(tmp_path / "log.csv", index=False)
    for held in (*(log.astype({"customer": kind}) for kind in (str, float, "int8", "category")), tmp_path / "log.csv"):
        assert_same(_ask(held, "customer").consistency, expected)


def test_rows_without_a_cluster_follow_nulls():
    log = _log(customer=(np.arange(400) // 3).astype(object))
    log.loc[::4, "customer"] = None
    refused(BadInput, "'customer' in 100 of 400 rows", _ask, log, "customer")
    kept = log.dropna()
    dropped = _ask(log, "customer", nulls="drop").consistency
    assert_same(dropped, fs.consistency(kept.leaf, kept.yhat, clusters=kept.customer))
    assert dropped.notes[-1] == "100 rows were dropped: values missing"
    expected = fs.consistency(log.leaf, log.yhat, clusters=log.customer.fillna(-1))
    for held in (log, log.assign(customer=log.customer.astype(float))):
        keyed = _ask(held, "customer", nulls="key")
        assert_same(keyed.consistency, expected)
        assert len(keyed.counterexamples(5)) == 5


def test_a_glob_never_means_the_column_of_clusters():
    log = _log(60)
    found = fs.audit(log, prediction="yhat", explanation="*", clusters="row", kind="keys").consistency
    assert found.distinct == log.leaf.nunique()


def test_an_interval_of_clusters_may_be_proven_and_is_that_of_memory_in_any_order():
    log = _log(customer=np.arange(400) // 4)
    found = _ask(log, "customer", interval="proven").consistency
    rows = log.sample(frac=1, random_state=0)
    expected = fs.consistency(rows.leaf, rows.yhat, clusters=rows.customer, interval="proven")
    assert (found.method, found.value) == (expected.method, pytest.approx(expected.value, abs=1e-12))
    again = fs.consistency(log.leaf, log.yhat, clusters=log.customer, interval="proven")
    assert again.interval == pytest.approx(expected.interval, abs=1e-12)
