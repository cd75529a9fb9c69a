"""Sample-size curves are exact, and forecasts are honest."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import brute
import faithscope as fs
from faithscope.counting.counts import Counts
from faithscope.measures.planning import rarefy
from refused import refused
from strategies import samples


@given(samples(min_size=2, max_size=8), st.data())
def test_rarefaction_is_the_average_over_all_subsets(sample, data):
    explanations, predictions = sample
    m = data.draw(st.integers(1, len(explanations)))
    subsets = list(combinations(range(len(explanations)), m))
    found = [([explanations[i] for i in s], [predictions[i] for i in s]) for s in subsets]
    value, silent = rarefy(fs.consistency(*sample).counts.profile(), m)
    assert value == pytest.approx(np.mean([brute.consistency(*one) for one in found]), abs=1e-10)
    assert silent == pytest.approx(np.mean([brute.unverifiable(one[0]) for one in found]), abs=1e-10)


def draw(n, seed, kind):
    rng = default_rng(seed)
    if kind == "uniform":
        return rng.integers(0, 3000, n)
    if kind == "zipf":
        return rng.choice(100_000, n, p=(w := 1 / np.arange(1, 100_001) ** 1.2) / w.sum())
    return np.where(rng.random(n) < 0.3, rng.integers(10**6, 10**9, n), rng.integers(0, 50, n))


def test_the_plan_says_how_many_rows_a_wanted_silence_takes():
    n = 2000
    plan = fs.plan(fs.consistency(draw(n, 0, "uniform"), np.zeros(n)), unverifiable=0.1)
    assert plan.forecastable
    assert plan.rows_needed is not None
    there = fs.consistency(draw(plan.rows_needed, 9, "uniform"), np.zeros(plan.rows_needed)).unverifiable
    assert there == pytest.approx(0.1, abs=0.02)
    assert plan.backtest is not None
    assert plan.backtest.rows == n // 2
    assert abs(plan.backtest.error) < 0.03
    assert plan.guarantee == fs.sample_size(fs.consistency(draw(n, 0, "uniform"), np.zeros(n)).distinct, 0.1)
    assert f"about {plan.rows_needed:,} rows in all" in str(plan)


def test_a_plan_for_a_silence_already_reached_says_how_many_rows_would_have_done():
    found = fs.consistency(np.arange(500) % 10, np.zeros(500))
    plan = fs.plan(found, unverifiable=0.05)
    assert plan.unverifiable == 0
    assert rarefy(found.counts.profile(), plan.rows_needed)[1] <= 0.05
    assert rarefy(found.counts.profile(), plan.rows_needed - 1)[1] > 0.05


def test_what_cannot_be_forecast_is_not():
    unique = fs.plan(fs.consistency(np.arange(50), np.zeros(50)))
    assert not unique.forecastable
    assert unique.rows_needed is None
    assert "not forecastable" in str(unique)
    refused(fs.errors.BadInput, "every explanation occurred once", unique.at, 100)
    floor = fs.plan(fs.consistency(draw(2000, 0, "a third unique"), np.zeros(2000)))
    assert (floor.rows_needed, floor.rows_needed_low, floor.rows_needed_high) == (None, None, None)
    assert "more than 20,000 rows, 10 times as many, are needed" in floor.reason
    refused(fs.errors.BadInput, "10 times its size", floor.interval, 20_001)
    one = fs.plan(fs.consistency(["a"], [0]))
    assert one.rows_needed is None


PAIR = fs.consistency(["a", "a"], [0, 1])
REFUSED = [
    (lambda: fs.plan(PAIR, unverifiable=0), "BadInput", "strictly between 0 and 1"),
    (lambda: fs.plan(fs.consistency(["a", "a"], [0, 1], weights=[1, 2])), "NotProven", "weighted"),
    (lambda: fs.plan(5), "WrongType", "got int"),
    (lambda: fs.plan(Counts.zero()), "BadInput", "no rows"),
]


def test_bad_plans_are_refused():
    for ask, error, words in REFUSED:
        refused(getattr(fs.errors, error), words, ask)
