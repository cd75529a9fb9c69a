"""The tables and notes of repeatability."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs

ROWS = pd.DataFrame({"age": [0.5, -0.2, 0.1], "job": [0.1, 0.9, 0.0]}, index=["ann", "bob", "cy"])


def test_rows_are_told_least_repeatable_first_with_their_labels_and_explanations():
    other = ROWS.assign(age=[0.5, 0.2, 0.1])
    table = fs.repeatability([ROWS, other, other], discretizer="sign").table()
    assert table[["row", "index", "value"]].values.tolist() == [
        [1, "bob", pytest.approx(1 / 3)],
        [0, "ann", 1],
        [2, "cy", 1],
    ]
    differing, same = table[["different", "commonest"]].values.tolist()[:2]
    assert differing == [2, "age 1, job 1"]
    assert same == [1, "age 1, job 1"]


def test_the_positions_of_rows_are_those_that_the_caller_knows():
    repeated = fs.repeatability([ROWS, -ROWS], weights=[0, 1, 1])
    assert sorted(repeated.table()[["row", "index"]].values.tolist()) == [[1, "bob"], [2, "cy"]]
    assert "1 row of weight 0 left out" in repeated.notes


RANDOM = list(default_rng(0).normal(size=(3, 30, 3)))
REPEATED = np.repeat(RANDOM[0][:20], 10, axis=0)


@pytest.mark.parametrize(
    ("runs", "how", "told", "untold", "numbers"),
    [
        ([["a"] * 50] * 3, {}, "one and the same explanation", None, {"value": 1, "chance": 1, "adjusted": None}),
        # Rows that were not seen may hide as much.
        ([list(range(100))] * 5, {}, "the seed does not reach it", None, {"high": 1, "low": 1 - np.log(40) / 100}),
        ([list("aabb") * 10, list("abbb") * 10], {}, "of 2 runs nothing is known about others", None, {}),
        (RANDOM, {}, "fs.SignOfTop(5)", None, {}),
        (RANDOM, {"discretizer": "sign"}, "", "fs.SignOfTop(5)", {}),
        ([np.sign(REPEATED)] * 2, {"X": REPEATED}, "the interval is too narrow", "too high", {}),
    ],
    ids=["constant", "all alike", "two runs", "numbers that nearly all differ", "signs", "repeated rows"],
)
def test_what_makes_a_repeatability_hard_to_read_is_noted(runs, how, told, untold, numbers):
    repeated = fs.repeatability(runs, **how)
    text = " ".join(str(repeated).split())
    assert told in text
    assert untold is None or untold not in text
    assert {name: getattr(repeated, name) for name in numbers} == pytest.approx(numbers)
    if len(runs) == 2:  # the interval is for further rows
        assert (repeated.low, repeated.high, repeated.method) == (repeated.rows_low, repeated.rows_high, "rows")


def test_few_runs_say_at_run_time_what_they_may_lack():
    rng = default_rng(0)
    for runs, told in ((3, "63%"), (5, "45%"), (9, "28%"), (10, None)):
        found = fs.repeatability([rng.integers(0, 3, 40).tolist() for _ in range(runs)])
        notes = [note for note in found.notes if "may lack a kind" in note]
        assert notes == ([] if told is None else [notes[0]])
        assert told is None or f"{runs} runs may lack a kind that up to {told} of runs are of" in notes[0]
