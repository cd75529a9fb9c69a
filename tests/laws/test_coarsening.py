"""Consistency is one minus the Gini index within explanations, so coarsening can only lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.testing.systems import SYSTEMS, System
from strategies import samples


def true_consistency(explanations, labels, discretizer=None):
    """Of a population that has these rows and no others: what the Gibbs decoder gets right."""
    return 1 - fs.GibbsDecoder(fs.consistency(explanations, labels, discretizer=discretizer)).error


TOPS = (fs.SignOfTop(1), fs.SignOfTop(2))
VECTORS = (fs.Floor(0), fs.Floor(1), fs.Truncate(0), fs.Truncate(1), fs.Sign(), fs.Rank(), *TOPS)


@given(seed=st.integers(0, 10_000), discretizer=st.sampled_from(VECTORS))
def test_coarsening_never_raises_true_consistency(seed, discretizer):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values = rng.choice(np.round(rng.normal(size=6), 2), (n, 3))  # few values, so that explanations repeat
    labels = rng.integers(0, 3, n)
    raw, coarse = (true_consistency(fs.Importances(values), labels, one) for one in (None, discretizer))
    assert coarse <= raw + 1e-12


@given(seed=st.integers(0, 10_000))
def test_coarser_changes_of_counterfactuals_never_raise_true_consistency(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    originals, points = (rng.integers(0, 3, (n, 2)).astype(float) for _ in range(2))
    pairs, labels = fs.Counterfactuals(points, originals), rng.integers(0, 3, n)
    told = [true_consistency(pairs, labels, one) for one in (fs.Delta(), fs.DeltaSign(), fs.Modified())]
    assert told == sorted(told, reverse=True) or np.allclose(told, sorted(told, reverse=True), atol=1e-12)


@given(samples())
def test_the_gibbs_decoder_is_right_as_often_as_one_minus_the_weighted_gini_index(sample):
    explanations, predictions = map(np.array, sample)
    gini = 0.0
    for leaf in np.unique(explanations):
        share = np.bincount(predictions[explanations == leaf]) / np.sum(explanations == leaf)
        gini += np.mean(explanations == leaf) * (1 - np.sum(share**2))
    assert fs.GibbsDecoder(fs.consistency(*sample)).error == pytest.approx(gini, abs=1e-12)


def test_a_trees_consistency_approaches_one_minus_the_weighted_gini_index():
    load_breast_cancer = pytest.importorskip("sklearn.datasets").load_breast_cancer
    DecisionTreeClassifier = pytest.importorskip("sklearn.tree").DecisionTreeClassifier
    X, y = load_breast_cancer(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).predict(X)
    surrogate = DecisionTreeClassifier(max_leaf_nodes=4, random_state=1).fit(X[:, :5], model)
    leaves = surrogate.apply(X[:, :5])
    gini = sum(
        np.mean(leaves == leaf) * (1 - np.sum((np.bincount(model[leaves == leaf]) / np.sum(leaves == leaf)) ** 2))
        for leaf in np.unique(leaves)
    )
    found = fs.consistency(leaves, model)
    # Leaving a row out of a leaf of N rows moves its share by at most 1 / (N - 1).
    assert abs(found.value - (1 - gini)) <= len(np.unique(leaves)) / (len(X) - len(np.unique(leaves)))


@pytest.mark.parametrize("method", ["mcdiarmid", "jackknife"])
@pytest.mark.slow
def test_a_certificate_bounds_the_raw_explainer(method):
    # Eight explanations, of which the sign merges those that differ in size alone.
    vectors = np.array([(a * size, b * size) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for size in (1.0, 2.0)])
    surely = np.tile([0.85, 0.95], 4)  # the larger ones are surer
    likely = np.where(vectors[:, 0] > 0, surely, 1 - surely)
    raw = System(np.full(8, 1 / 8), np.column_stack([1 - likely, likely]))
    signs = System(np.full(4, 1 / 4), raw.q.reshape(4, 2, 2).mean(axis=1))
    assert signs.truth < raw.truth < 0.9
    above, too_high, informative = 0, 0, 0
    for seed in range(200):
        codes, labels = raw.draw(400, np.random.default_rng(seed))
        certificate = fs.certify(vectors[codes], labels, interval=method)
        above += certificate.low > raw.truth
        too_high += {type(d).__name__: low for d, low in certificate.bounds}["Sign"] > signs.truth
        informative += certificate.low > raw.truth - 0.3
    assert above <= 200 * 0.05
    assert too_high <= 200 * 0.05
    assert informative >= 200 * 0.95, "a bound of 0 would be right too"


def test_a_certificate_names_its_winner_and_carries_all():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2000, 3))
    certificate = fs.certify(values, values[:, 0] > 0)
    assert certificate.discretizer == fs.Sign()
    assert certificate.proven
    assert len(certificate.bounds) == len(certificate.estimates) == 6
    assert certificate.low == max(low for _, low in certificate.bounds)
    sign = fs.consistency(values, values[:, 0] > 0, discretizer=fs.Sign())
    assert certificate.low == pytest.approx(sign.value - np.sqrt(4.5 * np.log(6 / 0.05) / 2000))
    assert "Sign()" in str(certificate)
    assert "explainer as it is" in str(certificate)
    assert certificate.to_dict()["tried"][3]["discretizer"] == "Sign()"


def test_a_certificate_from_changes_speaks_of_the_delta_explainer():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    pairs = fs.Counterfactuals(x + np.where(x[:, :1] > 0, -1.0, 1.0), x)
    certificate = fs.certify(pairs, x[:, 0] > 0)
    assert "Delta explainer" in certificate.subject
    with pytest.raises(fs.errors.NotProven, match="certify the two kinds separately"):
        fs.certify(pairs, x[:, 0] > 0, [None, fs.Delta()])


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_expected_estimator_is_below_the_truth(name):
    assert SYSTEMS[name].expected(50) <= SYSTEMS[name].expected(500) <= SYSTEMS[name].truth + 1e-12
