"""Regressors of known libraries are measured by Spread by themselves, and the result says so; classifiers never are."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.inputs.regressors import regressor_name
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
    assert found.agreement == fs.Spread()
    assert found.consistency.notes.count(note) == 1
    assert note in str(found)
    told = fs.evaluate(model.predict(X), explain, X, agreement=fs.Spread())
    assert told.consistency.value == found.consistency.value
    assert note not in str(told)
    assert is_regressor(model)
    assert fs.evaluate(model.predict, explain, X).consistency.value == found.consistency.value
    assert fs.compare(model, {"a": explain}, X)["a"].consistency.notes == found.consistency.notes


@pytest.mark.parametrize("name", some(CLASSIFIERS))
def test_a_classifier_is_never_touched(name):
    model = CLASSIFIERS[name]()
    found = fs.evaluate(model, explain, X)
    assert found.agreement == fs.Same()
    assert found.consistency == fs.consistency(explain(X), np.asarray(model.predict(X)).reshape(-1))
    assert regressor_name(model) is None


def test_boosters_are_told_by_their_objective():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    objectives = {"reg:squarederror": True, "count:poisson": True, "binary:logistic": False}
    for objective, numbers in objectives.items():
        booster = xgboost.train({"objective": objective}, xgboost.DMatrix(X, HIGH), 2)
        assert (regressor_name(booster) is not None) == numbers
    for objective, numbers in {"regression": True, "quantile": True, "binary": False}.items():
        booster = lightgbm.train({"objective": objective, "verbose": -1}, lightgbm.Dataset(X, HIGH), 2)
        assert (regressor_name(booster) is not None) == numbers
    assert regressor_name(Ridge) is None
    assert regressor_name(lambda rows: rows) is None


def test_what_the_caller_says_wins():
    model = REGRESSORS["boosted"]()
    for agreement in (fs.Close(20.0), fs.Tolerance(20.0), "close:20"):
        found = fs.evaluate(model, explain, X, agreement=agreement)
        assert found.consistency == fs.consistency(explain(X), model.predict(X), agreement=agreement)
        assert found.consistency.notes == ()
    whole = REGRESSORS["whole numbers"]()
    labels = fs.consistency(explain(X), whole.predict(X))
    assert fs.evaluate(whole, explain, X, output="label").consistency == labels
    assert fs.evaluate(whole, explain, X, agreement=fs.Same()).consistency == labels
    refused(BadInput, r"look continuous.*agreement=fs\.Spread", fs.evaluate, model, explain, X, output="label")


def test_numbers_of_anybody_else_get_a_sentence_whose_advice_runs():
    model = REGRESSORS["boosted"]()
    for predict in (lambda rows: model.predict(rows), model.predict(X)):
        words = r"agreement=fs.Spread\(\) or fs.Close\(eps\) for numbers, or labels"
        with pytest.raises(BadInput, match=words) as caught:
            fs.evaluate(predict, explain, X)
        assert "\n" not in str(caught.value)
        for agreement in (fs.Spread(), fs.Close(10.0)):
            assert fs.evaluate(predict, explain, X, agreement=agreement).consistency.n == len(X)


def test_a_torch_module_with_one_output_is_measured_by_spread():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = [torch.nn.Linear(10, 4), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1)]
    module = torch.nn.Sequential(*layers)
    found = fs.evaluate(module, explain, X)
    assert "numbers of a torch module: measured by Spread()" in str(found)
    assert module.training, "the module is left as it was"
    rows = torch.as_tensor(X, dtype=torch.float32)
    with torch.no_grad():
        answers = module.eval()(rows).numpy()[:, 0]
    assert found.consistency == fs.evaluate(module, explain, rows).consistency
    assert np.array_equal(found.predictions, answers.astype(float))

    class Classes(torch.nn.Module):
        def forward(self, rows):
            return (rows[:, 2] > 0).float()

    labels = fs.evaluate(Classes(), explain, X)
    assert labels.agreement == fs.Same()
    assert labels.consistency.notes == ()


def test_probabilities_are_asked_for_and_measured_by_spread():
    rows, species = load_iris(return_X_y=True)
    model = RandomForestClassifier(10, random_state=0).fit(rows, species)

    def kind(X):
        return (X[:, 2] > 3).astype(int)

    found = fs.evaluate(model, kind, rows, output="probability")
    assert found.predictions.shape == (150, 3)
    assert "predictions are class probabilities (predict_proba): measured by Spread()" in str(found)
    told = fs.consistency(kind(rows), model.predict_proba(rows), agreement=fs.Spread()).value
    compared = fs.compare(model, {"a": kind}, rows, output="probability")["a"]
    assert found.consistency.value == compared.consistency.value == told
    assert fs.evaluate(model, kind, rows, output="label").agreement == fs.Same()
    refused(
        BadInput,
        r"gives 3, one per class: pass a function of one class, lambda X: model",
        fs.evaluate,
        model,
        kind,
        rows,
        output="probability",
        agreement=fs.Close(0.1),
    )
    one = fs.evaluate(lambda X: model.predict_proba(X)[:, 1], kind, rows, agreement=fs.Close(0.1))
    assert one.consistency.n == 150


def test_of_two_classes_agreements_of_one_number_compare_the_second():
    model, how = LogisticRegression().fit(X, np.where(HIGH, "high", "low")), {"agreement": fs.Close(0.2)}
    found = fs.evaluate(model, explain, X, output="probability", **how)
    assert found.consistency.value == fs.consistency(explain(X), model.predict_proba(X)[:, 1], **how).value
    assert "class probabilities (predict_proba), that of class 'low'" in str(found)


@pytest.mark.parametrize(
    ("model", "how", "message"),
    [
        (lambda: REGRESSORS["boosted"](), {"output": "probability"}, "HistGradientBoostingRegressor does not have"),
        (lambda: explain, {"output": "probability"}, "function does not have: leave output out"),
        (lambda: HIGH, {"output": "probability"}, "ndarray does not have: leave output out"),
        (lambda: CLASSIFIERS["tree"](), {"output": "probability", "agreement": fs.Same()}, "pass output='label'"),
        (lambda: CLASSIFIERS["tree"](), {"output": "score"}, "must be 'label' or 'probability'; got 'score'"),
        (lambda: CLASSIFIERS["tree"](), {"output": ["label"]}, r"got \['label'\]"),
    ],
)
def test_an_output_that_cannot_be_had_is_refused_in_a_sentence(model, how, message):
    with pytest.raises(BadInput, match=message) as caught:
        fs.evaluate(model(), explain, X, **how)
    assert "\n" not in str(caught.value)
