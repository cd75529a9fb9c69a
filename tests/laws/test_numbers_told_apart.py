"""Exact Shapley values and noise are told apart on a regressor, on which a measure of classes says 1.0 of both."""

import importlib
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

WEIGHTS = np.array([3.0, -2.0, 1.0, 0.5])
AGREEMENTS = [fs.Spread(), fs.Close(2.0), fs.Tolerance(2.0)]


def linear_regressor(n=1500):
    """Predictions of a linear model of independent features, their exact Shapley values, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X @ WEIGHTS, {"exact Shapley values": (X - X.mean(axis=0)) * WEIGHTS, "noise": rng.normal(size=X.shape)}


def diabetes():
    datasets, linear = (pytest.importorskip(f"sklearn.{name}") for name in ("datasets", "linear_model"))
    X, y = datasets.load_diabetes(return_X_y=True)
    model = linear.LinearRegression().fit(X, y)
    exact, noise = (X - X.mean(axis=0)) * model.coef_, np.random.default_rng(0).normal(size=X.shape)
    return model.predict(X), {"exact Shapley values": exact, "noise": noise}


@pytest.mark.parametrize("agreement", AGREEMENTS, ids=repr)
def test_shapley_values_of_a_regressor_are_far_above_chance_and_noise_is_not(agreement):
    y, explained = linear_regressor()
    exact, noise = (
        fs.consistency(explained[name], y, discretizer=fs.Sign(), agreement=agreement) for name in explained
    )
    assert exact.above_chance
    assert exact.verified_low > noise.verified_high
    assert not noise.above_chance
    assert abs(noise.adjusted) < 0.03
    assert exact.adjusted > 0.1
    if isinstance(agreement, fs.Spread):
        # The signs of a normal feature account for 2/π of its variance.
        assert exact.low < 2 / np.pi < exact.high
        assert noise.low <= 0 < noise.high < 0.05


@pytest.mark.parametrize("agreement", [fs.Spread(), fs.Close(40.0), fs.Tolerance(40.0)], ids=repr)
def test_shapley_values_of_diabetes_are_above_chance_and_noise_is_not(agreement):
    y, explained = diabetes()
    exact, noise = (
        fs.consistency(explained[name], y, discretizer=fs.SignOfTop(2), agreement=agreement) for name in explained
    )
    assert exact.above_chance
    assert not noise.above_chance
    assert exact.verified_low > noise.verified
    assert exact.adjusted > 0.15 > 0.05 > noise.adjusted


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["Consistency", "Sufficiency"])
def test_quantus_says_the_same_of_both(metric, monkeypatch):
    """It takes the class of the largest output, and a regressor has one output."""
    quantus = pytest.importorskip("quantus")
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2] / "benchmarks")])
    asked = {"abs": False, "normalise": False, "disable_warnings": True}
    if metric == "Consistency":
        asked["discretise_func"] = quantus.functions.discretise_func.sign
    else:
        asked["threshold"] = 1.0
    y, explained = linear_regressor(400)
    ask = partial(importlib.import_module("ratios").quantus_value, partial(getattr(quantus, metric), **asked))
    for values in explained.values():
        assert ask(values, np.zeros(len(y), int), outputs=y[:, None])() == pytest.approx(1.0, abs=1e-6)
