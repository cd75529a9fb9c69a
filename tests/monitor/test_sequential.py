"""Limits and alarms that hold at all looks together: evidence is a martingale, and every law that follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from faithscope.monitor.limits import all_alarms
from faithscope.monitor.periods import TwoPeriods, distance
from faithscope.monitor.sequential import (
    DailyDraws,
    changes,
    departures,
    log_evidence_above,
    log_evidence_below,
    lower_limit,
    shares,
    upper_limit,
    watched,
)
from faithscope.rounding import down, up

MEANS = st.floats(0.01, 0.99)
SUMS = st.integers(0, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
thorough = pytest.mark.thorough


@given(SUMS, MEANS, st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_evidence_never_grows_on_average_for_numbers_or_smaller_means(sums, m, part, draws):
    """Convexity: agreements between 0 and 1 whose mean is at most the one tested."""
    k, n = sums
    mean = np.mean(draws)
    draws = np.array(draws) * (min(1, m / mean) * part if mean > 0 else 0)
    growth = log_evidence_above(k + draws, n + 1, m) - log_evidence_above(k, n, m)
    assert np.exp(growth).mean() <= 1 + 1e-7


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.05, 0.95))
def test_evidence_is_the_mean_likelihood_ratio_by_the_arcsine_law(sums, m):
    """Hence a martingale if the mean is the one tested."""
    k, n = sums

    def ratio(angle):  # θ = sin², whose law is then uniform
        theta = np.sin(angle) ** 2
        return (theta / m) ** k * ((1 - theta) / (1 - m)) ** (n - k)

    middle = np.arcsin(np.sqrt(m))
    for evidence, ends in ((log_evidence_above, (middle, np.pi / 2)), (log_evidence_below, (0, middle))):
        expected = integrate.quad(ratio, *ends)[0] / (ends[1] - ends[0])
        assert np.exp(float(evidence(k, n, m))) == pytest.approx(expected, rel=1e-6)


@given(SUMS, st.sampled_from([0.2, 0.05, 0.001]))
def test_limits_grow_with_the_sum_and_are_mirror_images(sums, error):
    k, n = sums
    low, high = float(lower_limit(k, n, error)), float(upper_limit(k, n, error))
    assert 0 <= low <= (k / n if n else 0)
    assert (k / n if n else 1) <= high <= 1
    assert high == pytest.approx(1 - float(lower_limit(n - k, n, error)))
    assert float(lower_limit(k + 1, n + 1, error)) >= low - 1e-9 >= float(lower_limit(k, n + 1, error)) - 2e-9
    if low > 0 and low < (k - 0.5) / n - 1e-9:
        assert float(log_evidence_above(k, n, low)) == pytest.approx(-np.log(error), abs=1e-4)


def test_openers_that_wait_may_agree_or_not():
    some = DailyDraws.of_pairs([0], [1000], [900], [880]).limits(0.05)
    least, most = (DailyDraws.of_pairs([0], [1000], [1000], [total]).limits(0.05) for total in (880, 980))
    assert tuple(some) == (least[0], most[1])


def test_no_draws_say_nothing():
    nothing, none = DailyDraws.of_pairs([], [], [], []), DailyDraws.of_pairs([0], [0], [0], [0])
    for ends in (none.limits(0.05), none.single_look(0.05)):
        assert [float(np.squeeze(end)) for end in ends] == [0, 1]
    assert changes(nothing, 3, 0.05) == changes(DailyDraws.of_pairs([5], [9], [9], [0]), 3, 0.05, start=0) == ()
    assert distance([0, 0], [1, 2], 0.05, 0)[1:] == (0, 1)


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
    return DailyDraws.of_pairs(np.arange(120), n, n, np.random.default_rng(seed).binomial(250, means))


def test_a_drop_and_a_rise_after_the_reference_are_told_with_the_day_they_began():
    (drop,), (rise,) = changes(planted(70), 30, 0.05), changes(planted(70, drop=-0.05), 30, 0.05)
    assert (drop.direction, rise.direction) == ("drop", "rise")
    assert 70 <= drop.day <= 73
    assert 68 <= drop.since <= 72
    assert drop.low < 0.83 < drop.high < drop.reference[0]
    assert rise.low > rise.reference[1]
    assert changes(planted(0), 30, 0.05) == changes(planted(500), 30, 0.05) == ()


def test_an_alarm_comes_no_later_as_partners_arrive_and_is_not_withdrawn_on_later_days():
    draws, rng = planted(70), np.random.default_rng(1)
    waiting = np.minimum(draws.draws - draws.least, rng.integers(0, 12, len(draws)))
    less = DailyDraws(draws.days, draws.draws, draws.least - waiting // 2, draws.least + waiting)
    early, late = changes(draws, 30, 0.05)[0], changes(less, 30, 0.05)[0]
    assert early.day <= late.day
    days = [[alarm.day for alarm in changes(draws.take(slice(0, stop)), 30, 0.05)] for stop in range(60, 121, 4)]
    assert all(told in ([], [early.day]) for told in days)
    assert sorted(days, key=len) == days


def test_no_alarm_is_withdrawn_when_the_last_opener_of_the_reference_finds_a_partner_that_disagrees():
    known = []
    for agreeing in range(150, 200):
        n, least = np.array([100, 200]), np.array([99, agreeing])
        waits, met = (DailyDraws(np.arange(2), n, least, np.array([99 + waiting, agreeing])) for waiting in (1, 0))
        assert [each.take(slice(0, 1)).single_look(0.05)[1][-1] == 1 for each in (waits, met)] == [True, False]
        known.append((bool(changes(waits, 1, 0.05)), bool(changes(met, 1, 0.05))))
    assert all(before <= after for before, after in known)
    assert {before for before, _ in known} == {True, False}


def test_an_alarm_whose_days_together_reach_the_level_again_does_not_call_them_below_it():
    draws = DailyDraws.of_pairs(range(40), [500] * 40, [500] * 40, [475] * 10 + [400] * 2 + [490] * 28)
    alarm = next(alarm for alarm in changes(draws, reference=10, error=0.05) if alarm.direction == "drop")
    assert alarm.high > alarm.reference[0]
    since = f"since 10 between {down(alarm.low)} and {up(alarm.high)}"
    assert f"below {alarm.reference[0]:.3f} then; {since}" in str(alarm)


def test_groups_share_the_error_and_only_the_changed_one_is_told():
    lines = {None: planted(500), "a": planted(500, seed=2), "b": planted(60, seed=3)}
    told = all_alarms(lines, {"a": 0.5, "b": 0.5}, None, 30, 0.05)
    assert told == {"b": changes(lines["b"], 30, 0.05 / 4)}


def test_a_promised_level_is_watched_in_windows_too():
    good_then_bad = planted(100)
    (alarm,) = departures(good_then_bad, (0.9, 1.0), 0.05)
    assert alarm.since >= 90
    assert float(good_then_bad.limits(0.05)[1][-1]) > 0.9  # all days together do not show it
    assert departures(planted(500), (0.9, 1.0), 0.05) == ()


CELLS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(0, 9), st.integers(0, 9)), min_size=1)


@given(CELLS)
def test_the_change_of_agreement_is_that_within_explanations_and_that_of_their_shares(cells):
    tables = {(e, y): (before, after) for e, y, before, after in cells}
    explanations, labels = np.array(list(tables)).T
    before, after = np.array(list(tables.values())).T
    periods = TwoPeriods.of(explanations, labels, before, after)
    verified = []
    for rows in (before, after):
        groups = [rows[explanations == e] for e in np.flatnonzero(periods.compared)]
        terms = sum(n @ (n - 1) / (n.sum() - 1) for n in groups)
        verified.append(terms / max(1, sum(n.sum() for n in groups)))
    assert periods.within + periods.mix == pytest.approx(verified[1] - verified[0], abs=1e-9)
    assert ((periods.probabilities(0) >= 0) & (periods.probabilities(0) <= 1)).all()


def test_an_explanation_that_lost_its_agreement_is_told_and_others_are_not():
    rng, n, explanations = np.random.default_rng(4), 400, np.arange(100)
    rows = []
    for chances in (0.95, np.where(explanations == 7, 0.6, 0.95)):
        ones = rng.binomial(n, chances, 100)
        rows.append(np.column_stack([ones, n - ones]).ravel())
    periods = TwoPeriods.of(np.repeat(explanations, 2), np.tile([1, 0], 100), *rows)
    assert np.flatnonzero(periods.probabilities(0) < 0.05).tolist() == [7]
    assert np.argmin(periods.parts) == 7
    features = [["age", "age"] if e in (7, 8) else ["sex"] for e in explanations]
    assert next(iter(periods.feature_parts(features))) == "age"
    assert periods.fresh == 0
    assert TwoPeriods.of([0, 1], [0, 0], before=[5, 0], after=[3, 1]).fresh == 0.25
