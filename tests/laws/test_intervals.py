"""Intervals are the formulas written down, on brute force; they never collapse, and one row moves them only so far."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import t as student

import brute_numbers
import faithscope as fs
from faithscope.testing import POPULATIONS
from noted import noted
from small_systems import systems

WRONG = 0.025
AGREEMENTS = {"labels": fs.Same(), "close": fs.Close(1.0), "tolerance": fs.Tolerance(1.0)}


def jackknife(values):
    """Student's t, the standard error, and the deviations of leave-one-out values."""
    deviations = np.asarray(values) - np.mean(values)
    second, fourth = np.sum(deviations**2), np.sum(deviations**4)
    if second <= 1e-24:
        return 0.0, 0.0, deviations
    n = len(values)
    return student.ppf(1 - WRONG, second**2 / fourth), math.sqrt((n - 1) / n * second), deviations


def reach(system, measure):
    """How much the terms of other rows lean on one row at most; 1 for equality."""
    others = system.covers(measure) & ~np.eye(system.n, dtype=bool)
    shares = np.divide(others, others.sum(axis=1, keepdims=True), out=np.zeros(others.shape), where=others)
    return 1.0 if measure == "consistency" else max(1.0, float(shares.sum(axis=0).max()))


def expected_interval(system, measure, name):
    """The interval by the formulas, before it is clipped; None if a row left out leaves nothing to measure."""
    whole = system.brute(measure, name)
    without = [system.brute(measure, name, kept=np.arange(system.n) != row) for row in range(system.n)]
    if np.isnan([one.value for one in without]).any():
        return None
    least = (1 + reach(system, measure)) * math.log(1 / WRONG) / system.n
    times, error, deviations = jackknife([one.value for one in without])
    below = max(least, times * error)
    if name == "spread" and error > 0 and whole.value < 1 - 1e-12:
        skew = max(0.0, np.sum(deviations**3) / np.sum(deviations**2) ** 1.5)
        slowed = max(0.25, 1 - skew / 6 * times)
        stretched = (1 - whole.value) * math.expm1(min(700.0, times * error / slowed**2 / (1 - whole.value)))
        below = max(below, min(stretched, whole.value))
    upper_times, upper_error, _ = jackknife([one.upper for one in without])
    return whole.value - below, whole.upper + max(least, upper_times * upper_error)


@pytest.mark.parametrize("measure", ["consistency", "sufficiency", "within"])
def test_the_interval_is_the_jackknife_of_brute_force(measure):
    asked = 0
    for system, name, why in systems(measure, [5, 6], most=40):
        if system.n < 4 or system.weights is not None or system.clusters is not None or "noise" in why:
            continue
        interval = expected_interval(system, measure, name)
        if interval is None:
            continue
        found, (low, high) = system.measured(measure, name), interval
        asked += 1
        if low > 0:  # where clipping says nothing
            assert found.low == pytest.approx(low, abs=1e-6), why
        else:
            assert found.low <= 1e-6, why
        assert found.high == pytest.approx(min(1.0, max(0.0, high)), abs=1e-6), why
    assert asked >= 12


