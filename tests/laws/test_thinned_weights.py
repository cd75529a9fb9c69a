"""Weights that depend on the prediction: thinned and tilted rows against brute force, and a bracket that holds."""

from dataclasses import replace
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.counts import count_rows
from faithscope.counting.weights.rows import WeightedRows, _thinned, _tilted
from faithscope.counting.weights.thinned import Alike, thin
from faithscope.counting.weights.tilted import Tilt
from faithscope.sample import Sample

SEEDS = st.integers(0, 2**32 - 1)


def all_ways(kept, agreement):
    """A and S of one explanation: every set of rows that may be kept, times its probability."""
    agreeing = silent = 0.0
    for ways in product([0, 1], repeat=len(kept)):
        rows = np.flatnonzero(ways)
        chance = np.prod(np.where(ways, kept, 1 - kept))
        silent += chance * (len(rows) == 1)
        if len(rows) > 1:
            table = agreement[np.ix_(rows, rows)]
            agreeing += chance * (table.sum() - np.trace(table)) / (len(rows) - 1)
    return agreeing, silent


def brute(explanations, agreement, weights, most):
    """A and S of a sample; the heaviest row that there may be is kept for sure."""
    parts = [np.flatnonzero(explanations == one) for one in np.unique(explanations)]
    pairs = [all_ways(weights[rows] / most, agreement[np.ix_(rows, rows)]) for rows in parts]
    return most * np.array(pairs).sum(axis=0)


def rows_of(explanations, predictions, weights, agreement=None):
    sample = Sample.of(explanations, predictions, None, weights, agreement)
    counts = count_rows(sample)
    return WeightedRows(counts, counts.locate(sample.explanations, sample.labels)[1], sample.weights)


def random_sample(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    weights = rng.uniform(0.05, 2, n) ** 2 if seed % 2 else rng.integers(1, 4, n).astype(float)
    return rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float), weights


@pytest.mark.parametrize("agreement", [None, fs.Close(1.5), fs.Tolerance(1.0)], ids=["labels", "close", "tolerance"])
@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_thinned_sums_are_the_mean_over_all_ways_of_keeping_rows(agreement, seed):
    explanations, predictions, weights = random_sample(seed)
    terms = _thinned(rows_of(explanations, predictions, weights, agreement))
    apart = np.abs(predictions[:, None] - predictions)
    table = {None: apart == 0, fs.Close(1.5): np.maximum(0, 1 - apart / 1.5), fs.Tolerance(1.0): apart <= 1}[agreement]
    table, most, total = table.astype(float), weights.max(), weights.sum()
    assert (terms.sums.agreeing, terms.sums.silent) == pytest.approx(tuple(brute(explanations, table, weights, most)))
    for row in range(len(weights)):
        kept = np.delete(np.arange(len(weights)), row)
        without = brute(explanations[kept], table[np.ix_(kept, kept)], weights[kept], most) / (total - weights[row])
        assert terms.left_out.value[row] == pytest.approx(without[0], abs=1e-12)
        assert terms.left_out.silent[row] == pytest.approx(without[1], abs=1e-12)


@pytest.mark.parametrize(("n", "chance", "weight"), [(3, 0.1, 4.0), (6, 0.5, 4.0), (9, 0.1, 20.0), (8, 0.3, 0.2)])
def test_the_truth_lies_between_the_means_of_what_agrees_and_what_may(n, chance, weight):
    """One explanation of probability .4, whose rows have label 1 with a chance, and then a weight: every sample."""
    lowest = highest = mass = 0.0
    for rows in range(1, n + 1):
        for ones in range(rows + 1):
            labels = np.array([1] * ones + [0] * (rows - ones))
            weights = np.where(labels == 1, weight, 1.0)
            likely = comb(n, rows) * 0.4**rows * 0.6 ** (n - rows) * comb(rows, ones)
            likely *= chance**ones * (1 - chance) ** (rows - ones)
            same = np.equal.outer(labels, labels).astype(float)
            agreeing, silent = brute(np.zeros(rows), same, weights, max(weight, 1.0))
            lowest, highest = lowest + likely * agreeing, highest + likely * (agreeing + silent)
            mass += likely * weights.sum()
    share = chance * weight / (chance * weight + 1 - chance)
    assert lowest <= (share**2 + (1 - share) ** 2) * mass <= highest


