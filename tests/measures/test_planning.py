"""The interval of a plan: what it holds, what it says where it cannot tell, and that its programs are solved."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.stats import poisson

import faithscope as fs
from faithscope.measures.planning import band as bands
from faithscope.measures.planning.band import Band, Rates
from faithscope.report.summary import _needed

GRID = Rates.spaced(1)


def measured(n, seed, count=700):
    return fs.consistency(np.random.default_rng(seed).integers(0, count, n), np.zeros(n))


def band_of(codes, confidence=0.95):
    sizes, explanations = np.unique(np.bincount(codes), return_counts=True)
    seen = sizes > 0
    return Band.of(sizes[seen] - 1, (sizes * explanations)[seen], confidence)


def test_statistics_are_expected_to_be_what_their_coefficients_add_up_to():
    j = np.arange(600)
    summed = poisson.pmf(j[:, None], GRID.rates)
    assert np.abs(bands._coefficients(j) @ summed - GRID.expected).max() < 1e-9


@pytest.mark.parametrize("times", [1.5, 4, 10])
def test_the_ends_solve_the_linear_programs(times):
    found = band_of(np.random.default_rng(3).integers(0, 500, 800))
    shares = np.exp(-times * GRID.rates)
    program = [
        LinearConstraint(
            GRID.expected,
            found.statistics - found.allowed * found.errors,
            found.statistics + found.allowed * found.errors,
        ),
        LinearConstraint(np.ones((1, len(GRID.rates))), 1, 1),
    ]
    low, high = (sign * milp(sign * shares, constraints=program, bounds=Bounds(0, 1)).fun for sign in (1, -1))
    assert found.at(times) == pytest.approx((low, high), abs=1e-6)


def test_standard_errors_are_those_of_repeated_draws_or_larger():
    rng = np.random.default_rng(0)
    for chances in (np.full(200, 1 / 200), (w := 0.97 ** np.arange(300)) / w.sum(), np.full(20, 1 / 20)):
        drawn = [band_of(rng.choice(len(chances), 400, p=chances)) for _ in range(300)]
        spread = np.std([found.statistics for found in drawn], axis=0)
        told = np.sqrt(np.mean([found.errors**2 for found in drawn], axis=0))
        assert (told >= 0.85 * spread).all()


@pytest.mark.parametrize("times", [2, 4, 10])
def test_the_interval_holds_the_truth(times):
    n, rng = 250, np.random.default_rng(times)
    chances = (w := 0.995 ** np.arange(2_000)) / w.sum()
    truth = np.sum(chances * (1 - chances) ** (times * n - 1))
    held = 0
    for _ in range(20):
        plan = fs.plan(fs.consistency(rng.choice(2_000, n, p=chances), np.zeros(n)), unverifiable=0.99)
        low, high = plan.interval(times * n)
        held += low <= truth <= high
    assert held >= 18


@pytest.mark.parametrize("seed", range(3))
def test_ends_fall_with_rows_hold_the_point_and_open_with_confidence(seed):
    found = measured(400, seed)
    plan, sure = fs.plan(found), fs.plan(found, confidence=0.999)
    ends = np.array([plan.interval(rows) for rows in (401, 600, 1_000, 1_600, 3_000, 4_000)])
    assert (np.diff(ends, axis=0) <= 1e-7).all()
    for rows in (401, 600, 1_000, 1_600):
        low, high = plan.interval(rows)
        assert 0 <= low <= plan.at(rows) <= high <= 1
        assert sure.interval(rows)[0] <= low + 1e-7
        assert sure.interval(rows)[1] >= high - 1e-7
    assert plan.interval(100) == (plan.at(100), plan.at(100))


def test_the_rows_needed_are_where_the_curves_cross():
    plan = fs.plan(measured(3_000, 1), unverifiable=0.01)
    low, point, high = plan.rows_needed_low, plan.rows_needed, plan.rows_needed_high
    assert 3_000 < low <= point <= high
    for rows, share in (
        (low, lambda m: plan.interval(m)[0]),
        (point, plan.at),
        (high, lambda m: plan.interval(m)[1]),
    ):
        assert share(rows) <= 0.01 + 1e-6
        assert share(rows - 1) >= 0.01 - 1e-6
    needed = f"about {point:,} rows in all are needed for 1.0% unverifiable (95% interval: {low:,} to {high:,})"
    assert needed in " ".join(str(plan).split())


def test_rows_that_are_enough_need_no_interval():
    plan = fs.plan(measured(3_000, 1), unverifiable=0.5)
    assert plan.rows_needed == plan.rows_needed_low == plan.rows_needed_high < 3_000


def test_rows_needed_beyond_four_times_the_rows_are_an_interval_only():
    plan = fs.plan(measured(1_000, 0, 3_000))
    assert plan.rows_needed is None
    assert 4_000 < plan.rows_needed_low < 10_000
    assert plan.rows_needed_high is None
    assert f"{plan.rows_needed_low:,} to more than 10,000 rows in all are needed" in plan.reason


def test_beyond_four_times_the_rows_the_advice_is_the_interval_and_it_runs():
    plan = fs.plan(measured(200, 0))
    with pytest.raises(
        fs.errors.BadInput, match=r"beyond 4 times its size\. Only an interval is told there"
    ) as refused:
        plan.at(801)
    advice = str(refused.value).rsplit("plan.", 1)[1].rstrip(".")
    assert advice == "interval(801)"
    assert len(plan.interval(801)) == 2
    with pytest.raises(fs.errors.BadInput, match=r"10 times its size. Measure more rows first"):
        plan.interval(2_001)
    with pytest.raises(fs.errors.BadInput, match="whole number"):
        plan.interval(2.5)
    with pytest.raises(fs.errors.BadInput, match="confidence must be a number strictly between 0 and 1; got 95"):
        fs.plan(measured(200, 0), confidence=95)


@pytest.mark.parametrize("times", [2, 3])
def test_rows_that_are_logged_several_times_are_noticed(times):
    once = np.random.default_rng(0).integers(0, 300, 300)
    plan = fs.plan(fs.consistency(np.repeat(once, times), np.zeros(300 * times)), unverifiable=0.05)
    assert not plan.forecastable
    assert plan.interval(600 * times) == (0.0, 1.0)
    with pytest.raises(fs.errors.BadInput, match="as those of independent rows hardly ever do"):
        plan.at(600 * times)


def test_independent_rows_are_hardly_ever_taken_for_others():
    rng = np.random.default_rng(5)
    for n in (5, 20, 100, 1_000):
        assert sum(band_of(rng.integers(0, 200, n)).odd for _ in range(25)) <= 1


def test_rows_that_never_repeat_have_a_lower_end_and_one_row_says_nothing():
    plan = fs.plan(fs.consistency(np.arange(1_000), np.zeros(1_000)))
    low, high = plan.interval(10_000)
    assert 0.8 < low < 0.97  # three pairs among n²/2 make 60 rows of 10,000 repeat, and as many again by chance
    assert high == pytest.approx(1)
    assert "more than 10,000 rows, 10 times as many, are needed" in str(plan)
    one = fs.plan(fs.consistency(["a"], [0]))
    assert one.interval(1) == (1.0, 1.0)
    with pytest.raises(fs.errors.BadInput, match=r"every explanation occurred once.*Measure more rows first"):
        one.interval(2)
    with pytest.raises(fs.errors.BadInput, match="Measure more rows first"):
        one.at(2)


def test_neither_the_order_of_rows_nor_how_they_are_given_matters():
    codes = np.random.default_rng(2).integers(0, 150, 300)
    plan = fs.plan(fs.consistency(codes, np.zeros(300)))
    ends = plan.interval(1_000)
    for given in (codes[::-1], codes.astype(float), codes.astype(str), pd.Series(codes, index=codes), list(codes)):
        again = fs.plan(fs.consistency(given, np.zeros(300)))
        assert str(again) == str(plan)
        assert again.to_dict() | {"backtest": 0} == plan.to_dict() | {"backtest": 0}
        assert again.interval(1_000) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("n", [10**6, 10**8])
def test_many_rows_are_foreseen_as_well(n):
    # A third of the rows never repeats; the others have explanations of thousands of rows.
    others = np.array([0, 4_999, 9_999])
    found = Band.of(others, np.array([n / 3, n / 3, n / 3]), 0.95)
    for times in (1.5, 10):
        assert found.at(times) == pytest.approx((1 / 3, 1 / 3), abs=0.01)


def test_the_plan_goes_through_json_with_its_interval():
    plan = fs.plan(measured(400, 0), confidence=0.9)
    told = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert told["confidence"] == 0.9
    assert (told["rows_needed_low"], told["rows_needed_high"]) == (plan.rows_needed_low, plan.rows_needed_high)
    assert "90% interval" in plan._repr_html_()


@pytest.mark.parametrize(
    ("n", "count", "wanted", "sentence"),
    [
        (3_000, 700, 0.01, "; it takes about {rows:,} ({low:,} to {high:,}) rows to leave only 1% unverifiable"),
        (500, 700, 0.1, "; it takes about {rows:,} (at least {low:,}) rows to leave only 10% unverifiable"),
        (1_000, 3_000, 0.05, "; it takes at least {low:,} rows to leave only 5% unverifiable"),
        (2_000, 10**6, 0.05, "; even 20,000 rows would leave more than 5% unverifiable"),
        (2_000, 100, 0.05, ""),
    ],
)
def test_the_report_tells_the_range(n, count, wanted, sentence):
    plan = fs.plan(measured(n, 1, count), unverifiable=wanted)
    ends = {"rows": plan.rows_needed, "low": plan.rows_needed_low, "high": plan.rows_needed_high}
    assert _needed(plan) == sentence.format(**ends)


def test_a_program_that_is_not_solved_leaves_the_interval_open(monkeypatch):
    plan = fs.plan(measured(300, 0), unverifiable=0.9)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: SimpleNamespace(status=4))
    assert plan.interval(600) == (0.0, 1.0)
    assert not fs.plan(measured(300, 0)).forecastable
