"""How models and explainers are asked: each with rows of its own, and errors say when and on which rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.random import default_rng
from scipy import sparse

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.evaluation.asker import rows_of_its_own
from faithscope.evaluation.cache import Cache
from refused import refused

ROWS = default_rng(0).normal(size=(300, 3))


def predict(rows):
    return np.asarray(rows)[:, 0] > 0


def by_frame(rows):
    return rows["a"].to_numpy() > 0


def spoiled(rows):
    """Change rows in place, as careless code does."""
    if isinstance(rows, pd.DataFrame):
        rows["a"] = rows["b"]
        rows["extra"] = 1
        rows.iloc[0, 1] = 7.0
    elif isinstance(rows, list):
        for row in rows:
            row[0] = row[1]
    else:
        rows[:, 0] = rows[:, 1]


KINDS = {
    "an array": (lambda: ROWS.copy(), predict),
    "an array by columns": (lambda: np.asfortranarray(ROWS), predict),
    "lists": (lambda: ROWS.tolist(), predict),
    "a frame": (lambda: pd.DataFrame(ROWS, columns=list("abc")), by_frame),
}


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_changes_its_rows_changes_no_number(tmp_path, kind):
    make, polite = KINDS[kind]

    def careless(rows):
        labels = polite(rows)
        spoiled(rows)
        return labels

    class Careless:
        def explain(self, rows):
            return careless(rows).astype(int)

    X = make()
    tree = fs.explainers.TreePath.surrogate(polite, make(), max_leaf_nodes=4)
    wanted = fs.evaluate(polite, tree, make())
    for cache in (None, Cache(tmp_path, rows=100)):
        compared = fs.compare(careless, {"careless": Careless(), "tree": tree}, X, cache=cache)
        assert compared["careless"].consistency.value == 1.0
        assert compared["tree"].sufficiency == wanted.sufficiency
    assert fs.local(X.iloc[[5]] if kind == "a frame" else X[5], careless, Careless(), X).value == 1.0
    assert np.array_equal(np.asarray(X), np.asarray(make()))


def test_rows_of_its_own_are_the_same_rows():
    frame = pd.DataFrame(ROWS, columns=list("abc"), index=np.arange(300) * 2)
    for rows in (frame, pl.DataFrame(ROWS)):
        assert rows_of_its_own(rows).equals(rows)
    assert rows_of_its_own(np.asfortranarray(ROWS)).strides == np.asfortranarray(ROWS).strides
    assert (rows_of_its_own(sparse.csr_matrix(ROWS)) != sparse.csr_matrix(ROWS)).nnz == 0
    assert rows_of_its_own(["a text", "another"]) == ["a text", "another"]


class Failing:
    """An explainer that fails on one row."""

    def explain(self, rows):
        if ROWS[150] in np.asarray(rows):
            raise KeyError("no such thing")
        return np.zeros(len(rows), int)


def test_an_error_says_when_and_on_which_rows_and_an_answer_that_cannot_be_used_names_who_gave_it(tmp_path):
    def broken(rows):
        raise ZeroDivisionError("by nothing")

    parts = Cache(tmp_path, rows=100)
    for model, explainer, cache, error, note in (
        (predict, Failing(), None, KeyError("no such thing"), "explaining with mine, on rows 0 to 299 of 300"),
        (predict, Failing(), parts, KeyError("no such thing"), "explaining with mine, on rows 100 to 199 of 300"),
        (broken, predict, None, ZeroDivisionError("by nothing"), "predicting, on rows 0 to 299 of 300"),
    ):
        with pytest.raises(type(error)) as caught:
            fs.compare(model, {"mine": explainer}, ROWS, cache=cache)
        assert caught.value.args == error.args
        assert caught.value.__notes__ == [f"Raised while {note} (counted from 0)."]
    with pytest.raises(BadInput) as caught:
        fs.compare(predict, {"mine": lambda rows: np.full((len(rows), 2), np.nan)}, ROWS)
    assert "explaining with mine" in caught.value.__notes__[0]


def test_an_error_that_refuses_notes_comes_as_it_is():
    class Closed(Exception):
        def add_note(self, note):
            raise TypeError

    def broken(rows):
        raise Closed("as it is")

    refused(Closed, "as it is", fs.evaluate, broken, predict, ROWS)
