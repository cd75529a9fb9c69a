"""Limits and alarms that hold at all looks together: evidence is a martingale, and every law that follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from faithscope.monitor.sequential import (
    Draws,
    below_level,
    changes,
    log_evidence,
    lower_limit,
    shares,
    upper_limit,
    watched,
)

MEANS = st.floats(0.01, 0.99)
COUNTS = st.lists(st.integers(0, 60), min_size=2, max_size=9)
BETS = np.array([15 / 16, 1 / 2, 1 / 8, 1 / 32, 1 / 128, 1 / 512, 1 / 2048])


@given(COUNTS, MEANS, st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_evidence_is_what_a_gambler_wins_and_never_grows_on_average_for_smaller_means(counts, m, chances):
    values = np.linspace(0, 1, len(counts))
    won = np.sum([n * np.log1p(BETS * (z / m - 1)) for z, n in zip(values, counts, strict=True)], axis=0)
    wealth = won.max() + np.log(np.exp(won - won.max()).mean())
    assert float(log_evidence(counts, m)) == pytest.approx(wealth, abs=1e-6)
    chances = np.resize(chances, len(counts)) + 1e-9
    chances = chances / chances.sum()
    part = min(1.0, m / max(1e-12, chances @ values))  # a mixture with 0 whose mean is at most m
    chances = part * chances + (1 - part) * (np.arange(len(counts)) == 0)
    grown = [float(log_evidence(np.array(counts) + one, m)) for one in np.eye(len(counts))]
    assert chances @ np.exp(np.array(grown) - float(log_evidence(counts, m))) <= 1 + 1e-7


@given(COUNTS, st.sampled_from([0.2, 0.05, 0.001]))
def test_limits_grow_with_the_sum_and_are_mirror_images(counts, error):
    counts = np.array(counts)
    n, mean = counts.sum(), np.linspace(0, 1, len(counts)) @ counts / max(1, counts.sum())
    low, high = float(lower_limit(counts, error)), float(upper_limit(counts, error))
    assert 0 <= low <= (mean if n else 0)
    assert (mean if n else 1) <= high <= 1
    assert high == pytest.approx(1 - float(lower_limit(counts[::-1], error)))
    more, less = (float(lower_limit(counts + one, error)) for one in np.eye(len(counts))[[-1, 0]])
    assert more >= low - 1e-9 >= less - 2e-9
    if low > 1e-6:
        assert float(log_evidence(counts, low)) == pytest.approx(-np.log(error), abs=1e-3)
    assert (np.diff(log_evidence(counts, np.linspace(0.01, 1, 50))) <= 1e-9).all()


def test_openers_that_wait_may_agree_or_not():
    some = Draws.of_pairs([0], [1000], [900], [880]).limits(0.05)
    least, most = (Draws.of_pairs([0], [1000], [1000], [total]).limits(0.05) for total in (880, 980))
    assert tuple(some) == (least[0], most[1])


def test_no_draws_say_nothing():
    nothing, none = Draws.of_pairs([], [], [], []), Draws.of_pairs([0], [0], [0], [0])
    assert [float(np.squeeze(end)) for end in none.limits(0.05)] == [0, 1]
    assert changes(nothing, 3, 0.05) == changes(Draws.of_pairs([5], [9], [9], [0]), 3, 0.05, start=0) == ()
    assert below_level(nothing, 0.5, 0.05) == ()


def test_some_window_begins_within_a_quarter_of_the_time_since_any_day():
    first, last = watched(np.arange(600))
    assert len({*zip(first, last, strict=True)}) == len(first)
    for look in (5, 63, 100, 599):
        starts, days = np.sort(first[last == look]), np.arange(look + 1)
        assert (starts[np.searchsorted(starts, days)] - days <= (look - days + 1) / 4).all()
    assert shares(np.arange(10**6)).sum() == pytest.approx(1, abs=1e-5)


def planted(drop_at, drop=0.1, seed=0):
    means = np.where(np.arange(120) < drop_at, 0.93, 0.93 - drop)
    n = np.full(120, 250)
    return Draws.of_pairs(np.arange(120), n, n, default_rng(seed).binomial(250, means))


def test_a_drop_and_a_rise_after_the_reference_are_told_with_the_day_they_began():
    (drop,), (rise,) = changes(planted(70), 30, 0.05), changes(planted(70, drop=-0.05), 30, 0.05)
    assert (drop.direction, rise.direction) == ("drop", "rise")
    assert 70 <= drop.day <= 73
    assert 68 <= drop.since <= 72
    assert drop.low < 0.83 < drop.high < drop.reference[0]
    assert rise.low > rise.reference[1]
    assert changes(planted(0), 30, 0.05) == changes(planted(500), 30, 0.05) == ()
    assert changes(planted(70), 30, 0.05, directions=["rise"]) == ()


def test_the_alarm_is_that_of_the_first_window_whose_product_of_evidence_proves_it():
    draws, found, end, (alarm,) = planted(70), [], 30, changes(planted(70), 30, 0.05, directions=["drop"])
    before, after = draws.least[:end].sum(axis=0), draws.most[end:]
    first, last = watched(np.arange(90))
    for begin, stop in zip(first, last, strict=True):
        counts, means = after[begin : stop + 1].sum(axis=0), np.linspace(0, 1, 301)
        both = log_evidence(before, means[1:]) + log_evidence(counts[::-1], 1 - means[1:])
        if both.min() >= -np.log(0.05 * shares(np.array([begin]))[0]):
            found.append(stop + end)
    assert min(found) <= alarm.day <= min(found) + 1  # between two means at a thousandth less is known


def test_an_alarm_comes_no_later_as_partners_arrive_and_is_not_withdrawn_on_later_days():
    draws, rng = planted(70), default_rng(1)
    waiting = np.minimum(draws.least[:, 0], rng.integers(0, 12, len(draws.days)))[:, None] * np.array([-1.0, 1.0])
    less = Draws(draws.days, draws.least - waiting // 2, draws.most + waiting - waiting // 2)
    early, late = changes(draws, 30, 0.05)[0], changes(less, 30, 0.05)[0]
    assert early.day <= late.day
    days = [[alarm.day for alarm in changes(draws.take(slice(0, stop)), 30, 0.05)] for stop in range(60, 121, 4)]
    assert all(told in ([], [early.day]) for told in days)
    assert sorted(days, key=len) == days


def test_a_promised_level_is_watched_in_windows_too():
    good_then_bad = planted(100)
    (alarm,) = below_level(good_then_bad, 0.9, 0.05)
    assert alarm.since >= 90
    assert "at least 0.900 was promised" in str(alarm)
    assert float(good_then_bad.limits(0.05)[1][-1]) > 0.9  # all days together do not show it
    assert below_level(planted(500), 0.9, 0.05) == ()