@pytest.mark.parametrize("rows", [2, 3, 5, 9, 17, 33, 34, 48, 100, 999, 1_001, 3_000, 100_000])
def test_quadrature_is_exact_for_any_number_of_rows(rows):
    """If all rows are kept with one probability, what is kept is binomial: E[(N - 1)⁺ | ...] is known."""
    rng = np.random.default_rng(rows)
    labels = np.arange(rows) % 2
    counts = fs.count(["a"] * rows, labels)
    for kept in (1.0, 0.3, 1e-4):
        result = thin(counts, Alike(np.arange(2), np.full(2, kept), counts.given))
        pairs = float(np.sum(counts.given * (counts.given - 1.0))) / (rows * (rows - 1.0))
        silent = rows * kept * (1 - kept) ** (rows - 1)
        assert result.silent[0] == pytest.approx(silent, rel=1e-11)
        assert result.agreeing[0] == pytest.approx(pairs * (rows * kept - silent), rel=1e-8 if kept < 1e-3 else 1e-11)
    uneven = 10 ** rng.uniform(-4, 0, rows)
    few, entry = Alike.of_rows(labels, uneven)
    assert np.sum(few.rows) == rows
    assert few.kept[entry] == pytest.approx(uneven)


@given(SEEDS, st.floats(0.01, 100))
@settings(max_examples=20, deadline=None)
def test_weights_that_are_all_the_same_change_nothing(seed, weight):
    explanations, predictions, _ = random_sample(seed)
    plain = fs.consistency(explanations, predictions)
    same = fs.consistency(explanations, predictions, weights=np.full(len(predictions), weight))
    assert replace(same, counts=plain.counts) == plain


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_the_scale_of_weights_and_the_order_of_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 120))
    explanations, labels = rng.integers(0, n // 4, n), rng.integers(0, 3, n)
    weights = rng.lognormal(0, rng.choice([0.2, 1.5]), n) * np.array([1.0, 2, 5])[labels]
    first = fs.consistency(explanations, labels, weights=weights)
    order = rng.permutation(n)
    for other in (
        fs.consistency(explanations, labels, weights=weights * 7.3),
        fs.consistency(explanations[order], labels[order], weights=weights[order]),
    ):
        assert other.method == first.method
        for name in ("value", "low", "high", "silence", "unverifiable"):
            assert getattr(other, name) == pytest.approx(getattr(first, name), abs=1e-6)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    rng = np.random.default_rng(3)
    explanations, labels = rng.integers(0, 20, 100), rng.integers(0, 2, 100)
    weights = np.where(labels == 1, 3.0, 1.0) * (np.arange(100) % 5 > 0)
    kept = weights > 0
    whole = fs.consistency(explanations, labels, weights=weights)
    part = fs.consistency(explanations[kept], labels[kept], weights=weights[kept])
    assert (whole.value, whole.low, whole.high, whole.silence) == (part.value, part.low, part.high, part.silence)


@pytest.mark.parametrize(
    ("explanations", "labels", "weights"),
    [
        (["a"], [0], [2.0]),
        (["a", "b"], [0, 1], [2.0, 1.0]),
        (["a", "a"], [0, 1], [2.0, 1.0]),
        (["a"] * 30, [0] * 30, [1.0] * 29 + [5.0]),
        (["a", "b"] * 20, [0, 1] * 20, [1.0, 9.0] * 20),
        (["a", "b", "a", "c"] * 10, [0, 1, 1, 0] * 10, [1.0] * 39 + [1e6]),
        (list(range(30)), [0, 1, 2] * 10, np.arange(1.0, 31.0)),
    ],
    ids=["one row", "all alone", "one pair", "one label", "labels that never meet", "one heavy row", "nobody shares"],
)
def test_odd_samples_have_an_interval_around_their_value(explanations, labels, weights):
    found = fs.consistency(explanations, labels, weights=weights)
    assert 0 <= found.low <= found.value <= found.upper <= found.high <= 1
    assert found.unverifiable <= (1 if found.silence is None else found.silence + 1e-12)
    assert (found.verified is None) == (found.unverifiable == 1)


def test_rows_that_weigh_as_their_labels_do_are_tilted_as_they_would_be_thinned():
    rng = np.random.default_rng(0)
    explanations, labels = rng.integers(0, 40, 300), rng.integers(0, 3, 300)
    rows = rows_of(explanations, labels, np.array([1.0, 2.0, 6.0])[labels])
    thinned, tilted = _thinned(rows), _tilted(rows, Tilt.fit(rows.counts), 0.1)
    assert tilted.sums == pytest.approx(thinned.sums)


def test_a_tilt_left_out_is_the_tilt_fitted_without_the_row():
    rng = np.random.default_rng(1)
    explanations, labels = rng.integers(0, 30, 400), rng.integers(0, 3, 400)
    weights = np.array([1.0, 2.0, 4.0])[labels] * rng.lognormal(0, 0.5, 400) * (1 + explanations % 3)

    def tilted(kept):
        rows = rows_of(explanations[kept], labels[kept], weights[kept])
        return _tilted(rows, Tilt.fit(rows.counts), 0.1)

    everybody = np.arange(400)
    whole = tilted(everybody)
    for row in range(25):
        sums = tilted(np.delete(everybody, row)).sums
        assert whole.left_out.value[row] == pytest.approx(sums.agreeing / sums.total, abs=1e-4)
        assert whole.left_out.silent[row] == pytest.approx(sums.silent / sums.total, abs=1e-4)


def test_weights_by_explanation_do_not_pass_for_weights_by_label():
    """Heavy explanations have mostly label 1; within an explanation, weights say nothing."""
    rng = np.random.default_rng(2)
    explanations = rng.integers(0, 20, 2000)
    labels = (rng.random(2000) < np.where(explanations < 10, 0.9, 0.1)).astype(int)
    rows = rows_of(explanations, labels, np.where(explanations < 10, 5.0, 1.0) * rng.lognormal(0, 0.3, 2000))
    assert Tilt.fit(rows.counts).v == pytest.approx(1.0, abs=0.1)


def test_labels_that_weigh_otherwise_in_other_explanations_are_not_tilted():
    rng = np.random.default_rng(4)
    explanations, labels = rng.integers(0, 10, 1000), (rng.random(1000) < 0.1).astype(int)
    weights = np.where(labels == 1, np.where(explanations < 5, 4.0, 0.25), 1.0)
    found = fs.consistency(explanations, labels, weights=weights)
    assert found.method == "thinned"
    assert any("thinned to about" in note for note in found.notes)


def test_the_jackknife_by_name_weighs_pairs_as_before():
    explanations, labels, weights = ["a", "a", "a", "b"], [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0]
    found = fs.consistency(explanations, labels, weights=weights, interval="jackknife")
    assert found.value == pytest.approx(6 * (2 * 1 * 2) / (36 - 14) / 10)
    assert found.silence is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("explanations", "rows", "chance", "weight"), [(500, 5000, 0.1, 4.0), (1000, 5000, 0.5, 4.0), (40, 400, 0.1, 4.0)]
)
def test_intervals_hold_if_weights_depend_on_the_label(explanations, rows, chance, weight):
    rng, hits = np.random.default_rng(0), 0
    share = chance * weight / (chance * weight + 1 - chance)
    for _ in range(60):
        labels = (rng.random(rows) < chance).astype(int)
        given = rng.integers(0, explanations, rows)
        found = fs.consistency(given, labels, weights=np.where(labels == 1, weight, 1.0))
        hits += found.low <= share**2 + (1 - share) ** 2 <= found.high
    assert hits >= 55
