"""Counterfactuals of regressors: the nearest point whose prediction lies more than eps away from the row's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor

from faithscope.agreements import Same, Tolerance
from faithscope.errors import BadInput
from faithscope.explainers.counterfactual.explainer import Counterfactual
from faithscope.explanations.distances.points import Points

X, TARGET = load_diabetes(return_X_y=True)
MODEL = GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, TARGET)


def outside(predictions, own, eps):
    return np.abs(np.asarray(predictions, float) - own) > eps


def nearest_outside(known, rows, predict, eps, metric):
    """By brute force: the distance of each row to the nearest known one whose prediction lies outside."""
    distance = Points(rows, metric).from_all(Points(known, metric))
    return np.where(outside(predict(known), predict(rows)[:, None], eps), distance, np.inf).min(axis=1)


@pytest.mark.parametrize("eps", [5.0, 40.0, 80.0])
@pytest.mark.parametrize("metric", ["gower", "euclidean"])
def test_every_point_lies_outside_with_no_feature_to_put_back_and_no_known_row_nearer(eps, metric):
    known, rows = X[::2], X[1::2][:60]
    explainer = Counterfactual(MODEL, known, agreement=Tolerance(eps), metric=metric)
    counterfactuals, where = explainer.find(rows)
    nearest = nearest_outside(known, rows, MODEL.predict, eps, counterfactuals.metric)
    assert where.tolist() == np.flatnonzero(np.isfinite(nearest)).tolist()
    rows, points = rows[where], counterfactuals.points
    assert outside(MODEL.predict(points), MODEL.predict(rows), eps).all()
    assert (counterfactuals.balls().radii <= nearest[where] + 1e-12).all()
    assert counterfactuals.balls().radii.mean() < nearest[where].mean()
    for j in range(rows.shape[1]):
        back = points.copy()
        back[:, j] = rows[:, j]
        changed = points[:, j] != rows[:, j]
        assert not outside(MODEL.predict(back), MODEL.predict(rows), eps)[changed].any()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 40), st.sampled_from([0.25, 1.0, 1.5, 4.0]))
def test_the_laws_hold_for_any_table_of_whole_numbers(seed, width, size, eps):
    rng = np.random.default_rng(seed)
    known, rows = rng.integers(0, 4, (size, width)), rng.integers(-1, 6, (9, width))
    secret = rng.integers(-4, 5, (6,) * width) / 2  # many ties, and distances of exactly eps

    def predict(X):
        return secret[tuple(np.clip(X, 0, 5).astype(int).T)]

    explainer = Counterfactual(predict, known, candidates=3, agreement=Tolerance(eps))
    counterfactuals, where = explainer.find(rows)
    nearest = nearest_outside(known.astype(float), rows.astype(float), predict, eps, counterfactuals.metric)
    assert where.tolist() == np.flatnonzero(np.isfinite(nearest)).tolist()
    if len(where):
        assert outside(predict(counterfactuals.points), predict(rows[where]), eps).all()
        assert (counterfactuals.balls().radii <= nearest[where] + 1e-12).all()
        assert (counterfactuals.points == np.floor(counterfactuals.points)).all()


@pytest.mark.parametrize("eps", [1e-9, 0.5, 0.999])
@pytest.mark.parametrize("kind", [float, int, np.float32, bool])
def test_labels_are_the_numbers_that_agree_only_if_they_are_equal(eps, kind):
    def label(rows):
        return np.sin(9 * rows).sum(axis=1) > 0.3

    labels = Counterfactual(label, X[:200]).explain(X[200:260])
    numbers = Counterfactual(lambda rows: label(rows).astype(kind), X[:200], agreement=Tolerance(eps))
    np.testing.assert_array_equal(numbers.explain(X[200:260]).points, labels.points)


def test_a_slope_is_left_at_eps():
    rows = np.random.default_rng(0).normal(size=(300, 3))
    counterfactuals = Counterfactual(lambda X: 2 * X[:, 0], rows, agreement=Tolerance(1.0)).explain(rows[:50])
    moved = np.abs(counterfactuals.points - rows[:50])
    assert (moved[:, 1:] == 0).all()
    assert (moved[:, 0] > 0.5).all()
    assert moved[:, 0].max() < 0.52


def test_blocks_do_not_matter(monkeypatch):
    explainer = Counterfactual(MODEL, X[::2], agreement=Tolerance(40.0))
    points = explainer.explain(X[1:80:2]).points
    monkeypatch.setattr("faithscope.explainers.counterfactual.flips._DISTANCES", 7 * len(X[::2]))
    np.testing.assert_array_equal(explainer.explain(X[1:80:2]).points, points)
    order = np.random.default_rng(0).permutation(221)
    again = Counterfactual(MODEL, np.concatenate([X[::2][order], X[:10:2]]), agreement=Tolerance(40.0))
    np.testing.assert_array_equal(again.explain(X[1:80:2]).points, points)


def test_rows_without_a_training_row_outside_are_told_in_a_sentence():
    explainer = Counterfactual(MODEL, X, agreement=Tolerance(1e4))
    with pytest.raises(BadInput, match=r"row 0 \(442 of 442 rows in all\): no training row .* eps=10000 .*smaller eps"):
        explainer.explain(X)
    assert len(explainer.find(X)[1]) == 0
    constant = Counterfactual(lambda rows: np.full(len(rows), 0.1), X[:1], agreement=Tolerance(0.5))
    with pytest.raises(BadInput, match="smaller eps"):
        constant.explain(X[:1])


def test_fractions_that_are_names_of_classes_pass_with_same():
    def stars(rows):
        return np.where(rows[:, 2] > 0, 0.5, 1.5)

    plain = Counterfactual(lambda rows: rows[:, 2] > 0, X).explain(X[:9])
    np.testing.assert_array_equal(Counterfactual(stars, X, agreement=Same()).explain(X[:9]).points, plain.points)
