"""Bad input gets one clear sentence: what was wrong, what was seen, what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, Incompatible, NotProven, WrongType


def _decoder(predictions=("x", "y")):
    agreement = None if isinstance(predictions, tuple) else "spread"
    return fs.OptimalDecoder().fit(["a", "b"], predictions, agreement=agreement)


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


@pytest.mark.parametrize(
    ("explanations", "predictions", "error", "message"),
    [
        (["a", "b"], [0], BadInput, "Explanations have 2 rows but predictions have 1"),
        (np.zeros((3, 2)), np.zeros(4), BadInput, "Explanations have 3 rows but predictions have 4"),
        ([], [], BadInput, "Explanations are empty"),
        (np.zeros((0, 3)), [], BadInput, "Explanations are empty"),
        (nan_at(3, 2), np.zeros(5), BadInput, "hold nan at row 3, column 2"),
        (nan_at(1, 0, np.inf), np.zeros(5), BadInput, "hold inf at row 1, column 0"),
        (nan_at(4, 1, -np.inf), np.zeros(5), BadInput, "hold -inf at row 4, column 1"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, np.inf]}), [0, 1], BadInput, r"row 1, column 1 \('b'\)"),
        (pd.DataFrame({"a": pd.array([1, None], "Int64")}), [0, 1], BadInput, "missing at row 1, column 'a'"),
        (pl.DataFrame({"a": [1, None]}), [0, 1], BadInput, "row 1, column 'a'"),
        (pa.table({"a": [1, None]}), [0, 1], BadInput, "row 1, column 'a'"),
        ([1.0, float("nan")], [0, 1], BadInput, r"Explanations are missing at row 1 \(nan\)"),
        ([1.0, float("inf")], [0, 1], BadInput, "hold inf at row 1"),
        (["a", None], [0, 1], BadInput, r"Explanations are missing at row 1 \(None\)"),
        ([("a", float("nan"))], [0], BadInput, r"missing at row 0 \(\('a', nan\)\)"),
        (np.array([1, "a"], object), [0, 1], WrongType, r"mix types: row 0 is number \(1\), row 1 is str \('a'\)"),
        (np.array([[1, "a"]], object), [0], WrongType, "mix types: row 0, column 1 is str"),
        ([[1.0, "a"]], [0], WrongType, "mix types: row 0, column 1 is str"),
        ([{1, 2}, {3}], [0, 1], WrongType, "must be hashable; row 0 is a set"),
        ([{"a": "b"}], [0], BadInput, "Row 0 gives 'a' the value 'b': importances must be finite numbers"),
        ([(1, [2])], [0], WrongType, "must be hashable; row 0 is a tuple"),
        ([Unequal(KeyError("no")), FAILS], [0, 1], WrongType, "must be comparable; row 1 is a Unequal.*KeyError"),
        ([FAILS, RECURS], [0, 1], WrongType, "must be comparable; row 1 is a Unequal"),
        ([ARRAY, FAILS], [0, 1], WrongType, "must be comparable; row 1 is a Unequal"),
        ([(1, ARRAY), (1, FAILS)], [0, 1], WrongType, "must be comparable; row 1 is a tuple"),
        ([Unhashed(), Unhashed()], [0, 1], WrongType, "Unhashed .row 0., which are not known here. Pass its array"),
        (["a", "b"], [ARRAY, FAILS], WrongType, "Predictions must be comparable; row 1 is a Unequal"),
        (np.zeros((9, 3, 4)), [0] * 9, BadInput, r"got \(9, 3, 4\). If one axis is classes, .*class_index=1"),
        ([np.zeros((3, 4))] * 2, [0, 1, 0], BadInput, r"looks like one array per class: .*class_index=1"),
        ([[1.0, 2.0], [3.0]], [0, 1], BadInput, "ragged: row 0 has 2 values, row 1 has 1"),
        ("leaf", [0], WrongType, "got a single str"),
        (7, [0], WrongType, "got a single int"),
        (np.zeros((2, 2), complex), [0, 1], WrongType, "complex"),
        (np.full((1, 1), 2**60), [0], BadInput, r"integers beyond 2\*\*53"),
        (["a", "b"], [0, None], BadInput, r"Predictions are missing at row 1 \(None\)"),
        (["a", "b"], [0.0, np.nan], BadInput, r"Predictions are missing at row 1 \(nan\)"),
        (["a", "b"], pd.Series([1, None], dtype="Int64"), BadInput, "Predictions are missing at row 1"),
        (["a", "b"], pl.Series([None, "x"]), BadInput, "Predictions are missing at row 0"),
        (["a", "b"], pa.array(["x", None]), BadInput, "Predictions are missing at row 1"),
        (["a", "b"], [1, "x"], WrongType, "Predictions mix types: row 0 is number"),
        (["a", "b"], [[0.2, 0.8], [0.5, 0.5]], BadInput, r"shape \(2, 2\).*argmax"),
        (["a", "b"], np.zeros((2, 2)), BadInput, r"shape \(2, 2\).*argmax"),
        (["a", "b"], pd.DataFrame({"p": [1, 2], "q": [3, 4]}), BadInput, "got 2 columns"),
        (np.zeros(40), np.linspace(0.01, 0.99, 40), BadInput, "look continuous: 40 different fractions in 40 rows"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(explanations, predictions, error, message):
    with pytest.raises(error, match=message) as caught:
        fs.consistency(explanations, predictions)
    assert isinstance(caught.value, FaithscopeError)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fs.consistency(["a"], [0], confidence=1.0), BadInput, "strictly between 0 and 1"),
        (lambda: fs.consistency(["a"], [0], confidence=95), BadInput, "got 95"),
        (
            lambda: fs.consistency(["a"], [0], interval="bootstrap"),
            BadInput,
            "tight, jackknife, mcdiarmid, any, or None for the tightest; got 'bootstrap'",
        ),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=[1]), BadInput, "2 rows but weights have 1"),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=[1, -1]), BadInput, "row 1 has -1"),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=[1, np.nan]), BadInput, "Weights are missing at row 1"),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=["x", "y"]), WrongType, "every value must be a number"),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=[0, 0]), BadInput, "All weights are 0"),
        (
            lambda: fs.consistency(["a", "b"], [0, 1], weights=[1, 2], interval="mcdiarmid"),
            NotProven,
            "proven for unweighted",
        ),
        (lambda: fs.mse_bound(), BadInput, "either an estimate, or the population"),
        (lambda: fs.mse_bound(p=[0.5, 0.6], n=10), BadInput, "p sums to 1.1"),
        (lambda: fs.mse_bound(p=[0.5, 0.5]), BadInput, "number of rows n"),
        (lambda: fs.mse_bound(p=[0.5, 0.5], q=[0.5], n=3), BadInput, "one length"),
        (lambda: fs.mse_bound(p=[0.5, 0.5], q=[0.4, 0.5], n=3), BadInput, "cannot be smaller"),
        (lambda: fs.mse_bound(fs.consistency(["a"], [0], weights=[1])), NotProven, "count the same"),
        (lambda: fs.sample_size(0, 0.1), BadInput, "at least 1; got 0"),
        (lambda: fs.sample_size(10, 1.5), BadInput, "epsilon"),
        (lambda: fs.certify([[1.0]], [0], []), BadInput, "at least one discretizer"),
        (lambda: fs.certify([[1.0]], [0], interval="exact"), BadInput, "got 'exact'"),
        (lambda: fs.Importances([[1.0, 2.0]], names=["a"]), BadInput, "2 features but 1 names"),
        (lambda: fs.Importances(np.zeros(3)), BadInput, r"got \(3,\)"),
        (lambda: fs.Prototypes([[-1]]), BadInput, "whole numbers from 0; row 0 holds -1"),
        (lambda: fs.Prototypes([[0.5]]), BadInput, "row 0 holds 0.5"),
        (lambda: fs.Prototypes(np.array([[1, -3]])), BadInput, "row 0 holds"),
        (lambda: fs.Counterfactuals([[1.0]], [[1.0, 2.0]]), BadInput, "1 features, originals have 2"),
        (lambda: fs.Counterfactuals([[1.0]], [[1.0], [2.0]]), BadInput, "1 rows but originals have 2"),
        (
            lambda: fs.Counterfactuals(pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
            Incompatible,
            "pass the same",
        ),
        (lambda: fs.Counterfactuals([[np.inf]], [[1.0]]), BadInput, "Counterfactuals hold inf at row 0, column 0"),
        (lambda: fs.Counterfactuals([[np.nan, np.inf]], [[1.0, 2.0]]), BadInput, "hold inf at row 0, column 1"),
        (
            lambda: fs.Counterfactuals([[1.0], [np.nan]], [[1.0], [2.0]], metric="euclidean"),
            BadInput,
            "these rows miss 1 value: use metric='gower'",
        ),
        (lambda: fs.consistency(["a"], [0], confidence="0.95"), BadInput, "got '0.95'"),
        (lambda: fs.consistency(["a"], [0], interval=["jackknife"]), BadInput, "interval must be one of"),
        (lambda: fs.consistency({"a": 1}, [0]), WrongType, "came as a dict, whose items have no order"),
        (lambda: fs.consistency(["a"], {1}), WrongType, "came as a set, whose items have no order"),
        (lambda: fs.consistency(np.ma.array([1, 2], mask=[0, 1]), [0, 1]), BadInput, r"row 1 \(masked\)"),
        (lambda: fs.consistency(["a", "b"], np.ma.array([1, 2], mask=[0, 1])), BadInput, r"row 1 \(masked\)"),
        (lambda: fs.consistency(["a"], [{1}]), WrongType, "Predictions must be hashable"),
        (lambda: fs.consistency(["a"], [(1, float("nan"))]), BadInput, "Predictions are missing at row 0"),
        (lambda: fs.consistency([object()], [0]), WrongType, "only ever equals itself"),
        (lambda: fs.consistency(np.zeros((2, 0)), [0, 1]), BadInput, r"got \(2, 0\)"),
        (lambda: fs.consistency(np.array(5.0), [0]), WrongType, "got a single float64"),
        (lambda: fs.consistency([[2**53 + 1, 0.5]], [0]), BadInput, r"beyond 2\*\*53"),
        (lambda: fs.consistency([[2**53 + 1], [0.5]], [0, 1]), BadInput, r"beyond 2\*\*53"),
        (lambda: fs.consistency(np.array([[2**70]], object), [0]), BadInput, r"beyond 2\*\*53"),
        (lambda: fs.consistency(np.array([[1j]], object), [0]), WrongType, "complex"),
        (lambda: fs.consistency(np.zeros((1, 1), np.longdouble), [0]), WrongType, "at most 64 bits"),
        (lambda: fs.consistency(["a", "b"], [0, 1], weights=[1, 1e-12]), BadInput, "cannot be added exactly enough"),
        (
            lambda: fs.consistency(["a", "b"], [0, 1], weights=3),
            WrongType,
            "Weights must be a list with one value per row",
        ),
        (lambda: fs.sample_size("a", 0.1), BadInput, "whole number of at least 1; got 'a'"),
        (lambda: fs.sample_size(5, "x"), BadInput, "epsilon must be a number"),
        (lambda: fs.mse_bound(0.5), WrongType, "got float"),
        (lambda: fs.mse_bound(p=[], n=5), BadInput, "one length"),
        (lambda: fs.mse_bound(p=[1.0], n="5"), BadInput, "got '5'"),
        (lambda: fs.OptimalDecoder("x"), WrongType, "got str"),
        (lambda: fs.OptimalDecoder().accuracy(["a"], [0]), BadInput, "has seen no rows: fit it"),
        (lambda: _decoder().accuracy([], []), BadInput, "at least one row is needed"),
        (lambda: _decoder().accuracy(["a"], ["x", "y"]), BadInput, "1 rows but predictions have 2"),
        (lambda: _decoder().accuracy([[1.0, 2.0]], ["x"]), Incompatible, "plain keys, the others are importances"),
        (lambda: _decoder().accuracy(["a"], [1]), WrongType, "learned labels such as 'x', and these .* such as 1"),
        (lambda: _decoder().accuracy(["a"], ["x"], confidence=1), BadInput, "strictly between 0 and 1"),
        (
            lambda: fs.GibbsDecoder().fit([[1.0], [2.0]], [0, 1]).accuracy([[1.0, 2.0]], [0]),
            Incompatible,
            "importances over 1 features, the others are importances over 2",
        ),
        (lambda: _decoder([[1.0, 2.0], [2.0, 3.0]]).accuracy(["a"], [1.0]), BadInput, "2 columns, and these have 1"),
        (lambda: _decoder([1.0, 2.0]).accuracy(["a"], [1.0]), BadInput, "R² of new rows takes at least 2 rows"),
        (lambda: fs.Importances(None), WrongType, "got a single NoneType"),
        (lambda: fs.Importances([[1.0]], names=5), BadInput, "names must be a list"),
        (lambda: fs.Counterfactuals(None, None), WrongType, "Counterfactuals must be a list with one value per row"),
        (lambda: fs.Prototypes(np.zeros((2, 2, 2))), BadInput, r"got shape \(2, 2, 2\)"),
        (lambda: fs.Prototypes([2**64]), BadInput, "row 0 holds"),
        (lambda: fs.Prototypes(np.array([2**64 - 1], np.uint64)), BadInput, "row 0 holds"),
        (lambda: fs.Prototypes(["a"]), BadInput, "row 0 holds 'a'"),
        (lambda: fs.evaluate([0], ["a"], None), WrongType, "rows that can be counted"),
        (lambda: fs.consistency(pd.NaT, [0]), WrongType, "one value per row; got a single NaTType"),
        (lambda: fs.consistency(["a"], pd.Timestamp("2026-01-01")), WrongType, "got a single Timestamp"),
        (lambda: fs.evaluate([0, 1], ["a", "a"], np.zeros((2, 1))).counterexamples(2.5), BadInput, "got 2.5"),
        (lambda: fs.evaluate([0, 1], ["a", "a"], np.zeros((2, 1))).by([[1], [2]] * 2), BadInput, "groups have 4"),
        (lambda: fs.evaluate([0], ["a"], [[0]]).by(pd.DataFrame({"a": [1], "b": [2]})), BadInput, "got 2 columns"),
        (lambda: fs.sample_until(None, "a", 0.1, 5), WrongType, "got NoneType"),
        (lambda: fs.sample_until([], "a", 0.1, 5.5), BadInput, "got 5.5"),
        (lambda: fs.sample_until([], "a", 0.1, 0), BadInput, "at least 1; got 0"),
        (lambda: fs.sample_until([7], "a", 0.1, 10), BadInput, r"\(explanations, predictions\) pairs; got int"),
        (lambda: fs.sample_until([(["a", "b"], [1])], "a", 0.1, 10), BadInput, "2 explanations but 1 predictions"),
    ],
)
def test_every_other_call_is_refused_in_a_sentence_too(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_one_class_is_measured_and_its_chance_is_one():
    found = fs.consistency(["a", "a", "b"], ["yes"] * 3)
    assert found.chance == 1
    assert found.adjusted is None
    assert found.verified == 1


def test_labels_may_be_anything_with_an_equality():
    from datetime import date
    from enum import Enum

    class Outcome(Enum):
        LEFT = 1
        RIGHT = 2

    for a, b in [("é<b>", "'; drop"), (True, False), (0.5, 1.5), (date(2026, 1, 1), date(2026, 1, 2)), tuple(Outcome)]:
        found = fs.consistency([0, 0, 0], [a, a, b])
        assert found.value == pytest.approx(1 / 3)
        assert set(found.counts.labels) == {a, b}


def test_numbers_that_are_labels_are_not_mistaken_for_probabilities():
    assert fs.consistency(np.zeros(100), np.tile([0.5, 1.5], 50)).n == 100
    assert fs.consistency(np.zeros(50), np.arange(50.0)).n == 50
    assert fs.consistency(np.zeros(100), np.arange(100) // 2).n == 100
    assert fs.consistency(np.zeros(100), [str(code) for code in range(100)]).n == 100


@pytest.mark.parametrize("dtype", [int, np.uint16, float])
def test_whole_numbers_that_nearly_all_differ_are_refused_with_a_way_out(dtype):
    prices = (np.arange(400) * 7 + 1000).astype(dtype)
    with pytest.raises(BadInput, match="400 different ones in 400 rows, such as 1000") as refused:
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
    if np.finfo(np.longdouble).eps < np.finfo(float).eps:
        keys = np.array([1, 1 + np.finfo(np.longdouble).eps], np.longdouble)
        assert fs.consistency(keys, [0, 1]).distinct == 2
