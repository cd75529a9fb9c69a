"""Counterfactual over rows and labels of every kind; and what is refused or has none."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.counterfactual.explainer import Counterfactual
from faithscope.explanations.distances.points import Points


def flowers():
    X, y = load_iris(return_X_y=True)
    return X, DecisionTreeClassifier(random_state=0).fit(X, y)


def above_zero(X):
    return X[:, 0] > 0


def nearest_known(known, rows, different, metric):
    """By brute force: the distance of each row to the nearest known one with another prediction."""
    distance = Points(rows, metric).from_all(Points(known, metric))
    return np.where(different, distance, np.inf).min(axis=1)


def test_where_the_model_predicts_one_class_that_is_said_and_nothing_invented():
    X = np.random.default_rng(0).normal(size=(30, 2))
    explainer = Counterfactual(lambda rows: np.zeros(len(rows), int), X)
    with pytest.raises(BadInput, match=r"for row 0 \(30 of 30 rows in all\): no training row has another.*find\(X\)"):
        explainer.explain(X)
    counterfactuals, where = explainer.find(X)
    assert len(counterfactuals) == len(where) == 0


def test_rows_that_have_none_are_left_out_by_find():
    X = np.array([[1.0], [2.0], [3.0]])
    explainer = Counterfactual(lambda rows: rows[:, 0] > 0, X)
    rows = np.array([[1.5], [-1.0], [2.5], [-2.0]])
    counterfactuals, where = explainer.find(rows)
    assert where.tolist() == [1, 3]
    assert counterfactuals.originals.ravel().tolist() == [-1.0, -2.0]
    with pytest.raises(BadInput, match=r"row 0 \(2 of 4 rows"):
        explainer.explain(rows)


def test_a_model_that_changes_its_mind_is_not_believed():
    asked = []

    def fickle(rows):
        asked.append(rows)
        return rows[:, 0] > (0.5 if len(asked) == 1 else np.inf)

    counterfactuals, where = Counterfactual(fickle, np.array([[0.0], [1.0]])).find([[0.0]])
    assert len(asked) > 2
    assert len(counterfactuals) == len(where) == 0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda X: Counterfactual(lambda rows: rows[:, 0] / 7, X), BadInput, "look continuous"),
        (lambda X: Counterfactual(lambda rows: np.full((len(rows), 2), 0.5), X), BadInput, "class probabilities"),
        (lambda X: Counterfactual(lambda rows: [0], X), BadInput, "rows but predictions have 1"),
        (lambda X: Counterfactual(7, X), WrongType, "must have predict"),
        (lambda X: Counterfactual(above_zero, X, candidates=0), BadInput, "candidates must be .* at least 1; got 0"),
        (lambda X: Counterfactual(above_zero, X, metric="no such"), BadInput, "metric='no such' could not be used"),
        (lambda X: Counterfactual(above_zero, X, metric="seuclidean"), BadInput, "depends on"),
        (lambda X: Counterfactual(above_zero, X, metric="euclidean", categorical=[0]), BadInput, "metric='gower'"),
        (lambda X: Counterfactual(above_zero, X, categorical=[9]), BadInput, "categorical names 9"),
        (lambda X: Counterfactual(above_zero, X[:0]), BadInput, "Training rows are empty"),
        (lambda X: Counterfactual(above_zero, X[:, :1]), BadInput, "2 features but training rows have 1"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_sentence(make, error, message):
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(error, match=message) as caught:
        make(X).explain(X)
    assert "\n" not in str(caught.value)


def test_constant_features_stay_unless_the_row_itself_differs():
    X = np.column_stack([np.linspace(-1, 1, 50), np.full(50, 3.0)])
    counterfactuals = Counterfactual(above_zero, X).explain([[0.5, 3.0], [0.5, 9.0], [-0.5, -1e6]])
    assert counterfactuals.points[:, 1].tolist() == [3.0, 9.0, -1e6]
    stuck = Counterfactual(lambda rows: rows[:, 1] > 5, X).explain([[0.5, 9.0]])
    assert stuck.points[0, 0] == 0.5
    assert 4.9 < stuck.points[0, 1] <= 5


def test_rows_far_outside_the_known_range_are_nearest_to_the_right_rows():
    X = np.random.default_rng(0).normal(size=(200, 3))
    rows = np.random.default_rng(1).normal(size=(50, 3)) * 10
    counterfactuals = Counterfactual(above_zero, X, candidates=1).explain(rows)
    nearest = nearest_known(X, rows, above_zero(X) != above_zero(rows)[:, None], counterfactuals.metric)
    assert (counterfactuals.balls().radii <= nearest + 1e-12).all()


def test_numbers_of_half_precision_are_what_the_model_sees():
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    kinds = set()

    def predict(rows):
        kinds.add(rows.dtype)
        return rows.sum(axis=1) > 0

    rows = np.random.default_rng(1).normal(size=(20, 3))
    counterfactuals = Counterfactual(predict, X).explain(rows)
    assert kinds == {np.dtype(np.float32)}
    assert (counterfactuals.points.astype(np.float32) == counterfactuals.points).all()
    assert (predict(counterfactuals.points.astype(np.float32)) != predict(rows.astype(np.float32))).all()


def test_labels_may_be_words_or_tuples():
    X = np.random.default_rng(0).normal(size=(100, 2))
    plain = Counterfactual(above_zero, X).explain(X[:20])
    words = Counterfactual(lambda rows: np.where(above_zero(rows), "high", "low"), X).explain(X[:20])
    pairs = Counterfactual(lambda rows: [("above", bool(above)) for above in above_zero(rows)], X).explain(X[:20])
    assert (words.points == plain.points).all()
    assert (pairs.points == plain.points).all()


def test_an_explainer_pickles_without_what_it_learned():
    X, model = flowers()
    explainer = Counterfactual(model, X)
    fresh = len(pickle.dumps(explainer))
    counterfactuals = explainer.explain(X[:10])
    assert len(pickle.dumps(explainer)) == fresh
    again = pickle.loads(pickle.dumps(explainer)).explain(X[:10])
    assert (again.points == counterfactuals.points).all()


def test_it_evaluates():
    X, model = flowers()
    evaluation = fs.evaluate(model, Counterfactual(model, X), X)
    assert evaluation.sufficiency.verified > 0.9
    assert evaluation.consistency.n == len(X)
