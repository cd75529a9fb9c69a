"""Faithfulness as scikit-learn's score: the number that evaluate gives on the rows held out, in every search."""

import math
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import faithscope as fs
from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.integrations.sklearn import scorer
from refused import refused

X, Y = load_iris(return_X_y=True, as_frame=True)
FOLDS = KFold(3, shuffle=True, random_state=0)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
HOLED = pd.DataFrame({"petal width (cm)": [0.0, np.nan, 1.0, 1.0]})


def by_width(model):
    """An explainer that knows one column, whatever the model."""
    return lambda rows: np.asarray(rows["petal width (cm)"]).round(0)


def signs(model):
    return lambda rows: np.asarray(rows) - X.to_numpy().mean(0)


def test_the_score_is_what_evaluate_measures_on_the_rows_held_out():
    bounds = list(product(("consistency", "sufficiency"), ("low", "value", "verified", "adjusted")))
    asked = {f"{m} {b}": scorer(fs.explainers.TreePath, measure=m, bound=b) for m, b in bounds}
    scores = cross_validate(TREE, X, Y, cv=FOLDS, scoring=asked)
    for fold, (train, test) in enumerate(FOLDS.split(X)):
        tree = clone(TREE).fit(X.iloc[train], Y.iloc[train])
        evaluation = fs.evaluate(tree, fs.explainers.TreePath(tree), X.iloc[test])
        for measure, bound in bounds:
            assert scores[f"test_{measure} {bound}"][fold] == getattr(getattr(evaluation, measure), bound)


def test_a_discretizer_and_an_agreement_are_those_of_evaluate():
    for model, explain, how in (
        (LogisticRegression(max_iter=1000), signs, {"discretizer": "sign"}),
        (DecisionTreeRegressor(max_depth=2), by_width, {"agreement": fs.Close(1.0)}),
    ):
        made = scorer(explain, bound="value", **how)(model.fit(X, Y), X)
        assert made == fs.evaluate(model, explain(model), X, **how).consistency.value


def test_a_grid_search_chooses_by_it_beside_accuracy():
    """What knows one column is most faithful to the tree of one split; accuracy wants the deeper one."""
    grid, scoring = {"max_depth": [1, 3]}, {"accuracy": "accuracy", "faithful": scorer(by_width, bound="value")}
    for refit, depth in (("accuracy", 3), ("faithful", 1)):
        search = GridSearchCV(TREE, grid, scoring=scoring, refit=refit, cv=FOLDS).fit(X, Y)
        assert search.best_params_ == {"max_depth": depth}
        assert search.best_score_ == search.cv_results_[f"mean_test_{refit}"].max()


@pytest.mark.thorough
def test_two_processes_give_the_same_scores():
    grid = {"scoring": scorer(fs.explainers.TreePath), "cv": FOLDS}
    assert cross_val_score(TREE, X, Y, n_jobs=2, **grid).tolist() == cross_val_score(TREE, X, Y, **grid).tolist()
    made = scorer(fs.explainers.TreePath, discretizer=fs.Sign())
    assert pickle.loads(pickle.dumps(made)) == made


def test_a_pipeline_is_explained_on_the_columns_people_know():
    frame = X.assign(kind=np.where(X["petal width (cm)"] > 1, "wide", "narrow"))
    encode = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    pipe = make_pipeline(encode, LogisticRegression(max_iter=1000))
    by_kind = scorer(lambda model: lambda rows: rows["kind"].tolist(), bound="value")
    assert np.isfinite(cross_val_score(pipe, frame, Y, cv=FOLDS, scoring=by_kind)).all()


def test_what_is_undefined_is_nan_and_ranked_last():
    constant = DummyClassifier().fit(X, Y)
    adjusted = scorer(by_width, bound="adjusted")
    unique = scorer(lambda model: lambda rows: np.arange(len(rows)), bound="verified")
    assert math.isnan(adjusted(constant, X))
    assert math.isnan(unique(constant, X))
    assert scorer(by_width, bound="value")(constant, X) == 1.0, "anything explains a constant"
    search = GridSearchCV(TREE, {"min_samples_leaf": [1, 100]}, scoring=adjusted, cv=FOLDS)
    with pytest.warns(UserWarning, match="non-finite"):
        assert search.fit(X, Y).best_params_ == {"min_samples_leaf": 1}


def test_a_mistake_is_one_sentence():
    advice = r"lambda model: fs\.explainers\.Lime\(model, X_train\); got Constant"
    for explain, words in ((None, "got NoneType"), (fs.explainers.Constant(), advice), (["a"], "got list")):
        refused(WrongType, words, scorer, explain)
    for words, how in (
        ("measure must be one of 'consistency', 'sufficiency'", {"measure": "accuracy"}),
        ("bound must be one of 'low'", {"bound": "lower"}),
        ("got None", {"bound": None}),
    ):
        refused(BadInput, words, scorer, by_width, **how)
    scope, holed = scorer(by_width, measure="sufficiency"), clone(TREE).fit(HOLED, [0, 1, 0, 1])
    refused(NotScoped, "measure='consistency'", scope, clone(TREE).fit(X, Y), X)
    refused(BadInput, "Explanations are missing at row 1", scorer(by_width), holed, HOLED)
