"""SHAP values are Shapley values: every model family and output against enumerated coalitions of the model itself."""

import warnings
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from explainers.systems import FAMILIES, graded, trees
from faithscope.explainers import Shap

D = 8  # so many that all coalitions are more than are tried by default


def columns(rows):
    words = np.where(np.isnan(rows[:, 7]), None, np.where(rows[:, 7] > 0, "yes", "no"))
    return pd.DataFrame(rows, columns=[f"c{j}" for j in range(D)]).assign(c7=words)


def piped(model):
    words = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["c7"]), remainder=StandardScaler())
    return make_pipeline(words, model)


CLASSIFIERS = {
    **{family: lambda family=family: trees(family) for family in FAMILIES},
    "lightgbm of dart": lambda: trees("lightgbm", boosting_type="dart"),
    "lightgbm one against all": lambda: trees("lightgbm", objective="multiclassova"),
    "logistic": LogisticRegression,
    "svc": SVC,
    "network": lambda: MLPClassifier((5,), max_iter=60, random_state=0),
}
PIPED = ("logistic", "histograms", "lightgbm", "xgboost", "catboost")
PIPES = {f"pipeline of {name}": lambda name=name: piped(CLASSIFIERS[name]()) for name in PIPED}
NATIVE = {  # which take categories as they are
    "histograms of categories": lambda: trees("histograms", categorical_features="from_dtype"),
    "lightgbm of categories": lambda: trees("lightgbm"),
    "xgboost of categories": lambda: trees("xgboost", enable_categorical=True),
    "catboost of words": lambda: trees("catboost", cat_features=["c7"]),
}
COUNTS = {
    "histograms": {"loss": "poisson"},
    "lightgbm": {"objective": "poisson"},
    "xgboost": {"objective": "count:poisson"},
    "catboost": {"loss_function": "Poisson"},
}
REGRESSORS = {
    "linear regression": LinearRegression,
    **{f"regression by {name}": lambda name=name: trees(name, "Regressor") for name in FAMILIES},
    **{f"counts by {name}": lambda name=name: trees(name, "Regressor", **COUNTS[name]) for name in COUNTS},
}
OUTPUTS = (None, "probability", "label")


@cache
def sample(classes, holes=False):
    """Rows, few of them alike, and labels; a fifth of all values may be missing."""
    X, y = make_classification(400, D, n_informative=6, n_classes=classes, class_sep=0.6, random_state=0)
    return np.where(np.random.default_rng(0).random(X.shape) < 0.2 * holes, np.nan, X), y


@cache
def fitted(name, classes, holes=False):
    """A model with a background and rows; regressors are fitted to numbers above 0."""
    rows, y = sample(classes, holes)
    target = np.exp(rows[:, 0] + rows[:, 1] * (rows[:, 2] > 0)) if name in REGRESSORS else y
    if name in {**PIPES, **NATIVE}:
        rows = columns(rows)
    if name == "catboost of words":
        rows = rows.fillna({"c7": "none"})
    elif name in NATIVE:
        rows = rows.astype({"c7": "category"})
    with warnings.catch_warnings(action="ignore"):
        model = {**CLASSIFIERS, **PIPES, **NATIVE, **REGRESSORS}[name]().fit(rows, target)
    return model, rows[:7], rows[200:204]


def enumerated(function, background, rows):
    """Shapley's formula itself over all coalitions: (n, d, outputs)."""
    kind = object if isinstance(rows, pd.DataFrame) else float
    own, other = np.asarray(rows, kind), np.asarray(background, kind)
    d = own.shape[1]
    coalitions = np.array(list(product([False, True], repeat=d)))
    masked = np.where(coalitions[:, None, None], own[:, None], other)
    flat = masked.reshape(-1, d)
    if isinstance(rows, pd.DataFrame):
        flat = pd.DataFrame(flat, columns=rows.columns).astype(dict(rows.dtypes))
    worth = np.asarray(function(flat), float).reshape(*masked.shape[:3], -1).mean(axis=2)
    values = []
    for j in range(d):
        without = np.flatnonzero(~coalitions[:, j])
        share = [1 / (d * comb(d - 1, size)) for size in coalitions[without].sum(axis=1)]
        values.append(np.tensordot(share, worth[without + 2 ** (d - 1 - j)] - worth[without], 1))
    return np.stack(values, axis=1)


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
    explanations = explainer.explain(rows)
    scale = max(1.0, np.abs(exact).max())
    wanted = exact.transpose(0, 2, 1).reshape(len(rows), -1)
    np.testing.assert_allclose(explanations.values, wanted, rtol=0, atol=2e-6 * scale)
    assert explainer.error == 0.0
    assert ["flatters" in note for note in explanations.notes] == [True] * (exact.shape[2] > 1)


