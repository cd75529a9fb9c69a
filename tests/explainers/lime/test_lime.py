"""Lime is lime's algorithm, as a function of the row alone: its draws and regression, and the paper on it."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge

import faithscope.explainers.lime.regressions as regressions
from explainers.systems import diabetes, graded, library
from faithscope.explainers import Lime
from recorder import Recorder

IRIS = load_iris().data
TUMORS, MALIGNANT = load_breast_cancer(return_X_y=True)


def mixed_rows(n=500):
    """Skewed, normal and counted numbers, one with a common least value, and a category in the last column."""
    rng = np.random.default_rng(1)
    numbers = [rng.exponential(size=n), rng.normal(size=n), rng.poisson(0.8, n), rng.integers(2, 7, n)]
    return np.column_stack([*numbers, rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])])


def mixed_model(rows):
    """A probability that depends on every column, with an interaction."""
    sign = rows[:, 0] - 1 + np.sin(2 * rows[:, 1]) + 0.5 * rows[:, 2] * (rows[:, 4] == 1) - 0.2 * rows[:, 3]
    return 1 / (1 + np.exp(-2 * sign))


def hostile_rows(n=400):
    """A skewed number, missing ones, a constant, a category with a rare value, and one that is nearly always 0."""
    rng = np.random.default_rng(0)
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


def seen_as(train, rows, categorical, discretize):
    """What the regression sees: whether a value stays in the first row's quarter, or its deviation from the mean."""
    seen = np.empty(rows.shape)
    for j, (known, column) in enumerate(zip(train.T, rows.T, strict=True)):
        if discretize and j not in categorical:
            cuts = np.unique(np.nanpercentile(known, [25, 50, 75]))
            column = np.where(np.isnan(column), 9, np.searchsorted(cuts, column))
        deviates = not discretize and j not in categorical
        seen[:, j] = (column - known.mean()) / known.std() if deviates else column == column[0]
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
    "as they are": (mixed_rows, mixed_model, [4], 1e-9, {"samples": 800, "discretize": False}),
    "own, as they are": (mixed_rows, mixed_model, [4], 1e-9, {"samples": 800, "discretize": False, "draws": "own"}),
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
        expected = ridge(seen_as(train, every, categorical, how.get("discretize", True)), model(every))
        np.testing.assert_allclose(value, expected, atol=error or 1e-5 * np.ptp(model(asked)), rtol=0)


@pytest.mark.parametrize("discretize", [True, False])
def test_an_explanation_has_the_same_bits_in_any_batch(discretize):
    train, how = hostile_rows(), {"categorical": [3, 4], "samples": 300, "discretize": discretize}
    explainer = Lime(hostile_model, train, mode="regression", **how)
    whole = explainer.explain(train[:60]).values
    np.testing.assert_array_equal(explainer.explain(train[59::-1]).values[::-1], whole)
    np.testing.assert_array_equal(np.vstack([explainer.explain(train[[row]]).values for row in range(9)]), whole[:9])


