"""Decoders of numbers: the mean per explanation, its R², and the draw whose error is twice as large."""

import numpy as np
import pytest
from hypothesis import given

import faithscope as fs
from faithscope.errors import BadInput
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


@given(systems())
def test_decoders_of_numbers_have_the_errors_that_rows_one_by_one_give(system):
    keys, y = system.keys, system.numbers
    optimal = fs.OptimalDecoder().fit(keys, y, agreement=system.agreement)
    gibbs = fs.GibbsDecoder().fit(keys, y, agreement=system.agreement)
    means = np.array([np.mean([b for k, b in zip(keys, y, strict=True) if k == key]) for key in keys])
    assert optimal.predict(keys) == pytest.approx(means)
    assert optimal.error == pytest.approx(np.mean((y - means) ** 2), abs=1e-8)
    assert gibbs.error == pytest.approx(2 * optimal.error)
    assert optimal.r2 == pytest.approx(1 - np.mean((y - means) ** 2) / y.var(), abs=1e-7)
    assert optimal.leave_one_out_error == pytest.approx(left_out(keys, y, draws=False), abs=1e-7)
    assert gibbs.leave_one_out_error == pytest.approx(left_out(keys, y, draws=True), abs=1e-7)
    alone = left_out(["all"] * len(y), y, draws=False)
    assert optimal.leave_one_out_r2 == pytest.approx(1 - left_out(keys, y, draws=False) / alone, abs=1e-7)
    assert set(gibbs.predict(keys)) <= set(y)


@given(systems(agreements=(fs.Spread(),)))
def test_spread_is_one_less_half_the_error_of_the_draws_if_no_row_is_alone(system):
    keys = [*system.keys, *system.keys]
    y = np.concatenate([system.numbers, system.numbers + 1])
    gibbs = fs.GibbsDecoder().fit(keys, y, agreement=fs.Spread())
    estimate = fs.consistency(keys, y, agreement=fs.Spread())
    assert estimate.value == pytest.approx(1 - gibbs.leave_one_out_error / 2 / y.var(ddof=1), abs=1e-7)


def test_explanations_that_mean_nothing_decode_nothing():
    y = np.random.default_rng(0).normal(size=200)
    assert fs.OptimalDecoder().fit(["all"] * 200, y, agreement=fs.Spread()).leave_one_out_r2 == pytest.approx(0)
    assert fs.OptimalDecoder().fit(np.arange(200), y, agreement=fs.Spread()).leave_one_out_r2 == pytest.approx(0)
    assert fs.GibbsDecoder().fit(["all"] * 200, y, agreement=fs.Spread()).leave_one_out_r2 < -0.9


def test_vectors_are_decoded_to_vectors():
    y = np.random.default_rng(0).normal(size=(40, 3))
    keys = ["a", "b"] * 20
    decoder = fs.OptimalDecoder().fit(keys, y, agreement=fs.Spread())
    decoded = decoder.predict(["b", "never seen"])
    assert decoded[0] == pytest.approx(y[1::2].mean(axis=0))
    assert np.isnan(decoded[1]).all()
    assert decoder.leave_one_out_error == pytest.approx(left_out(keys, y, draws=False))
    assert fs.GibbsDecoder().fit(keys, y, agreement=fs.Spread()).predict(keys).shape == (40, 3)


def test_what_has_no_squared_error_is_refused_in_a_sentence():
    with pytest.raises(BadInput, match="are labels"):
        fs.OptimalDecoder().fit(["a", "a"], [0, 1]).r2  # noqa: B018
    with pytest.raises(BadInput, match="all equal"):
        fs.OptimalDecoder().fit(["a", "a"], [2.0, 2.0], agreement=fs.Close(1)).r2  # noqa: B018
    with pytest.raises(BadInput, match="at least 2 rows"):
        fs.GibbsDecoder().fit(["a"], [2.0], agreement=fs.Close(1)).leave_one_out_error  # noqa: B018
    with pytest.raises(BadInput, match="no rows"):
        fs.OptimalDecoder().leave_one_out_r2  # noqa: B018
    assert fs.OptimalDecoder().fit(["a", "a"], [2.0, 2.0], agreement=fs.Close(1)).error == 0
