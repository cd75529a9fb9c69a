"""Relations: which rows an explanation covers, and clear words where that is not said."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotScoped, WrongType
from faithscope.explanations.distances.metrics import Gower, columns_of, paired, pairwise
from faithscope.relations import Within

X = np.array([[0.0], [1.0], [2.0]])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fs.sufficiency([[0.1], [0.2], [0.3]], [0, 1, 0], X), NotScoped, r"do not say where.*within\(tau"),
        (lambda: fs.sufficiency(["a", "b", "c"], [0, 1, 0], X), NotScoped, r"applies\(X, explanation\)"),
        (
            lambda: fs.sufficiency(fs.Prototypes([0, 1, 2]), [0, 1, 0], X),
            NotScoped,
            r"Prototypes\(indices, points\).*Nearest",
        ),
        (
            lambda: fs.sufficiency(fs.Prototypes([0, 1, 2]), [0, 1, 0], X, relation=fs.Ball(1)),
            BadInput,
            r"Prototypes\(indices, points\)",
        ),
        (lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation=fs.Nearest()), WrongType, "by prototypes"),
        (lambda: fs.Prototypes([0, 5], points=X), BadInput, "Row 1 names prototype 5, but there are only 3 points"),
        (lambda: fs.Ball(-1), BadInput, "at least 0; got -1"),
        (lambda: fs.Ball("far"), BadInput, "got 'far'"),
        (lambda: fs.within(X, [0, 1, 0], -0.5), BadInput, "at least 0; got -0.5"),
        (lambda: fs.within(X, [0, 1, 0], np.inf), BadInput, "finite"),
        (lambda: fs.within(["a", "b", "c"], [0, 1, 0], 1.0), WrongType, "needs vectors of numbers"),
        (lambda: fs.within(X, [0, 1, 0], 1.0, metric="no such"), BadInput, "metric='no such' could not be used"),
        (lambda: fs.within(X, [0, 1], 1.0), BadInput, "3 rows but predictions have 2"),
        (lambda: fs.within(X, [0, 1, 0], 1 + 0j), BadInput, "tau is a distance"),
        (lambda: fs.within(X, [0, 1, 0], 1.0, metric="precomputed"), BadInput, "computed between rows"),
        (lambda: fs.within_curve(X, [0, 1, 0], []), BadInput, "empty"),
        (lambda: fs.Prototypes(np.array([[True, False]])), BadInput, "came as a mask"),
        (lambda: fs.Highlights("great"), WrongType, "got a single str"),
        (lambda: fs.Highlights({"great"}), WrongType, "came as a set"),
        (lambda: fs.Highlights([{"a"}], tokenizer=3), WrongType, "tokenizer must be a function"),
        (lambda: fs.Highlights([{"a"}], vocabulary=["a", "a"]), BadInput, "names 'a' twice"),
        (lambda: fs.Rules.from_conditions(3), WrongType, "one list of conditions per row"),
        (
            lambda: fs.sufficiency(fs.Rules.from_conditions([[("x", "<=", 1)]] * 3), [0, 1, 0], [{"x": 1}] * 3),
            WrongType,
            "Rows must be lists with one value per feature",
        ),
        (lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation=Within(1.0)), WrongType, "relates explanations"),
        (
            lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation="near"),
            WrongType,
            "relation='near' is not a relation",
        ),
        (lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation=fs.Nearest), WrongType, "is not a relation"),
        (
            lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation=lambda rows, e: rows[:2, 0] > 0),
            WrongType,
            r"mask of 3 booleans.*shape \(2,\)",
        ),
        (
            lambda: fs.sufficiency(["a"] * 3, [0, 1, 0], X, relation=lambda rows, e: rows[:, 0]),
            WrongType,
            "float64",
        ),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(X, X + 1), [0, 1, 0], X[:2]),
            BadInput,
            "X have 2 rows but explanations have 3",
        ),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(X, X + 1), [0, 1, 0], np.zeros((3, 2))),
            BadInput,
            "2 features, but the explanations have 1",
        ),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(X, X + 1), [0, 1, 0], np.array([["a"]] * 3)),
            WrongType,
            "metric='gower'",
        ),
        (
            lambda: fs.Counterfactuals([["a"]], [["b"]], metric="euclidean"),
            BadInput,
            "these rows have categories or dates: use metric='gower'",
        ),
    ],
)
def test_what_cannot_be_covered_is_refused_in_a_sentence(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_equal_counterfactuals_cover_different_balls():
    pairs = fs.Counterfactuals([[2.0], [2.0]], [[0.0], [1.5]])
    assert pairs.group()[0].tolist() == [0, 0], "equality is by the point"
    assert pairs.scope_key[1].ravel().tolist() == [2.0, 0.5]
    balls = pairs.balls()
    assert balls.group()[0].tolist() == [0, 1], "coverage is by the ball"
    assert balls.describe(1) == "nearer than 0.5 to x0 1.5"
    found = fs.sufficiency(pairs, [0, 0], [[0.0], [1.5]])
    assert found.distinct == 2


def test_the_counterfactual_itself_lies_outside_its_open_ball():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 5))
    points = rows[rng.permutation(200)]
    both = np.concatenate([rows, points])
    pairs = fs.Counterfactuals(np.concatenate([points, rows]), both)
    inside = pairs.balls().inside(both)(0, 200)
    assert not inside[np.arange(200), np.arange(200) + 200].any()


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
    columns = columns_of(pd.DataFrame({"a": [0.0, np.nan, np.nan, 10.0]}))
    gower = Gower.fit(columns)
    scaled = gower.read(columns)
    distance = gower.between([scaled[0][:, None]], [scaled[0][None, :]])
    assert distance[0].tolist() == [0, 1, 1, 1]
    assert distance[1].tolist() == [1, 0, 0, 1]
    with pytest.raises(BadInput, match="2 features, but this distance was learned on 1"):
        gower.read(columns * 2)


def test_distances_one_by_one_round_as_distances_of_all():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(100, 7)), rng.normal(size=(100, 7))
    for metric in ("euclidean", "cosine", "canberra"):
        assert (paired(a, b, metric) == np.diagonal(pairwise(a, b, metric))).all()


def test_a_row_with_a_missing_number_is_in_no_ball():
    pairs = fs.Counterfactuals([[5.0]], [[0.0]])
    assert pairs.balls().inside(np.array([[np.nan], [1.0]]))(0, 1).tolist() == [[False, True]]


def test_a_relation_may_read_tables_and_return_a_series():
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    found = fs.sufficiency([0.0, 1.0, 1.0], [0, 1, 1], table, relation=lambda rows, bound: rows["x"] >= bound)
    assert found.n == 3
    assert found.value == pytest.approx((0 + 1 + 1) / 3)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "hamming", "canberra"])
def test_a_row_that_misses_a_number_has_no_distance(metric):
    rows = np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, 1.0]])
    found = pairwise(rows, rows, metric)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    assert np.isfinite(found[np.ix_([0, 2], [0, 2])]).all()


def test_the_room_lists_the_relations_there_are():
    assert dir(fs.relations) == ["Applies", "Ball", "Judged", "Nearest", "Same", "Within"]
