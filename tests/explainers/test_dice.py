"""Dice: what dice-ml finds, kept only where it is true."""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from explainers.systems import Rule, library, people, people_again
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers import Dice


def workers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    numbers = {"age": rng.integers(18, 80, n), "pay": rng.normal(3, 1, n).round(1)}
    return pd.DataFrame(numbers | {"job": rng.choice(["clerk", "cook"], n), "married": rng.random(n) < 0.5})


def as_workers(points):
    return pd.DataFrame(points, columns=workers(1).columns).astype(workers(1).dtypes)


@cache
def mixed():
    """A pipeline that knows columns by name, so it takes nothing but pandas, and answers in words."""
    table = workers()
    paid = np.where(table["age"] / 40 + table["pay"] * 0.3 + (table["job"] == "cook") > 2.4, "high", "low")
    encode = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "pay", "married"]))
    return make_pipeline(encode, LogisticRegression()).fit(table, paid), table


def workers_system():
    return (*mixed(), workers(5, seed=1), as_workers)


def flowers():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X, y), X, X[::30], np.asarray


def tiny():
    """Numbers so small that dice-ml fails on them as they are."""
    X = np.random.default_rng(0).choice([1e-05, 2e-05, 3e-05, 4e-05], size=(60, 2))
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.sum(axis=1) > 5e-05), X, X[:4], np.asarray


def categories():
    table = pd.DataFrame({"a": ["u", "v"] * 30, "b": ["p", "p", "q"] * 20})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table, table["a"] == "u")
    return model, table, table.iloc[:3], lambda cells: pd.DataFrame(cells, columns=table.columns)


def missing():
    return Rule(), people(150), people(8, 1, new=True), people_again


CASES = [(workers_system, "random"), (tiny, "random"), (missing, "random")]
THOROUGH = [(workers_system, "genetic"), (workers_system, "kdtree"), (flowers, "random"), (categories, "random")]
THOROUGH = [pytest.param(*case, marks=pytest.mark.thorough) for case in [*THOROUGH, (missing, "kdtree")]]


@pytest.mark.parametrize(("system", "method"), [*CASES, *THOROUGH])
def test_every_point_is_predicted_otherwise_than_its_row(system, method):
    library("dice_ml")
    model, table, rows, again = system()
    found, where = Dice(model, table, method=method).find(rows)
    assert len(found) == len(where) >= 3
    own = rows.iloc[where].reset_index(drop=True) if hasattr(rows, "iloc") else rows[where]
    if hasattr(rows, "iloc"):
        pd.testing.assert_frame_equal(again(found.originals), own, check_dtype=False)
        assert found.feature_names == tuple(table.columns)
    assert (model.predict(again(found.points)) != model.predict(own)).all()
    if system is workers_system:
        assert all(type(age) is int for age in found.points[:, 0])
        assert set(found.points[:, 2]) <= {"clerk", "cook"}
        assert found.metric.ranges[:3] == (np.ptp(table["age"]), np.ptp(table["pay"]), None), "Gower's, of known rows"
    if system is missing:
        lowest = min(table["pay"].min(), own["pay"].min())
        assert not (again(found.points)["pay"] < lowest).any(), "what stands for missing is no number"


def test_where_a_model_predicts_one_class_that_is_said_and_nothing_invented():
    library("dice_ml")
    X = np.random.default_rng(0).normal(size=(40, 2)).round(1)
    explainer = Dice(DummyClassifier(strategy="constant", constant=0).fit(X, np.arange(40) % 2), X)
    found, where = explainer.find(X[:3])
    assert len(found) == len(where) == 0
    with pytest.raises(BadInput, match=r"row 0 \(3 of 3 rows in all\): dice-ml with method='random' gives none"):
        explainer.explain(X[:3])
    assert len(Dice(DummyClassifier().fit(X, np.zeros(40)), X).find(X[:3])[0]) == 0


def test_a_missing_package_is_named_with_what_installs_it_where_there_are_rows(monkeypatch):
    model, table = mixed()
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    assert len(Dice(model, table).explain(table.iloc[:0])) == 0
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
def test_what_cannot_be_explained_is_refused_in_a_sentence(make, error, message):
    with pytest.raises(error, match=message) as caught:
        make(*mixed())
    assert "\n" not in str(caught.value)
