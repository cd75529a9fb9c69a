"""Pairs of rows found without comparing all of them, held against brute force."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from brute import gower
from faithscope.measures import counterexamples as module


def numbers(n, rng):
    return pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))


def categories(n, rng):
    return pd.DataFrame({"job": rng.choice(["clerk", "nurse", "-", "7"], n), "id": [f"customer {i}" for i in range(n)]})


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
@pytest.mark.parametrize("exact", [True, False], ids=["outright", "along directions"])
def test_every_pair_found_disagrees_and_its_distance_is_that_of_brute_force(table, exact, monkeypatch):
    n, rng = 120, np.random.default_rng(1)
    X, labels = table(n, rng), rng.integers(0, 3, n)
    monkeypatch.setattr(module, "_EXACT", 10**9 if exact else 0)
    pairs = fs.evaluate(labels, ["same"] * n, X).counterexamples(k=200)
    a, b = pairs["row_a"].to_numpy(), pairs["row_b"].to_numpy()
    distance = gower(X)
    assert len({*zip(a, b, strict=True)}) == 200
    assert (labels[a] != labels[b]).all()
    assert pairs["distance"].to_numpy() == pytest.approx(distance[a, b], abs=1e-12)
    if exact:
        apart = np.sort(distance[np.triu(labels[:, None] != labels)])
        assert pairs["distance"].to_numpy() == pytest.approx(apart[:200], abs=1e-12)


@pytest.mark.parametrize("table", [numbers, dates, missing])
def test_two_rows_that_differ_in_one_value_are_found_among_thousands(table, monkeypatch):
    n, rng = 4_000, np.random.default_rng(2)
    X, labels = table(n, rng), rng.integers(0, 2, n)
    X = X.iloc[np.where(np.arange(n) == 3_111, 77, np.arange(n))].reset_index(drop=True)
    X.iloc[3_111, 0] = X.iloc[78, 0]
    labels[[77, 3_111]] = 0, 1
    monkeypatch.setattr(module, "_EXACT", 0)
    pairs = fs.evaluate(labels, ["same"] * n, X).counterexamples(k=1)
    assert pairs["distance"][0] <= 1 / X.shape[1]


@pytest.mark.parametrize("kind", ["object", "category", "string"])
def test_a_large_table_of_text_has_counterexamples(kind):
    n, rng = 9_000, np.random.default_rng(0)
    X = pd.DataFrame({"job": rng.choice(["a", "b", "c"], n), "place": rng.choice(["d", "e"], n)}).astype(kind)
    ev = fs.evaluate((X["job"] == "a").to_numpy(), fs.explainers.Constant(), X)
    pairs = ev.counterexamples(5)
    assert pairs["distance"].tolist() == [0.5] * 5, "the job differs, the place does not"


def test_missing_dates_are_missing_and_not_a_date_long_ago():
    days = pd.DataFrame({"day": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-05", None, None])})
    pairs = fs.evaluate([0, 1, 1, 1, 0], ["e"] * 5, days).counterexamples()
    found = {(a, b): d for a, b, d in zip(pairs.row_a, pairs.row_b, pairs.distance, strict=True)}
    assert found == pytest.approx({(3, 4): 0, (0, 1): 0.25, (0, 2): 1, (0, 3): 1, (1, 4): 1, (2, 4): 1})
    plain = [[dt.date(2026, 1, 1)], [dt.date(2026, 1, 2)], [dt.date(2026, 1, 5)], [None], [None]]
    again = fs.evaluate([0, 1, 1, 1, 0], ["e"] * 5, plain).counterexamples()
    assert again["distance"].tolist() == pytest.approx(pairs["distance"].tolist())


def test_whole_numbers_that_may_be_missing_are_numbers():
    counts = pd.DataFrame({"n": pd.array([1, 2, 11, None], "Int64")})
    pairs = fs.evaluate([0, 1, 1, 1], ["e"] * 4, counts).counterexamples()
    assert pairs["distance"].tolist() == pytest.approx([0.1, 1, 1])
