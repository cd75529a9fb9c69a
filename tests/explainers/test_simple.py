"""Trees, neighbors, highlighted words and baselines."""

import datetime

import numpy as np
import pandas as pd
from numpy.random import default_rng
from sklearn.datasets import load_breast_cancer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from explainers.systems import assert_refused, written
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import (
    Anchors,
    FirstWord,
    NearestNeighbors,
    Random,
    TopCoefficient,
    TreePath,
    Unique,
)
from refused import refused

X, Y = load_breast_cancer(return_X_y=True)
DAY = datetime.datetime(2020, 1, 1)


def test_neighbors_are_scikit_learns():
    model = KNeighborsClassifier(4).fit(X[:200], Y[:200])
    ours = NearestNeighbors(X[:200], k=4).explain(X[200:300])
    reference = fs.Prototypes(model.kneighbors(X[200:300], return_distance=False))
    assert written(ours) == written(reference)


def test_among_equally_near_rows_the_earlier_counts():
    points = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert NearestNeighbors(points, k=1).explain([[0.0]]).conjunction(0) == (0,)
    assert NearestNeighbors(points, k=2).explain([[0.0]]).conjunction(0) == (0, 1)
    assert NearestNeighbors(points, k=3).explain([[0.9]]).conjunction(0) == (0, 1, 2)


def test_a_surrogate_speaks_of_categories_by_name():
    rng = default_rng(0)
    table = pd.DataFrame({"job": rng.choice(["cook", "clerk", "pilot"], 300), "age": rng.integers(20, 60, 300)})

    def predict(rows):
        return np.where(rows["job"] == "pilot", "yes", np.where(rows["age"] > 40, "maybe", "no"))

    surrogate = TreePath.surrogate(predict, table, max_leaf_nodes=3)
    young, old = "job != pilot and age <= 40.5", "job != pilot and age > 40.5"
    assert set(written(surrogate.explain(table))) == {"job == pilot", young, old}
    assert fs.evaluate(predict, surrogate, table).sufficiency.value == 1
    assert surrogate.explain(pd.DataFrame({"job": ["nurse"], "age": [30]})).describe(0) == young


def test_the_top_coefficient_is_the_decisive_word_for_the_predicted_class_if_asked():
    texts = ["great film", "dull film", "great dull", "film"]
    vectorizer = CountVectorizer().fit(texts)
    model = LogisticRegression().fit(vectorizer.transform(texts), [1, 0, 1, 1])
    weight = dict(zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True))
    explanations = TopCoefficient(model, vectorizer).explain([*texts, "unknown words", ""])
    piped = make_pipeline(vectorizer, model)
    for alike in (TopCoefficient(piped), TopCoefficient(piped, texts), TopCoefficient(piped, by="absolute")):
        assert alike.explain([*texts, "unknown words", ""]).locate(explanations).min() >= 0
        assert repr(alike) == "TopCoefficient(model=Pipeline, vectorizer=None, by='absolute')"
    for wrong in (model, vectorizer, make_pipeline(vectorizer, TfidfTransformer(), model)):
        refused(WrongType, r"pipeline of these two: pass TopCoefficient\(model, vectorizer\)", TopCoefficient, wrong)
    expected = [max(text.split(), key=lambda word: abs(weight[word])) for text in texts]
    assert written(explanations)[:4] == expected
    assert explanations.conjunction(4) == explanations.conjunction(5) == ()
    favor = TopCoefficient(model, vectorizer, by="favor").explain(["great dull"])
    label = model.predict(vectorizer.transform(["great dull"]))[0]
    assert favor.describe(0) == max(["great", "dull"], key=lambda word: weight[word] * (1 if label else -1))
    several = ["a1 x", "b1 x", "c1 x"] * 5
    model = LogisticRegression().fit(vectorizer.fit_transform(several), [0, 1, 2] * 5)
    assert written(TopCoefficient(model, vectorizer, by="favor").explain(several[:3])) == ["a1", "b1", "c1"]


def test_a_draw_depends_on_the_row_alone_where_values_are_missing_or_of_several_kinds():
    mixed = np.empty((6, 3), object)
    mixed[:] = [[1.5, "a", DAY], [None, "b", None], [2, None, DAY], ["x", DAY, 3], [True, "", np.nan], [3, "x", DAY]]
    flags = pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "flag": pd.array([True, None, False], "boolean")})
    for explainer in (Random(10**9), Unique()):
        for rows in (mixed, mixed[:, :1], mixed[:, 2:], flags):
            alone = [explainer.explain(rows[i : i + 1]).describe(0) for i in range(len(rows))]
            assert alone == written(explainer.explain(rows))


def test_the_place_of_a_missing_value_tells_rows_apart():
    rows = np.array([["a", None], [None, "a"], ["a", "a"], [None, None], ["a", 1.0], [1.0, "a"]], object)
    explanations = Unique().explain(rows)
    assert len(set(written(explanations))) == 6


BAD_INPUT = [
    (lambda: TreePath.surrogate(lambda r: r[:, 0], X, max_leaf_nodes=1), "at least 2"),
    (lambda: TreePath.surrogate(lambda r: [0.5], X), "569 rows but predictions have 1"),
    (lambda: TreePath.surrogate(lambda r: r[:, :2], X), "must be one value per row"),
    (lambda: TreePath.surrogate(lambda r: r, np.empty((0, 2))), "Training rows are empty"),
    (lambda: NearestNeighbors(X, k=0), "at least 1; got 0"),
    (lambda: NearestNeighbors(X[:3], k=4), "only 3 training rows"),
    (lambda: NearestNeighbors(X[:3]).explain([[np.nan] * 30]), "1 row misses a number"),
    (lambda: Random(0), "at least 1; got 0"),
    (lambda: Anchors(lambda r: r[:, 1] > 0.5, [[2**53, 0], [2**53 + 1, 1]]), "beyond 2\\*\\*53"),
]
WRONG_TYPE = [
    (lambda: TreePath(DecisionTreeClassifier()), "fitted scikit-learn decision tree"),
    (lambda: TreePath.surrogate(lambda r: r[:, 0], X, agreement=1), "cannot be applied"),
    (lambda: TreePath.surrogate(7, X), "must have predict"),
    (lambda: FirstWord().explain([1, 2]), "row 0 is 1"),
    (lambda: TopCoefficient(LogisticRegression(), CountVectorizer()), "fitted linear model"),
]


def test_bad_input_is_refused_in_a_sentence():
    assert_refused({BadInput: BAD_INPUT, WrongType: WRONG_TYPE})
