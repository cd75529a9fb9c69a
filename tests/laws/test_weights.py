"""Weights and sizes of clusters that depend on the prediction: kept rows against brute force, and what holds."""

from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from bins import rules_in_bins
from brute_numbers import agreement_of
from faithscope.agreements import Same as SameLabel
from faithscope.counting.clusters import Kinds
from faithscope.counting.kept import Lots, keep, kept_rows, thin
from faithscope.sample import Sample
from noted import noted

SEEDS = st.integers(0, 2**32 - 1)
AGREEMENTS = {"labels": None, "close": fs.Close(1.5), "tolerance": fs.Tolerance(1.5)}


def brute(explanations, table, weights, most, clusters=None):
    """A and S: for every row, every way of keeping at most one row of each other cluster with its explanation."""
    clusters = np.arange(len(weights)) if clusters is None else clusters
    most = np.broadcast_to(most, len(weights))
    agreeing = silent = 0.0
    for row in range(len(weights)):
        others = np.flatnonzero((explanations == explanations[row]) & (clusters != clusters[row]))
        lots = [others[clusters[others] == cluster] for cluster in np.unique(clusters[others])]
        for ways in product(*([None, *lot] for lot in lots)):
            chance = weights[row]
            for lot, way in zip(lots, ways, strict=True):
                chance *= 1 - weights[lot].sum() / most[row] if way is None else weights[way] / most[row]
            kept = [way for way in ways if way is not None]
            agreeing += chance * table[row, kept].mean() if kept else 0.0
            silent += chance * (not kept)
    return np.array([agreeing, silent])


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("name", AGREEMENTS)
@given(SEEDS)
def test_sums_of_kept_rows_are_the_mean_over_all_ways_of_keeping_them(name, clustered, seed):
    rng = default_rng(seed)
    n = int(rng.integers(3, 9))
    weights = rng.uniform(0.05, 2, n) ** 2 if seed % 2 else rng.integers(1, 4, n).astype(float)
    explanations, predictions = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float)
    clusters = np.append([0, 1], rng.integers(0, 4, n - 2)) if clustered else np.arange(n)
    sample = Sample.of(
        explanations, predictions, None, weights, AGREEMENTS[name], clusters.tolist() if clustered else None
    )
    terms = keep(sample, Kinds.of(sample)) or _all_kept(sample)
    lots = dict.fromkeys(zip(explanations, clusters, strict=True), 0.0)
    for pair, weight in zip(zip(explanations, clusters, strict=True), weights, strict=True):
        lots[pair] += weight
    most = np.full(n, max(lots.values()))
    if clustered and not terms.notes:  # sizes do not seem to go with predictions
        most = np.array([max(lots[pair] for pair in lots if pair[0] == code) for code in explanations])
    table = agreement_of(name, 1.5)(predictions[:, None], predictions)
    expected = brute(explanations, table, weights, most, clusters)
    assert (terms.sums.agreeing, terms.sums.silent) == pytest.approx(tuple(expected), abs=1e-9)
    for number, unit in enumerate(dict.fromkeys(clusters.tolist())):
        kept = np.flatnonzero(clusters != unit)
        part = (explanations[kept], table[np.ix_(kept, kept)], weights[kept], most[kept], clusters[kept])
        without = brute(*part) / weights[kept].sum()
        assert (terms.left_out.value[number], terms.left_out.silent[number]) == pytest.approx(tuple(without), abs=1e-9)


