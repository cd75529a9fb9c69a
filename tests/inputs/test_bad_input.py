"""Bad input gets one clear sentence: what was wrong, what was seen, what to do."""

from datetime import date, datetime
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, Incompatible, NotProven, WrongType

MIDNIGHT = datetime(2026, 1, 1)


def _decoder(predictions=("x", "y")):
    return fs.OptimalDecoder().fit(["a", "b"], predictions)


def nan_at(row, column, value=np.nan):
    matrix = np.zeros((5, 3))
    matrix[row, column] = value
    return matrix


class Unequal:
    """What cannot be compared: its == fails, in one way or another."""

    def __init__(self, answer):
        self.answer = answer

    def __hash__(self):
        return 1

    def __eq__(self, other):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Unhashed:
    def __hash__(self):
        raise RuntimeError("no hash")


FAILS, RECURS, ARRAY = Unequal(KeyError("no")), Unequal(RecursionError("deep")), Unequal(np.array([True, False]))
MASKED = np.ma.array([1, 2], mask=[0, 1])


def by_error(table):
    return [(error, *case) for error, cases in table.items() for case in cases]


def refused(error, words, call, *given, **options):
    with pytest.raises(error, match=words) as caught:
        call(*given, **options)
    assert isinstance(caught.value, FaithscopeError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


EXPLANATIONS = by_error(
    {
        BadInput: [
            ([], "Explanations are empty"),
            (nan_at(3, 2), "hold nan at row 3, column 2"),
            (nan_at(1, 0, np.inf), "hold inf at row 1, column 0"),
            (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}), r"row 1, column 1 \('b'\)"),
            (pa.table({"a": [1, None]}), "row 1, column 'a'"),
            ([1.0, float("nan")], r"Explanations are missing at row 1 \(nan\)"),
            (["a", None], r"Explanations are missing at row 1 \(None\)"),
            ([{"a": "b"}], "Row 0 gives 'a' the value 'b': importances must be finite numbers"),
            (np.zeros((9, 3, 4)), r"got \(9, 3, 4\). If one axis is classes, .*class_index=1"),
            ([[1.0, 2.0], [3.0]], "ragged: row 0 has 2 values, row 1 has 1"),
            (np.zeros((2, 0)), r"got \(2, 0\)"),
            (np.full((1, 1), 2**60), r"integers beyond 2\*\*53"),
            ([[2**53 + 1, 0.5]], r"beyond 2\*\*53"),
        ],
        WrongType: [
            (np.array([1, "a"], object), r"mix types: row 0 is number \(1\), row 1 is text \('a'\)"),
            ([MIDNIGHT.date(), MIDNIGHT], "row 0 is date .*, row 1 is date with a time "),
            ([MIDNIGHT, pd.Timestamp(MIDNIGHT), MIDNIGHT.date()], "row 0 is date with a time .*, row 2 is date "),
            (np.array([[1, "a"]], object), "mix types: row 0, column 1 is str"),
            ([{1, 2}, {3}], "must be hashable and equal by value; row 0 is a set"),
            ([(1, [2])], "must be hashable and equal by value; row 0 is a tuple"),
            ([Unequal(KeyError("no")), FAILS], "must be hashable and equal by value; row 1 is a Unequal.*KeyError"),
            ([ARRAY, FAILS], "must be hashable and equal by value; row 1 is a Unequal"),
            ([Unhashed(), Unhashed()], "Unhashed .row 0., which are not known here"),
            ([object()], "only ever equals itself"),
            ("leaf", "got a str"),
            (pd.NaT, "one value per row; got a NaTType"),
            (np.zeros((2, 2), complex), "complex"),
            (np.zeros((1, 1), np.longdouble), "at most 64 bits"),
        ],
    }
)
PREDICTIONS = by_error(
    {
        BadInput: [
            ([0], "Explanations have 2 rows but predictions have 1"),
            ([0, None], r"Predictions are missing at row 1 \(None\)"),
            (pd.Series([1, None], dtype="Int64"), "Predictions are missing at row 1"),
            (MASKED, r"row 1 \(masked\)"),
        ],
        WrongType: [
            ([ARRAY, FAILS], "Predictions must be hashable and equal by value; row 1 is a Unequal"),
            ({1, 2}, "got a set"),
            (pd.Timestamp("2026-01-01"), "got a Timestamp"),
        ],
    }
)
SETTINGS = by_error(
    {
        BadInput: [
            ("confidence", 1.0, "strictly between 0 and 1"),
            ("confidence", "0.95", "got '0.95'"),
            ("interval", "bootstrap", "interval must be 'proven' or None; got 'bootstrap'"),
            ("weights", [1, np.nan], "Weights are missing at row 1"),
            ("weights", [1, 1e-12], "cannot be added exactly enough"),
            ("weights", [1e308, 1e308], "divide all of them by the largest"),
        ],
        WrongType: [
            ("weights", ["x", "y"], "every value must be a number"),
            ("weights", 3, "Weights must be a list with one value per row"),
        ],
    }
)


