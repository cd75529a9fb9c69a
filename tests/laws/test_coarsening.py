"""Consistency is one minus the Gini index within explanations, so coarsening can only lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.testing.systems import SYSTEMS, System
from strategies import samples


def true_consistency(p, q):
    return float(p @ (q**2).sum(axis=1))


@given(seed=st.integers(0, 10_000))
def test_coarsening_never_raises_true_consistency(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 20))
    p, q = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(3), k)
    merge = rng.integers(0, max(1, k // 2), k)
    coarse_p = np.bincount(merge, p)
    coarse_q = np.array([np.bincount(merge, p * q[:, y]) for y in range(3)]).T
    kept = coarse_p > 0
    coarse = true_consistency(coarse_p[kept], coarse_q[kept] / coarse_p[kept, None])
    assert coarse <= true_consistency(p, q) + 1e-12


@given(samples())
def test_the_gibbs_decoder_is_right_as_often_as_one_minus_the_weighted_gini_index(sample):
    explanations, predictions = map(np.array, sample)
    gini = 0.0
    for leaf in np.unique(explanations):
        share = np.bincount(predictions[explanations == leaf]) / np.sum(explanations == leaf)
        gini += np.mean(explanations == leaf) * (1 - np.sum(share**2))
    assert fs.GibbsDecoder(fs.consistency(*sample)).error == pytest.approx(gini, abs=1e-12)


def test_a_trees_consistency_approaches_one_minus_the_weighted_gini_index():
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

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
def test_a_certificate_bounds_the_raw_explainer(method):
    # Raw explanations are unique, each label certain given them: true consistency 1. Their sign tells less.
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(400, 2))
        labels = (values[:, 0] > 0) ^ (rng.random(400) < 0.1)
        signs = System(np.full(4, 0.25), np.array([[0.1, 0.9], [0.1, 0.9], [0.9, 0.1], [0.9, 0.1]]))
        certificate = fs.certify(values, labels, interval=method)
        assert certificate.low <= 1
        bound = {type(d).__name__: low for d, low in certificate.bounds}["Sign"]
        wrong += bound > signs.truth
    assert wrong <= 200 * 0.05


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
