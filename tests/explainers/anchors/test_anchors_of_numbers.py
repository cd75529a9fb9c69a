"""Anchors of regressors: rules under which the prediction stays within eps of the row's own."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

import faithscope as fs
from anchor_systems import UNIFORM, corner, first_is_high, written
from faithscope.agreements import Same, Tolerance
from faithscope.errors import BadInput
from faithscope.explainers.anchors.explainer import Anchors
from faithscope.explainers.anchors.text import TextAnchors

X, TARGET = load_diabetes(return_X_y=True)
MODEL = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, TARGET)


def fresh_precision(conditions, row, eps, draws=4000, seed=1):
    """The definition, drawn anew: broken values are replaced by values of the same column that keep the rule."""
    chance = np.random.default_rng(seed)
    rows = X[chance.integers(len(X), size=draws)].copy()
    compare = {"<=": np.less_equal, ">": np.greater, "==": np.equal}
    for j in {feature for feature, _, _ in conditions}:
        own = [(compare[operator], value) for feature, operator, value in conditions if feature == j]
        keeps = np.logical_and.reduce([holds(X[:, j], value) for holds, value in own])
        broken = ~np.logical_and.reduce([holds(rows[:, j], value) for holds, value in own])
        rows[broken, j] = chance.choice(X[keeps, j], broken.sum())
    return float(np.mean(np.abs(MODEL.predict(rows) - MODEL.predict(row[None])) <= eps))


@pytest.mark.parametrize(("threshold", "eps"), [(0.7, 40.0), (0.9, 60.0)])
def test_precision_is_the_chance_that_a_perturbed_prediction_lies_within_eps(threshold, eps):
    explainer = Anchors(MODEL, X, agreement=Tolerance(eps), threshold=threshold, beam=1, max_conditions=6)
    rules, precision, _ = explainer.explain_with_precision(X[:16], samples=4000)
    names = {name: j for j, name in enumerate(rules.features)}
    brute = [
        fresh_precision([(names[name], *condition) for name, *condition in rules.to_conditions()[row]], X[row], eps)
        for row in range(16)
    ]
    assert np.abs(precision - brute).max() < 0.04
    assert np.mean(precision >= threshold - 0.05) > 0.8


@pytest.mark.parametrize("predict", [first_is_high, corner])
@pytest.mark.parametrize("eps", [1e-9, 0.5, 0.999])
def test_labels_are_the_numbers_that_agree_only_if_they_are_equal(predict, eps):
    labels = Anchors(predict, UNIFORM, beam=2).explain_with_precision(UNIFORM[:60])
    for kind in (float, int, np.float32, bool):
        numbers = Anchors(lambda rows, kind=kind: predict(rows).astype(kind), UNIFORM, beam=2, agreement=Tolerance(eps))
        again = numbers.explain_with_precision(UNIFORM[:60])
        assert written(again[0]) == written(labels[0])
        np.testing.assert_array_equal(again[1], labels[1])


def test_a_step_is_told_from_a_slope_by_eps():
    def slope(rows):
        return rows[:, 0] * 0.1 + 10.0 * first_is_high(rows)

    assert set(written(Anchors(slope, UNIFORM, agreement=Tolerance(20.0)).explain(UNIFORM[:9]))) == {"everything"}
    steps = written(Anchors(slope, UNIFORM, agreement=Tolerance(1.0)).explain(UNIFORM[:9]))
    assert steps == written(Anchors(first_is_high, UNIFORM).explain(UNIFORM[:9]))


def test_the_edge_of_eps_agrees():
    def predict(rows):
        return 2.0 * first_is_high(rows)

    assert written(Anchors(predict, UNIFORM, agreement=Tolerance(2.0)).explain(UNIFORM[:3])) == ["everything"] * 3
    assert "everything" not in written(Anchors(predict, UNIFORM, agreement=Tolerance(1.99)).explain(UNIFORM[:3]))


@pytest.mark.parametrize("lines", [1, 3, 50])
def test_blocks_do_not_matter(monkeypatch, lines):
    explainer = Anchors(MODEL, X, agreement=Tolerance(40.0), threshold=0.7, beam=2, max_conditions=3)
    rules, precision, _ = explainer.explain_with_precision(X[:5])
    monkeypatch.setattr("faithscope.explainers.anchors.draws._LINES", lines)
    again, same, _ = explainer.explain_with_precision(X[:5])
    assert written(again) == written(rules)
    np.testing.assert_array_equal(same, precision)


def test_rules_of_numbers_cover_their_own_row():
    rules = Anchors(MODEL, X, agreement=Tolerance(40.0), threshold=0.7, beam=1, max_conditions=4).explain(X[:40])
    assert fs.sufficiency(rules, np.zeros(40), X[:40]).counts.missed.sum() == 0


def test_numbers_of_any_size_are_compared():
    huge = Anchors(lambda rows: np.where(first_is_high(rows), 1.7e308, -1.7e308), UNIFORM, agreement=Tolerance(1e300))
    assert written(huge.explain(UNIFORM[:9])) == written(Anchors(first_is_high, UNIFORM).explain(UNIFORM[:9]))


def test_fractions_that_are_names_of_classes_pass_with_same():
    def stars(rows):
        return np.where(first_is_high(rows), 0.5, 1.5)

    with pytest.raises(BadInput, match=r"If fractions are the names of classes, pass agreement=fs.Same\(\)"):
        Anchors(stars, UNIFORM).explain(UNIFORM[:3])
    rules = Anchors(stars, UNIFORM, agreement=Same()).explain(UNIFORM[:9])
    assert written(rules) == written(Anchors(first_is_high, UNIFORM).explain(UNIFORM[:9]))


def test_texts_keep_their_number_within_eps():
    worth = {"great": 3.0, "good": 2.5, "dull": -3.0}

    def mood(texts):
        return np.array([sum(worth.get(word, 0.0) for word in text.split()) for text in texts])

    texts = ["a great film", "a great and good film", "dull", "a film"]
    words = [TextAnchors(mood, agreement=Tolerance(eps)).explain(texts) for eps in (1.0, 2.75, 9.0)]
    assert [words[0].item(row) for row in range(4)] == [{"great"}, {"great", "good"}, {"dull"}, set()]
    assert words[1].item(1) == {"great"}, "without good it lies within 2.75"
    assert [words[2].item(row) for row in range(4)] == [set()] * 4
