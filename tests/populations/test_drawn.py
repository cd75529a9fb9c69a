"""Draws of one's own, in all shapes that callers hold them in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs
from faithscope.errors import BadInput, WrongType

RULES = fs.Rules.from_conditions([[("a", "<=", 5.0)], [("a", ">", 1.0)]], features=["a", "b"])
ROWS = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
LABELS = np.array([[1, 0], [1, 1]])
FLAT, OF = ROWS.reshape(4, 2), [0, 0, 1, 1]
TABLE, TURNED = pd.DataFrame(FLAT, columns=["a", "b"], index=list("pqrs")), pd.Series(OF, index=list("srqp"))


def tables(make):
    return [make(part) for part in ROWS]


SHAPES = {
    "array of three axes": (ROWS, LABELS, None),
    "flat predictions": (ROWS, LABELS.ravel(), None),
    "list of arrays": (list(ROWS), list(LABELS), None),
    "lists of lists": (ROWS.tolist(), LABELS.tolist(), None),
    "frames": (tables(lambda part: pd.DataFrame(part, columns=["a", "b"])), [pd.Series(y) for y in LABELS], None),
    "polars": (tables(lambda part: pl.DataFrame(part, schema=["a", "b"])), LABELS.tolist(), None),
    "one array with of": (FLAT, LABELS.ravel(), OF),
    "one frame with of": (pd.DataFrame(FLAT, columns=["a", "b"], index=[4, 2, 9, 1]), LABELS.ravel(), pd.Series(OF)),
    "another order": (FLAT[[3, 0, 2, 1]], LABELS.ravel()[[3, 0, 2, 1]], [1, 0, 1, 0]),
    "labels as text": (ROWS, LABELS.astype(str), None),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_draws_in_every_shape_give_the_same(shape):
    rows, labels, of = SHAPES[shape]
    own = ["1", "1"] if shape == "labels as text" else [1, 1]
    measured = fs.sufficiency(RULES, own, population=fs.drawn(RULES, rows, labels, of=of))
    assert measured.counts.agreeing.tolist() == [1, 2]
    assert measured.counts.others.tolist() == [2, 2]
    assert measured.value == 0.75


def test_as_many_draws_as_one_likes_and_none_for_some():
    told = fs.drawn(RULES, [[[1.0, 2.0]], []], [[0], []])
    measured = fs.sufficiency(RULES, [0, 1], population=told)
    assert (measured.value, measured.unverifiable) == (0.5, 0.5)


def test_one_draw_per_explanation_needs_no_nesting():
    told = fs.drawn(RULES, FLAT[[0, 3]], [1, 0])
    assert fs.sufficiency(RULES, [1, 1], population=told).value == 0.5
    words = fs.Highlights([{"good"}, {"bad"}])
    told = fs.drawn(words, ["good film", "bad film"], ["+", "+"])
    assert fs.sufficiency(words, ["+", "-"], ["good", "bad"], population=told).value == 0.5


def test_texts_come_as_lists_or_as_an_array_of_texts():
    words = fs.Highlights([{"good"}, {"bad"}])
    texts = [["good film", "good"], ["bad film", "bad"]]
    for rows in (texts, np.array(texts), np.array(texts, object)):
        told = fs.drawn(words, rows, [["+", "-"], ["-", "-"]])
        assert fs.sufficiency(words, ["+", "-"], population=told).value == 0.75


def test_a_model_is_asked_about_the_draws():
    model = lambda rows: (np.asarray(rows)[:, 0] > 4).astype(int)  # noqa: E731
    X = [[2.0, 0.0], [9.0, 0.0]]
    expected = fs.sufficiency(RULES, model(X), population=fs.drawn(RULES, ROWS, model(FLAT)))
    for told, predictions in ((fs.drawn(RULES, ROWS), model), (fs.drawn(RULES, ROWS, model), model(X))):
        assert fs.sufficiency(RULES, predictions, X, population=told).to_dict() == expected.to_dict()


def test_draws_that_the_explanation_does_not_cover_are_left_out_and_told():
    rows = np.array([[[1.0, 2.0], [9.0, 4.0]], [[0.0, 6.0], [0.0, 8.0]]])
    measured = fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, rows, LABELS))
    assert measured.counts.others.tolist() == [1, 0]
    assert "3 draws are left out, of 4, since their explanation does not apply to them" in measured.notes
    every = fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, rows, LABELS, only_covered=False))
    assert every.counts.others.tolist() == [2, 2]
    asked = fs.sufficiency(RULES, lambda given: [1] * len(given), [[1.0, 1.0]] * 2, population=fs.drawn(RULES, rows))
    assert asked.counts.others.tolist() == [1, 0]


def test_importances_may_have_draws_of_ones_own():
    phi = np.eye(2)
    assert fs.sufficiency(phi, [1, 1], population=fs.drawn(phi, ROWS, LABELS)).value == 0.75


def test_rows_of_weight_0_are_left_out_with_their_draws():
    told = fs.drawn(RULES, ROWS, LABELS)
    assert fs.sufficiency(RULES, [1, 1], population=told, weights=[0, 1]).value == 1
    assert fs.sufficiency(RULES, [1, 1], population=told, weights=[3, 1]).value == pytest.approx(0.625)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: fs.drawn(RULES, ROWS[:1], LABELS), "2 explanations, and draws of 1"),
        (lambda: fs.drawn(RULES, FLAT, LABELS), "2 explanations, and draws of 4: .* with of="),
        (lambda: fs.drawn(RULES, FLAT, LABELS.ravel(), of=[0, 0, 1]), "Rows have 4 rows but of have 3"),
        (lambda: fs.drawn(RULES, FLAT, LABELS.ravel(), of=[0, 0, 1, 2]), "from 0 to 1; got 2"),
        (lambda: fs.drawn(RULES, FLAT, LABELS.ravel(), of=[0, 0, 1, 0.5]), "whole number"),
        (lambda: fs.drawn(RULES, ROWS, [[1, 0], [1]]), "Explanation 1 has 2 draws and 1 predictions"),
        (lambda: fs.drawn(RULES, ROWS, [1, 0, 1]), "4 draws and 3 predictions"),
        (lambda: fs.drawn(RULES, ROWS, LABELS, only_covered=1), "True or False"),
        (lambda: fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, ROWS)), "have no predictions"),
        (lambda: fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, ROWS, [["1"] * 2] * 2)), "of another type"),
        (lambda: fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, ROWS, [[1, None]] * 2)), "missing|None"),
        (lambda: fs.sufficiency(RULES, [1, 1], population=fs.drawn(RULES, ROWS, [[1, np.nan]] * 2)), "missing|nan"),
        (
            lambda: fs.sufficiency(RULES.take([1, 0]), [1, 1], population=fs.drawn(RULES, ROWS, LABELS)),
            "other explanations: 'a <= 5' at row 0, and here it is 'a > 1'",
        ),
        (lambda: fs.sufficiency(RULES.take([1]), [1], population=fs.drawn(RULES, ROWS, LABELS)), "have 1 rows but"),
        (lambda: fs.drawn(RULES, TABLE, TURNED, of=OF), "Predictions have the row labels of rows in another order"),
        (lambda: fs.drawn(RULES, TABLE, [1] * 4, of=TURNED), "Of have the row labels of rows in another order"),
        (lambda: fs.drawn(RULES, ROWS, LABELS).draw(RULES, ROWS[:, 0]), "made elsewhere"),
    ],
)
def test_wrong_draws_get_one_sentence(call, told):
    with pytest.raises((BadInput, WrongType), match=told) as raised:
        call()
    assert "\n" not in str(raised.value)
