"""Decoders of numbers: the mean per explanation, and the draw whose error is twice as large."""

import numpy as np
import pytest
from hypothesis import given
from numpy.random import default_rng

import faithscope as fs
from number_evaluations import systems


@given(systems(agreements=(fs.Spread(),)))
def test_draws_err_twice_as_much_as_means_whose_error_is_the_variance_within_explanations(system):
    keys, y = np.array(system.keys), np.asarray(system.numbers, float)
    means, draws = (kind().fit(keys, y, agreement=fs.Spread()).error for kind in (fs.OptimalDecoder, fs.GibbsDecoder))
    expected = np.mean([(y[i] - y[keys == key].mean()) ** 2 for i, key in enumerate(keys)])
    assert (means, draws) == (pytest.approx(expected, abs=1e-9), pytest.approx(2 * expected, abs=1e-9))


def test_vectors_are_decoded_to_vectors():
    y, keys = default_rng(0).normal(size=(40, 3)), ["a", "b"] * 20
    optimal = fs.OptimalDecoder().fit(keys, y, agreement=fs.Spread())
    expected = [y[1::2].mean(axis=0), [np.nan] * 3]
    assert optimal.predict(["b", "never seen"]) == pytest.approx(np.array(expected), nan_ok=True)
    assert optimal.error == pytest.approx(y[::2].var(axis=0).sum() / 2 + y[1::2].var(axis=0).sum() / 2)
    assert fs.GibbsDecoder().fit(keys, y, agreement=fs.Spread()).predict(keys).shape == (40, 3)
