"""Manners of every explainer: a repr without rows, get_params, equality and a hash; no output shows training rows."""

import inspect
import json
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope import explainers
from faithscope.evaluation.asker import Identity
from faithscope.explainers.shared.manners import Mannered

NUMBER, WORD = 86420.97531, "Zyzzyva"
MARKERS = (str(NUMBER), "86420", "86,420", WORD)


def training(n=120):
    """Rows of which one holds the markers, far from all others."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.normal(40, 10, n).round(1), "income": rng.normal(size=n), "job": rng.choice(list("ab"), n)}
    )
    X.loc[2] = [NUMBER, NUMBER, WORD]
    return X


TRAIN = training()
ROWS = TRAIN.drop(index=2).head(40).reset_index(drop=True)
LABELS = (TRAIN["income"] > 0).astype(int)
ENCODER = OneHotEncoder(categories=[["a", "b", WORD]])
MODEL = make_pipeline(make_column_transformer((ENCODER, ["job"]), remainder="passthrough"), LogisticRegression())
MODEL.fit(TRAIN.assign(age=TRAIN["age"].clip(0, 90), income=TRAIN["income"].clip(-3, 3)), LABELS)
PLAIN = TRAIN[["age", "income"]].to_numpy()
NEAR = KNeighborsClassifier(3).fit(PLAIN, LABELS)
SHALLOW = DecisionTreeClassifier(max_depth=3, random_state=0).fit(PLAIN[8:], LABELS[8:])
TEXTS = ["a great film", "a dull plot", "great plot", "no plot at all", f"{WORD} dull film"] * 4
VECTORIZER = CountVectorizer().fit(TEXTS)
LINEAR = LogisticRegression().fit(VECTORIZER.transform(TEXTS), [1, 0, 1, 0, 0] * 4)


def opinion(texts):
    return LINEAR.predict(VECTORIZER.transform(texts))


def network():
    torch = pytest.importorskip("torch", reason='PyTorch is not installed: pip install "faithscope[torch]"')
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 1))


def dice():
    pytest.importorskip("dice_ml", reason='dice-ml is not installed: pip install "faithscope[dice]"')
    rows = TRAIN.assign(age=TRAIN["age"].clip(0, 90), income=TRAIN["income"].clip(-3, 3)).round(1)
    return explainers.Dice(MODEL, rows, method="kdtree"), MODEL, rows[10:13]  # it walks ranges in steps of 0.1


DOCUMENTS = TEXTS[:4]
CASES = {
    "TreePath": lambda: (explainers.TreePath.surrogate(MODEL, TRAIN, max_leaf_nodes=4), MODEL, ROWS),
    "NearestNeighbors": lambda: (explainers.NearestNeighbors(TRAIN, metric="gower"), MODEL, ROWS),
    "Lime": lambda: (explainers.Lime(MODEL, TRAIN, samples=50), MODEL, ROWS),
    "Anchors": lambda: (explainers.Anchors(MODEL, TRAIN, beam=1), MODEL, ROWS),
    "SufficientReason": lambda: (explainers.SufficientReason(SHALLOW, PLAIN), SHALLOW, PLAIN[8:40]),
    "Shap": lambda: (explainers.Shap(MODEL, TRAIN.head(20)), MODEL, ROWS),
    "Gradient": lambda: (explainers.Gradient(network(), baseline=PLAIN[2]), NEAR, PLAIN[8:40]),
    "Counterfactual": lambda: (explainers.Counterfactual(MODEL, TRAIN), MODEL, ROWS),
    "Dice": dice,
    "TopCoefficient": lambda: (explainers.TopCoefficient(LINEAR, VECTORIZER), opinion, DOCUMENTS),
    "FirstWord": lambda: (explainers.FirstWord(), opinion, DOCUMENTS),
    "AllWords": lambda: (explainers.AllWords(), opinion, DOCUMENTS),
    "TextAnchors": lambda: (explainers.TextAnchors(opinion), opinion, DOCUMENTS),
    "Constant": lambda: (explainers.Constant(), MODEL, ROWS),
    "Random": lambda: (explainers.Random(3), MODEL, ROWS),
    "Unique": lambda: (explainers.Unique(), MODEL, ROWS),
}


def clean(text):
    assert not [marker for marker in MARKERS if marker in text]


def test_every_explainer_is_looked_at():
    assert set(CASES) == set(explainers.__all__)


@pytest.mark.parametrize("name", CASES)
def test_no_output_holds_a_training_row(name, tmp_path):
    explainer, model, rows = CASES[name]()
    clean(repr(explainer) + str(explainer))
    ev = fs.evaluate(model, explainer, rows, cache=tmp_path / "cache", progress=False)
    clean(json.dumps(ev.to_dict(), default=str))
    clean(str(ev) + repr(ev))
    ev.to_html(tmp_path / "page.html")
    clean((tmp_path / "page.html").read_text())
    clean("".join(path.name for path in (tmp_path / "cache").iterdir()))


@pytest.mark.parametrize("name", CASES)
def test_no_error_about_rows_holds_a_training_row(name):
    explainer, _, rows = CASES[name]()
    wrong: list[Any] = [[["x"]], [[1.0]], np.full((2, 3), "y"), 5, [[1.0, 2.0], [1.0]], [None]]
    if isinstance(rows, pd.DataFrame):
        wrong += [rows.assign(age="old"), rows.drop(columns="age"), rows.assign(age=np.inf), rows.assign(job=3)]
    for bad in wrong:
        try:
            explainer.explain(bad)
        except Exception as problem:
            clean(str(problem))


@pytest.mark.parametrize("name", CASES)
def test_equal_settings_are_equal_explainers_and_others_are_not(name):
    explainer = CASES[name]()[0]
    assert isinstance(explainer, Mannered)
    assert list(explainer.get_params()) == list(inspect.signature(type(explainer)).parameters)
    again = type(explainer)(**explainer.get_params())
    assert explainer == again
    assert explainer != 5
    assert len({explainer, again}) == 1
    line = repr(explainer)
    assert line.startswith(f"{name}(")
    assert "\n" not in line
    assert repr(again) == line
    assert repr(pickle.loads(pickle.dumps(explainer))) == line


@pytest.mark.parametrize("name", CASES)
def test_every_parameter_counts_in_equality(name):
    """Of another value for any one parameter an unequal explainer is made, unless that value is refused."""
    explainer = CASES[name]()[0]
    params = explainer.get_params()
    for parameter, value in params.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            changed = type(explainer)(**{**params, parameter: value + 1 if isinstance(value, int) else value / 2})
            assert changed != explainer, parameter
            assert repr(changed) != repr(explainer)


def test_a_choice_left_to_shap_is_shown_as_it_was_made_and_given_back_as_it_was_left():
    explainer = explainers.Shap(MODEL, TRAIN.head(20))
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
def test_training_rows_are_equal_by_their_values_and_shown_by_their_shape(rows):
    explainer, same = (explainers.NearestNeighbors(pickle.loads(pickle.dumps(rows)), k=2) for _ in range(2))
    assert explainer == same
    assert hash(explainer) == hash(same)
    assert repr(explainer) == "NearestNeighbors(X_train=(120, 2), k=2, metric='euclidean')"
    assert explainer != explainers.NearestNeighbors(rows, k=3)
    assert explainer != explainers.NearestNeighbors(rows[:50] if not hasattr(rows, "iloc") else rows.iloc[:50], k=2)


def test_equal_and_unequal_sparse_rows():
    rows, same, other = csr_matrix(np.eye(3)), csr_matrix(np.eye(3)), csr_matrix(np.ones((3, 3)))
    assert explainers.NearestNeighbors(rows) == explainers.NearestNeighbors(same) != explainers.NearestNeighbors(other)


def test_a_model_is_shown_by_its_name_since_its_own_repr_may_hold_rows():
    assert WORD in repr(MODEL), "the encoder lists its categories"
    assert repr(explainers.Counterfactual(MODEL, TRAIN)) == (
        "Counterfactual(predict=Pipeline, X_train=(120, 3), categorical=(), metric='gower', candidates=10, "
        "agreement=None)"
    )
    bound = explainers.Lime(NEAR.predict_proba, PLAIN, samples=50)
    assert repr(bound).startswith("Lime(predict_proba=KNeighborsClassifier.predict_proba, X_train=(120, 2), ")
    assert "predict=lambda" in repr(explainers.Anchors(lambda X: X[:, 0] > 40, PLAIN))


def test_settings_are_given_back_as_they_were_given():
    anchors = explainers.Anchors(MODEL, TRAIN, threshold=0.8, beam=2, max_conditions=3)
    params = anchors.get_params()
    assert params.pop("predict") is MODEL
    assert params.pop("X_train") is TRAIN
    assert params == {
        "threshold": 0.8, "beam": 2, "categorical": (), "delta": 0.1, "tau": 0.15, "seed": 0, "max_conditions": 3,
        "agreement": None,
    }  # fmt: skip


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
    assert (
        Identity.of(PlainExplainer(TRAIN, MODEL)).explainer == "PlainExplainer(X_train=(120, 3), model=Pipeline, k=3)"
    )
    assert Identity.of(TalkativeExplainer(TRAIN, MODEL)).explainer == "TalkativeExplainer"


SYSTEM = """
import sys
sys.path.insert(0, {tests!r})
import test_manners as t
system = t.MODEL, {{name: t.CASES[name]()[0] for name in ("Counterfactual", "NearestNeighbors", "Anchors", "Lime")}}
"""


def test_the_command_line_shows_no_training_row(tmp_path):
    (tmp_path / "mine.py").write_text(SYSTEM.format(tests=str(__import__("pathlib").Path(__file__).parent)))
    ROWS.to_parquet(tmp_path / "rows.parquet")
    asked = ["evaluate", "--system", "mine:system", "--data", "rows.parquet", "--report", "page.html", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "faithscope", *asked], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    clean(done.stdout + done.stderr + (tmp_path / "page.html").read_text())
