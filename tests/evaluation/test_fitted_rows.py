"""A surrogate judged on the rows that it was fitted on is told; one judged on other rows is not."""

import hashlib

import numpy as np
import pandas as pd
import polars as pl
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.explainers import TreePath

NAMES = [f"x{j}" for j in range(5)]


def flips(X):
    """A coin flip per row, always the same for the same row: no explanation of several rows says anything about it."""
    rows = np.ascontiguousarray(np.asarray(X, np.float32))
    return np.array([hashlib.blake2b(row.tobytes(), digest_size=1).digest()[0] & 1 for row in rows])


def rows(n, seed):
    return default_rng(seed).normal(size=(n, 5))


def told(explainer, X, model=flips):
    evaluation = fs.evaluate(model, explainer, X)
    assert evaluation.sufficiency is not None
    notes = [note for note in evaluation.consistency.notes if "was fitted on" in note]
    assert notes == [note for note in evaluation.sufficiency.notes if "was fitted on" in note]
    return notes


def test_a_surrogate_looks_faithful_on_its_own_rows_and_their_share_is_told():
    X, other = rows(400, 0), rows(400, 1)
    surrogate = TreePath.surrogate(flips, X)
    assert fs.evaluate(flips, surrogate, X).consistency.low > 0.7
    assert fs.evaluate(flips, surrogate, other).consistency.low < 0.5
    for share in (0.1, 0.5, 0.75, 1.0):
        many = int(400 * share)
        assert told(surrogate, np.concatenate([X[:many], other[many:]])) == [
            f"{share:.0%} of rows are among those that the explainer was fitted on: the estimate tends to be too high; "
            "judge it on other rows"
        ]
    assert told(surrogate, other) == []


HELD = [
    lambda X: X[::-1],
    lambda X: pd.DataFrame(X, columns=NAMES),
    lambda X: pl.DataFrame(X, schema=NAMES),
    lambda X: X.astype(np.float32),
    lambda X: X.tolist(),
    np.asfortranarray,
]


def test_the_same_rows_are_known_whatever_holds_them():
    X = rows(200, 0)
    surrogate = TreePath.surrogate(flips, X)
    for hold in HELD:
        assert told(surrogate, hold(X))[0].startswith("100%")
        assert told(TreePath.surrogate(flips, hold(X)), hold(X))
        assert told(surrogate, hold(rows(200, 1))) == []


def test_rows_of_categories_that_another_draw_shares_by_chance_are_not_told():
    for seed in range(3):
        draws = default_rng(seed).integers(0, 3, (900, 4)).astype(float)
        surrogate = TreePath.surrogate(flips, draws[:600])
        assert told(surrogate, draws[600:]) == []
        assert told(surrogate, draws[:600][::-1])


def test_rows_with_categories_dates_and_missing_values_are_known_again():
    rng = default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=200), "job": rng.choice(["clerk", "nurse"], 200)})
    X["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, 200), "D")
    X.loc[:20, "age"], X.loc[30:50, "job"] = np.nan, None
    coins = rng.integers(0, 2, 200)
    surrogate = TreePath.surrogate(lambda rows: coins[: len(rows)], X)
    assert told(surrogate, X[::-1].reset_index(drop=True), coins)


def test_a_tree_that_is_the_model_is_not_told_and_a_surrogate_of_ones_own_is():
    X = rows(300, 0)
    tree = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0).fit(X, flips(X))
    assert told(TreePath(tree), X, tree) == []
    assert told(TreePath(tree), X, tree.predict) == []
    (note,) = told(TreePath(tree), X[::-1])
    assert "unless its tree is the model itself" in note
    assert told(TreePath(tree), rows(300, 1)) == []
