"""Draws of one's own, in all shapes that callers hold them in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs

RULES = fs.Rules.parse(["a <= 5", "a > 1"], features=["a", "b"])
WORDS = fs.Highlights([{"good"}, {"bad"}])
ROWS = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
LABELS = np.array([[1, 0], [1, 1]])
FLAT, OF, ORDER = ROWS.reshape(4, 2), [0, 0, 1, 1], [3, 0, 2, 1]
TEXTS = [["good film", "good"], ["bad film", "bad"]]


def measured(population, predictions=(1, 1), explanations=RULES, **how):
    return fs.sufficiency(explanations, list(predictions), population=population, **how)


@pytest.mark.parametrize(
    ("rows", "labels", "how"),
    [
        (ROWS, LABELS, {}),
        (ROWS, LABELS.ravel(), {}),
        (ROWS.tolist(), LABELS.tolist(), {}),
        ([pd.DataFrame(part, columns=["a", "b"]) for part in ROWS], [pd.Series(y) for y in LABELS], {}),
        ([pl.DataFrame(part, schema=["a", "b"]) for part in ROWS], list(LABELS), {}),
        (pd.DataFrame(FLAT, columns=["a", "b"], index=[4, 2, 9, 1]), LABELS.ravel(), {"of": pd.Series(OF)}),
        (FLAT[ORDER], LABELS.ravel()[ORDER], {"of": [1, 0, 1, 0]}),
    ],
    ids=["three axes", "flat predictions", "lists", "frames", "polars", "one frame with of", "another order"],
)
def test_draws_in_every_shape_give_the_same(rows, labels, how):
    counts = measured(fs.drawn(RULES, rows, labels, **how)).counts
    assert (counts.agreeing.tolist(), counts.others.tolist()) == ([1, 2], [2, 2])


SIGNS = [["+", "-"], ["-", "-"]]


@pytest.mark.parametrize(
    ("explanations", "rows", "labels", "own", "value", "how"),
    [
        (RULES, ROWS, LABELS.astype(str), ["1", "1"], 0.75, {}),
        (np.eye(2), ROWS, LABELS, [1, 1], 0.75, {}),
        (RULES, FLAT[[0, 3]], [1, 0], [1, 1], 0.5, {}),
        (RULES, ROWS, LABELS, [1, 1], 0.625, {"weights": [3, 1]}),
        (RULES, [[[1.0, 2.0]], []], [[0], []], [0, 1], 0.5, {}),
        (WORDS, ["good film", "bad film"], ["+", "+"], ["+", "-"], 0.5, {}),
        (WORDS, TEXTS, SIGNS, ["+", "-"], 0.75, {}),
        (WORDS, np.array(TEXTS), SIGNS, ["+", "-"], 0.75, {}),
        (WORDS, np.array(TEXTS, object), SIGNS, ["+", "-"], 0.75, {}),
    ],
    ids=[
        *("labels as text", "importances", "one draw needs no nesting", "weights", "none for some"),
        *("one text per row", "lists of texts", "an array of texts", "an array of objects"),
    ],
)
def test_draws_are_compared_with_the_prediction_of_their_row(explanations, rows, labels, own, value, how):
    told = measured(fs.drawn(explanations, rows, labels), own, explanations, **how)
    assert told.value == pytest.approx(value)
    assert told.unverifiable == np.mean([len(each) == 0 for each in rows])


def test_a_model_is_asked_about_the_draws():
    def model(rows):
        return (np.asarray(rows)[:, 0] > 4).astype(int)

    X = [[2.0, 0.0], [9.0, 0.0]]
    expected = measured(fs.drawn(RULES, ROWS, model(FLAT)), model(X)).to_dict()
    for population, predictions in ((fs.drawn(RULES, ROWS), model), (fs.drawn(RULES, ROWS, model), model(X))):
        assert fs.sufficiency(RULES, predictions, X, population=population).to_dict() == expected


def test_draws_that_the_explanation_does_not_cover_are_left_out_and_told():
    rows = np.array([[[1.0, 2.0], [9.0, 4.0]], [[0.0, 6.0], [0.0, 8.0]]])
    told = measured(fs.drawn(RULES, rows, LABELS))
    assert told.counts.others.tolist() == [1, 0]
    assert "3 draws are left out, of 4, since their explanation does not apply to them" in told.notes
    assert measured(fs.drawn(RULES, rows, LABELS, only_covered=False)).counts.others.tolist() == [2, 2]
    asked = fs.sufficiency(RULES, lambda given: [1] * len(given), [[1.0, 1.0]] * 2, population=fs.drawn(RULES, rows))
    assert asked.counts.others.tolist() == [1, 0]
