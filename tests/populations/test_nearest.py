"""The nearest real rows that an explanation covers, against distances computed one by one."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs


def gower(x, y, ranges):
    return np.mean(
        [float(a != b) if r is None else min(1.0, abs(a - b) / r) for a, b, r in zip(x, y, ranges, strict=True)]
    )


def test_the_k_nearest_covered_rows_are_drawn_with_the_fixed_features_of_the_row():
    rng = np.random.default_rng(1)
    train = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(["x", "y", "z"], 60)})
    X = train.iloc[[3, 9, 40]].assign(a=lambda f: f["a"] + 0.01)
    rules = fs.Rules.from_conditions([[("a", "<=", float(a) + 0.5), ("c", "!=", "q")] for a in X["a"]])
    drawn = fs.Conditional(train, k=5).draw(rules, X)
    ranges = (np.ptp(train["a"]), np.ptp(train["b"]), None)
    for row in range(3):
        x = X.iloc[row]
        covered = train[train["a"] <= x["a"] + 0.5]
        order = sorted(range(len(covered)), key=lambda i: gower(covered.iloc[i], x, ranges))
        expected = covered.iloc[order[:5]].assign(a=x["a"], c=x["c"])
        seen = drawn.rows[drawn.of == row]
        assert seen["b"].tolist() == pytest.approx(expected["b"].tolist())
        assert seen["a"].tolist() == [x["a"]] * 5
        assert seen["c"].tolist() == [x["c"]] * 5


def test_a_row_is_never_its_own_neighbor():
    X = np.random.default_rng(0).normal(size=(30, 2))
    rules = fs.Rules.from_conditions([[]] * 30, features=["a", "b"])
    drawn = fs.Conditional(X, k=1).draw(rules, X)
    assert (drawn.rows != X[drawn.of]).any(axis=1).all()
    # Of two equal training rows one is left out.
    twice = np.repeat(X, 2, axis=0)
    assert (fs.Conditional(twice, k=1).draw(rules, X).rows == X).all()


def test_a_row_that_its_explanation_misses_takes_all_from_the_nearest_rows():
    train = np.array([[1.0, 1.0], [2.0, 2.0], [9.0, 9.0]])
    rules = fs.Rules.from_conditions([[("a", "<=", 5.0)]], features=["a", "b"])
    assert fs.Conditional(train, k=5).draw(rules, [[8.0, 8.0]]).rows.tolist() == [[2.0, 2.0], [1.0, 1.0]]


def test_fewer_rows_than_k_and_none_at_all_are_told():
    train = np.arange(10.0)[:, None]
    rules = fs.Rules.from_conditions([[("a", ">", x)] for x in (2.0, 7.0, 50.0)], features=["a"])
    X = np.array([[3.5], [8.5], [60.0]])
    measured = fs.sufficiency(rules, lambda rows: rows[:, 0] > 100, X, population=fs.Conditional(train, k=4))
    assert measured.counts.others.tolist() == [4, 2, 0]
    assert measured.value == pytest.approx(2 / 3)
    assert any(note.startswith("2 to 4 draws per row") for note in measured.notes)
    assert "1 row has an explanation that leaves no draw" in measured.notes


def test_missing_values_are_a_value_of_their_own():
    train = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": ["x", None, "y"]})
    rules = fs.Rules.from_conditions([[]], features=["a", "b"])
    X = pd.DataFrame({"a": [np.nan], "b": ["x"]})
    near = fs.Conditional(train, k=1).draw(rules, X).rows
    assert near.index.size == 1
