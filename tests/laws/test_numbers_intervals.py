"""Intervals of numbers are those of brute force: every row left out, pair by pair, and the formulas written down."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import t as student

import faithscope as fs
from number_systems import AGREEMENTS, KINDS, NumberSystem

WRONG = 0.025


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
    if measure == "consistency":
        return 1.0
    others = system.covers(measure) & ~np.eye(system.n, dtype=bool)
    shares = np.divide(others, others.sum(axis=1, keepdims=True), out=np.zeros(others.shape), where=others)
    return max(1.0, float(shares.sum(axis=0).max()))


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


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREEMENTS)
@pytest.mark.parametrize("measure", ["consistency", "sufficiency", "within"])
def test_the_interval_is_the_jackknife_of_brute_force(measure, name):
    asked = 0
    for seed, kind in enumerate(k for k in KINDS if k != "noise around 0"):
        for most in (12, 40):
            system = NumberSystem.random(kind, seed, most=most)
            if system.n < 4 or not np.ptp(np.asarray(system.predictions, float)):
                continue
            interval = expected_interval(system, measure, name)
            if interval is None:
                continue
            found, (low, high) = system.measured(measure, name), interval
            asked += 1
            if low > 0:  # where clipping says nothing
                assert found.low == pytest.approx(low, abs=1e-6)
            else:
                assert found.low <= 1e-6
            assert found.high == pytest.approx(min(1.0, max(0.0, high)), abs=1e-6)
    assert asked >= 10


@pytest.mark.parametrize("agreement", [fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()], ids=repr)
def test_an_interval_never_collapses(agreement):
    pure = np.repeat(np.arange(10.0), 10)
    found = fs.consistency(pure, 3 * pure, agreement=agreement)
    assert found.value == found.verified == 1
    assert found.low < 0.95
    assert found.verified_low < 0.95
    assert found.high == found.verified_high == 1


def test_a_higher_confidence_never_narrows_the_interval():
    rng = np.random.default_rng(0)
    why = rng.integers(0, 8, 120)
    y = why + rng.standard_t(3, 120)
    for agreement in (fs.Close(1.0), fs.Tolerance(1.0), fs.Spread()):
        asked = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
        found = [fs.consistency(why, y, agreement=agreement, confidence=confidence) for confidence in asked]
        assert all(a.low >= b.low and a.high <= b.high for a, b in pairwise(found))


def test_the_proven_interval_of_numbers_holds_the_other():
    rng = np.random.default_rng(0)
    why = rng.integers(0, 8, 500)
    y = why + rng.normal(size=500)
    narrow, proven = (
        fs.consistency(why, y, agreement=fs.Close(1.0), interval=how) for how in ("jackknife", "mcdiarmid")
    )
    assert proven.low <= narrow.low < narrow.high <= proven.high
