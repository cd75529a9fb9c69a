"""SHAP values are Shapley values: every model family and output against enumerated coalitions of the model itself."""

import warnings
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from faithscope.errors import WrongType
from faithscope.explainers.shap import Shap

D = 8  # so many that all coalitions are more than are tried by default


def columns(rows):
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(D)]).assign(c7=np.where(rows[:, 7] > 0, "yes", "no"))


def pipeline(model):
    words = make_column_transformer((OneHotEncoder(), ["c7"]), remainder=StandardScaler())
    return make_pipeline(words, model)


def lightgbm(kind="LGBMClassifier", **how):
    return getattr(pytest.importorskip("lightgbm"), kind)(n_estimators=15, num_leaves=8, verbose=-1, **how)


def xgboost(kind="XGBClassifier", **how):
    return getattr(pytest.importorskip("xgboost"), kind)(n_estimators=15, max_depth=3, **how)


def catboost(kind="CatBoostClassifier", **how):
    how = {"iterations": 15, "depth": 3, "verbose": False, "allow_writing_files": False, **how}
    return getattr(pytest.importorskip("catboost"), kind)(**how)


CLASSIFIERS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(8, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=12, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=15, random_state=0),
    "lightgbm": lightgbm,
    "lightgbm of dart": lambda: lightgbm(boosting_type="dart"),
    "lightgbm one against all": lambda: lightgbm(objective="multiclassova"),
    "xgboost": xgboost,
    "xgboost forest": lambda: xgboost("XGBRFClassifier"),
    "catboost": catboost,
    "logistic": lambda: LogisticRegression(),
    "svc": lambda: SVC(),
    "network": lambda: MLPClassifier((5,), max_iter=60, random_state=0),
}
TABLES = {
    "pipeline of logistic": lambda: pipeline(LogisticRegression()),
    "pipeline of histograms": lambda: pipeline(HistGradientBoostingClassifier(max_iter=15, random_state=0)),
    "pipeline of lightgbm": lambda: pipeline(lightgbm()),
    "pipeline of xgboost": lambda: pipeline(xgboost()),
    "pipeline of catboost": lambda: pipeline(catboost()),
}
REGRESSORS = {
    "tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
    "forest": lambda: RandomForestRegressor(8, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingRegressor(n_estimators=12, random_state=0),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=15, random_state=0),
    "histograms of counts": lambda: HistGradientBoostingRegressor(loss="poisson", max_iter=15, random_state=0),
    "lightgbm": lambda: lightgbm("LGBMRegressor"),
    "lightgbm of counts": lambda: lightgbm("LGBMRegressor", objective="poisson"),
    "xgboost": lambda: xgboost("XGBRegressor"),
    "xgboost of counts": lambda: xgboost("XGBRegressor", objective="count:poisson"),
    "catboost": lambda: catboost("CatBoostRegressor"),
    "catboost of counts": lambda: catboost("CatBoostRegressor", loss_function="Poisson"),
    "linear": lambda: LinearRegression(),
}


@cache
def sample(classes):
    """Rows, few of them alike: (training rows, labels)."""
    return make_classification(400, D, n_informative=6, n_classes=classes, class_sep=0.6, random_state=0)


@cache
def fitted(family, name, classes):
    X, y = sample(classes)
    rows = columns(X) if family is None else X
    target = np.exp(X[:, 0] + X[:, 1] * (X[:, 2] > 0)) if family == "regressor" else y
    if "against all" in name and classes == 2:
        pytest.skip("of two classes there is one against one")
    make = {None: TABLES, "classifier": CLASSIFIERS, "regressor": REGRESSORS}[family][name]
    with warnings.catch_warnings(action="ignore"):
        return make().fit(rows, target), rows[:7], rows[200:204]


