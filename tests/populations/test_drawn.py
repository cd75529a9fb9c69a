"""Draws of one's own, one below the other, each with the position of its explanation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs

RULES = fs.Rules.parse(["a <= 5", "a > 1"], features=["a", "b"])
WORDS = fs.Highlights([{"good"}, {"bad"}])
ROWS, LABELS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]), np.array([1, 0, 1, 1])
OF, ORDER = [0, 0, 1, 1], [3, 0, 2, 1]
TEXTS, SIGNS = ["good film", "good", "bad film", "bad"], ["+", "-", "-", "-"]


def measured(population, predictions=(1, 1), explanations=RULES, **how):
    return fs.sufficiency(explanations, list(predictions), population=population, **how)


def test_draws_in_every_form_give_the_same():
    for rows, labels, of in [
        (ROWS, LABELS, OF),
        (ROWS.tolist(), LABELS.tolist(), OF),
        (pl.DataFrame(ROWS, schema=["a", "b"]), pl.Series(LABELS), OF),
        (pd.DataFrame(ROWS, columns=["a", "b"], index=[4, 2, 9, 1]), LABELS, pd.Series(OF)),
        (ROWS[ORDER], LABELS[ORDER], [1, 0, 1, 0]),
    ]:
        counts = measured(fs.drawn(RULES, rows, labels, of=of)).counts
        assert (counts.agreeing.tolist(), counts.others.tolist()) == ([1, 2], [2, 2])


def test_draws_are_compared_with_the_prediction_of_their_row():
    for explanations, rows, labels, of, own, value, how in [
        (RULES, ROWS, LABELS.astype(str), OF, ["1", "1"], 0.75, {}),
        (np.eye(2), ROWS, LABELS, OF, [1, 1], 0.75, {}),
        (RULES, ROWS[[0, 3]], [1, 0], None, [1, 1], 0.5, {}),
        (RULES, ROWS, LABELS, OF, [1, 1], 0.625, {"weights": [3, 1]}),
        (RULES, ROWS[:1], [0], [0], [0, 1], 0.5, {}),
        (WORDS, ["good film", "bad film"], ["+", "+"], None, ["+", "-"], 0.5, {}),
        (WORDS, TEXTS, SIGNS, OF, ["+", "-"], 0.75, {}),
        (WORDS, [text.split() for text in TEXTS], SIGNS, OF, ["+", "-"], 0.75, {}),
    ]:
        told = measured(fs.drawn(explanations, rows, labels, of=of), own, explanations, **how)
        assert told.value == pytest.approx(value)
        assert told.unverifiable == (0.5 if of == [0] else 0)


def test_a_model_is_asked_about_the_draws():
    def model(rows):
        return (np.asarray(rows)[:, 0] > 4).astype(int)

    X = [[2.0, 0.0], [9.0, 0.0]]
    expected = measured(fs.drawn(RULES, ROWS, model(ROWS), of=OF), model(X)).to_dict()
    drawn = fs.drawn(RULES, ROWS, of=OF), fs.drawn(RULES, ROWS, model, of=OF)
    for population, predictions in zip(drawn, (model, model(X)), strict=True):
        assert fs.sufficiency(RULES, predictions, X, population=population).to_dict() == expected


def test_draws_that_the_explanation_does_not_cover_are_left_out_and_told():
    rows = np.array([[1.0, 2.0], [9.0, 4.0], [0.0, 6.0], [0.0, 8.0]])
    told = measured(fs.drawn(RULES, rows, LABELS, of=OF))
    assert told.counts.others.tolist() == [1, 0]
    assert "3 draws are left out, of 4, since their explanation does not apply to them" in told.notes
    assert measured(fs.drawn(RULES, rows, LABELS, of=OF, only_covered=False)).counts.others.tolist() == [2, 2]
    asked = fs.drawn(RULES, rows, of=OF)
    asked = fs.sufficiency(RULES, lambda given: [1] * len(given), [[1.0, 1.0]] * 2, population=asked)
    assert asked.counts.others.tolist() == [1, 0]
