"""Sufficiency in a target population: brute force, equal weights, partitions, and intervals that cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
import faithscope as fs
from faithscope.testing import SCOPED

SEEDS = st.integers(0, 2**32 - 1)


def random_sample(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    masks, which = rng.random((n, n)) < rng.random(), rng.integers(0, n, n)
    return masks, which, rng.integers(0, 3, n), rng.integers(1, 9, n).astype(float)


@settings(max_examples=80)
@given(SEEDS)
@pytest.mark.slow
def test_weighted_sufficiency_is_that_of_brute_force(seed):
    masks, which, labels, weights = random_sample(seed)
    X = np.zeros((len(labels), 1))
    asked = {"relation": lambda X, k: masks[k], "interval": "jackknife"}
    found = fs.sufficiency(which, labels, X, weights=weights, **asked)
    value, silent = brute.weighted_sufficiency(which.tolist(), masks[which], labels.tolist(), weights.tolist())
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.unverifiable == pytest.approx(silent, abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1


@given(SEEDS, st.floats(0.1, 10))
@pytest.mark.slow
def test_equal_weights_change_nothing(seed, weight):
    masks, which, labels, _ = random_sample(seed)
    X = np.zeros((len(labels), 1))
    plain = fs.sufficiency(which, labels, X, relation=lambda X, k: masks[k])
    same = fs.sufficiency(which, labels, X, relation=lambda X, k: masks[k], weights=np.full(len(labels), weight))
    assert same.value == pytest.approx(plain.value, abs=1e-9)
    assert same.unverifiable == pytest.approx(plain.unverifiable, abs=1e-9)


def test_rules_that_partition_the_rows_are_as_sufficient_as_they_are_consistent():
    rng = np.random.default_rng(0)
    x, weights = rng.random(300), rng.integers(1, 5, 300)
    leaves = np.ceil(x * 8) / 8
    rules = fs.Rules.from_conditions([[("x", ">", one - 1 / 8), ("x", "<=", one)] for one in leaves], features=["x"])
    labels = rng.random(300) < leaves
    weighted = fs.sufficiency(rules, labels, x[:, None], weights=weights, interval="jackknife")
    consistent = fs.consistency(rules, labels, weights=weights, interval="jackknife")
    assert weighted.value == pytest.approx(consistent.value)
    assert weighted.chance == pytest.approx(consistent.chance)
    assert weighted.effective_n == pytest.approx(consistent.effective_n)


def test_rows_without_weight_are_left_out_and_said_to_be():
    rng = np.random.default_rng(1)
    x, labels = rng.random(60), rng.integers(0, 2, 60)
    rules = fs.Rules.from_conditions([[("x", "<=", round(one, 1))] for one in x], features=["x"])
    weights = (np.arange(60) % 3 > 0).astype(float)
    kept = np.flatnonzero(weights)
    found = fs.sufficiency(rules, labels, x[:, None], weights=weights)
    assert found.value == pytest.approx(fs.sufficiency(rules.take(kept), labels[kept], x[kept, None]).value)
    assert "20 rows of weight 0 left out" in found.notes


@pytest.mark.parametrize("name", ["sliding, noisy", "nested"])
@pytest.mark.slow
def test_weighting_a_biased_sample_back_covers_the_truth_of_the_target(name):
    """Rows with large x are three times as likely to be drawn, and weighted by a third."""
    system, rng, trials, hits = SCOPED[name], np.random.default_rng(2), 120, 0
    for _ in range(trials):
        x = rng.random(900)
        x = x[rng.random(900) < np.where(x > 0.5, 1.0, 1 / 3)]
        labels = (rng.random(len(x)) < system.chance(x)).astype(int)
        bounds = np.column_stack(system.interval(x)).tolist()
        rules = fs.Rules.from_conditions([[("x", ">", a), ("x", "<=", b)] for a, b in bounds], features=["x"])
        found = fs.sufficiency(rules, labels, x[:, None], weights=np.where(x > 0.5, 1.0, 3.0))
        hits += found.low <= system.truth <= found.high
    assert hits / trials >= 0.93


@pytest.mark.parametrize(
    ("weights", "message"), [([1.0, -1.0], "negative"), ([0.0, 0.0], "All weights are 0"), ([1.0], "rows")]
)
def test_bad_weights_get_a_clear_sentence(weights, message):
    rules = fs.Rules.from_conditions([[], []], features=["x"])
    with pytest.raises(fs.errors.BadInput, match=message):
        fs.sufficiency(rules, [0, 1], [[1.0], [2.0]], weights=weights)


def test_weights_of_rows_that_all_agree_change_nothing_to_the_last_bit():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 1))
        labels = X[:, 0] > 0
        rules = fs.Rules.from_conditions([[("a", ">" if label else "<=", 0.0)] for label in labels], features=["a"])
        assert fs.sufficiency(rules, labels, X, weights=rng.random(20) + 0.1).verified == 1.0
