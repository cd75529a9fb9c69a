"""What cannot be proven is refused in one sentence that says what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import faithscope as fs
from explainers.reason.models import fitted, table
from explainers.systems import assert_refused, trees
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import SufficientReason
from refused import refused

X, Y = table()


class Flipped(RandomForestClassifier):
    """A model that decides otherwise than its trees."""

    def predict(self, X):
        return 1 - super().predict(X)


class Strict(RandomForestClassifier):
    """A model with a threshold of its own, which agrees with its trees on most rows."""

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.7).astype(int)]


def of(model=None, rows=None, **how):
    """A call that must be refused: of a model that is fitted first, or of a forest that is."""

    def call():
        explainer = SufficientReason(model() if model else fitted("forest"), **how)
        if rows is not None:
            explainer.explain(rows)

    return call


def few(family, data=None, **how):
    """Of a small model of a family, fitted with settings."""
    rounds = {"histograms": "max_iter"}.get(family, "n_estimators")
    return of(lambda: trees(family, **{rounds: 3, **how}).fit(*(data or (X, Y))))


def piped(model):
    return of(lambda: make_pipeline(StandardScaler(), model).fit(X, Y))


CATEGORIES = pd.DataFrame({"job": pd.Categorical(np.where(Y, "a", "b")), "x": X[:, 0]}), Y
LETTERS = pd.DataFrame({j: ["a"] for j in "abcdef"})
ADVICE = r"SufficientReason\(model\[-1\]\)\.explain\(model\[:-1\]\.transform\(X\)\)"
DUMMY = DummyClassifier(strategy="stratified")
WRONG_TYPE = [
    (of(lambda: LogisticRegression().fit(X, Y)), "Anchors"),
    (of(lambda: lambda rows: rows[:, 0] > 0), "Anchors"),
    (piped(RandomForestClassifier(2)), ADVICE),
    (piped(LogisticRegression()), "Anchors"),
    (of(rows=LETTERS), "numbers"),
]
BAD_INPUT = [
    (of(RandomForestClassifier), "fitted"),
    (of(lambda: RandomForestClassifier(2).fit(X, np.c_[Y, Y])), "one output"),
    (of(lambda: trees("forest", "Regressor").fit(X, X[:, 0])), "predicts numbers"),
    (few("boosting", init=LogisticRegression()), "init="),
    (few("boosting", init=DUMMY), "at random"),
    (few("histograms", CATEGORIES), "categories"),
    (few("xgboost", CATEGORIES, enable_categorical=True), "categories"),
    (few("lightgbm", CATEGORIES, min_child_samples=1), "categories"),
    (few("xgboost", booster="dart"), "gbtree"),
    (few("xgboost", booster="gblinear", max_depth=None), "gbtree"),
    (few("xgboost", missing=0.0), "missing=np.nan"),
    (few("xgboost", objective="binary:hinge"), "objective"),
    (few("lightgbm", (np.round(X), Y), zero_as_missing=True), "zero_as_missing"),
    (few("lightgbm", linear_tree=True), "linear"),
    (few("lightgbm", table(3), objective="multiclassova"), "objective"),
    (few("lightgbm", pred_early_stop=True), "early_stop"),
    (few("xgboost", n_estimators=0), "has no trees"),
    (of(rows=X[:, :3]), "features"),
    (of(rows=np.full((1, 6), np.inf)), "finite"),
    (of(lambda: fitted("boosting"), rows=np.full((1, 6), np.nan)), "missing values"),
    (of(lambda: Flipped(3).fit(X, Y), rows=X[:5]), "nothing can be proven"),
    (of(lambda: Strict(3).fit(X, Y)), "predict of its own"),
    (of(minimal="no"), "True or False"),
    (of(widen=None), "True or False"),
    (of(X_train=X[:, :2]), "features"),
]


def test_what_cannot_be_proven_is_refused_in_a_sentence():
    assert_refused({WrongType: WRONG_TYPE, BadInput: BAD_INPUT})


def test_names_are_those_of_the_table():
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(X))[::-1])
    model = trees("histograms").fit(frame, Y)
    rules = SufficientReason(model).explain(frame[:5])
    assert rules.features == tuple("abcdef")
    assert list(rules.index) == list(frame.index[:5])
    for asked, rows in ((model, X[:5]), (fitted("forest"), frame[:3])):
        assert SufficientReason(asked).explain(rows).features == tuple("abcdef"), "of a table or an array"


@pytest.mark.parametrize("name", ["histograms", "forest", "xgboost", "lightgbm"])
def test_columns_in_another_order_are_refused_whether_or_not_the_model_would(name):
    """LightGBM reads columns by position and says nothing; coverage of training rows would be that of other columns."""
    frame = pd.DataFrame(X, columns=["a a", *"bcdef"])
    turned, model = frame[frame.columns[::-1]], trees(name).fit(frame, Y)
    for call in (lambda: SufficientReason(model).explain(turned), lambda: SufficientReason(model, turned)):
        refused(BadInput, "same order", call)
    refused(BadInput, "same order", SufficientReason(fitted(name), frame).explain, turned)
    assert SufficientReason(model, frame).explain(frame[:3]).features == tuple(frame.columns)


def test_the_advice_for_pipelines_runs():
    model = make_pipeline(StandardScaler(), trees("forest")).fit(X, Y)
    rules = SufficientReason(model[-1]).explain(model[:-1].transform(X))
    assert fs.sufficiency(rules, model.predict(X), model[:-1].transform(X)).verified == 1