SOON = [  # in `make test`
    ("tree", 2, "label", False), ("histograms", 2, None, False), ("lightgbm", 2, "probability", False),
    ("xgboost", 3, None, False), ("catboost", 2, None, False), ("logistic", 3, "probability", False),
    ("pipeline of logistic", 2, None, False), ("counts by histograms", 2, None, False),
    ("histograms", 2, None, True), ("lightgbm of categories", 2, "probability", True),
    ("pipeline of histograms", 2, "label", True),
]  # fmt: skip
LATER = [(name, 2 + place % 2, OUTPUTS[place % 3], False) for place, name in enumerate([*CLASSIFIERS, *PIPES])]
LATER = [case for case in LATER if case[:2] != ("lightgbm one against all", 2) and case[:3:2] != ("svc", "probability")]
LATER += [(name, 2, None, False) for name in REGRESSORS]
LATER += [(name, 2, OUTPUTS[place % 3], True) for place, name in enumerate(("tree", "forest", *PIPED[1:], *NATIVE))]


@pytest.mark.parametrize(("name", "classes", "output", "holes"), graded(SOON, LATER))
def test_outputs_are_explained_by_their_shapley_values_and_missing_values_are_values_like_any_other(
    name, classes, output, holes
):
    """The margin where there is one and nothing else is asked for, else the probability; of regressors the number."""
    model, background, rows = fitted(name, classes, holes)
    explainer = Shap(model, background, output=output, evaluations=2**D)
    margin = model.predict if name in REGRESSORS else margin_of(model)
    assert explainer.output == (output or ("probability" if margin is None else "margin"))
    functions = {"margin": margin, "label": lambda asked: np.ravel(model.predict(asked))}
    assert_exact(explainer, functions.get(explainer.output) or model.predict_proba, background, rows)
    if holes and name in (*PIPED, "pipeline of histograms") and output != "label":
        assert explainer.algorithm == "tree"


def test_functions_are_explained_by_their_shapley_values():
    def function(rows):
        return np.exp(rows[:, 0]) * rows[:, 1] - np.maximum(rows[:, 2], rows[:, 3]) ** 3

    X, _ = sample(2)
    assert_exact(Shap(function, X[:7], evaluations=2**D), function, X[:7], X[200:204])


def test_an_unseen_category_reaches_the_model_as_it_is_beside_missing_ones():
    (model, background, rows), seen = fitted("pipeline of histograms", 2, True), set()

    def known(asked):
        seen.update(asked["c7"])
        return model.decision_function(asked)

    rows = rows.assign(c7=["pilot", None, "yes", "vet"])
    assert_exact(Shap(known, background, evaluations=2**D), model.decision_function, background, rows)
    assert {"pilot", "vet", "yes"} <= seen


# What is not exact is told.


def test_the_probability_of_a_booster_over_many_features_is_sampled_with_its_error_told():
    X, y = make_classification(300, 18, n_informative=12, random_state=0)
    model = trees("histograms").fit(X, y)
    explainer = Shap(model, X[:5], output="probability")
    explanations, errors = explainer.explain_with_error(X[100:104])
    exact = Shap(model, X[:5], output="probability", evaluations=2**18)
    missed = np.abs(explanations.values - exact.explain(X[100:104]).values)
    assert exact.error == 0.0
    assert 0 < explainer.error < 0.1
    assert (missed <= 4 * errors.max()).all()


def test_missing_values_go_the_way_the_model_sends_them_whether_or_not_it_was_trained_with_some():
    X, y = sample(2)
    model = trees("lightgbm").fit(X, y)  # trained without missing values, it takes them for 0; shap sends them one way
    rows = X[200:204].copy()
    rows[:2, 1] = np.nan
    explainer = Shap(model, X[:7], algorithm="tree")
    assert_exact(explainer, margin_of(model), X[:7], rows)


def test_a_booster_that_takes_zeros_for_missing_is_not_read_as_if_it_did_not():
    X, y = sample(2)
    X = np.where(X > 0.3, 0.0, X)
    model = trees("xgboost", missing=0.0).fit(X, y)
    explainer = Shap(model, X[:7], evaluations=2**D)
    assert explainer.algorithm == "permutation"
    assert_exact(explainer, margin_of(model), X[:7], X[200:204])


@pytest.mark.parametrize("name", graded(["forest", "lightgbm"], ["forest", "tree", "boosting", *PIPED[1:]]))
def test_trees_over_whole_numbers_and_truth_values_are_read(name):
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(17, 90, 400).astype(np.int8),
        "gain": np.where(rng.random(400) < 0.8, 0, rng.integers(1, 99_999, 400)),
        "married": rng.random(400) < 0.5,
        "hours": rng.integers(0, 99, 400).astype(np.float32),
    }
    rows = pd.DataFrame(columns)
    labels = (rows["age"] + 40 * rows["married"] + rows["gain"] / 500 - rows["hours"] > 20).astype(int)
    model = CLASSIFIERS[name]().fit(rows, labels)
    for output in ("margin", "probability"):
        explainer = Shap(model, rows[:15], output=output)
        assert explainer.algorithm == "tree"
        function = margin_of(model) if output == "margin" else model.predict_proba
        assert_exact(explainer, function or model.predict_proba, rows[:15], rows[100:140])
