"""Rows that repeat are told, with their share, and honest draws are not: whatever holds the rows, in any order."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.random import default_rng
from scipy import sparse

import faithscope as fs
from faithscope.inputs.repeats import repeated_share
from faithscope.notes import TOO_HIGH
from noted import noted

COLUMNS = ["age", "pay", "debt"]


def table(n):
    rng = default_rng(0)
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=COLUMNS).assign(job=rng.choice(["clerk", "nurse"], n))


def again(X, share=1.0):
    """The rows, and some of them again, in another order."""
    rng = default_rng(1)
    more = rng.choice(len(X), int(share * len(X)), replace=False)
    return X.iloc[rng.permutation(np.concatenate([np.arange(len(X)), more]))].reset_index(drop=True)


def share_of(X):
    return repeated_share(X, lambda rows: [])


def told(X, **options):
    """Notes on repeats of an evaluation with a few explanations, each of a function of the row."""
    leaf = np.floor(X.iloc[:, 0].to_numpy()).astype(int)
    notes = fs.evaluate(leaf % 2, leaf, X, **options).consistency.notes
    return [note for note in notes if "repeat an earlier row" in note]


def test_a_doubled_table_is_told_with_half_of_its_rows_in_any_order_unless_clusters_say_so():
    X = table(300)
    twice = pd.concat([X, X], ignore_index=True)
    assert told(X) == told(twice, clusters=np.tile(np.arange(300), 2)) == []
    for doubled in (twice, again(X)):
        (note,) = told(doubled)
        assert note.startswith("50% of rows repeat an earlier row in every column: ")
        assert TOO_HIGH in note


def test_a_few_real_rows_recorded_again_are_told_with_their_share():
    for n, share in [(500, 0.3), (5_000, 0.1), (20_000, 0.05)]:
        assert share_of(again(table(n), share)) == pytest.approx(share / (1 + share))


def test_fewer_than_one_row_in_a_hundred_is_not_told():
    assert share_of(again(table(1000), 0.009)) == 0.0


HELD = {
    "pandas": lambda X: X,
    "polars": pl.from_pandas,
    "arrow": lambda X: pa.Table.from_pandas(X, preserve_index=False),
    "objects": lambda X: X.to_numpy(object),
    "lists": lambda X: X.to_numpy(object).tolist(),
    "numbers": lambda X: X[COLUMNS].to_numpy(),
    "single precision": lambda X: X[COLUMNS].to_numpy(np.float32),
    "columns in memory": lambda X: np.asfortranarray(X[COLUMNS].to_numpy()),
    "images": lambda X: np.stack([X[COLUMNS].to_numpy()] * 2, axis=2),
    "categories": lambda X: X.astype({"job": "category"}),
    "dates": lambda X: X.assign(job=pd.Timestamp("2024-01-01") + pd.to_timedelta(X.age, "D")),
    "missing": lambda X: X.assign(pay=X.pay.where(X.age > 0), job=X.job.where(X.age > 0)),
    "sparse": lambda X: sparse.csr_matrix(X[COLUMNS].to_numpy()),
}


def test_what_holds_the_rows_does_not_matter():
    for held in HELD:
        assert [share_of(HELD[held](X)) for X in (table(400), again(table(400)))] == [0.0, 0.5]


def test_signs_of_zero_and_of_nan_make_no_rows_different():
    X = default_rng(0).normal(size=(100, 3))
    X[:, 0], X[0, 1] = 0.0, np.nan
    other = X.copy()
    other[:, 0], other[0, 1] = -0.0, -np.nan
    assert share_of(np.concatenate([X, other])) == 0.5


@pytest.mark.parametrize("n", [20, 200, 2000])
@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_chance_repeats_of_a_table_of_categories_are_not_told(n, width):
    X = default_rng(0).integers(0, 3, (n, width))
    one_hot = (X[:, :, None] == np.arange(3)).reshape(n, -1).astype(float)
    assert share_of(X) == share_of(one_hot) == 0.0


def test_a_doubled_table_of_categories_is_told_if_its_rows_are_rare():
    X = default_rng(0).integers(0, 4, (400, 5))
    assert share_of(X) == 0.0
    assert share_of(np.concatenate([X, X])) > 0.5


def test_the_same_row_with_another_explanation_or_prediction_is_not_a_repeat():
    X = table(200).drop(columns="job").to_numpy()
    X = np.concatenate([X, X])
    same, other = np.zeros(400), np.arange(400)
    for explanations, predictions in ((other, same), (same, np.repeat([0, 1], 200))):
        notes = fs.evaluate(predictions, explanations, X).consistency.notes
        assert not any("repeat an earlier row" in note for note in notes)


def test_rows_that_cannot_be_read_are_not_told():
    class Row:
        def __repr__(self):
            raise RuntimeError

    assert share_of([Row() for _ in range(10)] * 2) == 0.0


def test_many_rows_are_told_like_few():
    X = default_rng(0).normal(size=(150_000, 3))
    assert share_of(np.concatenate([X, X])) == 0.5
    assert share_of(np.concatenate([X, X + 1])) == 0.0
    few = default_rng(0).integers(0, 9, (300_000, 6))
    assert share_of(few) == 0.0


def test_consistency_doubts_explanations_that_all_come_in_pairs():
    """F1: each row is its twin's witness, so that coin flips seem perfectly explained."""
    for agreement in [None, fs.Spread(), fs.Close(0.5)]:
        rng = default_rng(0)
        values, coins = rng.normal(size=(400, 2)), rng.integers(0, 2, 400) * 1.0
        twice = fs.consistency(np.tile(values, (2, 1)), np.tile(coins, 2), agreement=agreement)
        assert twice.low > 0.9
        assert any(TOO_HIGH in note and "400 explanations were given to exactly 2 rows" in note for note in twice.notes)
        once = fs.consistency(values.round(0), coins, agreement=agreement)
        assert not noted(once, TOO_HIGH)
        clustered = np.tile(np.arange(400), 2)
        if not isinstance(agreement, fs.Spread):
            told = fs.consistency(np.tile(values, (2, 1)), np.tile(coins, 2), agreement=agreement, clusters=clustered)
            assert not noted(told, TOO_HIGH)
