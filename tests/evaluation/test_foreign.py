"""Explainers of other libraries, handed to evaluate as they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from noted import noted
from refused import refused

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :4]
ARRAY = X.to_numpy()
MODEL = RandomForestClassifier(2, random_state=0).fit(X, Y)
LINE = LogisticRegression(max_iter=2000).fit(ARRAY, Y)
ROWS = X[::120]
WINE, KINDS = load_wine(return_X_y=True, as_frame=True)


def evaluate(explainer, rows=ROWS, model=MODEL, **options):
    return fs.evaluate(model, explainer, rows, **options)


def answers(*given, **options):
    """What is told of every row."""
    return evaluate(*given, **options).explanations.values


def tabular(rows=X, **options):
    lime = pytest.importorskip("lime.lime_tabular")
    return lime.LimeTabularExplainer(
        np.asarray(rows, float), **{"feature_names": list(rows), "random_state": 0, **options}
    )


def of_shap(kind, known):
    shap = pytest.importorskip("shap")
    masker = {"Partition": shap.maskers.Partition, "Permutation": shap.maskers.Independent}.get(kind, lambda rows: rows)
    asked = LINE if kind == "Linear" else LINE.predict_proba
    return getattr(shap, f"{kind}Explainer")(asked, masker(known))


def thorough(*kinds):
    return [pytest.param(kind, marks=pytest.mark.thorough) for kind in kinds]


class ByName:
    """A model that takes columns by name, as pipelines do."""

    def predict(self, rows):
        return LINE.predict(rows[list(X)].to_numpy())

    def predict_proba(self, rows):
        return LINE.predict_proba(rows[list(X)].to_numpy())


class Anything:
    """A model of any columns."""

    def predict(self, rows):
        return np.zeros(len(rows), int)

    def predict_proba(self, rows):
        return np.tile([0.5, 0.5], (len(rows), 1))


def test_draws_depend_on_the_row_and_the_seed_alone():
    explainer = tabular()
    once = answers(explainer)
    assert (answers(explainer, ROWS[::-1])[::-1] == once).all()
    assert (answers(explainer, ROWS[3:5]) == once[3:5]).all()


@pytest.mark.parametrize("kind", ["Kernel", *thorough("", "Linear", "Sampling", "Permutation", "Exact", "Partition")])
def test_shaps_explainers_are_called_and_draw_by_row(kind, tmp_path):
    explainer, rows = of_shap(kind, ARRAY[:10]), ROWS.to_numpy()[:4]  # as many rows as features
    explained = answers(explainer, rows, LINE, cache=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert (answers(explainer, rows[::-1], LINE)[::-1] == explained).all()
    assert (answers(explainer, rows[1:3], LINE) == explained[1:3]).all()
    answers(explainer, rows, LINE, cache=tmp_path)
    assert sorted(tmp_path.iterdir()) == files, "a second run computes nothing"
    theirs = np.asarray(explainer(rows).values)
    np.testing.assert_allclose(explained, theirs[..., 1] if theirs.ndim == 3 else theirs, atol=0.1)


@pytest.mark.parametrize("kind", ["lime", "Kernel", *thorough("Linear", "Permutation", "Exact")])
def test_columns_are_known_by_their_names(kind):
    explainer = tabular() if kind == "lime" else of_shap(kind, X[:10])
    turned = ROWS[ROWS.columns[::-1]].assign(job="clerk")
    assert (answers(explainer, ROWS, ByName()) == answers(explainer, turned, ByName())).all()
    assert evaluate(explainer, turned, ByName()).explanations.names == tuple(X)


@pytest.mark.slow
def test_lime_explains_every_row_with_all_features_and_the_callers_explainer_is_left_alone():
    explainer = tabular()
    before = [explainer.random_state.get_state()[1].tolist(), np.random.get_state()[1].tolist()]  # noqa: NPY002
    told = evaluate(explainer)
    assert (told.explanations.names, told.explainer) == (tuple(X), "LimeTabularExplainer")
    assert (told.explanations.values != 0).all()
    assert not noted(told.consistency, "seed")
    notes = evaluate(tabular(random_state=None)).consistency.notes
    assert any("LimeTabularExplainer has no seed" in note for note in notes)
    assert before == [explainer.random_state.get_state()[1].tolist(), np.random.get_state()[1].tolist()]  # noqa: NPY002


@pytest.mark.thorough
def test_lime_of_several_classes_of_numbers_and_of_texts():
    wine = WINE.iloc[:, :3]
    three = evaluate(tabular(wine), wine[::30], LogisticRegression(max_iter=2000).fit(wine, KINDS))
    assert three.explanations.values.shape == (6, 9)
    assert noted(three.consistency, "all 3 classes")
    assert evaluate(tabular(mode="regression"), model=LinearRegression().fit(X, Y)).agreement == fs.Spread()
    text = pytest.importorskip("lime.lime_text").LimeTextExplainer(random_state=0)
    documents = ["good film", "bad plot", "good plot", "bad film"] * 3
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(documents, [1, 0, 1, 0] * 3)
    assert "good" in evaluate(text, documents[:4], model).explanations.describe(0)


def test_what_lime_needs_is_said():
    pretty = ROWS.rename(columns=str.upper)
    several = MultiOutputClassifier(LogisticRegression(max_iter=2000)).fit(X, np.column_stack([Y, 1 - Y]))
    less, labels = ROWS.drop(columns="mean area"), MODEL.predict(ROWS)
    coded, clerks = tabular(X.assign(job=0)), ROWS.assign(job="clerk")
    words = r"column 'job' holds 'clerk'.*fs.explainers.Lime\(model, X_train\)"
    refused(WrongType, words, evaluate, coded, clerks, Anything())
    for explainer, rows, model, words in (
        (tabular(), ROWS, labels, "must have predict_proba: pass the model itself"),
        (tabular(), less, Anything(), "no column, or several, called 'mean area'"),
        (tabular(), pd.concat([ROWS, ROWS], axis=1), Anything(), "several, called 'mean radius'"),
        (tabular(), ROWS[:0], MODEL, "X are empty"),
        (tabular(), ROWS, several, "if several labels, .str.row. for row in labels."),
    ):
        refused(BadInput, words, evaluate, explainer, rows, model)
    refused(BadInput, "no column, or several, called 'mean radius'", evaluate, tabular(), pretty, Anything())
    assert evaluate(tabular(), model=MODEL.predict).explanations.names == tuple(X), "a bound predict names its model"


class Captum:
    """What captum's methods look like."""

    forward_func = None

    def attribute(self, rows):
        return rows


