"""Lime is lime's algorithm, as a function of the row alone: its draws and regression, and the paper on it."""

import threading

import numpy as np
import pytest
from numpy.random import default_rng
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

import faithscope.explainers.lime as regressions
from explainers.systems import diabetes, graded, library
from faithscope.explainers import Lime
from recorder import Recorder

IRIS = load_iris().data


def mixed_rows(n=500):
    """Skewed, normal and counted numbers, one with a common least value, and a category in the last column."""
    rng = default_rng(1)
    numbers = [rng.exponential(size=n), rng.normal(size=n), rng.poisson(0.8, n), rng.integers(2, 7, n)]
    return np.column_stack([*numbers, rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])])


def mixed_model(rows):
    """A probability that depends on every column, with an interaction."""
    sign = rows[:, 0] - 1 + np.sin(2 * rows[:, 1]) + 0.5 * rows[:, 2] * (rows[:, 4] == 1) - 0.2 * rows[:, 3]
    return 1 / (1 + np.exp(-2 * sign))


def hostile_rows(n=400):
    """A skewed number, missing ones, a constant, a category with a rare value, and one that is nearly always 0."""
    rng = default_rng(0)
    holes = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    rare, common = rng.choice(5, n, p=[0.6, 0.3, 0.09, 0.009, 0.001]), (rng.random(n) < 0.004) * 1.0
    return np.column_stack([rng.exponential(size=n), holes, np.full(n, 7.0), rare, common])


def hostile_model(rows):
    """Numbers far from 0, one of which in a thousand is much larger."""
    plain = np.nan_to_num(rows, nan=-3.0)
    return 500 + plain[:, 0] * plain[:, 3] + np.sin(3 * plain[:, 1]) + 40 * plain[:, 4] + 900 * (plain[:, 0] > 7)


def waves(rows):
    """Numbers far from [0, 1] that depend on every column, with an interaction."""
    return 500 + 100 * np.sin(40 * rows[:, 1]) + 2000 * rows[:, 0] * rows[:, 7] * 20 + 300 * rows.sum(axis=1)


def nine_numbers():
    """Rows without sex: of a common least value lime draws 0, an oversight that Lime does not share."""
    return np.delete(diabetes()[0], 1, axis=1)


def indifferent(rows):
    return 0.5 + 0.0 * rows[:, 0]


# The regression of each row is its own.


def seen_as(train, rows, categorical):
    """What the regression sees: whether a value stays in the first row's quarter."""
    seen = np.empty(rows.shape)
    for j, (known, column) in enumerate(zip(train.T, rows.T, strict=True)):
        if j not in categorical:
            cuts = np.unique(np.nanpercentile(known, [25, 50, 75]))
            column = np.where(np.isnan(column), 9, np.searchsorted(cuts, column))
        seen[:, j] = column == column[0]
    return seen


def ridge(seen, outputs):
    """Weighted ridge regression in double precision, of one output."""
    squares = ((seen - seen[0]) ** 2).sum(axis=1)
    weights = np.exp(-squares / (2 * 0.75**2 * seen.shape[1]))
    return Ridge(alpha=1, solver="svd").fit(seen, outputs, sample_weight=weights).coef_


UNSEEN = [[99.0, np.nan, 7.0, 3.0, 1.0], [0.0, 0.0, 8.0, 77.0, 0.0]]
REGRESSIONS = {
    "shared": (mixed_rows, mixed_model, [4], 2e-6, {"samples": 800}),
    "own": (mixed_rows, mixed_model, [4], 1e-9, {"samples": 800, "draws": "own"}),
    "own numbers": (nine_numbers, waves, [], 1e-7, {"samples": 800, "draws": "own"}),
    **{
        f"{samples} of hostile rows": (hostile_rows, hostile_model, [3, 4], None, {"samples": samples})
        for samples in (2, 50, 800, 20_000)
    },
}


@pytest.mark.parametrize("name", graded(list(REGRESSIONS)[:-1], REGRESSIONS))
def test_coefficients_are_those_of_a_weighted_ridge_regression_on_staying_in_the_same_quarter(name):
    """Single precision changes one by less than a hundred-thousandth of the range of outputs."""
    make, model, categorical, error, how = REGRESSIONS[name]
    train, recorder = make(), Recorder(model)
    rows = train[11:12] if how.get("draws") == "own" else train[:9]
    if model is hostile_model:
        rows = np.vstack([train[:25], UNSEEN])
    values = Lime(recorder, train, categorical=categorical, mode="regression", **how).explain(rows).values
    (asked,) = recorder.asked
    np.testing.assert_array_equal(asked[0], rows[0])
    for row, value in zip(rows, values, strict=True):
        every = np.vstack([row, asked[len(rows) :]])
        expected = ridge(seen_as(train, every, categorical), model(every))
        np.testing.assert_allclose(value, expected, atol=error or 1e-5 * np.ptp(model(asked)), rtol=0)


# The package lime.


def lime_coefficients(train, row, model, seed, samples, categorical=(), mode="classification"):
    asked = {"categorical_features": categorical, "feature_selection": "none", "random_state": seed}
    explainer = library("lime.lime_tabular").LimeTabularExplainer(train, mode=mode, **asked)

    def both(rows):
        return np.column_stack([1 - model(rows), model(rows)])

    told = explainer.explain_instance(
        row, both if mode == "classification" else model, num_features=len(row), num_samples=samples
    )
    return [coefficient for _, coefficient in sorted(told.local_exp[1])]


PACKAGE = {
    "mixed": (mixed_rows, mixed_model, {"categorical": [4]}),
    "numbers": (nine_numbers, waves, {"mode": "regression"}),
}


@pytest.mark.parametrize("name", graded(["mixed"], PACKAGE))
def test_a_single_run_with_many_samples_agrees_with_lime(name):
    make, model, how = PACKAGE[name]
    train = make()
    theirs = lime_coefficients(train, train[7], model, 0, 100_000, **how)
    ours = Lime(model, train, samples=100_000, **how).explain(train[7:8]).values[0]
    np.testing.assert_allclose(ours, theirs, atol=0.015 * np.ptp(model(train)))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99


# Draws.


def test_the_model_is_asked_once_about_the_distinct_rows_and_the_draws():
    model, rows = Recorder(indifferent), np.vstack([IRIS[:40], IRIS[39::-1]])
    Lime(model, IRIS, samples=500).explain(rows)
    (asked,) = model.asked
    distinct = np.unique(IRIS[:40], axis=0)
    assert len(asked) == len(distinct) + 499
    np.testing.assert_array_equal(np.unique(asked[: len(distinct)], axis=0), distinct)


def test_the_model_and_progress_are_called_by_the_callers_thread_alone(monkeypatch):
    monkeypatch.setattr(regressions, "WORKERS", 3)
    callers = set()

    def model(rows):
        callers.add(threading.get_ident())
        return rows[:, 0] > 5

    Lime(model, IRIS, samples=50).explain(IRIS, progress=lambda *_: callers.add(threading.get_ident()))
    assert callers == {threading.get_ident()}