def enumerated(function, background, rows):
    """Shapley's formula itself over all coalitions: (n, d, outputs)."""
    kind = object if isinstance(rows, pd.DataFrame) else float
    own, other = np.asarray(rows, kind), np.asarray(background, kind)
    coalitions = [members for size in range(D + 1) for members in combinations(range(D), size)]
    masked = np.empty((len(coalitions), len(own), len(other), D), kind)
    for one, members in zip(masked, coalitions, strict=True):
        one[:] = other
        one[:, :, members] = own[:, None, members]
    flat = masked.reshape(-1, D)
    if isinstance(rows, pd.DataFrame):
        flat = pd.DataFrame(flat, columns=rows.columns).astype(dict(rows.dtypes))
    outputs = np.asarray(function(flat), float).reshape(*masked.shape[:3], -1).mean(axis=2)
    worth = dict(zip(coalitions, outputs, strict=True))
    values = np.zeros((len(own), D, outputs.shape[2]))
    for j in range(D):
        for members in coalitions:
            if j not in members:
                added = worth[tuple(sorted((*members, j)))] - worth[members]
                values[:, j] += added / (D * comb(D - 1, len(members)))
    return values


def margin_of(model):
    """How a user gets the margin from a model; None where there is none."""
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(model, "decision_function"):
        return model.decision_function
    if "lightgbm" in type(last).__module__:
        return lambda rows: model.predict(rows, raw_score=True)
    if "xgboost" in type(last).__module__:
        return lambda rows: model.predict(rows, output_margin=True)
    if "catboost" in type(last).__module__:
        return lambda rows: model.predict(rows, prediction_type="RawFormulaVal")
    return None


def assert_exact(explainer, function, background, rows):
    exact = enumerated(function, background, rows)
    exact = exact[:, :, 1:] if exact.shape[2] == 2 else exact  # class 1 of two
    found = explainer.explain(rows)
    scale = max(1.0, np.abs(exact).max())
    wanted = exact.transpose(0, 2, 1).reshape(len(rows), -1)
    np.testing.assert_allclose(found.values, wanted, rtol=0, atol=2e-6 * scale)
    assert explainer.error == 0.0
    assert found.notes == ()


ALL = [("classifier", name) for name in CLASSIFIERS] + [(None, name) for name in TABLES]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
def test_probabilities_are_explained_by_their_shapley_values(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    if not hasattr(model, "predict_proba"):
        with pytest.raises(WrongType, match="has no predict_proba"):
            Shap(model, background, output="probability")
        return
    explainer = Shap(model, background, output="probability", evaluations=2**D)
    assert_exact(explainer, model.predict_proba, background, rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
def test_the_margin_is_explained_by_its_shapley_values_where_there_is_one_else_the_probability(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    explainer = Shap(model, background, evaluations=2**D)
    margin = margin_of(model)
    assert explainer.output == ("probability" if margin is None else "margin")
    assert_exact(explainer, margin or model.predict_proba, background, rows)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("family", "name"), ALL, ids=[name for _, name in ALL])
def test_labels_are_explained_by_their_shapley_values(family, name, classes):
    model, background, rows = fitted(family, name, classes)
    explainer = Shap(model, background, output="label", evaluations=2**D)
    assert_exact(explainer, lambda asked: np.ravel(model.predict(asked)), background, rows)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressions_are_explained_by_their_shapley_values(name):
    model, background, rows = fitted("regressor", name, 2)
    assert_exact(Shap(model, background, evaluations=2**D), model.predict, background, rows)


@pytest.mark.parametrize("algorithm", ["permutation", "kernel"])
def test_functions_are_explained_by_their_shapley_values(algorithm):
    def function(rows):
        return np.exp(rows[:, 0]) * rows[:, 1] - np.maximum(rows[:, 2], rows[:, 3]) ** 3

    X, _ = sample(2)
    assert_exact(Shap(function, X[:7], algorithm=algorithm, evaluations=2**D), function, X[:7], X[200:204])


BOOSTERS = ["histograms", "lightgbm", "xgboost", "catboost", "boosting"]


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_probability_of_a_booster_is_exact_without_being_asked_to_be(name):
    model, background, rows = fitted("classifier", name, 2)
    explainer = Shap(model, background, output="probability")
    assert explainer.algorithm == "tree"
    assert_exact(explainer, model.predict_proba, background, rows)