class DiceMl:
    def generate_counterfactuals(self, rows):
        return rows


class AnchorExp:
    def explain_instance(self, row, classify, threshold=0.95):
        return row


@pytest.mark.parametrize(
    ("explainer", "instead"),
    [
        (Captum(), r"lambda X: explainer\.attribute"),
        (DiceMl(), "fs.explainers.Dice"),
        (AnchorExp(), "explainers.Anchors"),
    ],
)
def test_explainers_of_other_libraries_are_refused_with_what_to_use_instead(explainer, instead):
    refused(BadInput, instead, evaluate, explainer)
    refused(BadInput, instead, fs.repeatability, [explainer, explainer], ROWS)


def test_a_method_of_captum_as_a_function_explains_as_ours_does():
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2)).double()
    method = captum.IntegratedGradients(net)
    theirs = evaluate(lambda X: method.attribute(torch.as_tensor(X), target=1), ROWS.to_numpy(), net).explanations
    ours = fs.explainers.Gradient(net, method="integrated gradients").explain(ROWS.to_numpy())
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-6)


@pytest.mark.thorough
def test_compare_and_local_take_them():
    told = fs.compare(MODEL, {"lime": tabular(random_state=None), "none": fs.explainers.Constant()}, ROWS)["lime"]
    assert sum("has no seed" in note for note in told.consistency.notes) == 1
    assert fs.local(ROWS[:1], MODEL, tabular(), ROWS, discretizer=fs.SignOfTop(1)).value >= 0
