"""Relations: which rows an explanation covers, and clear words where that is not said."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.explanations.distances.metrics import Gower, pairwise
from faithscope.inputs.columns import Rows
from faithscope.relations import Within
from refused import refused

X = np.array([[0.0], [1.0], [2.0]])


COUNTERFACTUALS = fs.Counterfactuals(X, X + 1)


def test_what_cannot_be_covered_is_refused_in_a_sentence():
    for explanations, rows, relation, error, message in [
        ([[0.1], [0.2], [0.3]], X, None, NotScoped, r"do not say where.*within\(tau"),
        (["a", "b", "c"], X, None, NotScoped, r"applies\(X, explanation\)"),
        (fs.Prototypes([0, 1, 2]), X, None, NotScoped, r"Prototypes\(indices, points\).*Nearest"),
        (fs.Prototypes([0, 1, 2]), X, fs.Ball(1), BadInput, r"Prototypes\(indices, points\)"),
        (["a"] * 3, X, fs.Nearest(), WrongType, "by prototypes"),
        (["a"] * 3, X, Within(1.0), WrongType, "relates explanations"),
        (["a"] * 3, X, "near", WrongType, "relation='near' is not a relation"),
        (["a"] * 3, X, fs.Nearest, WrongType, "is not a relation"),
        (["a"] * 3, X, lambda rows, e: rows[:2, 0] > 0, WrongType, r"mask of 3 booleans.*shape \(2,\)"),
        (["a"] * 3, X, lambda rows, e: rows[:, 0], WrongType, "float64"),
        (
            fs.Rules.from_conditions([[("x", "<=", 1)]] * 3),
            [{"x": 1}] * 3,
            None,
            WrongType,
            "Rows must be lists with one value per feature",
        ),
        (COUNTERFACTUALS, X[:2], None, BadInput, "X have 2 rows but explanations have 3"),
        (COUNTERFACTUALS, np.zeros((3, 2)), None, BadInput, "2 features, but the explanations have 1"),
        (COUNTERFACTUALS, np.array([["a"]] * 3), None, WrongType, "metric='gower'"),
    ]:
        refused(error, message, fs.sufficiency, explanations, [0, 1, 0], rows, relation=relation)


def test_what_is_no_distance_or_no_prototype_is_refused_in_a_sentence():
    refused(BadInput, "at least 0; got -1", fs.Ball, -1)
    refused(BadInput, "got 'far'", fs.Ball, "far")
    labels = [0, 1, 0]
    refused(BadInput, "at least 0; got -0.5", fs.within, X, labels, -0.5)
    refused(BadInput, "finite", fs.within, X, labels, np.inf)
    refused(BadInput, "tau is a distance", fs.within, X, labels, 1 + 0j)
    refused(WrongType, "needs vectors of numbers", fs.within, ["a", "b", "c"], labels, 1.0)
    refused(BadInput, "metric='no such' could not be used", fs.within, X, labels, 1.0, metric="no such")
    refused(BadInput, "metric='precomputed' could not be used", fs.within, X, labels, 1.0, metric="precomputed")
    refused(BadInput, "3 rows but predictions have 2", fs.within, X, [0, 1], 1.0)
    refused(BadInput, "empty", fs.within_curve, X, labels, [])
    told = "Row 1 names prototype 5, but there are only 3 points"
    refused(BadInput, told, fs.Prototypes, [0, 5], points=X)
    refused(BadInput, "came as a mask", fs.Prototypes, np.array([[True, False]]))
    refused(WrongType, "one list of conditions per row", fs.Rules.from_conditions, 3)
    told = "these rows have categories, dates or missing values: use metric='gower'"
    refused(BadInput, told, fs.Counterfactuals, [["a"]], [["b"]], metric="euclidean")


def test_equal_counterfactuals_cover_different_balls():
    pairs = fs.Counterfactuals([[2.0], [2.0]], [[0.0], [1.5]])
    assert pairs.group()[0].tolist() == [0, 0], "equality is by the point"
    assert pairs.scope_key[1].ravel().tolist() == [2.0, 0.5]
    balls = pairs.balls()
    assert balls.group()[0].tolist() == [0, 1], "coverage is by the ball"
    assert balls.describe(1) == "nearer than 0.5 to x0 1.5"
    assert fs.sufficiency(pairs, [0, 0], [[0.0], [1.5]]).distinct == 2
    assert balls.inside(np.array([[np.nan], [1.0]]))(0, 1).tolist() == [[False, True]], "a missing number is in none"


def test_mixed_rows_have_gowers_distance():
    table = pd.DataFrame({"age": [20, 40, 60], "job": ["cook", "clerk", "cook"]})
    moved = pd.DataFrame({"age": [40, 40, 20], "job": ["cook", "cook", "cook"]})
    pairs = fs.Counterfactuals(moved, table)
    assert pairs.balls().radii.tolist() == pytest.approx([0.25, 0.5, 0.5])
    for rows in (table, pl.DataFrame(table.to_dict("list")), table.to_numpy()):
        inside = pairs.balls().inside(rows)(0, 3)
        assert inside.tolist() == [[True, False, False], [False, True, False], [False, False, True]]
    assert fs.sufficiency(pairs, [0, 1, 0], table).unverifiable == 1


def test_prototypes_of_mixed_rows():
    points = pd.DataFrame({"age": [20, 60], "job": ["cook", "clerk"]})
    table = pd.DataFrame({"age": [25, 55, 30], "job": ["cook", "clerk", "cook"]})
    prototypes = fs.Prototypes([0, 1, 0], points, metric="gower")
    assert fs.sufficiency(prototypes, ["a", "b", "a"], table).verified == 1
    assert fs.sufficiency(prototypes, ["a", "b", "a"], table, relation=fs.Ball(0.5)).verified == 1


def test_gowers_distance_treats_missing_numbers_as_far_but_alike():
    columns = Rows(pd.DataFrame({"a": [0.0, np.nan, np.nan, 10.0]})).measured()
    gower = Gower.fit(columns)
    (scaled,) = gower.read(columns)
    distance = gower.between([scaled[:, None]], [scaled[None, :]])
    assert distance[:2].tolist() == [[0, 1, 1, 1], [1, 0, 0, 1]]
    refused(BadInput, "2 features, but this distance was learned on 1", gower.read, columns * 2)


def test_a_relation_may_read_tables_and_return_a_series():
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    found = fs.sufficiency([0.0, 1.0, 1.0], [0, 1, 1], table, relation=lambda rows, bound: rows["x"] >= bound)
    assert found.n == 3
    assert found.value == pytest.approx((0 + 1 + 1) / 3)


def test_a_row_that_misses_a_number_has_no_distance():
    rows = np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, 1.0]])
    for metric in ("euclidean", "manhattan", "chebyshev", "cosine", "hamming", "canberra"):
        missing = [[False, True, False], [True, True, True], [False, True, False]]
        assert np.isnan(pairwise(rows, rows, metric)).tolist() == missing, metric
