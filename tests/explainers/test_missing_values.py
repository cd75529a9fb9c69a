"""Missing values, new categories and dates: each explainer takes them as values of their own."""

import datetime
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from explainers.systems import DAY, covered, trees, written
from faithscope.errors import BadInput
from faithscope.explainers import Anchors, Lime, TreePath
from faithscope.explainers.space import Space
from recorder import Recorder

RNG = default_rng(0)
JOBS = np.array(["clerk", "cook", "zzz"])[RNG.integers(0, 3, 400)]
NAMED = pd.DataFrame({"job": JOBS, "age": RNG.integers(18, 80, 400).astype(float), "city": RNG.choice(["x", "y"], 400)})
NUMBERS = np.where(RNG.random((500, 3)) < 0.25, np.nan, RNG.normal(size=(500, 3)))
MAKERS = [Lime, Anchors, TreePath.surrogate]


@cache
def boosted():
    target = np.isnan(NUMBERS[:, 0]) | (np.nan_to_num(NUMBERS[:, 1]) > 0.5)
    return trees("histograms").fit(NUMBERS, target)


# -- a missing category is a category --------------------------------------------------------------------------------


# -- missing numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_every_kind_of_missing_number_is_explained_alike(make):
    fitted, rows = make(boosted(), NUMBERS), NUMBERS[:12].copy()
    usual = written(fitted.explain(rows))
    rows[np.isnan(rows)] = np.array(0xFFF8000000000123, "<u8").view("<f8")
    assert written(fitted.explain(rows)) == usual


def test_lime_asks_about_the_row_as_it_is_and_draws_missing_as_often_as_training_has_it():
    model = Recorder(lambda rows: np.full(len(rows), 0.5))
    train = NUMBERS[:, :2].astype(object)
    train[np.isnan(NUMBERS[:, :2])] = None
    Lime(model, train, samples=4000).explain(train[:2])
    asked = model.asked[-1]
    assert asked[:2].tolist() == train[:2].tolist()
    assert {type(value) for value in asked.ravel()} == {float, type(None)}
    share = np.mean(asked[2:, 0] == None)  # noqa: E711
    assert share == pytest.approx(np.isnan(NUMBERS[:, 0]).mean(), abs=0.03)


def test_anchors_ask_for_missing_where_that_decides_and_cover_no_other_row():
    rules = Anchors(lambda rows: np.isnan(rows[:, 0]), NUMBERS).explain(NUMBERS[:80])
    missing = np.isnan(NUMBERS[:80, 0])
    assert {rules.describe(row) for row in np.flatnonzero(missing)} == {"x0 is missing"}
    assert (rules.claimed["precision"] == 1).all()
    inside = covered(rules, NUMBERS[:80])
    assert not inside[missing][:, ~missing].any()
    assert not inside[~missing][:, missing].any()


def test_a_value_missing_for_the_first_time_gets_no_condition_and_stops_nobody():
    clean = np.nan_to_num(NUMBERS)
    rules = Anchors(boosted(), clean).explain(NUMBERS[:60])
    for row in range(60):
        asked = {condition.position for condition in rules.conjunction(row)}
        assert not asked & set(np.flatnonzero(np.isnan(NUMBERS[row])))
    assert np.isfinite(Lime(boosted(), clean, samples=200).explain(NUMBERS[:10]).values).all()
    surrogate = TreePath.surrogate(boosted(), clean).explain(NUMBERS)
    assert covered(surrogate, NUMBERS).diagonal().all()


# -- trees -------------------------------------------------------------------------------------------------------


# -- new categories ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_a_new_category_stops_nobody_and_the_model_is_asked_about_it(make):
    seen = set()

    def model(rows):
        seen.update(rows["job"].dropna())
        return (rows["age"] > 40).to_numpy() | (rows["job"] == "pilot").to_numpy()

    explainer = make(model, NAMED)
    asked = NAMED[:6].assign(job=["pilot", "nurse", *NAMED["job"][2:6]])
    seen.clear()
    explanations, usual = explainer.explain(asked), explainer.explain(NAMED[:6])
    assert {"pilot", "nurse"} <= seen or make == TreePath.surrogate  # which is asked in place of the model
    assert written(explanations)[2:] == written(usual)[2:]
    if isinstance(explanations, fs.Rules):
        assert covered(explanations, asked).diagonal().all()
        assert "pilot" not in explanations.describe(0)


# -- dates -------------------------------------------------------------------------------------------------------

WHEN = pd.DataFrame({"when": DAY + pd.to_timedelta(RNG.integers(0, 120, 400), "D"), "x": RNG.normal(size=400)})


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("dtype", ["datetime64[s]", "datetime64[us]", "datetime64[ns]", "datetime64[us, UTC]"])
def test_dates_are_numbers_and_the_model_gets_dates(dtype, holes):
    when = (WHEN["when"].dt.tz_localize("UTC") if "UTC" in dtype else WHEN["when"]).astype(dtype)
    rows = WHEN.assign(when=when.mask(np.arange(400) % 5 == 0) if holes else when)
    late, zone = pd.Timestamp("2024-03-01", tz=getattr(when.dtype, "tz", None)), "Z" if "UTC" in dtype else ""

    def model(asked):
        assert asked["when"].dtype == when.dtype
        return ((asked["when"] > late) | asked["when"].isna()).to_numpy()

    surrogate = TreePath.surrogate(model, rows).explain(rows)
    assert set(written(surrogate)) == {f"when <= 2024-03-01{zone}", f"when > 2024-03-01{zone}" + " or missing" * holes}
    assert covered(Anchors(model, rows).explain(rows), rows).diagonal().all()
    values = Lime(model, rows, samples=300).explain(rows[:10]).values
    assert (np.abs(values[:, 0]) > 3 * np.abs(values[:, 1])).all()


def test_dates_beyond_nanoseconds_are_read_if_training_has_any():
    """9999-12-31 stands for "never" in many tables."""
    never, soon = datetime.datetime(9999, 12, 31), datetime.datetime(2020, 1, 5)
    known = pd.DataFrame({"until": pd.Series([soon, never], dtype=object), "age": [30, 50]})
    space = Space.learn(known)
    assert space.decode(space.encode(known))["until"].tolist() == [soon, never]
    fine = known.assign(until=pd.to_datetime(["2020-01-05", "2020-02-05"]).astype("datetime64[ns]"))
    with pytest.raises(BadInput, match="too far from 1970"):
        Space.learn(fine).encode(known)
