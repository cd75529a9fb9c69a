"""calibrated-explanations: the conjunction of a row's factual conditions, with bounds in full, and what is claimed."""

import numpy as np
import pytest
from numpy.random import default_rng
from sklearn.ensemble import RandomForestClassifier

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

calibrated = pytest.importorskip("calibrated_explanations")
NAMES = ["mean radius (cm)", "noise", "job"]
JOBS = {0: "clerk", 1: "cook", 2: "a and b"}
N = 12


@pytest.fixture(scope="module")
def system():
    rng = default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.normal(size=300), rng.integers(0, 3, 300)])
    y = ((X[:, 0] > 0) | (X[:, 2] == 2)).astype(int)
    explainer = calibrated.WrapCalibratedExplainer(RandomForestClassifier(10, random_state=0))
    explainer.fit(X[:150], y[:150])
    explainer.calibrate(X[150:], y[150:], feature_names=NAMES, categorical_features=[2], categorical_labels={2: JOBS})
    return X[:N], explainer, explainer.explain_factual(X[:N])


def rows_of_bins(explanation, X):
    """The rows in all bins that an explanation names: brute force."""
    bins, mask = explanation.get_explainer().discretizer.discretize(X), np.ones(len(X), bool)
    own = explanation.get_explainer().discretizer.discretize(np.array([explanation.x_test]))[0]
    for feature in explanation.rules["feature"]:
        mask &= bins[:, feature] == own[feature]
    return mask


def test_rules_cover_exactly_the_rows_in_all_bins_of_an_explanation(system):
    X, _, factual = system
    rules = fs.read(factual)
    assert rules.features == tuple(NAMES)
    for row in range(N):
        mask = np.logical_and.reduce([np.ones(N, bool), *rules.holds(rules.conjunction(row), X)])
        assert np.array_equal(mask, rows_of_bins(factual[row], X))
        assert mask[row]
    assert not any("2 decimals" in remark for remark in rules.remarks)


def test_claimed_intervals_are_kept_row_by_row(system):
    X, explainer, factual = system
    rules = fs.read(factual)
    for ours, theirs in (("low", "low"), ("high", "high"), ("prediction", "predict")):
        assert rules.claimed[ours].tolist() == [float(each.prediction[theirs]) for each in factual]
    notes = " ".join(fs.sufficiency(factual, explainer.predict(X), X).notes)
    assert "joins all conditions" in notes
    width = np.mean(rules.claimed["high"] - rules.claimed["low"])
    assert f"{width:.2f} wide on average (claimed)" in notes


def test_one_explanation_a_list_and_conjunctions_read_alike(system):
    X, explainer, factual = system
    rules = fs.read(factual)
    assert fs.read([factual[0], factual[1]]).to_conditions() == rules.to_conditions()[:2]
    assert fs.read(factual[1]).to_conditions() == rules.to_conditions()[1:2]
    joined = explainer.explain_factual(X).add_conjunctions()
    assert fs.read(joined).to_conditions() == rules.to_conditions()


def test_alternative_explanations_and_classes_are_refused_with_the_way_in(system):
    X, explainer, factual = system
    for others in (explainer.explore_alternatives(X), explainer.explain_fast(X)):
        refused(BadInput, "alternative or fast explanations.*explain_factual", fs.read, others)
    refused(BadInput, "leave it out", fs.read, factual, class_index=1)
