"""SHAP through pipelines: exact on the columns as they are, against every coalition asked of the whole pipeline."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from explainers.systems import trees
from faithscope.errors import BadInput
from faithscope.explainers import Shap
from refused import refused

WORDS = make_column_selector(dtype_exclude="number")


@cache
def people(n=400):
    rng = default_rng(0)
    frame = pd.DataFrame(
        {
            "job": rng.choice(["clerk", "cook", "smith", "vet"], n).astype(object),
            "age": rng.integers(18, 80, n),
            "region": rng.choice(["north", "south"], n).astype(object),
            "hours": rng.normal(40, 10, n).round(1),
        }
    )
    frame.loc[rng.random(n) < 0.2, "job"] = None
    frame.loc[rng.random(n) < 0.2, "hours"] = np.nan
    score = (frame["age"] > 45) * (frame["job"] != "cook") + (frame["hours"] > 38) * (frame["region"] == "north")
    return frame, (score + rng.normal(0, 0.3, n) > 0.8).to_numpy()


def ordinal(model):
    numbered = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    return make_pipeline(make_column_transformer((numbered, WORDS), remainder="passthrough"), model)


def one_hot(model):
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    words = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(make_column_transformer((words, WORDS), remainder=filled), VarianceThreshold(), model)


PIPES = {
    "ordinal": lambda: ordinal(HistGradientBoostingClassifier(max_iter=12, random_state=0)),
    "one-hot": lambda: one_hot(HistGradientBoostingClassifier(max_iter=12, random_state=0)),
    "one-hot forest": lambda: one_hot(RandomForestClassifier(6, random_state=0)),
    "one-hot regression": lambda: one_hot(RandomForestRegressor(5, max_depth=6, random_state=0)),
    "one-hot xgboost": lambda: one_hot(trees("xgboost")),
    "searched": lambda: GridSearchCV(one_hot(trees("forest")), {"randomforestclassifier__max_depth": [3, 5]}, cv=2),
}


@cache
def fitted(name):
    return PIPES[name]().fit(*people())


def both(name, how, rows, background):
    """The explainers through the trees, and by asking the whole pipeline about every coalition."""
    model = fitted(name)
    trees = Shap(model, background, algorithm="tree", **how)
    asked = Shap(model, background, algorithm="permutation", evaluations=2**4, **how)
    values = [explainer.explain(rows).values for explainer in (trees, asked)]
    assert trees.error == asked.error == 0
    return values


@pytest.mark.parametrize("how", [{}, {"output": "probability"}], ids=["default", "probability"])
@pytest.mark.parametrize("name", PIPES)
def test_values_are_those_of_all_coalitions_of_the_columns_themselves(name, how):
    if "regression" in name:
        how = {}
    rows, _ = people()
    np.testing.assert_allclose(*both(name, how, rows[100:130], rows[:25]), rtol=0, atol=2e-6)
    assert Shap(fitted(name), rows[:5], **how).algorithm == "tree", "by default"


@pytest.mark.parametrize("name", ["ordinal", "one-hot"])
def test_unseen_categories_and_columns_in_another_order_are_read_as_the_pipeline_reads_them(name):
    rows, _ = people()
    strange = rows[100:120].assign(job=["pilot", None] * 10)
    np.testing.assert_allclose(*both(name, {}, strange, rows[:25]), rtol=0, atol=2e-6)
    turned = [rows[part][["hours", "job", "region", "age"]] for part in (slice(100, 120), slice(25))]
    np.testing.assert_allclose(*both(name, {}, *turned), rtol=0, atol=2e-6)


def test_what_looks_at_several_columns_is_asked_as_a_whole():
    rows, labels = people()
    numbers = rows[["age", "hours"]].assign(more=rows["age"] % 7)
    mixed = FunctionTransformer(lambda X: X * X.sum(axis=1).to_numpy()[:, None], feature_names_out="one-to-one")
    for step in (KNNImputer(), mixed):  # which name their features after one column each
        model = make_pipeline(step, trees("histograms")).fit(numbers, labels)
        explainer = Shap(model, numbers[:10], evaluations=2**3)
        assert explainer.algorithm == "permutation"
        refused(
            BadInput,
            f"{type(step).__name__} is not known to make every feature of one column",
            Shap,
            model,
            numbers[:10],
            algorithm="tree",
        )


def test_a_step_that_looks_at_several_columns_is_named_before_one_that_only_lacks_names():
    rows, labels = people()
    numbers = rows[["age", "hours"]]
    model = make_pipeline(FunctionTransformer(), KNNImputer(), trees("histograms")).fit(numbers, labels)
    message = "KNNImputer is not known to make every feature of one column"
    refused(BadInput, message, Shap, model, numbers[:10], algorithm="tree")


def test_what_a_sparse_matrix_leaves_out_is_missing_to_xgboost():
    xgboost, rng = pytest.importorskip("xgboost"), default_rng(0)
    X = pd.DataFrame({"n": rng.uniform(1, 3, 900), **{name: rng.choice(["no", "yes"], 900) for name in "bc"}})
    y = np.where(X["n"] < 2, 1.0 * (X["b"] == "yes"), 5 + 2.0 * (X["c"] == "yes"))
    words = (OneHotEncoder(drop="if_binary"), ["b", "c"])
    columns = make_column_transformer(words, ("passthrough", ["n"]), sparse_threshold=1.0)
    model = make_pipeline(columns, xgboost.XGBRegressor(n_estimators=5, max_depth=2)).fit(X, y)
    held = [{"n": [1.5], "b": ["yes"], "c": ["no"]}, {"n": [2.5], "b": ["no"], "c": ["yes"]}]
    background, row = map(pd.DataFrame, held)
    found, asked = (Shap(model, background, algorithm=how) for how in ("tree", "permutation"))
    assert found.explain(row).values == pytest.approx(asked.explain(row).values, abs=1e-5)
    assert (found.explain(row).values != 0).all()


def test_small_outputs_beside_a_background_of_zeros_are_not_rounded_away():
    found = Shap(lambda X: 1e-14 * X[:, 0], [[0.0, 0.0]]).explain([[5.0, 1.0]])
    assert found.values.tolist() == [[pytest.approx(5e-14), 0.0]]
