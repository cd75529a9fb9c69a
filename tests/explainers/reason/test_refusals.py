"""What cannot be proven is refused in one sentence that says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithscope as fs
from explainers.reason.models import CLASSIFIERS, REGRESSORS, table
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import SufficientReason

X, Y = table()
FOREST = CLASSIFIERS["forest"]().fit(X, Y)
TREE = REGRESSORS["tree"]().fit(X, X[:, 0])


class Flipped(RandomForestClassifier):
    """A model that decides otherwise than its trees."""

    def predict(self, X):
        return 1 - super().predict(X)


class Strict(RandomForestClassifier):
    """A model with a threshold of its own, which agrees with its trees on most rows."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.7).astype(int)]


def two_targets():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    return xgboost.XGBRegressor(n_jobs=1, n_estimators=2).fit(X, X[:, :2])


def boosted(**how):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    return xgboost.XGBClassifier(n_jobs=1, n_estimators=3, **how)


def light(**how):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    return lightgbm.LGBMClassifier(n_jobs=1, n_estimators=3, verbose=-1, **how)


CATEGORIES = pd.DataFrame({"job": pd.Categorical(np.where(Y, "a", "b")), "x": X[:, 0]})
WRONG = {
    "nothing like trees": (lambda: SufficientReason(LogisticRegression().fit(X, Y)), WrongType, "Anchors"),
    "a function": (lambda: SufficientReason(lambda rows: rows[:, 0] > 0), WrongType, "Anchors"),
    "not fitted": (lambda: SufficientReason(RandomForestClassifier()), BadInput, "fitted"),
    "two outputs": (lambda: SufficientReason(RandomForestClassifier(2).fit(X, np.c_[Y, Y])), BadInput, "one output"),
    "numbers without eps": (lambda: SufficientReason(TREE), BadInput, "eps="),
    "labels with eps": (lambda: SufficientReason(FOREST, eps=1), BadInput, "leave it out"),
    "eps below 0": (lambda: SufficientReason(TREE, eps=-1), BadInput, "at least 0"),
    "eps no number": (lambda: SufficientReason(TREE, eps="1"), BadInput, "at least 0"),
    "order": (lambda: SufficientReason(FOREST, order="length"), BadInput, "coverage"),
    "order a number": (lambda: SufficientReason(FOREST, order=3), WrongType, "list"),
    "coverage of nothing": (lambda: SufficientReason(FOREST, order="coverage"), BadInput, "X_train"),
    "unknown feature": (lambda: SufficientReason(FOREST, order=["x9"]), BadInput, "x9"),
    "feature twice": (lambda: SufficientReason(FOREST, order=[1, 1]), BadInput, "once"),
    "an initial model": (
        lambda: SufficientReason(GradientBoostingClassifier(init=LogisticRegression(), n_estimators=2).fit(X, Y)),
        BadInput,
        "init=",
    ),
    "a random start": (
        lambda: SufficientReason(
            GradientBoostingClassifier(init=DummyClassifier(strategy="stratified"), n_estimators=2).fit(X, Y)
        ),
        BadInput,
        "at random",
    ),
    "a pipeline": (
        lambda: SufficientReason(make_pipeline(StandardScaler(), RandomForestClassifier(2)).fit(X, Y)),
        WrongType,
        r"SufficientReason\(model\[-1\]\)\.explain\(model\[:-1\]\.transform\(X\)\)",
    ),
    "a pipeline without trees": (
        lambda: SufficientReason(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)),
        WrongType,
        "Anchors",
    ),
    "categories": (
        lambda: SufficientReason(HistGradientBoostingClassifier(max_iter=2).fit(CATEGORIES, Y)),
        BadInput,
        "categories",
    ),
    "categories of xgboost": (
        lambda: SufficientReason(boosted(enable_categorical=True).fit(CATEGORIES, Y)),
        BadInput,
        "categories",
    ),
    "categories of lightgbm": (
        lambda: SufficientReason(light(min_child_samples=1).fit(CATEGORIES, Y)),
        BadInput,
        "categories",
    ),
    "dart": (lambda: SufficientReason(boosted(booster="dart").fit(X, Y)), BadInput, "gbtree"),
    "linear": (lambda: SufficientReason(boosted(booster="gblinear").fit(X, Y)), BadInput, "gbtree"),
    "another missing": (lambda: SufficientReason(boosted(missing=0.0).fit(X, Y)), BadInput, "missing=np.nan"),
    "hinge": (lambda: SufficientReason(boosted(objective="binary:hinge").fit(X, Y)), BadInput, "objective"),
    "zero as missing": (
        lambda: SufficientReason(light(zero_as_missing=True).fit(np.round(X), Y)),
        BadInput,
        "zero_as_missing",
    ),
    "linear trees": (lambda: SufficientReason(light(linear_tree=True).fit(X, Y)), BadInput, "linear"),
    "one against all": (
        lambda: SufficientReason(light(objective="multiclassova").fit(*table(3))),
        BadInput,
        "objective",
    ),
    "another width": (lambda: SufficientReason(FOREST).explain(X[:, :3]), BadInput, "features"),
    "infinite": (lambda: SufficientReason(FOREST).explain(np.full((1, 6), np.inf)), BadInput, "finite"),
    "texts": (
        lambda: SufficientReason(FOREST).explain(pd.DataFrame({j: ["a"] for j in "abcdef"})),
        WrongType,
        "numbers",
    ),
    "missing": (
        lambda: SufficientReason(CLASSIFIERS["boosting"]().fit(X, Y)).explain(np.full((1, 6), np.nan)),
        BadInput,
        "missing values",
    ),
    "another decision": (
        lambda: SufficientReason(Flipped(3).fit(X, Y)).explain(X[:5]),
        BadInput,
        "nothing can be proven",
    ),
    "another decision of its own": (lambda: SufficientReason(Strict(3).fit(X, Y)), BadInput, "predict of its own"),
    "a sum that stops early": (lambda: SufficientReason(light(pred_early_stop=True).fit(X, Y)), BadInput, "early_stop"),
    "no trees": (lambda: SufficientReason(boosted().set_params(n_estimators=0).fit(X, Y)), BadInput, "has no trees"),
    "two targets": (lambda: SufficientReason(two_targets(), eps=1.0), BadInput, "one output"),
    "minimal": (lambda: SufficientReason(FOREST, minimal="no"), BadInput, "True or False"),
    "widen": (lambda: SufficientReason(FOREST, widen=None), BadInput, "True or False"),
    "training rows of another width": (lambda: SufficientReason(FOREST, X[:, :2]), BadInput, "features"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_proven_is_refused_in_a_sentence(name):
    call, kind, advice = WRONG[name]
    with pytest.raises(kind, match=advice) as refusal:
        call()
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) <= 400


