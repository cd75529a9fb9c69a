"""Manners of every explainer: a repr without rows, and get_params; no output shows training rows."""

import inspect
import json
import pickle
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.random import default_rng
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import faithscope as fs
from explainers.systems import library
from faithscope.cli import app
from faithscope.evaluation.asker import described
from faithscope.explainers import (
    AllWords,
    Anchors,
    Constant,
    Counterfactual,
    Dice,
    FirstWord,
    Gradient,
    Lime,
    NearestNeighbors,
    Random,
    Shap,
    SufficientReason,
    TextAnchors,
    TopCoefficient,
    TreePath,
    Unique,
)
from faithscope.explainers import __all__ as names
from faithscope.explainers.base import Explainer

NUMBER, WORD = 86420.97531, "Zyzzyva"
MARKERS = (str(NUMBER), "86420", "86,420", WORD)


def training(n=120):
    """Rows of which one holds the markers, far from all others."""
    rng = default_rng(0)
    X = pd.DataFrame(
        {"age": rng.normal(40, 10, n).round(1), "income": rng.normal(size=n), "job": rng.choice(list("ab"), n)}
    )
    X.loc[2] = [NUMBER, NUMBER, WORD]
    return X


TRAIN = training()
ROWS = TRAIN.drop(index=2).head(40).reset_index(drop=True)
LABELS = (TRAIN["income"] > 0).astype(int)
CLIPPED = TRAIN.assign(age=TRAIN["age"].clip(0, 90), income=TRAIN["income"].clip(-3, 3)).round(1)
PLAIN = TRAIN[["age", "income"]].to_numpy()
DOCUMENTS = ["a great film", "a dull plot", "great plot", "no plot at all", f"{WORD} dull film"]


@cache
def model():
    encoder = make_column_transformer((OneHotEncoder(categories=[["a", "b", WORD]]), ["job"]), remainder="passthrough")
    return make_pipeline(encoder, LogisticRegression()).fit(CLIPPED, LABELS)


@cache
def shallow():
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(PLAIN[8:], LABELS[8:])


@cache
def words():
    vectorizer = CountVectorizer().fit(DOCUMENTS)
    return LogisticRegression().fit(vectorizer.transform(DOCUMENTS), [1, 0, 1, 0, 0]), vectorizer


def opinion(texts):
    linear, vectorizer = words()
    return linear.predict(vectorizer.transform(texts))


def gradient():
    torch = library("torch")
    torch.manual_seed(0)
    return Gradient(torch.nn.Sequential(torch.nn.Linear(2, 1)), baseline=PLAIN[2]), shallow(), PLAIN[8:40]


def dice():
    library("dice_ml")
    return Dice(model(), CLIPPED, method="kdtree"), model(), CLIPPED[10:13]  # it walks ranges in steps of 0.1


TABULAR = {
    "TreePath": lambda: TreePath.surrogate(model(), TRAIN, max_leaf_nodes=4),
    "NearestNeighbors": lambda: NearestNeighbors(TRAIN, metric="gower"),
    "Lime": lambda: Lime(model(), TRAIN, samples=50),
    "Anchors": lambda: Anchors(model(), TRAIN, beam=1),
    "Shap": lambda: Shap(model(), TRAIN.head(20)),
    "Counterfactual": lambda: Counterfactual(model(), TRAIN),
    "Constant": Constant,
    "Random": lambda: Random(3),
    "Unique": Unique,
}
TEXTUAL = {
    "TopCoefficient": lambda: TopCoefficient(*words()),
    "FirstWord": FirstWord,
    "AllWords": AllWords,
    "TextAnchors": lambda: TextAnchors(opinion),
}
CASES = {
    **{name: lambda make=make: (make(), model(), ROWS) for name, make in TABULAR.items()},
    **{name: lambda make=make: (make(), opinion, DOCUMENTS[:4]) for name, make in TEXTUAL.items()},
    "SufficientReason": lambda: (SufficientReason(shallow(), PLAIN), shallow(), PLAIN[8:40]),
    "Gradient": gradient,
    "Dice": dice,
}


def clean(text):
    assert not [marker for marker in MARKERS if marker in text]


def test_every_explainer_is_looked_at():
    assert set(CASES) == set(names)


@pytest.mark.parametrize("name", CASES)
def test_no_output_holds_a_training_row(name, tmp_path):
    explainer, model, rows = CASES[name]()
    clean(repr(explainer) + str(explainer))
    ev = fs.evaluate(model, explainer, rows, cache=tmp_path / "cache")
    clean(json.dumps(ev.to_dict(), default=str))
    clean(str(ev) + repr(ev))
    ev.to_html(tmp_path / "page.html")
    clean((tmp_path / "page.html").read_text())
    clean("".join(path.name for path in (tmp_path / "cache").iterdir()))


ANY_ROWS = ("Constant", "Random", "Unique")  # explain whatever has rows
TAKEN = {"NearestNeighbors": ("infinite", "a number"), "TreePath": ("a number",)}  # by those that ask no model