def _all_kept(sample):
    """Kept rows although pairs would be weighed, since few of these would be kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faithscope.counting.kept._APART", -1.0)
        return keep(sample, Kinds.of(sample))


def test_quadrature_is_exact_for_any_number_of_rows():
    """If all rows are kept with one probability, what is kept is binomial: E[(N - 1)⁺ | ...] is known."""
    for rows in [2, 3, 5, 17, 33, 34, 100, 999, 1_001, 3_000, 100_000]:
        given = np.array([rows - rows // 2, rows // 2])
        labels, agreement = np.arange(2), SameLabel().over(np.arange(2.0))
        for kept in (1.0, 0.3, 1e-4):
            chance = np.full(2, kept)
            (agreeing, _), (alone, _) = thin(
                Lots(0 * labels, chance, chance**2, given, labels, labels, chance), agreement
            )
            pairs = float(np.sum(given * (given - 1.0))) / (rows * (rows - 1.0))
            silent = rows * kept * (1 - kept) ** (rows - 1)
            assert alone[0] == pytest.approx(silent, rel=1e-11)
            assert agreeing[0] == pytest.approx(pairs * (rows * kept - silent), rel=1e-8 if kept < 1e-3 else 1e-11)


@pytest.mark.parametrize("clustered", [False, True])
def test_rows_kept_by_chance_are_draws_of_the_target_population_in_any_order(clustered):
    """Of heavy rows, or large clusters, as many are kept as they weigh; and the order of rows decides nothing."""
    rng = default_rng(3)
    labels, n = rng.integers(0, 2, 3000), 3000
    size = np.where(labels == 1, 5, 1)
    row = np.repeat(np.arange(n), size) if clustered else np.arange(n)
    X, order = rng.normal(size=n)[row, None], rng.permutation(len(row))
    weights, clusters = (None, row) if clustered else (size.astype(float), None)

    def kept(order):
        mass = None if weights is None else weights[order]
        which = None if clusters is None else clusters[order]
        return kept_rows(Sample.of(X[order], labels[row][order], X[order], mass, None, which))

    first, again = kept(np.arange(len(row))), kept(order)
    assert sorted(first.X[:, 0]) == sorted(again.X[:, 0])
    assert first.weights is first.clusters is None
    assert len(np.unique(first.X)) == first.n == pytest.approx(size.sum() / 5, rel=0.03)
    assert first.labels.mean() == pytest.approx(size[labels == 1].sum() / size.sum(), abs=0.03)


def windows(seed, n=400):
    """Rules that overlap, and labels of which one weighs more."""
    rng = default_rng(seed)
    x = rng.random(n)
    low = (np.floor(x * 40) / 40)[:, None]
    labels = (rng.random(n) < 0.3).astype(int)
    return rules_in_bins(low - 0.02, low + 0.04, ["x"]), labels, x[:, None], np.where(labels == 1, 4.0, 1.0)


def told(estimate):
    return estimate.value, estimate.low, estimate.high


def test_weights_that_differ_much_are_thinned_if_they_go_with_the_prediction_and_pairs_weighed_if_not():
    rng = default_rng(4)
    explanations, labels = rng.integers(0, 10, 1000), (rng.random(1000) < 0.1).astype(int)
    by_chance = rng.lognormal(0, 0.8, 1000)
    for weights, method, note in (
        (np.where(labels == 1, 8.0, 1.0) * by_chance, "kept rows", "the interval is that of about"),
        (by_chance, "jackknife", "assumes that weights do not depend on the prediction"),
    ):
        found = fs.consistency(explanations, labels, weights=weights)
        assert found.method == method
        assert noted(found, note)


def test_a_row_that_was_missed_may_weigh_as_much_as_the_heaviest():
    for how in ["weights", "clusters", "both"]:
        # No row disagrees, so all that the interval allows for is a kind of row, or of cluster, that was not seen.
        sizes = np.array([1, 1, 2, 3, 3, 9] * 40)
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        options = {
            "weights": {"weights": sizes.astype(float), "interval": "jackknife"},
            "clusters": {"clusters": cluster},
            "both": {"clusters": np.repeat(np.arange(len(sizes)), 2), "weights": np.repeat(sizes / 2, 2)},
        }[how]
        n = {"weights": len(sizes), "clusters": len(cluster), "both": 2 * len(sizes)}[how]
        found = fs.consistency(np.zeros(n, int), np.zeros(n, int), **options)
        assert found.low == pytest.approx(1 - 2 * log(40) * sizes.max() / sizes.sum())


def test_sufficiency_weighs_pairs_unless_weights_go_with_the_prediction():
    rules, labels, X, by_label = windows(5)
    any_weights = default_rng(6).lognormal(0, 1.5, len(labels))
    spread = np.exp(default_rng(7).normal(size=len(labels)) * np.where(labels == 1, 1.5, 0.3))
    for weights, kept in ((any_weights, False), (by_label, True), (spread, True), (2 * any_weights, False)):
        found = fs.sufficiency(rules, labels, X, weights=weights)
        assert found.method == ("kept rows" if kept else "jackknife")
        assert bool(noted(found, "do not depend on the prediction")) != kept
        assert bool(noted(found, "kept by chance")) == kept
