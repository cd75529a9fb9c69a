"""Intervals hold what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

import brute
import faithscope as fs
from faithscope.counting.counts import count
from faithscope.counting.leaving_out.leave_out import leave_out_rows
from faithscope.readers import as_explanations
from faithscope.testing.systems import SYSTEMS
from strategies import samples


@given(samples(min_size=2, max_size=15))
def test_leaving_one_row_out_in_closed_form_is_leaving_it_out(sample):
    explanations, predictions = sample
    profile = count(as_explanations(explanations), predictions).profile()
    left_out = leave_out_rows(profile.kinds())
    value, silent = left_out.value, left_out.silent
    left = []
    for i in range(len(explanations)):
        rest = explanations[:i] + explanations[i + 1 :], predictions[:i] + predictions[i + 1 :]
        left.append((brute.consistency(*rest), brute.unverifiable(rest[0])))
    closed = np.repeat(np.column_stack([value, value + silent]), profile.rows, axis=0)
    expected = np.array([(m, m + u) for m, u in left])
    assert np.sort(closed[:, 0]) == pytest.approx(np.sort(expected[:, 0]), abs=1e-12)
    assert np.sort(closed[:, 1]) == pytest.approx(np.sort(expected[:, 1]), abs=1e-12)


def test_the_jackknife_interval_is_students_t_on_the_deviations():
    e, y = SYSTEMS["few common"].draw(120, np.random.default_rng(2))
    e, y = e.tolist(), y.tolist()
    found = fs.consistency(e, y, confidence=0.9)
    left = np.array([brute.consistency(e[:i] + e[i + 1 :], y[:i] + y[i + 1 :]) for i in range(120)])
    r = left - left.mean()
    margin = student.ppf(0.95, (r**2).sum() ** 2 / (r**4).sum()) * np.sqrt(119 / 120 * (r**2).sum())
    assert found.value - found.low == pytest.approx(margin, abs=1e-12)


@given(samples(min_size=2, max_size=12), st.data())
def test_replacing_one_row_moves_the_sums_by_at_most_three_and_two(sample, data):
    explanations, predictions = sample
    n, i = len(explanations), data.draw(st.integers(0, len(explanations) - 1))
    changed = list(explanations), list(predictions)
    changed[0][i] = data.draw(st.integers(0, max(explanations) + 1))
    changed[1][i] = data.draw(st.integers(0, max(predictions) + 1))
    before, after = fs.consistency(*sample), fs.consistency(*changed)
    assert n * abs(before.value - after.value) <= 3 + 1e-9
    assert n * abs((before.value + before.unverifiable) - (after.value + after.unverifiable)) <= 2 + 1e-9


@pytest.mark.parametrize("n", [40, 150, 400])
@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(name, n):
    system, rng, times = SYSTEMS[name], np.random.default_rng(7), 500
    covered = {"jackknife": 0, "mcdiarmid": 0}
    for _ in range(times):
        counts = system.draw(n, rng)
        for method in covered:
            found = fs.consistency(*counts, interval=method)
            covered[method] += found.low <= system.truth <= found.high
    # What 500 trials can tell: 2.3 standard errors below the nominal .95.
    assert min(covered.values()) / times >= 0.95 - 2.3 * np.sqrt(0.95 * 0.05 / times)


def test_one_sided_misses_are_balanced_against_the_stated_confidence():
    system, rng, times = SYSTEMS["few common"], np.random.default_rng(8), 500
    found = [fs.consistency(*system.draw(400, rng), confidence=0.8) for _ in range(times)]
    share = np.mean([one.low <= system.truth <= one.high for one in found])
    assert 0.8 - 2.3 * np.sqrt(0.16 / times) <= share <= 0.95, "neither too narrow nor useless"


def test_the_interval_does_not_collapse_where_no_disagreement_was_seen():
    found = fs.consistency(np.zeros(1000), np.ones(1000))
    assert found.value == 1
    assert found.low == pytest.approx(1 - 2 * np.log(2 / 0.05) / 1000)
    rng = np.random.default_rng(0)
    rare = [fs.consistency(np.zeros(100), rng.random(100) < 0.01) for _ in range(500)]
    truth = 0.99**2 + 0.01**2
    assert np.mean([one.low <= truth <= one.high for one in rare]) >= 0.95 - 0.022


def test_few_rows_that_decide_are_named():
    found = fs.consistency(np.zeros(1000), np.arange(1000) < 2)
    assert any("a few rows decide" in note for note in found.notes)


def test_mcdiarmid_margins_are_the_closed_form():
    found = fs.consistency(np.arange(900) % 3, np.arange(900) % 2, interval="mcdiarmid", confidence=0.9)
    assert found.low == pytest.approx(found.value - np.sqrt(4.5 * np.log(20) / 900))
    assert found.high == pytest.approx(found.upper + np.sqrt(2 * np.log(20) / 900))


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.slow
def test_the_mean_squared_error_stays_below_both_bounds(name):
    system, rng, n = SYSTEMS[name], np.random.default_rng(4), 80
    found = [fs.consistency(*system.draw(n, rng)) for _ in range(400)]
    error = np.mean([(one.value - system.truth) ** 2 for one in found])
    assert error <= fs.mse_bound(p=system.p, n=n)
    observed = [fs.mse_bound(one) >= error for one in found]
    assert np.mean(observed) >= 0.95


def test_the_theorem_is_the_theorem():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.6, 0.3, 0.9])
    bound = fs.mse_bound(p=p, q=q, n=10)
    assert bound == pytest.approx(4 / 10 + np.sum(p * np.exp(-9 * q)) ** 2)
    assert bound.confidence is None
    unique = fs.consistency(np.arange(100), np.zeros(100))
    assert fs.mse_bound(unique) == pytest.approx(4 / 100 + 1)
    assert fs.mse_bound(unique).confidence == 0.95
    assert "95%" in str(fs.mse_bound(unique))


def test_sample_sizes():
    assert fs.sample_size(2048, 0.1) == int(np.ceil(2048 * 120 * np.log(30)))
    assert fs.local_sample_size(0.05, confidence=0.95) == int(np.ceil(np.log(40) / (2 * 0.05**2)))
