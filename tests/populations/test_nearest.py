"""The nearest real rows that an explanation covers, against distances computed one by one."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from brute import gower


def test_the_k_nearest_covered_rows_are_drawn_with_the_fixed_features_of_the_row():
    rng = default_rng(1)
    train = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": rng.choice(["x", "y", "z"], 60)})
    X = train.iloc[[3, 9, 40]].assign(a=lambda f: f["a"] + 0.01)
    rules = fs.Rules.from_conditions([[("a", "<=", float(a) + 0.5), ("c", "!=", "q")] for a in X["a"]])
    drawn = fs.Conditional(train, k=5).draw(rules, X)
    distance = gower(pd.concat([X, train]), known=train)[:3, 3:]
    for row, x in enumerate(X.itertuples()):
        order = np.argsort(np.where(train["a"] <= x.a + 0.5, distance[row], np.inf))[:5]
        expected = train.iloc[order].assign(a=x.a, c=x.c)
        assert drawn.rows[drawn.of == row].values.tolist() == expected.values.tolist()


def test_a_row_is_never_its_own_neighbor():
    X = default_rng(0).normal(size=(30, 2))
    rules = fs.Rules.from_conditions([[]] * 30, features=["a", "b"])
    drawn = fs.Conditional(X, k=1).draw(rules, X)
    assert (drawn.rows != X[drawn.of]).any(axis=1).all()
    # Of two equal training rows one is left out.
    assert (fs.Conditional(np.repeat(X, 2, axis=0), k=1).draw(rules, X).rows == X).all()


def test_a_row_that_its_explanation_misses_takes_all_from_the_nearest_rows():
    train = np.array([[1.0, 1.0], [2.0, 2.0], [9.0, 9.0]])
    drawn = fs.Conditional(train, k=5).draw(fs.Rules.parse(["a <= 5"], features=["a", "b"]), [[8.0, 8.0]])
    assert drawn.rows.tolist() == [[2.0, 2.0], [1.0, 1.0]]


def test_fewer_rows_than_k_and_none_at_all_are_told():
    rules = fs.Rules.parse(["a > 2", "a > 7", "a > 50"], features=["a"])
    nearest = fs.Conditional(np.arange(10.0)[:, None], k=4)
    measured = fs.sufficiency(
        rules, lambda rows: rows[:, 0] > 100, np.array([[3.5], [8.5], [60.0]]), population=nearest
    )
    assert measured.counts.others.tolist() == [4, 2, 0]
    assert measured.value == pytest.approx(2 / 3)
    assert any(note.startswith("2 to 4 draws per row") for note in measured.notes)
    assert "1 row has an explanation that leaves no draw" in measured.notes
    assert "that leaves no draw" in measured.to_markdown()
