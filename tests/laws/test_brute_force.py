"""Counting equals the paper's definitions, pair by pair."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import brute
import faithscope as fs
from strategies import samples


@given(samples())
@example(([0], [0]))
@example(([0, 0], [0, 1]))
def test_consistency_is_the_papers_estimator(sample):
    explanations, predictions = sample
    found = fs.consistency(explanations, predictions)
    assert found.value == pytest.approx(brute.consistency(explanations, predictions), abs=1e-12)
    assert found.unverifiable == pytest.approx(brute.unverifiable(explanations), abs=1e-12)
    assert found.distinct == len(set(explanations))


@given(samples(min_size=2))
def test_chance_is_the_share_of_agreeing_pairs(sample):
    explanations, predictions = sample
    assert fs.consistency(explanations, predictions).chance == pytest.approx(brute.chance(predictions), abs=1e-12)


@given(st.integers(0, 10_000))
def test_importances_count_as_tuples_of_numbers(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    values = rng.choice([-1.0, -0.0, 0.0, 0.5], size=(n, d))
    predictions = rng.choice(["a", "b", "c"], n)
    keys = [tuple(row) for row in (values + 0.0).tolist()]
    assert fs.consistency(values, predictions).value == pytest.approx(
        brute.consistency(keys, list(predictions)), abs=1e-12
    )


@given(samples(min_size=2, max_size=15), st.integers(0, 1000))
def test_weighted_consistency_by_the_jackknife_weighs_every_pair(sample, seed):
    explanations, predictions = sample
    weights = np.random.default_rng(seed).uniform(0.1, 5, len(explanations))
    found = fs.consistency(explanations, predictions, weights=weights, interval="jackknife")
    value, silent = brute.weighted(explanations, predictions, weights)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.unverifiable == pytest.approx(silent, abs=1e-12)


@given(samples())
def test_equal_weights_change_nothing(sample):
    plain, weighted = fs.consistency(*sample), fs.consistency(*sample, weights=[2.5] * len(sample[0]))
    for name in ("value", "low", "high", "unverifiable", "upper"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), abs=1e-9)
    assert (weighted.chance is None) == (plain.chance is None)
    assert weighted.chance is None or weighted.chance == pytest.approx(plain.chance, abs=1e-12)
    assert math.isclose(weighted.effective_n, plain.n)


def test_a_row_of_weight_zero_is_left_out_and_the_result_says_so():
    found = fs.consistency(["a", "a", "b"], [0, 1, 1], weights=[1.0, 1.0, 0.0])
    assert found.n == 2
    assert found.value == 0.0
    assert "1 row of weight 0 left out" in found.notes
