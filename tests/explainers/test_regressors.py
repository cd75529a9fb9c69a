"""Explainers of regressors: which models predict numbers, what surrogates of them are, which agreement they need."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import all_estimators

from explainers.systems import diabetes, written
from faithscope.agreements import Close, Same, Spread, Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import (
    Anchors,
    Counterfactual,
    Lime,
    Shap,
    TextAnchors,
    TopCoefficient,
    TreePath,
)
from faithscope.inputs.models import Model
from refused import refused

TABLE, TARGET = load_diabetes(return_X_y=True, as_frame=True)
ARRAY = TABLE.to_numpy()
EPS = Tolerance(30.0)


def predict(rows):
    """The regressor as a function of arrays and of tables."""
    return diabetes()[2].predict(np.asarray(rows))


def test_the_surrogate_of_a_regressor_is_scikit_learns_regression_tree_in_any_unit_and_container():
    leaves = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(ARRAY, predict(ARRAY)).apply(ARRAY)
    for changed in (
        lambda y: y + 1e12,
        lambda y: y * 1e150,
        lambda y: y * 1e-150,
        lambda y: -y,
        lambda y: y[:, None],
        list,
        lambda y: y.astype(object),
        lambda y: pd.Series(y, index=np.arange(len(y))[::-1]),
    ):
        surrogate = TreePath.surrogate(lambda X, made=changed: made(predict(X)), ARRAY, max_leaf_nodes=6)
        assert isinstance(surrogate.tree, DecisionTreeRegressor)
        assert len(set(zip(surrogate.explain(ARRAY).group()[0], leaves, strict=True))) == len(set(leaves)) == 6


def test_whether_predictions_are_numbers_follows_a_rule_that_agreement_overrides():
    stars = np.round(TARGET.to_numpy() / 50) / 2
    stages = RandomForestClassifier(5, random_state=0).fit(ARRAY, TARGET > 150)
    constant = DummyRegressor(strategy="constant", constant=3).fit(ARRAY, TARGET)
    numbers = [
        (lambda X: stars[: len(X)], {}),
        (lambda X: np.floor(stars), {"agreement": Spread()}),
        (lambda X: np.arange(442.0), {}),  # whole numbers that all differ
        (constant, {}),
        (lambda X: stages.predict_proba(X)[:, 1], {}),
    ]
    labels = [
        (lambda X: stars, {"agreement": Same()}),
        (lambda X: np.floor(stars), {}),
        (lambda X: np.arange(442) % 60, {}),
        (stages, {}),
        (stages.predict, {}),
    ]
    for kind, cases in ((DecisionTreeRegressor, numbers), (DecisionTreeClassifier, labels)):
        assert {type(TreePath.surrogate(model, ARRAY, **how).tree) for model, how in cases} == {kind}
    assert type(TreePath.surrogate(numbers[0][0], ARRAY[:5]).tree) is DecisionTreeRegressor, "however few rows"


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, None, 1j])
def test_predictions_that_are_no_finite_numbers_are_refused_in_a_sentence(wrong):
    def model(X):
        answer = X[:, 0].astype(complex if wrong == 1j else object if wrong is None else float)
        answer[len(answer) // 2] = wrong
        return answer

    for call in (
        lambda: TreePath.surrogate(model, ARRAY),
        lambda: TreePath.surrogate(model, ARRAY, agreement=Spread()),
        lambda: Anchors(model, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: Counterfactual(model, ARRAY, agreement=EPS).explain(ARRAY),
        lambda: Lime(model, ARRAY, samples=50, mode="regression").explain(ARRAY[:2]),
        lambda: Shap(model, ARRAY[:5]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            with pytest.raises((BadInput, WrongType)) as caught:
                call()
        assert "\n" not in str(caught.value)


CHOOSING = {
    Anchors: lambda model, agreement: Anchors(model, ARRAY, agreement=agreement),
    Counterfactual: lambda model, agreement: Counterfactual(model, ARRAY, agreement=agreement),
    TextAnchors: lambda model, agreement: TextAnchors(model, agreement=agreement),
}


@pytest.mark.parametrize("kind", CHOOSING)
def test_what_must_be_kept_or_not_takes_tolerance_alone_which_regressors_need(kind):
    make, model = CHOOSING[kind], diabetes()[2]
    for agreement in (Close(1.0), Spread(), lambda a, b: a == b):
        refused(
            BadInput, rf"^{kind.__name__} asks whether .* pass agreement=fs.Tolerance\(eps\)\.$", make, model, agreement
        )
    for asked in (model, model.predict):
        refused(BadInput, r"^GradientBoostingRegressor .* with agreement=fs.Tolerance\(eps\)", make, asked, None)
    rows = ["some words", "others"] if kind is TextAnchors else ARRAY[:2]
    refused(
        BadInput,
        r"^Predictions look continuous.* with agreement=fs.Tolerance\(eps\)",
        make(lambda asked: np.linspace(0.1, 0.7, len(asked)), None).explain,
        rows,
    )
    refused(WrongType, "cannot be applied", make, model, 0.5)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # scikit-learn's, about estimators that it will remove
def test_regressors_and_classifiers_are_known_inside_others_too():
    for kind in ("regressor", "classifier"):
        for name, estimator in all_estimators(type_filter=kind):
            try:
                model = estimator()
            except TypeError:  # it needs another estimator
                continue
            if name == "SelfTrainingClassifier":  # so does this, once it is asked
                continue
            assert Model(model).kind == kind, name
    for model in (make_pipeline(StandardScaler(), Ridge()), GridSearchCV(Ridge(), {"alpha": [1]})):
        assert Model(model).kind == "regressor"
    for model in (IsolationForest(), np.sum, make_pipeline(StandardScaler(), LogisticRegression())):
        assert Model(model).kind != "regressor"


def test_the_top_coefficient_of_a_regressor_is_the_largest():
    texts = ["great film", "dull film", "great dull", "film"]
    vectorizer = CountVectorizer().fit(texts)
    model = Ridge(alpha=0.01).fit(vectorizer.transform(texts), [3.0, -4.0, -1.0, 0.0])
    words = TopCoefficient(model, vectorizer).explain([*texts, "unknown"])
    assert written(words)[:4] == ["great", "dull", "dull", "film"]
    refused(BadInput, "Ridge has no classes", TopCoefficient, model, vectorizer, by="favor")
