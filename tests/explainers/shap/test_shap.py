"""SHAP: values that sum to the model's output, of the class and output that are asked for; and what is refused."""

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from explainers.systems import assert_refused, trees
from faithscope.errors import BadInput, MissingExtra, WrongType
from faithscope.explainers import Shap

X, Y = make_classification(900, 12, n_informative=8, random_state=0)
X3, Y3 = make_classification(600, 9, n_informative=7, n_classes=3, random_state=0)
BACKGROUND, ROWS = X[:40], X[600:630]
MAKERS = {
    "forest": lambda: RandomForestClassifier(15, max_depth=5, random_state=0),
    "boosted": lambda: GradientBoostingClassifier(n_estimators=30, random_state=0),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0),
    "linear": lambda: LogisticRegression(),
    "svc": lambda: SVC(),
}


@cache
def fitted(name):
    return MAKERS[name]().fit(X, Y)


@cache
def forest3():
    return RandomForestClassifier(10, max_depth=4, random_state=0).fit(X3, Y3)


@cache
def product(outputs=1):
    """A regression tree of one number, or of several."""
    targets = np.column_stack([X[:, 0] * X[:, 1], X[:, 1] ** 2, X[:, 0] * X[:, 2]])[:, :outputs]
    return DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, targets[:, 0] if outputs == 1 else targets)


def chance(rows):
    """A smooth function with interactions; columns 3 and on are not used."""
    return 1 / (1 + np.exp(-rows[:, 0] * rows[:, 1] - rows[:, 2]))


def assert_sums(explainer, output, background, rows):
    gains = output(rows) - output(background).mean(axis=0)
    values = explainer.explain(rows).values
    sums = values.reshape(len(rows), -1, background.shape[1]).sum(axis=2)
    np.testing.assert_allclose(sums, gains.reshape(sums.shape), atol=1e-6, rtol=1e-6)
    return values


SYSTEMS = [
    (lambda: fitted("forest"), {"output": "label"}, lambda: fitted("forest").predict),
    (lambda: chance, {"algorithm": "permutation", "evaluations": 100}, lambda: chance),
    (product, {"algorithm": "permutation"}, lambda: product().predict),
]


@pytest.mark.parametrize(("model", "how", "output"), SYSTEMS)
def test_values_sum_to_the_output_less_its_mean_over_the_background(model, how, output):
    explainer = Shap(model(), BACKGROUND, **how)
    assert_sums(explainer, output(), BACKGROUND, ROWS)
    np.testing.assert_allclose(explainer.expected_value[-1], output()(BACKGROUND).mean())
    alone = assert_sums(Shap(model(), ROWS[:1], **how), output(), ROWS[:1], ROWS[:3])
    assert (alone[0] == 0).all(), "a row that is the background"


def test_rows_at_a_threshold_go_the_way_the_model_sends_them():
    model = fitted("histograms")
    splits = [tree[0].nodes[~tree[0].nodes["is_leaf"].astype(bool)] for tree in model._predictors]
    rows = np.repeat(ROWS[:1], 300, axis=0)
    for row, split in zip(rows, np.concatenate(splits), strict=False):
        row[split["feature_idx"]] = split["num_threshold"]
    assert_sums(Shap(model, BACKGROUND, output="margin"), model.decision_function, BACKGROUND, rows)


# Classes and outputs.


def test_labels_are_explained_as_their_place_among_the_classes_and_must_be_numbers_of_a_function():
    data = load_iris()
    names = np.array(["virginica", "setosa", "versicolor"])[data.target]  # sorted: setosa, versicolor, virginica
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(data.data, names)
    for asked in (model, model.predict):
        explainer = Shap(asked, data.data[::10], output="label")
        place = lambda rows: np.searchsorted(model.classes_, model.predict(rows))  # noqa: E731
        assert_sums(explainer, place, data.data[::10], data.data[::7])
    values = Shap(lambda rows: 5 * (rows[:, 0] > 0), BACKGROUND, output="label").explain(ROWS).values
    assert (values[:, 1:] == 0).all()


@pytest.mark.parametrize("outputs", [2, 3])
def test_every_output_of_a_regressor_of_several_is_explained(outputs):
    model = product(outputs)
    every = assert_sums(Shap(model, BACKGROUND), model.predict, BACKGROUND, ROWS)
    for output, part in enumerate(np.split(every, outputs, axis=1)):
        np.testing.assert_allclose(part, Shap(model, BACKGROUND, class_index=output).explain(ROWS).values, atol=1e-9)
    assert Shap(model, BACKGROUND).explain(ROWS).names[-1].endswith(f" | output {outputs - 1}")


# Trees that are read, and those that are not.


def test_trees_are_used_where_they_are_all_that_decides():
    three = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X3, Y3)
    other = GradientBoostingClassifier(n_estimators=5, init=LogisticRegression(), random_state=0).fit(X3, Y3)
    assert [Shap(model, X3[:5]).algorithm for model in (forest3(), three, other)] == ["tree", "tree", "permutation"]
    with pytest.raises(BadInput, match="begins with LogisticRegression"):
        Shap(other, X3[:5], algorithm="tree")


def test_a_tree_too_large_for_shap_is_not_given_to_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    model = DecisionTreeRegressor(random_state=0).fit(rows, rng.normal(size=20_000))
    assert Shap(model, rows[:5], output="margin").algorithm == "permutation"
    with pytest.raises(BadInput, match="crashes on trees of over 32,767 nodes"):
        Shap(model, rows[:5], output="margin", algorithm="tree")