@pytest.mark.parametrize("name", CASES)
def test_rows_that_do_not_fit_are_refused_in_a_sentence_that_holds_no_training_row(name):
    explainer, _, rows = CASES[name]()
    wrong = {"no rows": 5}
    if name not in ANY_ROWS:
        wrong |= {"nothing": [None], "ragged": [[1.0, 2.0], [1.0]], "a word": [["x"]], "narrow": [[1.0]]}
        wrong |= {"words": np.full((2, 3), "y")}
    if isinstance(rows, pd.DataFrame) and name not in ANY_ROWS:
        wrong |= {"old": rows.assign(age="old"), "less": rows.drop(columns="age")}
        wrong |= {"infinite": rows.assign(age=np.inf), "a number": rows.assign(job=3)}
    for kind in wrong.keys() - set(TAKEN.get(name, ())):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the model's own refusal of a category among them
            explainer.explain(wrong[kind])
        clean(str(caught.value))
        assert "\n" not in str(caught.value)


OTHERS = {
    "samples": 51, "seed": 7, "k": 2, "beam": 2, "threshold": 0.8, "delta": 0.2, "tau": 0.2, "steps": 5,
    "candidates": 3, "max_conditions": 2, "max_words": 2, "evaluations": 60, "class_index": 1, "offset": True,
    "draws": "own", "mode": "classification", "algorithm": "permutation", "output": "probability",
    "widen": False, "minimal": False, "categorical": ["age"], "unknown": "[MASK]",
    "tokenizer": str.splitlines, "by": "favor", "agreement": fs.Same(),
}  # fmt: skip
METHODS = {"Gradient": "gradient x input", "Dice": "genetic"}
ROWS_AND_MODELS = {"X_train", "X_background", "baseline", "predict", "predict_proba", "model", "module", "vectorizer"}
ROWS_AND_MODELS |= {"tree", "table", "missing", "fitted_on", "metric", "eps"}  # of these two tests of their own


@pytest.mark.parametrize("name", CASES)
def test_settings_are_given_back_and_every_setting_counts_in_the_repr(name):
    explainer = CASES[name]()[0]
    params, line = explainer.get_params(), repr(explainer)
    assert isinstance(explainer, Explainer)
    assert list(params) == list(inspect.signature(type(explainer)).parameters)
    again = type(explainer)(**params)
    assert repr(again) == line
    assert line.startswith(f"{name}(")
    assert "\n" not in line
    for setting in set(params) - ROWS_AND_MODELS:
        other = METHODS[name] if setting == "method" else OTHERS[setting]
        changed = type(explainer)(**{**params, setting: other})
        assert repr(changed) != line or setting == "algorithm"  # Shap shows what it chose, and here there is one choice


def test_a_choice_left_to_shap_is_shown_as_it_was_made_and_given_back_as_it_was_left():
    explainer = Shap(model(), TRAIN.head(20))
    assert explainer.get_params()["output"] is None
    assert explainer.get_params()["algorithm"] == "auto"
    assert "output='margin'" in repr(explainer)
    assert "algorithm='permutation'" in repr(explainer)


@pytest.mark.parametrize(
    "rows",
    [
        TRAIN[["age", "income"]],
        PLAIN,
        pl.DataFrame({"age": PLAIN[:, 0], "income": PLAIN[:, 1]}),
        pl.DataFrame({"age": PLAIN[:, 0], "income": PLAIN[:, 1]}).to_arrow(),
        PLAIN.tolist(),
        np.where(PLAIN == NUMBER, np.nan, PLAIN),
        PLAIN.astype(object),
    ],
    ids=["pandas", "NumPy", "polars", "Arrow", "lists", "missing", "objects"],
)
def test_training_rows_are_shown_by_their_shape(rows):
    explainer = NearestNeighbors(pickle.loads(pickle.dumps(rows)), k=2)
    assert repr(explainer) == "NearestNeighbors(X_train=(120, 2), k=2, metric='euclidean')"


def test_a_model_is_shown_by_its_name_since_its_own_repr_may_hold_rows():
    assert WORD in repr(model()), "the encoder lists its categories"
    assert repr(Counterfactual(model(), TRAIN)) == (
        "Counterfactual(predict=Pipeline, X_train=(120, 3), categorical=(), metric='gower', candidates=10, "
        "agreement=None)"
    )
    bound = Lime(shallow().predict_proba, PLAIN, samples=50)
    assert repr(bound).startswith("Lime(predict_proba=DecisionTreeClassifier.predict_proba, X_train=(120, 2), ")
    assert "predict=lambda" in repr(Anchors(lambda X: X[:, 0] > 40, PLAIN))


@dataclass
class PlainExplainer:
    """A user's explainer, with the repr that dataclass writes."""

    X_train: Any
    model: Any
    k: int = 3

    def explain(self, X):
        return np.zeros(len(X))


class TalkativeExplainer(PlainExplainer):
    """A user's explainer whose own repr takes many lines."""

    def __repr__(self):
        return f"TalkativeExplainer(\n{self.X_train}\n)"


def test_explainers_of_others_are_described_without_rows_too():
    assert described(PlainExplainer(TRAIN, model())) == "PlainExplainer(X_train=(120, 3), model=Pipeline, k=3)"
    assert described(TalkativeExplainer(TRAIN, model())) == "TalkativeExplainer"


def test_the_command_line_shows_no_training_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = ModuleType("mine")
    mine.system = (
        model(),
        {name: CASES[name]()[0] for name in ("Counterfactual", "NearestNeighbors", "Anchors", "Lime")},
    )
    monkeypatch.setitem(sys.modules, "mine", mine)
    ROWS.to_parquet("rows.parquet")
    asked = ["evaluate", "--system", "mine:system", "--data", "rows.parquet", "--report", "page.html", "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "Counterfactual(" in done.stdout
    clean(done.output + Path("page.html").read_text())