@pytest.mark.parametrize("name", AGREEMENTS)
def test_a_proven_interval_is_the_better_of_mcdiarmid_and_of_pairs_averaged_over_all_ways_of_pairing(name):
    rng = default_rng(0)
    codes, y = np.repeat([0, 1, 2, 3], [1, 2, 4, 5]), rng.integers(0, 3, 12).astype(float)
    n, k = 12, 4
    agreeing = disagreeing = 0.0
    for openers in itertools.combinations(range(n), k):
        for code in range(4):
            rows = np.flatnonzero(codes == code)
            opening, closing = (rows[np.isin(rows, openers) == side] for side in (True, False))
            if len(opening) and len(closing):
                pairs = brute_numbers.agreement_of(name, 1.0)(y[opening][:, None], y[closing]).mean()
                agreeing += min(len(opening), len(closing)) * pairs
                disagreeing += min(len(opening), len(closing)) * (1 - pairs)
    ways = math.comb(n, k)

    def lowest(mean):  # the q below the mean with k kl(mean, q) = ln(4 / δ)
        def excess(q):
            return k * (rel_entr(mean, q) + rel_entr(1 - mean, 1 - q)) - math.log(80)

        return 0.0 if mean <= 0 or excess(1e-12) < 0 else brentq(excess, 1e-12, mean)

    found = fs.consistency(codes, y, agreement=AGREEMENTS[name], interval="proven")
    above = 4.5 if name == "tolerance" else 2
    low = max(found.value - math.sqrt(4.5 * math.log(80) / n), lowest(agreeing / ways / k))
    high = min(found.upper + math.sqrt(above * math.log(80) / n), 1 - lowest(disagreeing / ways / k))
    assert found.interval == pytest.approx((max(0.0, low), min(1.0, high)), abs=1e-9)
    many = fs.consistency(np.arange(900) % 3, rng.integers(0, 3, 900), agreement=AGREEMENTS[name], interval="proven")
    narrow = fs.consistency(np.arange(900) % 3, rng.integers(0, 3, 900), agreement=AGREEMENTS[name])
    assert many.high - many.low > narrow.high - narrow.low


def test_a_higher_confidence_never_narrows_the_interval():
    rng = default_rng(0)
    why = rng.integers(0, 8, 120)
    y = why + rng.standard_t(3, 120)
    for agreement in (fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()):
        asked = (0.5, 0.8, 0.95, 0.999)
        found = [fs.consistency(why, y, agreement=agreement, confidence=confidence) for confidence in asked]
        assert all(a.low >= b.low and a.high <= b.high for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("agreement", [None, fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()], ids=repr)
def test_an_interval_never_collapses_where_no_disagreement_was_seen(agreement):
    pure = np.repeat(np.arange(10.0), 10)
    found = fs.consistency(pure, 3 * pure, agreement=agreement)
    assert found.value == found.verified == 1
    assert max(found.low, found.verified_low) < 0.95
    assert found.high == found.verified_high == 1
    if agreement is None:
        assert found.low == pytest.approx(1 - 2 * math.log(40) / 100)
        assert fs.consistency([99] * 50 + list(range(50)), [1] * 50 + [0, 1] * 25).verified_low < 0.9
        assert fs.consistency([0, 0, 1], [1, 1, 0]).verified_low == 0


def test_few_rows_that_decide_are_named_and_one_that_decides_everything_leaves_the_answer_open():
    found = fs.consistency(np.zeros(1000), np.arange(1000) < 2)
    assert noted(found, "a few rows decide")
    places = np.append(np.arange(1.0, 100.0), 0.0)
    found = fs.sufficiency(
        places, np.ones(100), places[:, None], relation=lambda X, place: np.isin(X[:, 0], [place, 0])
    )
    assert found.value == pytest.approx(0.99)
    assert found.low == 0, "a single row of the hub cannot speak for all of it"


def test_a_tolerance_moves_the_upper_end_further_than_labels_can():
    # Row 1.0 agrees with 0.0 and 2.0, which disagree: replaced by a row that agrees with another, it takes 3 with it.
    for name, most in (("tolerance", 3), ("close", 2)):
        samples_of_rows = (([0, 0, 1, 0], [0.0, 2.0, 0.0, 1.0]), ([0, 0, 1, 1], [0.0, 2.0, 0.0, 9.0]))
        before, after = (fs.consistency(*rows, agreement=AGREEMENTS[name]).upper for rows in samples_of_rows)
        assert 4 * abs(before - after) <= most + 1e-9
        assert name == "close" or 4 * abs(before - after) == pytest.approx(3)


@pytest.mark.parametrize(
    "name", [pytest.param(key, marks=[pytest.mark.thorough] * (key != "few common")) for key in POPULATIONS]
)
def test_the_mean_squared_error_stays_below_both_bounds(name):
    system, rng, n = POPULATIONS[name], default_rng(4), 80
    found = [fs.consistency(*system.draw(n, rng)) for _ in range(60)]
    error = np.mean([(one.value - system.truth) ** 2 for one in found])
    assert error <= fs.mse_bound(p=system.p, n=n)
    assert np.mean([fs.mse_bound(one) >= error for one in found]) >= 0.95
