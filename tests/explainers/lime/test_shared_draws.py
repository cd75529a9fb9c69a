"""Lime with one set of draws for all rows: whom the model is asked about, and that each row's regression is its own."""

import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge

import faithscope as fs
import faithscope.explainers.lime.regressions as regressions
from faithscope.errors import BadInput
from faithscope.explainers.lime.explainer import Lime
from recorder import Recorder

IRIS, SPECIES = load_iris(return_X_y=True)
FOREST = RandomForestClassifier(10, max_depth=4, random_state=0).fit(IRIS, SPECIES)
KERNEL = 0.75


def hostile_rows(n=400):
    """A skewed number, missing ones, a constant, a category with a rare value, and one that is nearly always 0."""
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    rare, common = rng.choice(5, n, p=[0.6, 0.3, 0.09, 0.009, 0.001]), (rng.random(n) < 0.004) * 1.0
    return np.column_stack([rng.exponential(size=n), holes, np.full(n, 7.0), rare, common])


def wave(rows):
    """Numbers far from 0, one of which in a thousand is much larger."""
    plain = np.nan_to_num(rows, nan=-3.0)
    return 500 + plain[:, 0] * plain[:, 3] + np.sin(3 * plain[:, 1]) + 40 * plain[:, 4] + 900 * (plain[:, 0] > 7)


def bins_of(train, rows, categorical):
    """Bins as lime sees them: quarters, categories, and missing values apart."""
    bins = rows.copy()
    for j in set(range(train.shape[1])) - set(categorical):
        cuts = np.unique(np.nanpercentile(train[:, j], [25, 50, 75]))
        bins[:, j] = np.where(np.isnan(rows[:, j]), 9, np.searchsorted(cuts, rows[:, j]))
    return bins


def ridge(like, squares, outputs):
    """Weighted ridge regression in double precision, of one output."""
    weights = np.exp(-squares / (2 * KERNEL**2 * like.shape[1]))
    return Ridge(alpha=1, solver="svd").fit(like, outputs, sample_weight=weights).coef_


def brute(train, rows, draws, model, categorical):
    """Lime's regression of each row on the row itself and all draws."""
    values = []
    for row in rows:
        asked = np.vstack([row, draws])
        bins = bins_of(train, asked, categorical)
        like = (bins == bins[0]).astype(float)
        values.append(ridge(like, (1 - like).sum(axis=1), model(asked)))
    return np.array(values)


@pytest.mark.parametrize("samples", [2, 50, 800, 20_000])
def test_single_precision_changes_a_coefficient_by_less_than_a_hundred_thousandth_of_the_range_of_outputs(samples):
    train, model = hostile_rows(), Recorder(wave)
    rows = np.vstack([train[:25], [[99.0, np.nan, 7.0, 3.0, 1.0], [0.0, 0.0, 8.0, 77.0, 0.0]]])  # 77 is unseen
    values = Lime(model, train, categorical=[3, 4], samples=samples, mode="regression").explain(rows).values
    (asked,) = model.asked
    expected = brute(train, rows, asked[len(rows) :], wave, [3, 4])
    np.testing.assert_allclose(values, expected, atol=1e-5 * np.ptp(wave(asked)), rtol=0)


def test_numbers_as_they_are_beside_a_category_are_regressed_in_double_precision():
    train = hostile_rows()[:, [0, 3]]
    model = Recorder(lambda rows: rows[:, 0] * (1 + rows[:, 1]))
    rows = train[:9]
    values = Lime(model, train, categorical=[1], samples=300, mode="regression", discretize=False).explain(rows).values
    (asked,) = model.asked
    draws, mean, deviation = asked[len(rows) :], train[:, 0].mean(), train[:, 0].std()
    for row, value in zip(rows, values, strict=True):
        every = np.vstack([row, draws])
        like = np.column_stack([(every[:, 0] - mean) / deviation, every[:, 1] == row[1]])
        np.testing.assert_allclose(
            value, ridge(like, ((like - like[0]) ** 2).sum(axis=1), model.model(every)), atol=1e-9
        )


@pytest.mark.parametrize("discretize", [True, False])
def test_the_model_is_asked_once_about_the_distinct_rows_and_the_draws(discretize):
    model = Recorder(FOREST.predict_proba)
    explainer = Lime(model, IRIS, samples=500, discretize=discretize)
    values = explainer.explain(np.vstack([IRIS[:40], IRIS[39::-1]])).values
    (asked,) = model.asked
    distinct = np.unique(IRIS[:40], axis=0)
    assert len(asked) == len(distinct) + 499
    np.testing.assert_array_equal(np.unique(asked[: len(distinct)], axis=0), distinct)
    np.testing.assert_array_equal(values[:40], values[:39:-1])


def test_draws_depend_on_the_seed_and_not_on_the_rows():
    drawn = []
    for seed, rows in ((0, IRIS[:3]), (0, IRIS[50:99]), (1, IRIS[:3])):
        model = Recorder(FOREST.predict_proba)
        Lime(model, IRIS, samples=50, seed=seed).explain(rows)
        drawn.append(model.asked[0][-49:])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any(axis=1).all()


