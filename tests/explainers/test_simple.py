"""Trees, neighbors, highlighted words and baselines."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope import explainers
from faithscope.errors import BadInput, WrongType

X, Y = load_breast_cancer(return_X_y=True)
DAY = datetime.datetime(2020, 1, 1)


def test_a_tree_explained_by_its_own_paths_scores_one():
    tree = DecisionTreeClassifier(max_leaf_nodes=20, random_state=0).fit(X[:300], Y[:300])
    ev = fs.evaluate(tree, explainers.TreePath(tree), X[300:])
    assert ev.consistency.verified == ev.sufficiency.verified == 1
    assert ev.consistency.value == pytest.approx(ev.sufficiency.value)


def test_one_nearest_neighbor_explained_by_itself_scores_one():
    data, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(1).fit(data[::2], y[::2])
    ev = fs.evaluate(model, explainers.NearestNeighbors(data[::2]), data[1::2])
    assert ev.consistency.verified == ev.sufficiency.verified == 1


def test_neighbors_are_scikit_learns():
    model = KNeighborsClassifier(4).fit(X[:200], Y[:200])
    ours = explainers.NearestNeighbors(X[:200], k=4).explain(X[200:300])
    reference = fs.Prototypes(model.kneighbors(X[200:300], return_distance=False))
    assert [ours.conjunction(row) for row in range(100)] == [reference.conjunction(row) for row in range(100)]


def test_among_equally_near_rows_the_earlier_counts():
    points = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert explainers.NearestNeighbors(points, k=1).explain([[0.0]]).conjunction(0) == (0,)
    assert explainers.NearestNeighbors(points, k=2).explain([[0.0]]).conjunction(0) == (0, 1)
    assert explainers.NearestNeighbors(points, k=3).explain([[0.9]]).conjunction(0) == (0, 1, 2)


def test_a_surrogate_follows_the_model_and_keeps_to_its_leaves():
    forest = RandomForestClassifier(20, random_state=0).fit(X[:300], Y[:300])
    surrogate = explainers.TreePath.surrogate(forest, X[:300], max_leaf_nodes=6)
    ev = fs.evaluate(forest, surrogate, X[300:])
    assert ev.consistency.distinct <= 6
    assert ev.consistency.verified > ev.consistency.chance + 0.2
    assert fs.mse_bound(ev.sufficiency) == fs.mse_bound(ev.consistency)


def test_a_surrogate_speaks_of_categories_by_name():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"job": rng.choice(["cook", "clerk", "pilot"], 300), "age": rng.integers(20, 60, 300)})

    def predict(rows):
        return np.where(rows["job"] == "pilot", "yes", np.where(rows["age"] > 40, "maybe", "no"))

    surrogate = explainers.TreePath.surrogate(predict, table, max_leaf_nodes=3)
    rules = surrogate.explain(table)
    texts = {rules.describe(row) for row in range(300)}
    assert texts == {"job == pilot", "job != pilot and age <= 40.5", "job != pilot and age > 40.5"}
    ev = fs.evaluate(predict, surrogate, table)
    assert ev.sufficiency.value == ev.consistency.value == 1
    assert (
        surrogate.explain(pd.DataFrame({"job": ["nurse"], "age": [30]})).describe(0) == "job != pilot and age <= 40.5"
    )


def test_the_top_coefficient_is_the_decisive_word():
    texts = ["great film", "dull film", "great dull", "film"]
    vectorizer = CountVectorizer().fit(texts)
    model = LogisticRegression().fit(vectorizer.transform(texts), [1, 0, 1, 1])
    weight = dict(zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True))
    explanations = explainers.TopCoefficient(model, vectorizer).explain([*texts, "unknown words", ""])
    expected = [max(text.split(), key=lambda word: abs(weight[word])) for text in texts]
    assert [explanations.describe(row) for row in range(4)] == expected
    assert explanations.conjunction(4) == explanations.conjunction(5) == ()
    favor = explainers.TopCoefficient(model, vectorizer, by="favor").explain(["great dull"])
    label = model.predict(vectorizer.transform(["great dull"]))[0]
    assert favor.describe(0) == max(["great", "dull"], key=lambda word: weight[word] * (1 if label else -1))


def test_several_classes_have_several_coefficients():
    texts, labels = ["a1 x", "b1 x", "c1 x"] * 5, [0, 1, 2] * 5
    vectorizer = CountVectorizer().fit(texts)
    model = LogisticRegression().fit(vectorizer.transform(texts), labels)
    explanations = explainers.TopCoefficient(model, vectorizer, by="favor").explain(texts[:3])
    assert [explanations.describe(row) for row in range(3)] == ["a1", "b1", "c1"]


def test_first_and_all_words():
    assert explainers.FirstWord().explain(["a great film", ""]).describe(0) == "a"
    assert explainers.FirstWord().explain([""]).conjunction(0) == ()
    assert explainers.AllWords().explain(["b a b"]).conjunction(0) == ("a", "b")
    assert explainers.FirstWord(tokenizer=lambda text: text.lower().split()).explain(["A film"]).describe(0) == "a"


def test_baselines_are_what_they_say():
    labels = (X[:, 0] > 14).astype(int)
    constant, unique = (fs.evaluate(labels, e, X).consistency for e in (explainers.Constant(), explainers.Unique()))
    assert constant.value == pytest.approx(constant.chance)
    assert unique.unverifiable == 1
    drawn = fs.evaluate(labels, explainers.Random(4), X).consistency
    assert drawn.distinct == 4
    assert drawn.adjusted == pytest.approx(0, abs=0.02)
    again = explainers.Random(4, seed=1).explain(X).values
    assert (again != explainers.Random(4).explain(X).values).any()
    twice = explainers.Unique().explain(np.vstack([X[:3], X[:3]]))
    assert twice.group()[0].tolist() == [0, 1, 2, 0, 1, 2], "equal rows have equal explanations"


def test_any_function_of_rows_is_an_explainer():
    ev = fs.evaluate(lambda rows: rows[:, 0] > 14, lambda rows: np.round(rows[:, :1] / 10), X)
    assert ev.consistency.n == len(X)


def test_a_draw_depends_on_the_row_alone_where_values_are_missing_or_of_several_kinds():
    mixed = np.empty((6, 3), object)
    mixed[:] = [[1.5, "a", DAY], [None, "b", None], [2, None, DAY], ["x", DAY, 3], [True, "", np.nan], [3, "x", DAY]]
    flags = pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "flag": pd.array([True, None, False], "boolean")})
    for explainer in (explainers.Random(10**9), explainers.Unique()):
        for rows in (mixed, mixed[:, :1], mixed[:, 2:], flags):
            alone = [explainer.explain(rows[i : i + 1]).describe(0) for i in range(len(rows))]
            together = explainer.explain(rows)
            assert alone == [together.describe(i) for i in range(len(rows))]
            assert explainer.explain(rows[::-1]).describe(0) == alone[-1]


def test_the_place_of_a_missing_value_tells_rows_apart():
    rows = np.array([["a", None], [None, "a"], ["a", "a"], [None, None], ["a", 1.0], [1.0, "a"]], object)
    explanations = explainers.Unique().explain(rows)
    assert len({explanations.describe(i) for i in range(6)}) == 6


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: explainers.TreePath(DecisionTreeClassifier()), WrongType, "fitted scikit-learn decision tree"),
        (lambda: explainers.TreePath.surrogate(lambda r: r[:, 0], X, max_leaf_nodes=1), BadInput, "at least 2"),
        (lambda: explainers.TreePath.surrogate(lambda r: [0.5], X), BadInput, "569 rows but predictions have 1"),
        (lambda: explainers.TreePath.surrogate(lambda r: r[:, :2], X), BadInput, "must be one value per row"),
        (lambda: explainers.TreePath.surrogate(lambda r: r[:, 0], X, agreement=1), WrongType, "cannot be applied"),
        (lambda: explainers.TreePath.surrogate(7, X), WrongType, "must have predict"),
        (lambda: explainers.TreePath.surrogate(lambda r: r, np.empty((0, 2))), BadInput, "Training rows are empty"),
        (lambda: explainers.NearestNeighbors(X, k=0), BadInput, "at least 1; got 0"),
        (lambda: explainers.NearestNeighbors(X[:3], k=4), BadInput, "only 3 training rows"),
        (lambda: explainers.NearestNeighbors(X[:3]).explain([[np.nan] * 30]), BadInput, "1 row misses a number"),
        (lambda: explainers.Random(0), BadInput, "at least 1; got 0"),
        (lambda: explainers.FirstWord().explain([1, 2]), WrongType, "row 0 is 1"),
        (lambda: explainers.TopCoefficient(LogisticRegression(), CountVectorizer()), WrongType, "fitted linear model"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_whole_numbers_that_floats_cannot_tell_apart_are_refused():
    rows = pd.DataFrame({"id": [2**53, 2**53 + 1, 5], "x": [0.0, 1.0, 2.0]})
    with pytest.raises(fs.errors.BadInput, match="beyond 2\\*\\*53"):
        fs.explainers.Anchors(lambda given: given["x"].to_numpy() > 0.5, rows)