def test_names_are_those_of_the_table():
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X))[::-1])
    model = CLASSIFIERS["hist"]().fit(frame, Y)
    rules = SufficientReason(model).explain(frame[:5])
    assert rules.features == tuple("abcdef")
    assert list(rules.index) == list(frame.index[:5])
    assert SufficientReason(model).explain(X[:5]).features == tuple("abcdef")


@pytest.mark.parametrize("name", ["hist", "forest", "xgboost", "lightgbm"])
def test_columns_in_another_order_are_refused_whether_or_not_the_model_would(name):
    """LightGBM reads columns by position and says nothing; coverage of training rows would be that of other columns."""
    frame = pd.DataFrame(X, columns=["a a", *"bcdef"])
    turned, model = frame[frame.columns[::-1]], CLASSIFIERS[name]().fit(frame, Y)
    for call in (lambda: SufficientReason(model).explain(turned), lambda: SufficientReason(model, turned)):
        with pytest.raises(BadInput, match="same order"):
            call()
    with pytest.raises(BadInput, match="same order"):
        SufficientReason(CLASSIFIERS[name]().fit(X, Y), frame).explain(turned)
    assert SufficientReason(model, frame).explain(frame[:3]).features == tuple(frame.columns)


def test_a_model_of_an_array_explains_tables():
    rules = SufficientReason(FOREST, X).explain(pd.DataFrame(X[:3], columns=list("abcdef")))
    assert rules.features == tuple("abcdef")


def test_the_advice_for_pipelines_runs():
    model = make_pipeline(StandardScaler(), CLASSIFIERS["forest"]()).fit(X, Y)
    rules = SufficientReason(model[-1]).explain(model[:-1].transform(X))
    assert fs.sufficiency(rules, model.predict(X), model[:-1].transform(X)).verified == 1
