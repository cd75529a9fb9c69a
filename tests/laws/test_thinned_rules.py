"""Weighted sufficiency of thinned rows: brute force over all ways of keeping them, rows left out, and partitions."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.counting.weights.thinned_rules import Kinds
from faithscope.relations import to_relation
from faithscope.sample import Sample

SEEDS = st.integers(0, 2**32 - 1)


def brute(masks, labels, weights, most):
    """A and S: for every row, every set of the others that its explanation covers; ``masks[i]`` is that of row i."""
    agreeing = silent = 0.0
    for row in range(len(weights)):
        others = [j for j in np.flatnonzero(masks[row]) if j != row]
        for ways in product([0, 1], repeat=len(others)):
            kept = [j for j, way in zip(others, ways, strict=True) if way]
            shares = [weights[j] / most if way else 1 - weights[j] / most for j, way in zip(others, ways, strict=True)]
            chance = weights[row] * np.prod(shares)
            if kept:
                agreeing += chance * np.mean(labels[kept] == labels[row])
            else:
                silent += chance
    return np.array([agreeing, silent])


def random_sample(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    masks, which = rng.random((n, n)) < rng.random(), rng.integers(0, n, n)
    labels = rng.integers(0, 2, n)
    return masks, which, labels, rng.integers(1, 5, n).astype(float) if seed % 2 else np.where(labels, 4.0, 1.0)


def covered(masks, which, labels, weights, **asked):
    sample = Sample.of(which, labels, np.zeros((len(labels), 1)), weights)
    return cover(sample, to_relation(lambda X, k: masks[k], sample.explanations), thinned=True, **asked)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_thinned_rules_are_the_mean_over_all_ways_of_keeping_rows(seed):
    masks, which, labels, weights = random_sample(seed)
    n, total, most = len(labels), weights.sum(), weights.max()
    coverage = covered(masks, which, labels, weights)
    assert coverage.sums[:2] == pytest.approx(tuple(brute(masks[which], labels, weights, most)), abs=1e-12)
    for row in range(n if n > 1 else 0):
        kept = np.delete(np.arange(n), row)
        rest = brute(masks[which][np.ix_(kept, kept)], labels[kept], weights[kept], most) / (total - weights[row])
        assert coverage.left_out.value[row] == pytest.approx(rest[0], abs=1e-11)
        assert coverage.left_out.silent[row] == pytest.approx(rest[1], abs=1e-11)


def windows(seed, n=400):
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    low = np.floor(x * 40) / 40
    rules = fs.Rules.from_conditions([[("x", ">", a - 0.02), ("x", "<=", a + 0.04)] for a in low], features=["x"])
    labels = (rng.random(n) < 0.3).astype(int)
    return x[:, None], rules, labels, np.where(labels == 1, 4.0, 1.0)


def test_blocks_of_rows_have_about_the_error_of_single_rows():
    X, rules, labels, weights = windows(0, 2000)
    sample = Sample.of(rules, labels, X, weights)
    relation = to_relation(None, rules)
    single, blocks = (cover(sample, relation, thinned=True, exact=exact).left_out for exact in (10**9, 0))
    errors = [np.sqrt((len(left.value) - 1) * np.var(left.value)) for left in (single, blocks)]
    assert len(blocks.value) < len(single.value)
    assert errors[1] == pytest.approx(errors[0], rel=0.35)


def test_rules_that_partition_the_rows_are_as_sufficient_as_they_are_consistent():
    rng = np.random.default_rng(0)
    x = rng.random(300)
    leaves = np.ceil(x * 30) / 30
    rules = fs.Rules.from_conditions([[("x", ">", one - 1 / 30), ("x", "<=", one)] for one in leaves], features=["x"])
    labels = (rng.random(300) < leaves).astype(int)
    weights = np.where(labels == 1, 3.0, 1.0)
    suffices, agrees = (
        fs.sufficiency(rules, labels, x[:, None], weights=weights),
        fs.consistency(rules, labels, weights=weights),
    )
    assert suffices.method == "thinned"
    for name in ("value", "silence", "unverifiable", "verified", "chance"):
        assert getattr(suffices, name) == pytest.approx(getattr(agrees, name), abs=1e-10)


def test_the_order_of_rows_and_the_scale_of_weights_do_not_matter():
    X, rules, labels, weights = windows(1)
    order = np.random.default_rng(2).permutation(len(labels))
    first = fs.sufficiency(rules, labels, X, weights=weights)
    for other in (
        fs.sufficiency(rules.take(order), labels[order], X[order], weights=weights[order]),
        fs.sufficiency(rules, labels, X, weights=weights / 3),
    ):
        assert (other.value, other.low, other.high) == pytest.approx((first.value, first.low, first.high), abs=1e-9)


def test_many_weights_are_grouped_with_hardly_a_difference():
    X, rules, labels, _ = windows(3)
    weights = np.random.default_rng(4).uniform(0.4, 1.0, len(labels)) * np.where(labels == 1, 1.0, 0.6)
    assert len(Kinds.by_weight(labels, weights).kept) < 100
    rounded = np.round(weights, 2)  # few enough to be told apart
    assert len(Kinds.by_weight(labels, rounded).kept) == len(set(zip(labels, rounded, strict=True)))
    many, few = (fs.sufficiency(rules, labels, X, weights=given) for given in (weights, rounded))
    assert (many.value, many.low, many.high) == pytest.approx((few.value, few.low, few.high), abs=2e-3)


def test_weights_that_would_leave_few_rows_are_not_thinned_and_a_note_says_what_is_assumed():
    X, rules, labels, _ = windows(5)
    weights = np.random.default_rng(6).lognormal(0, 1.5, len(labels))
    found = fs.sufficiency(rules, labels, X, weights=weights)
    assert found.method == "jackknife"
    assert any("do not depend on the prediction" in note for note in found.notes)
    asked = fs.sufficiency(rules, labels, X, weights=weights, interval="jackknife")
    assert (asked.value, asked.low, asked.high) == (found.value, found.low, found.high)
    assert not any("do not depend on the prediction" in note for note in asked.notes)


def test_explainers_are_compared_on_the_rows_that_their_estimates_thinned():
    X, rules, labels, weights = windows(7)
    coarse = fs.Rules.from_conditions([[("x", "<=", 2.0)]] * len(labels), features=["x"])
    compared = fs.compare(labels, {"a": rules, "b": coarse}, X, weights=weights)
    lines = compared.differences().set_index("measure")
    for measure in ("consistency", "sufficiency"):
        first, second = (getattr(compared[name], measure) for name in "ab")
        assert first.method in {"thinned", "tilted"}
        assert lines.loc[measure, "value"] == pytest.approx(first.value - second.value)
        assert lines.loc[measure, "low"] <= first.value - second.value <= lines.loc[measure, "high"]
