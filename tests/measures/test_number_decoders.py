"""Decoders of numbers: the mean per explanation, its R², and the draw whose error is twice as large."""

import numpy as np
import pytest
from hypothesis import given

import faithscope as fs
from number_evaluations import systems


def left_out(keys, y, draws):
    """The mean squared error of each row decoded from the others, one by one."""
    errors = []
    for i, key in enumerate(keys):
        others = [j for j, other in enumerate(keys) if other == key and j != i]
        rest = y[others or [j for j in range(len(y)) if j != i]]
        apart = (rest - y[i]) if draws else (rest.mean(axis=0) - y[i])[None]
        errors.append(np.mean((apart**2).reshape(len(apart), -1).sum(axis=1)))
    return np.mean(errors)


@given(systems(agreements=(fs.Spread(),)))
def test_spread_is_one_less_half_the_error_of_the_draws_if_no_row_is_alone(system):
    keys = [*system.keys, *system.keys]
    y = np.concatenate([system.numbers, system.numbers + 1])
    gibbs = fs.GibbsDecoder().fit(keys, y, agreement=fs.Spread())
    estimate = fs.consistency(keys, y, agreement=fs.Spread())
    assert estimate.value == pytest.approx(1 - gibbs.leave_one_out_error / 2 / y.var(ddof=1), abs=1e-7)


def test_vectors_are_decoded_to_vectors():
    y, keys = np.random.default_rng(0).normal(size=(40, 3)), ["a", "b"] * 20
    optimal = fs.OptimalDecoder().fit(keys, y, agreement=fs.Spread())
    expected = [y[1::2].mean(axis=0), [np.nan] * 3]
    assert optimal.predict(["b", "never seen"]) == pytest.approx(np.array(expected), nan_ok=True)
    assert optimal.leave_one_out_error == pytest.approx(left_out(keys, y, draws=False))
    assert fs.GibbsDecoder().fit(keys, y, agreement=fs.Spread()).predict(keys).shape == (40, 3)