def test_boosters_of_other_libraries_are_read_as_trees():
    for rows, labels in ((X, Y), (X3, Y3)):
        model = trees("xgboost").fit(rows, labels)
        explainers = [Shap(asked, rows[:20], output="margin") for asked in (model, model.get_booster())]
        assert [explainer.algorithm for explainer in explainers] == ["tree"] * 2
        np.testing.assert_array_equal(*(explainer.explain(rows[:30]).values for explainer in explainers))


def test_what_no_known_function_makes_of_trees_is_sampled_instead():
    model = trees("lightgbm", objective="multiclassova").fit(X3, Y3)
    auto, asked = Shap(model, X3[:20], output="probability"), Shap(model.predict_proba, X3[:20])
    assert auto.algorithm == "permutation"  # a logistic function for every class, all divided by their sum
    np.testing.assert_array_equal(auto.explain(X3[:3]).values, asked.explain(X3[:3]).values)
    with pytest.raises(BadInput, match="No known function makes the outputs of this LGBMClassifier"):
        Shap(model, X3[:20], output="probability", algorithm="tree")


TABLE = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["clerk", "cook", "clerk", "nurse"]})


def nurses(rows):
    return rows["age"].to_numpy() * (rows["job"] == "nurse").to_numpy()


# What is refused or warned of.


def shap_of(model, **how):
    """Refused when made, whatever is asked later."""
    return lambda: Shap(fitted(model) if isinstance(model, str) else model, BACKGROUND, **how)


def lost_categories():
    rows = TABLE.assign(job=TABLE["job"].astype("category"))
    background = rows[:1].assign(job=rows[:1]["job"].cat.remove_unused_categories())
    Shap(nurses, background, output="margin").explain(rows)


def categories():
    """Trees that read categories as they are."""
    rows = pd.concat([TABLE.astype({"job": "category"})] * 20)
    return HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=2).fit(
        rows, rows["age"] > 30
    ), rows


def without_margin():
    with pytest.warns(UserWarning, match="converge"):
        network = MLPClassifier((3,), max_iter=2).fit(X, Y)
    Shap(network, BACKGROUND, output="margin")


NO_CLASSES = "Labels and numbers have no classes: class_index must be None; got"
NO_CLASS = "class_index must be a class from 0 to 1"
NUMBERS = 'DecisionTreeRegressor predicts numbers, not labels: use output="margin"'
BAD_INPUT = [
    *[(shap_of(model, class_index=k), NO_CLASS) for model, k in (("boosted", 2), ("linear", -1), ("forest", "first"))],
    (shap_of(chance, class_index=True), NO_CLASS),
    (shap_of("forest", output="label", class_index=1), "class_index must be None; got 1"),
    (shap_of("forest", output="label", algorithm="tree"), 'Trees do not give output="label"'),
    (shap_of(lambda rows: ["yes"] * len(rows), output="label"), "predicts 'yes', which is no number"),
    (shap_of(chance, output="label"), "Predictions look continuous"),
    (lambda: Shap(fitted("linear").predict_proba, BACKGROUND, output="label"), "If these are class probabilities"),
    *[(lambda k=k: Shap(product(), BACKGROUND, class_index=k), NO_CLASSES) for k in (0, 1, "predicted")],
    (lambda: Shap(product(), BACKGROUND, output="label"), NUMBERS),
    (lambda: Shap(product().predict, BACKGROUND, output="label"), NUMBERS),
    (lambda: Shap(product(2), BACKGROUND, class_index="predicted"), "None, or an output from 0 to 1; got 'predicted'"),
    (lambda: Shap(product(3), BACKGROUND, class_index="predicted"), "None, or an output from 0 to 2; got 'predicted'"),
    (lost_categories, "cannot hold every category of these rows"),
    (lambda: Shap(*categories(), output="margin", algorithm="tree"), "splits on categories, which are not read"),
    (
        shap_of(chance, output="log-odds"),
        "must be one of 'margin', 'probability', 'label' or None; got 'log-odds'",
    ),
    (shap_of(chance, algorithm="deep"), "algorithm must be one of"),
    (shap_of(chance, evaluations=23), "evaluations must be at least 2 per feature, which is 24; got 23"),
    (shap_of(chance, seed=-1), "seed must be a whole number of at least 0"),
    (shap_of(chance, algorithm="tree"), "No trees are read from this function"),
    (lambda: Shap(chance, BACKGROUND).explain(ROWS[:, :3]), "Rows have 3 features but training rows have 12"),
    (shap_of(lambda rows: [0.5], output="margin"), "gave 1 outputs for 40 rows"),
]
WRONG_TYPE = [
    (lambda: Shap(product(), BACKGROUND, output="probability"), 'Regressor has no predict_proba: use output="margin"'),
    (shap_of("svc", output="probability"), "SVC has no predict_proba"),
    (without_margin, 'MLPClassifier has no margin: use output="probability"'),
]


def test_what_cannot_be_explained_is_refused():
    assert_refused({BadInput: BAD_INPUT, WrongType: WRONG_TYPE})


def test_a_missing_package_is_named_with_its_extra_where_trees_need_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    for algorithm in ("auto", "tree"):
        with pytest.raises(MissingExtra, match=r'pip install "faithscope\[shap\]"'):
            Shap(fitted("forest"), BACKGROUND, algorithm=algorithm)
    assert Shap(fitted("forest"), BACKGROUND, algorithm="permutation").explain(ROWS[:1]).values.shape == (1, 12)
