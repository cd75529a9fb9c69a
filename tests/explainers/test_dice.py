"""Dice: what dice-ml finds, kept only where it is true, and the same whatever batch a row is in."""

import pickle
import random
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import faithscope as fs
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers.dice import Dice

with_dice = pytest.mark.skipif(
    find_spec("dice_ml") is None, reason='dice-ml is not installed: pip install "faithscope[dice]"'
)


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.integers(18, 80, n), "pay": rng.normal(3, 1, n).round(1)}
    return pd.DataFrame(columns | {"job": rng.choice(["clerk", "cook"], n), "married": rng.random(n) < 0.5})


@pytest.fixture(scope="module")
def mixed():
    """A pipeline that knows columns by name, so it takes nothing but pandas, and answers in words."""
    table = people()
    paid = np.where(table["age"] / 40 + table["pay"] * 0.3 + (table["job"] == "cook") > 2.4, "high", "low")
    encode = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "pay", "married"]))
    return table, make_pipeline(encode, LogisticRegression()).fit(table, paid)


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return X, LogisticRegression(max_iter=1000).fit(X, y)


def as_frame(points, like):
    return pd.DataFrame(points, columns=like.columns).astype(like.dtypes)


@with_dice
@pytest.mark.parametrize("method", ["random", "genetic", "kdtree"])
@pytest.mark.slow
def test_every_point_is_predicted_otherwise_than_its_row(method, mixed):
    table, model = mixed
    rows = people(5, seed=1)
    counterfactuals, where = Dice(model, table, method=method).find(rows)
    assert len(counterfactuals) == len(where) >= 3
    assert (model.predict(as_frame(counterfactuals.points, table)) != model.predict(rows.iloc[where])).all()
    assert (counterfactuals.originals == rows.iloc[where].to_numpy(object)).all()


@with_dice
@pytest.mark.slow
def test_whole_numbers_stay_whole_and_categories_known(mixed):
    table, model = mixed
    counterfactuals = Dice(model, table).explain(people(4, seed=2))
    assert all(type(age) is int for age in counterfactuals.points[:, 0])
    assert set(counterfactuals.points[:, 2]) <= {"clerk", "cook"}
    assert counterfactuals.feature_names == tuple(table.columns)


@with_dice
@pytest.mark.slow
def test_of_three_classes_another_one_is_reached(flowers):
    X, model = flowers
    counterfactuals, where = Dice(model, X).find(X[::30])
    assert len(where) >= 3
    assert (model.predict(counterfactuals.points) != model.predict(X[::30])[where]).all()


@with_dice
@pytest.mark.slow
def test_a_row_is_explained_alike_in_any_batch_and_by_its_seed(mixed):
    table, model = mixed
    rows = people(4, seed=3)
    explainer = Dice(model, table)
    counterfactuals = explainer.explain(rows)
    assert (explainer.explain(rows.iloc[[2, 0]]).points == counterfactuals.points[[2, 0]]).all()
    assert (Dice(model, table, seed=1).explain(rows).points != counterfactuals.points).any()


@with_dice
def test_chance_outside_is_left_as_it_was_and_nothing_is_printed(mixed, capfd):
    table, model = mixed
    before, numpy_before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    seen = []
    Dice(model, table).find(people(2, seed=4), progress=lambda done, total: seen.append((done, total)))
    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == numpy_before  # noqa: NPY002
    assert capfd.readouterr() == ("", "")
    assert seen == [(1, 2), (2, 2)]


@with_dice
@pytest.mark.slow
def test_the_ball_is_by_gowers_distance_learned_from_the_training_rows(mixed):
    table, model = mixed
    rows = people(4, seed=5)
    counterfactuals = Dice(model, table).explain(rows)
    assert counterfactuals.metric.ranges[:3] == (np.ptp(table["age"]), np.ptp(table["pay"]), None)
    assert fs.sufficiency(counterfactuals, model.predict(rows), rows).n == 4


@with_dice
@pytest.mark.slow
def test_where_a_model_predicts_one_class_that_is_said_and_nothing_invented():
    X = np.random.default_rng(0).normal(size=(40, 2)).round(1)
    never = DummyClassifier(strategy="constant", constant=0).fit(X, np.arange(40) % 2)
    explainer = Dice(never, X)
    counterfactuals, where = explainer.find(X[:3])
    assert len(counterfactuals) == len(where) == 0
    with pytest.raises(BadInput, match=r"row 0 \(3 of 3 rows in all\): dice-ml with method='random' gives none"):
        explainer.explain(X[:3])
    alone = DummyClassifier().fit(X, np.zeros(40))
    assert len(Dice(alone, X).find(X[:3])[0]) == 0


@with_dice
def test_tiny_numbers_do_not_make_dice_ml_fail():
    X = np.random.default_rng(0).choice([1e-05, 2e-05, 3e-05, 4e-05], size=(60, 2))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.sum(axis=1) > 5e-05)
    counterfactuals, where = Dice(model, X).find(X[:2])
    assert (model.predict(counterfactuals.points) != model.predict(X[where])).all()


@with_dice
def test_categories_alone_are_explained():
    table = pd.DataFrame({"a": ["u", "v"] * 30, "b": ["p", "p", "q"] * 20})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table, table["a"] == "u")
    counterfactuals = Dice(model, table).explain(table.iloc[:2])
    assert counterfactuals.points[:, 0].tolist() == ["v", "u"]


def test_no_rows_have_no_explanations(mixed):
    table, model = mixed
    assert len(Dice(model, table).explain(table.iloc[:0])) == 0


def test_an_explainer_pickles(mixed):
    table, model = mixed
    again = pickle.loads(pickle.dumps(Dice(model, table, seed=3)))
    assert again.seed == 3
    assert len(again.explain(table.iloc[:0])) == 0


def test_a_missing_package_is_named_with_what_installs_it(mixed, monkeypatch):
    table, model = mixed
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    with pytest.raises(MissingExtra, match=r'dice-ml package: pip install "faithscope\[dice\]"'):
        Dice(model, table).explain(table.iloc[:1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda model, X: Dice(model, X, method="gradient"), BadInput, "'random', 'genetic', 'kdtree'; got 'gradient'"),
        (lambda model, X: Dice(model.predict, X), WrongType, "a model with predict and predict_proba; got method"),
        (lambda model, X: Dice(model, X).explain(X.assign(age="old")), WrongType, "held numbers in training"),
        (lambda model, X: Dice(model, X, categorical=["no"]).explain(X), BadInput, "categorical names 'no'"),
    ],
)
def test_what_cannot_be_explained_is_refused_in_a_sentence(make, error, message, mixed):
    table, model = mixed
    with pytest.raises(error, match=message) as caught:
        make(model, table)
    assert "\n" not in str(caught.value)
