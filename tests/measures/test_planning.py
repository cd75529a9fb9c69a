"""The interval of a plan: what it holds, what it says where it cannot tell, and that its programs are solved."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.stats import poisson

import faithscope as fs
from faithscope.measures.planning import Band, coefficients, rates
from refused import refused

RATES, EXPECTED = rates(1)
thorough = pytest.mark.thorough


def planned(explanations, **how):
    return fs.plan(fs.consistency(explanations, np.zeros(len(explanations))), **how)


def drawn(n, seed, count=700):
    return default_rng(seed).integers(0, count, n)


def band_of(codes):
    sizes, explanations = np.unique(np.bincount(codes), return_counts=True)
    seen = sizes > 0
    return Band.of(sizes[seen] - 1, (sizes * explanations)[seen], 0.95)


@pytest.mark.parametrize("n", [40, 100])
def test_of_rows_that_are_all_alike_as_much_may_be_unseen_as_the_rule_of_three_leaves(n):
    assert planned(np.zeros(n)).interval(4 * n)[1] == pytest.approx(np.log(2 / 0.05) / n)


def test_statistics_are_expected_to_be_what_their_coefficients_add_up_to():
    j = np.arange(600)
    summed = poisson.pmf(j[:, None], RATES)
    assert np.abs(coefficients(j) @ summed - EXPECTED).max() < 1e-9


@pytest.mark.parametrize("times", [1.5, 4, 10])
def test_the_ends_solve_the_linear_programs(times):
    found = band_of(drawn(800, 3, 500))
    shares, room = np.exp(-times * RATES), found.allowed * found.errors
    program = [
        LinearConstraint(EXPECTED, found.statistics - room, found.statistics + room),
        LinearConstraint(np.ones((1, len(RATES))), 1, 1),
    ]
    low, high = (sign * milp(sign * shares, constraints=program, bounds=Bounds(0, 1)).fun for sign in (1, -1))
    assert (found.low(times), found.high(times)) == pytest.approx((low, high), abs=1e-6)


def test_ends_fall_with_rows_hold_the_point_and_open_with_confidence():
    for seed in range(3):
        plan, sure = (planned(drawn(400, seed), confidence=confidence) for confidence in (0.95, 0.999))
        ends = np.array([plan.interval(rows) for rows in (401, 600, 1_000, 1_600, 3_000, 4_000)])
        assert (np.diff(ends, axis=0) <= 1e-7).all()
        for rows in (401, 600, 1_000, 1_600):
            (low, high), (lowest, highest) = plan.interval(rows), sure.interval(rows)
            assert 0 <= low <= plan.at(rows) <= high <= 1
            assert lowest - 1e-7 <= low <= high <= highest + 1e-7
        assert plan.interval(100) == (plan.at(100), plan.at(100))


def test_the_rows_needed_are_where_the_curves_cross():
    plan = planned(drawn(3_000, 1), unverifiable=0.01)
    low, point, high = plan.rows_needed_low, plan.rows_needed, plan.rows_needed_high
    assert 3_000 < low <= point <= high
    for rows, share in (
        (low, lambda m: plan.interval(m)[0]),
        (point, plan.at),
        (high, lambda m: plan.interval(m)[1]),
    ):
        assert share(rows) - 1e-6 <= 0.01 <= share(rows - 1) + 1e-6
    needed = f"about {point:,} rows in all are needed for 1.0% unverifiable (95% interval: {low:,} to {high:,})"
    assert needed in " ".join(str(plan).split())


def test_beyond_four_times_the_rows_the_advice_is_the_interval_and_it_runs():
    plan = planned(drawn(200, 0))
    refused(fs.errors.BadInput, r"beyond 4 times its size\. Only an interval is told there.*801", plan.at, 801)
    assert len(plan.interval(801)) == 2


@pytest.mark.parametrize("times", [2, 3])
def test_rows_that_are_logged_several_times_are_noticed(times):
    plan = planned(np.repeat(drawn(300, 0, 300), times), unverifiable=0.05)
    assert not plan.forecastable
    assert plan.interval(600 * times) == (0.0, 1.0)
    refused(fs.errors.BadInput, "as those of independent rows hardly ever do", plan.at, 600 * times)


def test_rows_that_never_repeat_have_a_lower_end_and_one_row_says_nothing():
    plan = planned(np.arange(1_000))
    low, high = plan.interval(10_000)
    assert 0.8 < low < 0.97  # three pairs among n²/2 make 60 rows of 10,000 repeat, and as many again by chance
    assert high == pytest.approx(1)
    assert "more than 10,000 rows, 10 times as many, are needed" in str(plan)
    assert planned(["a"]).interval(1) == (1.0, 1.0)


@pytest.mark.parametrize("n", [10**6, 10**8])
def test_many_rows_are_foreseen_as_well(n):
    # A third of the rows never repeats; the others have explanations of thousands of rows.
    found = Band.of(np.array([0, 4_999, 9_999]), np.full(3, n / 3), 0.95)
    for times in (1.5, 10):
        assert (found.low(times), found.high(times)) == pytest.approx((1 / 3, 1 / 3), abs=0.01)


def test_a_program_that_is_not_solved_leaves_the_interval_open(monkeypatch):
    plan = planned(drawn(300, 0), unverifiable=0.9)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: SimpleNamespace(status=4))
    assert plan.interval(600) == (0.0, 1.0)
    assert not planned(drawn(300, 0)).forecastable