def test_outputs_of_any_size_give_coefficients_of_that_size():
    def values(size, start=0.0):
        return (
            Lime(lambda rows: start + size * rows[:, 0], IRIS, samples=300, mode="regression").explain(IRIS[:5]).values
        )

    for size in (1e-200, 1e-30, -3.0, 1e30, 1e200):
        np.testing.assert_allclose(values(size) / size, values(1.0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(values(-3.0, start=1e6), -3 * values(1.0), atol=1e-6)


# The package lime.


def lime_coefficients(train, row, model, seed, samples, categorical=(), discretize=True, mode="classification"):
    asked = {"categorical_features": categorical, "feature_selection": "none", "random_state": seed}
    explainer = library("lime.lime_tabular").LimeTabularExplainer(
        train, mode=mode, discretize_continuous=discretize, **asked
    )

    def both(rows):
        return np.column_stack([1 - model(rows), model(rows)])

    told = explainer.explain_instance(
        row, both if mode == "classification" else model, num_features=len(row), num_samples=samples
    )
    return [coefficient for _, coefficient in sorted(told.local_exp[1])]


PACKAGE = {
    "mixed": (mixed_rows, mixed_model, {"categorical": [4]}),
    "mixed, as they are": (mixed_rows, mixed_model, {"categorical": [4], "discretize": False}),
    "numbers": (nine_numbers, waves, {"mode": "regression"}),
    "numbers, as they are": (nine_numbers, waves, {"mode": "regression", "discretize": False}),
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


def drawn(train, samples, rows=slice(1), **how):
    """What an indifferent model is asked about."""
    model = Recorder(indifferent)
    Lime(model, train, samples=samples, **how).explain(train[rows])
    return model.asked[0]


def test_where_the_least_value_is_common_it_is_drawn_where_lime_draws_zero():
    train = np.column_stack([np.repeat([5.0, 6.0, 9.0], [60, 20, 20]), np.arange(100.0)])
    assert set(drawn(train, 200)[:, 0]) == {5.0, 6.0, 9.0}


def test_drawn_values_stay_within_the_range_of_training_values_and_are_as_frequent():
    asked = drawn(TUMORS, 5000, slice(3))[3:]
    assert (asked >= TUMORS.min(axis=0)).all()
    assert (asked <= TUMORS.max(axis=0)).all()
    few, many = (mixed_rows(), 4), (np.arange(40.0)[:, None], 0)  # categories
    for (train, column), draws in ((few, "shared"), (few, "own"), (many, "shared")):
        share = np.bincount(drawn(train, 40_000, categorical=[column], draws=draws)[:, column].astype(int)) / 40_000
        expected = np.bincount(train[:, column].astype(int)) / len(train)
        np.testing.assert_allclose(share, expected, atol=0.01 if column else 0.15 / 40)
    wide = np.random.default_rng(0).normal(size=(300, 600))  # so many features that tables of draws are smaller
    asked = drawn(wide, 4000)
    for column in (0, 599):
        assert abs(asked[:, column].mean() - wide[:, column].mean()) < 0.1
        assert abs((asked[:, column] <= np.percentile(wide[:, column], 25)).mean() - 0.25) < 0.03


@pytest.mark.parametrize("how", [{}, {"discretize": False}, {"draws": "own"}])
def test_the_model_is_asked_once_about_the_distinct_rows_and_the_draws(how):
    model, rows = Recorder(indifferent), np.vstack([IRIS[:40], IRIS[39::-1]])
    Lime(model, IRIS, samples=500, **how).explain(rows)
    (asked,) = model.asked
    if "draws" not in how:
        distinct = np.unique(IRIS[:40], axis=0)
        assert len(asked) == len(distinct) + 499
        np.testing.assert_array_equal(np.unique(asked[: len(distinct)], axis=0), distinct)


def test_shared_draws_remove_noise_between_rows():
    """Rows of one bin that the model treats alike get one explanation if they share draws, and many if they do not."""
    rows = np.column_stack([np.linspace(5.2, 5.7, 30), np.full((30, 3), 1.0)])
    shared, own = (
        Lime(lambda asked: asked[:, 2] > 3, IRIS, samples=300, draws=draws).explain(rows).values
        for draws in ("shared", "own")
    )
    assert len(np.unique(shared, axis=0)) == 1
    assert len(np.unique(own.round(6), axis=0)) == 30
    assert (np.abs(shared[0] - own.mean(axis=0)) < 4 * own.std(axis=0)).all()


def test_the_model_and_progress_are_called_by_the_callers_thread_alone(monkeypatch):
    monkeypatch.setattr(regressions, "WORKERS", 3)
    callers = set()

    def model(rows):
        callers.add(threading.get_ident())
        return rows[:, 0] > 5

    Lime(model, IRIS, samples=50).explain(IRIS, progress=lambda *_: callers.add(threading.get_ident()))
    assert callers == {threading.get_ident()}


# Values that no draw has.


def test_a_row_in_a_quarter_that_no_training_row_is_in_differs_from_every_draw():
    train = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [1.0, 4.0]])  # the median of the first is 0.5
    values = Lime(lambda rows: (rows[:, 0] > 0.2) * 1.0, train, samples=2000).explain([[0.3, 2.0]]).values
    assert 0 < values[0, 0] < 0.5  # the row alone is in its quarter


# The paper's XOR model: of rows with different labels.
