"""The tolerance curve is one estimate per eps, the same as if each were asked for alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from number_evaluations import systems

KEYS, NUMBERS = ["a", "a", "b", "b", "b"], [1.0, 1.5, 4.0, 6.0, 6.5]


@given(systems(), st.sampled_from([fs.Close, fs.Tolerance]), st.lists(st.sampled_from([0.3, 1.0, 2.5]), min_size=1))
def test_every_point_is_the_estimate_for_its_eps(system, kind, eps):
    curve = fs.tolerance_curve(system.keys, system.numbers, eps, agreement=kind)
    assert curve.eps == tuple(sorted(set(eps)))
    for value, estimate in zip(curve.eps, curve.estimates, strict=True):
        assert estimate == fs.consistency(system.keys, system.numbers, agreement=kind(value))


@given(systems(), st.sampled_from([fs.Close, fs.Tolerance]))
def test_a_wider_eps_never_agrees_less(system, kind):
    curve = fs.tolerance_curve(system.keys, system.numbers, agreement=kind).table()
    assert (np.diff(curve[["value", "chance"]], axis=0) >= -1e-9).all()
    assert len(set(curve["unverifiable"])) == 1


def test_rows_make_it_a_curve_of_sufficiency():
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    rules = fs.Rules.parse(["x <= 2"] * 2 + ["x >= 2"] * 2, features=["x"])
    how = {"weights": [1, 2, 1, 1], "confidence": 0.9}
    curve = fs.tolerance_curve(rules, NUMBERS[:4], [1.0, 4.0], X=X, **how)
    for eps, estimate in zip(curve.eps, curve.estimates, strict=True):
        assert estimate == fs.sufficiency(rules, NUMBERS[:4], X, agreement=fs.Close(eps), **how)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 57.0, 1e12])
def test_by_default_eps_follows_the_spread_of_the_predictions(scale):
    rng = default_rng(0)
    keys, y = rng.integers(0, 5, 300), scale * rng.normal(size=300)
    curve = fs.tolerance_curve(keys, y, discretizer=None)
    assert 0.01 * y.std() <= curve.eps[0] <= 0.016 * y.std()
    assert 2.5 * y.std() <= curve.eps[-1] <= 4 * y.std()
    assert 10 <= len(curve.eps) <= 20