@pytest.mark.parametrize(("error", "explanations", "words"), EXPLANATIONS)
def test_explanations_that_cannot_be_measured_are_refused_in_a_sentence(error, explanations, words):
    rows = getattr(explanations, "__len__", lambda: 1)()
    refused(error, words, fs.consistency, explanations, np.arange(rows) % 2)


@pytest.mark.parametrize(("error", "predictions", "words"), PREDICTIONS)
def test_predictions_that_cannot_be_measured_are_refused_in_a_sentence(error, predictions, words):
    refused(error, words, fs.consistency, ["a", "b"], predictions)


@pytest.mark.parametrize(("error", "name", "value", "words"), SETTINGS)
def test_settings_that_mean_nothing_are_refused_in_a_sentence(error, name, value, words):
    refused(error, words, fs.consistency, ["a", "b"], [0, 1], **{name: value})


CALLS = by_error(
    {
        WrongType: [
            (lambda: fs.mse_bound(0.5), "got float"),
            (lambda: fs.OptimalDecoder("x"), "got str"),
            (lambda: fs.Counterfactuals(None, None), "Counterfactuals must be a list with one value per row"),
            (lambda: fs.evaluate([0], ["a"], None), "rows that can be counted"),
            (lambda: fs.sample_until(None, "a", 0.1, 5), "got NoneType"),
        ],
        BadInput: [
            (lambda: fs.mse_bound(), "either an estimate, or the population"),
            (lambda: fs.mse_bound(fs.consistency(["a", "a"], [0, 0]), n=10), "knows its own"),
            (lambda: fs.mse_bound(fs.consistency(["a", "a"], [0, 0]), q=[1.0]), "knows its own"),
            (lambda: fs.mse_bound(p=[0.5, 0.6], n=10), "p sums to 1.1"),
            (lambda: fs.mse_bound(p=[0.5, 0.5]), "number of rows n"),
            (lambda: fs.mse_bound(p=[0.5, 0.5], q=[0.5], n=3), "q as long"),
            (lambda: fs.mse_bound(p=[0.5, 0.5], q=[0.4, 0.5], n=3), "from p to 1"),
            (lambda: fs.Prototypes([[-1]]), "whole number from 0 on; got -1"),
            (lambda: fs.Counterfactuals([[1.0]], [[1.0], [2.0]]), "1 rows but originals have 2"),
            (lambda: fs.Counterfactuals([[np.inf]], [[1.0]]), "Counterfactuals hold inf at row 0, column 0"),
            (
                lambda: fs.Counterfactuals([[1.0], [np.nan]], [[1.0], [2.0]], metric="euclidean"),
                "dates or missing values: use metric='gower'",
            ),
            (lambda: fs.sample_size("a", 0.1), "whole number of at least 1; got 'a'"),
            (lambda: _decoder().accuracy(["a"], ["x", "y"]), "1 rows but predictions have 2"),
            (
                lambda: fs.OptimalDecoder(fs.consistency(["a", "a"], [1.0, 2.5], agreement=fs.Close(1))),
                "Decoders read labels of independent rows",
            ),
            (
                lambda: fs.Prototypes(np.array([2**64 - 1], np.uint64)),
                "whole number from 0 on; got 18446744073709551615",
            ),
            (lambda: fs.evaluate([0, 1], ["a", "a"], np.zeros((2, 1))).counterexamples(2.5), "got 2.5"),
            (lambda: fs.evaluate([0, 1], ["a", "a"], np.zeros((2, 1))).by([[1], [2]] * 2), "groups have 4"),
            (lambda: fs.evaluate([0], ["a"], [[0]]).by(pd.DataFrame({"a": [1], "b": [2]})), "got 2 columns"),
            (lambda: fs.sample_until([7], "a", 0.1, 10), r"\(explanations, predictions\) pairs; got int"),
            (lambda: fs.sample_until([(["a", "b"], [1])], "a", 0.1, 10), "2 rows but predictions have 1"),
        ],
        NotProven: [
            (lambda: fs.consistency(["a"], [0.5], agreement=fs.Spread(), interval="proven"), "not for Spread"),
            (lambda: fs.mse_bound(fs.consistency(["a"], [0], weights=[1])), "count the same"),
        ],
        Incompatible: [
            (lambda: fs.Counterfactuals([[1.0]], [[1.0, 2.0]]), "have 1 columns and originals 2. Pass the same"),
            (
                lambda: fs.Counterfactuals(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
                "a, and b. Pass the",
            ),
            (lambda: _decoder().accuracy([[1.0, 2.0]], ["x"]), "plain keys, the others are importances"),
            (
                lambda: fs.GibbsDecoder().fit([[1.0], [2.0]], [0, 1]).accuracy([[1.0, 2.0]], [0]),
                "importances over 1 features, the others are importances over 2",
            ),
        ],
    }
)


@pytest.mark.parametrize(("error", "call", "words"), CALLS)
def test_every_other_call_is_refused_in_a_sentence_too(error, call, words):
    refused(error, words, call)


def test_one_class_is_measured_and_its_chance_is_one():
    found = fs.consistency(["a", "a", "b"], ["yes"] * 3)
    assert found.chance == 1
    assert found.adjusted is None
    assert found.verified == 1


def test_labels_may_be_anything_with_an_equality():
    class Outcome(Enum):
        LEFT = 1
        RIGHT = 2

    for a, b in [("é<b>", "'; drop"), (True, False), (0.5, 1.5), (date(2026, 1, 1), date(2026, 1, 2)), tuple(Outcome)]:
        found = fs.consistency([0, 0, 0], [a, a, b])
        assert found.value == pytest.approx(1 / 3)
        assert set(found.counts.labels) == {a, b}


def test_numbers_that_are_labels_are_not_mistaken_for_probabilities():
    for labels in (np.tile([0.5, 1.5], 50), np.arange(50.0), np.arange(100) // 2, [str(code) for code in range(100)]):
        assert fs.consistency(np.zeros(len(labels)), labels).n == len(labels)


@pytest.mark.parametrize("dtype", [int, np.uint16, float])
def test_whole_numbers_that_nearly_all_differ_are_refused_with_a_way_out(dtype):
    prices = (np.arange(400) * 7 + 1000).astype(dtype)
    with pytest.raises(BadInput, match="400 different whole numbers in 400 rows, such as 1000") as refused:
        fs.consistency(np.arange(400) // 4, prices)
    assert "np.digitize(predictions, edges)" in str(refused.value)
    assert "[str(code) for code in predictions]" in str(refused.value)
    assert fs.consistency(np.arange(400) // 4, np.digitize(prices, [2000, 3000])).n == 400
    assert fs.consistency(np.arange(400) // 4, [str(code) for code in prices]).n == 400


def test_large_unsigned_labels_and_lists_of_mixed_numbers_are_measured():
    assert fs.consistency([0, 0], np.array([2**64 - 1, 2**64 - 2], np.uint64)).value == 0
    assert fs.consistency(["a", "a"], [0, 1], weights=[1, 0.5]).n == 2
    assert fs.consistency(["a", "a"], [0, 1], weights=pd.DataFrame({"w": [1, 2]})).n == 2
    assert fs.consistency(pl.Series([[1.0, 2.0]], dtype=pl.Array(pl.Float64, 2)), [0]).n == 1
    assert fs.consistency(np.array([["a", "b"], ["a", "b"]], object), [0, 1]).distinct == 1


def test_extended_precision_keys_stay_apart():
    one = np.longdouble(1)
    assert fs.consistency(np.array([one, np.nextafter(one, 2)]), [0, 1]).distinct == 2