def test_rows_in_the_same_bins_with_the_same_output_get_the_same_explanation():
    rows = np.array([[5.11, 3.4, 1.5, 0.2], [5.2, 3.5, 1.52, 0.21], [5.2, 3.5, 1.52, 6.0]])
    explainer = Lime(lambda asked: np.where(asked[:, 3] == 6, 0.9, asked[:, 2] > 3) * 1.0, IRIS, samples=300)
    values = explainer.explain(rows).values
    assert (bins_of(IRIS, rows, ())[0] == bins_of(IRIS, rows, ())[1]).all()
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[1] != values[2]).any()


def test_rows_in_the_same_bins_differ_by_their_own_output_alone():
    train = np.random.default_rng(0).normal(size=(2000, 2))
    rows = np.array([[0.1, 0.2], [0.6, 0.3]])
    values = Lime(lambda asked: asked[:, 0] > 0.3, train, samples=5000).explain(rows).values
    np.testing.assert_allclose(values[0], values[1], atol=2e-3)  # one row of 5,000


@pytest.mark.parametrize("discretize", [True, False])
def test_an_explanation_has_the_same_bits_in_any_batch_block_and_number_of_threads(discretize, monkeypatch):
    train = hostile_rows()
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(train, train[:, 0] > 1)
    explainer = Lime(model, train, categorical=[3, 4], samples=300, discretize=discretize)
    rows = train[:60]
    whole = explainer.explain(rows).values
    np.testing.assert_array_equal(explainer.explain(rows[::-1]).values[::-1], whole)
    np.testing.assert_array_equal(np.vstack([explainer.explain(rows[[row]]).values for row in range(20)]), whole[:20])
    for name, value in (("_AT_A_TIME", 30_000), ("_BYTES", 20_000), ("WORKERS", 5), ("WORKERS", 1)):
        monkeypatch.setattr(regressions, name, value)
        np.testing.assert_array_equal(explainer.explain(rows).values, whole)


def test_the_model_and_progress_are_called_by_the_callers_thread_alone(monkeypatch):
    monkeypatch.setattr(regressions, "WORKERS", 3)
    callers = set()

    def model(rows):
        callers.add(threading.get_ident())
        return FOREST.predict_proba(rows)

    Lime(model, IRIS, samples=50).explain(IRIS, progress=lambda *_: callers.add(threading.get_ident()))
    assert callers == {threading.get_ident()}


def test_progress_counts_rows_and_not_bins():
    calls, rows = [], IRIS[[0, 0, 0, 60, 120]]
    Lime(FOREST, IRIS, samples=50).explain(rows, progress=lambda *call: calls.append(call))
    assert calls[-1] == (5, 5)
    assert calls == sorted(calls)


def test_tables_with_texts_dates_and_values_never_seen_are_asked_about_as_tables():
    train = pd.DataFrame(
        {
            "job": pd.Series(["clerk", "smith", None, "nurse"] * 25, dtype=object),
            "born": pd.date_range("2000-01-01", periods=100),
            "age": np.arange(100),
        }
    )
    rows = pd.concat([train[:4], train[:2].assign(job=["pilot", "diver"])], ignore_index=True)
    asked = []

    def model(frame):
        asked.append(frame)
        return (frame["job"] == "pilot") * 0.5 + (frame["age"] > 40) * 0.25

    values = Lime(model, train, samples=400).explain(rows).values
    assert len(asked) == 1
    assert list(asked[0].columns) == list(train.columns)
    assert asked[0]["born"].dtype == train["born"].dtype
    assert asked[0]["job"][:6].tolist()[4:] == ["pilot", "diver"]
    assert values[4, 0] > 0.1 > abs(values[5, 0])  # every draw differs from unseen jobs; the row alone has 0.5 more


def test_categories_never_seen_are_asked_about_apart_though_they_are_seen_alike():
    train = pd.DataFrame({"job": ["clerk", "smith"] * 20, "age": np.arange(40.0)})
    rows = pd.DataFrame({"job": ["pilot", "diver", "pilot"], "age": [3.0, 3.0, 3.0]})
    values = Lime(lambda frame: (frame["job"] == "pilot") * 0.8, train, samples=100).explain(rows).values
    np.testing.assert_array_equal(values[0], values[2])
    assert values[0, 0] > 0
    assert (values[1] == 0).all()


def test_outputs_of_any_size_give_coefficients_of_that_size():
    plain = Lime(lambda rows: rows[:, 0], IRIS, samples=300, mode="regression").explain(IRIS[:5]).values
    for size in (1e-200, 1e-30, 1e30, 1e200):
        scaled = Lime(lambda rows, size=size: size * rows[:, 0], IRIS, samples=300, mode="regression")
        np.testing.assert_allclose(scaled.explain(IRIS[:5]).values / size, plain, rtol=1e-5, atol=1e-7)


def test_another_way_to_draw_is_refused():
    with pytest.raises(BadInput, match="draws must be one of 'shared', 'own'; got 'common'"):
        Lime(FOREST, IRIS, draws="common")


def test_explanations_from_shared_and_from_own_draws_are_not_confused_by_the_cache(tmp_path):
    found = [
        fs.evaluate(FOREST, Lime(FOREST, IRIS, samples=50, draws=draws), IRIS[:20], cache=tmp_path, progress=False)
        for draws in ("shared", "own", "shared")
    ]
    assert Lime(FOREST, IRIS, draws="own") != Lime(FOREST, IRIS)
    np.testing.assert_array_equal(found[0].explanations.values, found[2].explanations.values)
    assert (found[0].explanations.values != found[1].explanations.values).any()


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
