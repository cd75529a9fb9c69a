"""Regressors of known libraries are measured by Spread by themselves, and the result says so; classifiers never are."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.inputs.models import Model
from refused import refused

pytest.importorskip("sklearn")

from sklearn.base import is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, Y = load_diabetes(return_X_y=True)
HIGH = (Y > 140).astype(int)


def boost(library, kind):
    module = pytest.importorskip(library)
    quiet = {"lightgbm": {"verbose": -1}, "catboost": {"verbose": 0, "allow_writing_files": False}}.get(library, {})
    return getattr(module, kind)(n_estimators=5, **quiet)


def explain(rows):
    return (np.asarray(rows)[:, 2] > 0) * 2 + (np.asarray(rows)[:, 8] > 0)


REGRESSORS = {
    "boosted": lambda: HistGradientBoostingRegressor(max_iter=10).fit(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), Ridge()).fit(X, Y),
    "search": lambda: GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}).fit(X, Y),
    "transformed target": lambda: TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp).fit(X, Y),
    "two outputs": lambda: LinearRegression().fit(X, np.column_stack([Y, HIGH])),
    "whole numbers": lambda: DecisionTreeRegressor().fit(X, HIGH),
    "XGBoost": lambda: boost("xgboost", "XGBRegressor").fit(X, Y),
    "LightGBM": lambda: boost("lightgbm", "LGBMRegressor").fit(X, Y),
    "CatBoost": lambda: boost("catboost", "CatBoostRegressor").fit(X, Y),
}
CLASSIFIERS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=3).fit(X, HIGH),
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, HIGH),
    "search": lambda: GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}).fit(X, HIGH),
    "XGBoost": lambda: boost("xgboost", "XGBClassifier").fit(X, HIGH),
    "LightGBM": lambda: boost("lightgbm", "LGBMClassifier").fit(X, HIGH),
    "CatBoost": lambda: boost("catboost", "CatBoostClassifier").fit(X, HIGH),
}


def some(models):
    """One by one; searches and all but one of the boosting libraries only where there is time."""
    late = {"search", "LightGBM", "CatBoost"}
    return [pytest.param(name, marks=pytest.mark.thorough if name in late else ()) for name in models]


@pytest.mark.parametrize("name", some(REGRESSORS))
def test_a_known_regressor_is_measured_by_spread_and_said_to_be(name):
    model = REGRESSORS[name]()
    found = fs.evaluate(model, explain, X)
    note = f"predictions are numbers of a regressor ({type(model).__name__}): measured by Spread()"
    assert is_regressor(model)
    assert found.consistency.notes.count(note) == 1
    told = fs.evaluate(model.predict(X), explain, X, agreement=fs.Spread())
    assert note not in str(told)
    for other in (told, fs.evaluate(model.predict, explain, X)):
        assert other.consistency.value == found.consistency.value
    assert fs.compare(model, {"a": explain}, X)["a"].consistency.notes == found.consistency.notes


@pytest.mark.parametrize("name", some(CLASSIFIERS))
def test_a_classifier_is_never_touched(name):
    model = CLASSIFIERS[name]()
    found = fs.evaluate(model, explain, X)
    assert found.agreement == fs.Same()
    assert found.consistency == fs.consistency(explain(X), np.asarray(model.predict(X)).reshape(-1))
    assert Model(model).kind != "regressor"


def test_boosters_are_told_by_their_objective():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    for library, rows, objectives in (
        (xgboost, xgboost.DMatrix, {"reg:squarederror": True, "count:poisson": True, "binary:logistic": False}),
        (lightgbm, lightgbm.Dataset, {"regression": True, "quantile": True, "binary": False}),
    ):
        for objective, numbers in objectives.items():
            booster = library.train({"objective": objective, "verbose": -1}, rows(X, HIGH), 2)
            assert (Model(booster).kind == "regressor") == numbers
    assert Model(Ridge).kind is None
    assert Model(lambda rows: rows).kind is None


def test_what_the_caller_says_wins():
    model, whole = REGRESSORS["boosted"](), REGRESSORS["whole numbers"]()
    for agreement in (fs.Close(20.0), fs.Tolerance(20.0), "close:20"):
        found = fs.evaluate(model, explain, X, agreement=agreement)
        assert found.consistency == fs.consistency(explain(X), model.predict(X), agreement=agreement)
        assert found.consistency.notes == ()
    labels = fs.evaluate(whole, explain, X, agreement=fs.Same())
    assert labels.consistency == fs.consistency(explain(X), whole.predict(X))
    refused(BadInput, r"look continuous.*agreement=fs\.Spread", fs.evaluate, model, explain, X, agreement=fs.Same())


def test_numbers_of_anybody_else_get_a_sentence_whose_advice_runs():
    model, words = REGRESSORS["boosted"](), r"agreement=fs.Spread\(\) or fs.Close\(eps\) for numbers.*, or labels"
    for predict in (lambda rows: model.predict(rows), model.predict(X)):
        refused(BadInput, words, fs.evaluate, predict, explain, X)
        for agreement in (fs.Spread(), fs.Close(10.0)):
            assert fs.evaluate(predict, explain, X, agreement=agreement).consistency.n == len(X)


def test_a_torch_module_with_one_output_is_measured_as_is_asked():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(10, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
    refused(BadInput, r"agreement=fs.Spread\(\)", fs.evaluate, module, explain, X)
    found = fs.evaluate(module, explain, X, agreement=fs.Spread())
    assert module.training, "the module is left as it was"
    rows = torch.as_tensor(X, dtype=torch.float32)
    assert found.consistency == fs.evaluate(module, explain, rows, agreement=fs.Spread()).consistency
    with torch.no_grad():
        assert np.array_equal(found.predictions, module.eval()(rows).numpy()[:, 0].astype(float))

    class Classes(torch.nn.Module):
        def forward(self, rows):
            return (rows[:, 2] > 0).float()

    assert fs.evaluate(Classes(), explain, X).agreement == fs.Same()


def test_probabilities_are_numbers_of_a_function():
    rows, species = load_iris(return_X_y=True)
    model = RandomForestClassifier(10, random_state=0).fit(rows, species)

    def kind(X):
        return (X[:, 2] > 3).astype(int)

    found = fs.evaluate(model.predict_proba, kind, rows, agreement=fs.Spread())
    assert found.predictions.shape == (150, 3)
    assert found.consistency == fs.consistency(kind(rows), model.predict_proba(rows), agreement=fs.Spread())
    first = fs.evaluate(lambda X: model.predict_proba(X)[:, 1], kind, rows, agreement=fs.Close(0.1))
    assert first.consistency == fs.consistency(kind(rows), model.predict_proba(rows)[:, 1], agreement=fs.Close(0.1))
