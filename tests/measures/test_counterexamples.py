"""Pairs of rows found without comparing all of them, held against brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.random import default_rng
from scipy.sparse import csr_matrix

import faithscope as fs
from brute import gower
from faithscope.measures import counterexamples as module
from strategies import samples


def shared(predictions, X):
    """The evaluation of rows that all have one explanation."""
    return fs.evaluate(predictions, ["same"] * len(predictions), X)


@given(samples())
def test_counterexamples_share_an_explanation_but_not_a_prediction(sample):
    explanations, predictions = map(np.array, sample)
    pairs = fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None]).counterexamples(k=7)
    differ = (explanations[:, None] == explanations) & (predictions[:, None] != predictions)
    disagreeing = set(zip(*np.nonzero(np.triu(differ)), strict=True))
    found = list(zip(pairs["row_a"], pairs["row_b"], strict=True))
    assert len(found) == len(set(found)) == min(7, len(disagreeing))
    assert set(found) <= disagreeing
    assert pairs["disagreeing_pairs"].is_monotonic_decreasing
    assert all(shown["distance"].is_monotonic_increasing for _, shown in pairs.groupby("explanation"))


def test_every_explanation_gives_a_pair_before_any_gives_two():
    explanations = ["worst"] * 8 + ["bad"] * 2 + ["fine"] * 2
    evaluation = fs.evaluate([0, 1] * 5 + [1, 1], explanations, np.arange(12.0)[:, None])
    for k, expected in ((4, ["worst"] * 3 + ["bad"]), (2, ["worst", "bad"])):
        assert evaluation.counterexamples(k)["explanation"].tolist() == expected


def numbers(n, rng):
    return pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))


def categories(n, rng):
    return pd.DataFrame(
        {
            "job": rng.choice(["clerk", "nurse", "-", "7"], n),
            "id": [f"customer {i}" for i in range(n)],
            "place": pd.array(rng.choice(["d", "e"], n), "string"),
        }
    )


def dates(n, rng):
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 3_000, n), unit="D")
    return pd.DataFrame(
        {"since": days, "zone": days.tz_localize("Europe/Vienna"), "day": days.date, "x": rng.random(n)}
    )


def missing(n, rng):
    table = pd.concat([numbers(n, rng), categories(n, rng), dates(n, rng)], axis=1)
    table["count"] = pd.array(rng.integers(0, 50, n), "Int64")
    table["kind"] = pd.Categorical(rng.choice(["u", "v"], n))
    holes = table.mask(rng.random(table.shape) < 0.2)
    return holes.astype({"count": "Int64", "kind": "category"})


def mixed_infinite(n, rng):
    return pd.DataFrame({"x": rng.choice([1.0, 2.0, np.inf, -np.inf, np.nan], n), "y": rng.random(n)})


@pytest.mark.parametrize("table", [numbers, categories, dates, missing, mixed_infinite])
def test_every_pair_found_disagrees_and_its_distance_is_that_of_brute_force(table, monkeypatch):
    n, rng = 120, default_rng(1)
    X, labels = table(n, rng), rng.integers(0, 3, n)
    distance = gower(X)
    for exact in (True, False):  # outright, and among neighbors
        monkeypatch.setattr(module, "_EXACT", 10**9 if exact else 0)
        pairs = shared(labels, X).counterexamples(k=200)
        a, b = pairs["row_a"].to_numpy(), pairs["row_b"].to_numpy()
        assert len({*zip(a, b, strict=True)}) == 200
        assert (labels[a] != labels[b]).all()
        nearest = np.sort(distance[np.triu(labels[:, None] != labels)])[:200]
        assert pairs["distance"].to_numpy() == pytest.approx(nearest if exact else distance[a, b], abs=1e-12)
        assert pairs["distance"].to_numpy() == pytest.approx(distance[a, b], abs=1e-12)


def test_rows_that_cannot_be_compared_have_no_distance_and_come_in_order():
    pairs = shared([0, 0, 1, 2, 0], csr_matrix(np.eye(5))).counterexamples(k=3)
    assert pairs[["row_a", "row_b"]].to_numpy().tolist() == [[0, 2], [0, 3], [1, 2]]
    assert pairs["distance"].isna().all()


def test_pairs_are_found_even_where_labels_lie_apart():
    pairs = shared(np.arange(10_000) >= 5_000, np.arange(10_000.0)[:, None]).counterexamples(k=10)
    assert len(pairs) == 10
    assert (pairs["row_a"] < 5_000).all()
    assert (pairs["row_b"] >= 5_000).all()
    assert pairs["distance"][0] < 0.001
