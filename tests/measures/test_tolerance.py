"""The tolerance curve is one estimate per eps, the same as if each were asked for alone."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from number_evaluations import systems

KINDS = {"close": fs.Close, "tolerance": fs.Tolerance}


@given(systems(), st.sampled_from(["close", "tolerance"]), st.lists(st.sampled_from([0.3, 1.0, 2.5]), min_size=1))
def test_every_point_is_the_estimate_for_its_eps(system, kind, eps):
    curve = fs.tolerance_curve(system.keys, system.numbers, eps, agreement=kind)
    assert curve.eps == tuple(sorted(set(eps)))
    for value, estimate in zip(curve.eps, curve.estimates, strict=True):
        assert estimate == fs.consistency(system.keys, system.numbers, agreement=KINDS[kind](value))


@given(systems(), st.sampled_from([fs.Close, fs.Tolerance]))
def test_a_wider_eps_never_agrees_less(system, kind):
    curve = fs.tolerance_curve(system.keys, system.numbers, agreement=kind).table()
    for column in ("value", "chance"):
        assert (np.diff(curve[column]) >= -1e-9).all()
    assert len(set(curve["unverifiable"])) == 1


def test_rows_make_it_a_curve_of_sufficiency():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    rules = fs.Rules.from_conditions([[("x", "<=", 2.0)]] * 2 + [[("x", ">=", 2.0)]] * 2, features=["x"])
    y = [1.0, 1.5, 4.0, 6.0]
    curve = fs.tolerance_curve(rules, y, [1.0, 4.0], X=X, weights=[1, 2, 1, 1], confidence=0.9)
    for eps, estimate in zip(curve.eps, curve.estimates, strict=True):
        alone = fs.sufficiency(rules, y, X, agreement=fs.Close(eps), weights=[1, 2, 1, 1], confidence=0.9)
        assert estimate == alone


def test_by_default_eps_follows_the_spread_of_the_predictions():
    rng = np.random.default_rng(0)
    keys, y = rng.integers(0, 5, 300), rng.normal(size=300)
    for scale in (1e-9, 1.0, 57.0, 1e12):
        curve = fs.tolerance_curve(keys, scale * y, discretizer=None)
        spread = (scale * y).std()
        assert 0.01 * spread <= curve.eps[0] <= 0.016 * spread
        assert 2.5 * spread <= curve.eps[-1] <= 4 * spread
        assert 10 <= len(curve.eps) <= 20
        assert "standard deviations of the predictions" in str(curve)
        assert curve.note in curve._repr_html_()
    assert fs.tolerance_curve(keys, y, [1.0]).note == ""


def test_a_curve_reads_aloud_goes_through_json_and_is_drawn():
    curve = fs.tolerance_curve(["a", "a", "b", "b"], [1.0, 1.5, 4.0, 6.0], [4.0, 2.0])
    again = json.loads(json.dumps(curve.to_dict()))
    assert again["eps"] == [2.0, 4.0]
    assert [point["agreement"] for point in again["estimates"]] == ["Close(eps=2.0)", "Close(eps=4.0)"]
    assert [line.split(",")[0] for line in str(curve).split("\n") if line[0] != " "] == [
        "consistency 0.375 by Close(eps=2.0)",
        "consistency 0.688 by Close(eps=4.0)",
    ]
    assert curve.table()["eps"].tolist() == [2.0, 4.0]
    spec = curve.plot().to_dict()
    assert {layer["encoding"]["x"]["scale"]["type"] for layer in spec["layer"]} == {"log"}
    assert spec["layer"][-1]["encoding"]["y"]["field"] == "chance"


@pytest.mark.parametrize("make", [list, np.float32, pd.Series, pl.Series, pa.array, lambda y: np.array(y)[:, None]])
def test_numbers_of_any_kind_give_the_same_curve(make):
    keys, y = ["a", "a", "b", "b", "b"], [1.0, 1.5, 4.0, 6.0, 6.5]
    given = make(y) if make is not np.float32 else np.array(y, np.float32)
    assert fs.tolerance_curve(keys, given).estimates == fs.tolerance_curve(keys, y).estimates


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 1.0]), BadInput, "all equal"),
        (lambda: fs.tolerance_curve(["a"], [1.0]), BadInput, "all equal"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], []), BadInput, "empty"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], [1.0, 0.0]), BadInput, "positive"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], [np.nan]), FaithscopeError, "eps"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], "wide"), FaithscopeError, "eps"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, np.inf]), FaithscopeError, "Predictions"),
        (lambda: fs.tolerance_curve(["a", "b"], ["x", "y"]), FaithscopeError, "compares numbers"),
        (lambda: fs.tolerance_curve(["a", "b"], np.eye(2)), BadInput, "one number per row"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], agreement=fs.Close(1.0)), WrongType, "without parentheses"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], agreement=fs.Spread), WrongType, "fs.Close or"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], agreement="spread"), WrongType, "fs.Close or"),
        (lambda: fs.tolerance_curve(["a", "b"], [1.0, 2.0], relation=fs.Nearest()), BadInput, "pass X="),
    ],
)
def test_bad_input_gets_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()
