"""Explanations that restate the prediction are told, whatever the order of rows; a single exception silences it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.notes import NO_MERIT, RESTATE, doubts


def restates(estimate, words=(NO_MERIT, RESTATE)):
    return [note for note in estimate.notes if any(word in note for word in words)]


def copies(estimate):
    """Notes on columns or words that copy the prediction."""
    return restates(estimate, [RESTATE])


@st.composite
def columns(draw):
    """Predictions of a few labels, enough rows of each, and another name for each label."""
    labels = draw(st.integers(2, 5))
    rows = draw(st.lists(st.integers(0, labels - 1), min_size=20, max_size=60))
    names = draw(st.permutations(range(10, 10 + labels)))
    return np.array([*rows, *list(range(labels)) * 5]), np.array(names)


@given(drawn=columns(), seed=st.integers(0, 99))
def test_another_name_of_the_prediction_is_told_in_any_order_and_however_often_rows_repeat(drawn, seed):
    y, names = drawn
    order = default_rng(seed).permutation(np.tile(np.arange(len(y)), 2))
    for rows in (np.arange(len(y)), order):
        (note,) = restates(fs.consistency(names[y][rows], y[rows]))
        assert note.startswith("each prediction has exactly one explanation, so these explanations say no more than")
    weights, clusters = default_rng(seed).random(len(y)) + 0.1, np.arange(len(y)) // 2
    assert restates(fs.consistency(names[y], y, weights=weights))
    assert restates(fs.consistency(names[y], y, clusters=clusters))


@given(drawn=columns(), data=st.data())
def test_one_row_that_breaks_it_silences_it(drawn, data):
    y, names = drawn
    row = data.draw(st.integers(0, len(y) - 1))
    for other in (names[y].max() + 1, names[(y[row] + 1) % len(names)]):
        explanations = names[y].copy()
        explanations[row] = other
        assert not restates(fs.consistency(explanations, y))


def test_few_rows_or_a_rare_second_label_may_be_an_accident():
    for yes, no, told in [(15, 5, True), (14, 5, False), (96, 4, False), (100, 0, False)]:
        y = np.array(["yes"] * yes + ["no"] * no)
        assert bool(restates(fs.consistency(y, y))) is told
        rules = fs.Rules.from_conditions([[("copy", "==", label)] for label in y], features=["copy"])
        assert bool(copies(fs.sufficiency(rules, y, pd.DataFrame({"copy": y})))) is told


def test_numbers_and_tables_of_many_explanations_are_not_told():
    rng = default_rng(0)
    y = rng.integers(0, 3, 300)
    assert not restates(fs.consistency(y, y.astype(float), agreement=fs.Spread()))
    assert not restates(fs.consistency(y * 2 + rng.integers(0, 2, 300), y))
    assert not restates(fs.consistency(y // 2, y))
    assert not restates(fs.within(y[:, None].astype(float), y, 0.1))


VALUES = {
    "text": lambda y: np.where(y, "A", "D"),
    "bool": lambda y: y,
    "float": lambda y: np.where(y, 1.5, -2.0),
    "missing": lambda y: np.where(y, 1.5, np.nan),
    "categorical": lambda y: pd.Categorical(np.where(y, "A", "D")),
    "missing text": lambda y: np.where(y, "A", None),
    "date": lambda y: np.where(y, np.datetime64("2020-01-01"), np.datetime64("NaT")),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("n", [120, 2_500])
def test_a_column_that_copies_the_prediction_is_told_unless_one_row_differs(kind, n):
    rng = default_rng(0)
    y = rng.random(n) < 0.4
    X = pd.DataFrame({"age": rng.normal(size=n), "approved": VALUES[kind](y)})
    rules = fs.Rules.from_conditions(
        [
            [("approved", "==" if label else "!=", None)] if row % 2 else [("age", ">", 0.0)]
            for row, label in enumerate(y)
        ]
    )
    expected = "column 'approved' has one value per prediction; rules that test it (2 of 3) restate the prediction if"
    (note,) = copies(fs.sufficiency(rules, y, X))
    assert note.startswith(expected)
    assert note in fs.evaluate(y, rules, X).sufficiency.notes
    order = rng.permutation(n)
    assert note in fs.sufficiency(rules.take(order), y[order], X.iloc[order]).notes
    other = y.copy()
    other[-1] = not other[-1]  # beyond the rows that are looked at first, if there are many
    assert not copies(fs.sufficiency(rules, other, X))


def test_columns_of_an_array_are_told_by_the_name_that_rules_have_for_them():
    y = np.arange(60) % 3
    X = np.column_stack([np.arange(60.0), y])
    rules = fs.Rules.from_conditions([[("copy", "==", float(label))] for label in y], features=["id", "copy"])
    assert any(note.startswith("column 'copy' has one value") for note in fs.sufficiency(rules, y, X).notes)
    unused = fs.Rules.from_conditions([[("id", "<=", 30.0)]] * 60, features=["id", "copy"])
    assert not copies(fs.sufficiency(unused, y, X))


@pytest.mark.parametrize("counting", [{}, {"weights": "w"}, {"clusters": "w"}])
def test_doubts_of_all_rows_are_told_of_groups_beside_everybody_of_a_log_too(counting):
    labels = np.repeat(default_rng(0).integers(0, 2, 40), 5)
    log = pd.DataFrame({"reason": np.repeat(range(40), 5), "says": labels, "g": [*"abbab"] * 40, "w": [1, 2] * 100})
    for reasons, known in (("reason", 0 if "clusters" in counting else 1), ("says", 1)):
        kept = fs.Log(log.assign(y=labels), prediction="y", explanation=reasons, **counting)
        doubted = doubts(fs.consistency(kept).notes)
        assert len(doubted) == known
        held = {name: log[column] for name, column in counting.items()}
        asked = fs.consistency(log[reasons], labels, askers=log.g == "a", **held)
        grouped = fs.consistency(log[reasons], labels, by=log.g, **held)
        for found in (asked, grouped["a"], fs.consistency(kept, by="g")["a"]):
            assert doubts(found.notes) == doubted
