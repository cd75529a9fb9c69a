"""Dice: what dice-ml finds, kept only where it is true."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from explainers.systems import (
    Rule,
    assert_refused,
    graded,
    library,
    people,
    people_again,
    wages,
    workers,
    workers_again,
)
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers import Dice
from refused import refused


def employed():
    return wages(), workers(), workers(5, seed=1), workers_again


def flowers():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X, y), X, X[::30], np.asarray


def tiny():
    """Numbers so small that dice-ml fails on them as they are."""
    X = default_rng(0).choice([1e-05, 2e-05, 3e-05, 4e-05], size=(60, 2))
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.sum(axis=1) > 5e-05), X, X[:4], np.asarray


def categories():
    table = pd.DataFrame({"a": ["u", "v"] * 30, "b": ["p", "p", "q"] * 20})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table, table["a"] == "u")
    return model, table, table.iloc[:3], lambda cells: pd.DataFrame(cells, columns=table.columns)


def strange():
    return Rule(), people(150).dropna(), people(30, 1, new=True).dropna()[:8], people_again


SOON = [(employed, "random"), (tiny, "random"), (strange, "random")]
LATER = [(employed, "genetic"), (employed, "kdtree"), (flowers, "random"), (categories, "random")]


@pytest.mark.parametrize(("system", "method"), graded(SOON, SOON + LATER))
@pytest.mark.thorough
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
    if system is employed:
        assert all(type(age) is int for age in found.points[:, 0])
        assert set(found.points[:, 2]) <= set(table["job"])
        assert found.metric.ranges[:3] == (np.ptp(table["age"]), np.ptp(table["pay"]), None), "Gower's, of known rows"


def test_where_a_model_predicts_one_class_that_is_said_and_nothing_invented():
    library("dice_ml")
    X = default_rng(0).normal(size=(40, 2)).round(1)
    explainer = Dice(DummyClassifier(strategy="constant", constant=0).fit(X, np.arange(40) % 2), X)
    found, where = explainer.find(X[:3])
    assert len(found) == len(where) == 0
    refused(BadInput, r"row 0 \(3 of 3 rows in all\): dice-ml gives none by this method", explainer.explain, X[:3])
    assert len(Dice(DummyClassifier().fit(X, np.zeros(40)), X).find(X[:3])[0]) == 0


def test_a_missing_package_is_named_with_what_installs_it_where_there_are_rows(monkeypatch):
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    explainer, rows = Dice(wages(), workers()), workers(1)
    assert len(explainer.explain(rows[:0])) == 0
    refused(MissingExtra, r'dice-ml package: pip install "faithscope\[dice\]"', explainer.explain, rows)


def test_what_cannot_be_explained_is_refused_in_a_sentence():
    model, X = wages(), workers()
    assert_refused(
        {
            BadInput: [
                (lambda: Dice(model, X, method="gradient"), "'random', 'genetic', 'kdtree'; got 'gradient'"),
                (lambda: Dice(model, X, categorical=["no"]).explain(X), "categorical names 'no'"),
                (lambda: Dice(Rule(), people(150)).explain(people(8)), "'pay' holds missing values"),
                (lambda: Dice(model, X.assign(age=2**31)).explain(X), "'age' holds whole numbers, or dates"),
            ],
            WrongType: [
                (lambda: Dice(model.predict, X), "a model with predict and predict_proba; got method"),
                (lambda: Dice(model, X).explain(X.assign(age="old")), "held numbers in training"),
            ],
        }
    )
