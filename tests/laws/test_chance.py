"""Agreement is compared with chance among the rows that can be checked, and silence brackets the truth."""

from itertools import permutations
from time import process_time

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import stats

import faithscope as fs
from bins import rules_in_bins
from faithscope.measures.estimate import exceeds_chance, shuffled_spread
from faithscope.measures.telling import level

AGREEMENTS = pytest.mark.parametrize("agreement", [None, fs.Close(1.0), fs.Tolerance(0.8), fs.Spread()], ids=repr)


def agreed(estimate):
    """What agrees, per row; for `Spread`, of which a row that is silent is taken to agree, its upper end."""
    return estimate.upper if isinstance(estimate.agreement, fs.Spread) else estimate.value


@AGREEMENTS
def test_the_spread_of_shuffled_predictions_is_that_of_all_permutations(agreement):
    why, y = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2] if agreement is None else [0.0, 0.3, 0.3, 1.2, 1.2, 4.0]
    found = fs.consistency(why, y, agreement=agreement)
    every = [fs.consistency(why, list(order), agreement=agreement) for order in set(permutations(y))]  # each as likely
    if isinstance(agreement, fs.Spread):  # of which chance is 0: W / T is 1 among the rows that can be checked
        assert np.mean([one.verified for one in every]) == pytest.approx(0, abs=1e-9)
    else:
        assert np.mean([one.value for one in every]) == pytest.approx(found.chance * (1 - found.unverifiable))
    assert 6 * np.std(list(map(agreed, every))) == pytest.approx(shuffled_spread(found.counts.profile()), abs=1e-9)


@AGREEMENTS
def test_the_spread_of_shuffled_predictions_is_never_too_small_where_explanations_overlap(agreement):
    rng, n = default_rng(3), 80
    X, width = rng.random((n, 1)), rng.random((n, 2)) ** 3 / 2
    rules = rules_in_bins(X - width[:, :1], X + width[:, 1:], ["a"])
    y = (rng.random(n) < 0.9).astype(int) if agreement is None else rng.normal(size=n)
    found = fs.sufficiency(rules, y, X, agreement=agreement)
    spread = shuffled_spread(found.counts.profile(), found.margins.weight)
    shuffled = [fs.sufficiency(rules, rng.permutation(y), X, agreement=agreement) for _ in range(80)]
    true = n * np.std(list(map(agreed, shuffled)))
    assert 0.85 * true <= spread <= 1.7 * true


def agreeing(why, labels):
    """n times the estimate, from the counts themselves."""
    cells = np.bincount(why * (labels.max() + 1) + labels, minlength=(why.max() + 1) * (labels.max() + 1))
    cells = cells.reshape(why.max() + 1, -1)
    rows = cells.sum(axis=1)
    return ((cells * (cells - 1)).sum(axis=1)[rows > 1] / (rows[rows > 1] - 1)).sum()


DRAWS = {
    "rare": (lambda rng, n: (rng.random(n) < 0.1).astype(int), None),
    "skewed": (lambda rng, n: rng.lognormal(0, 2, n), fs.Close(1.0)),
    "heavy tails": (lambda rng, n: rng.standard_t(2, size=n), fs.Tolerance(1.0)),
    "one far away": (lambda rng, n: np.where(np.arange(n) == 0, 50.0, rng.normal(size=n)), fs.Spread()),
}


@pytest.mark.parametrize("kind", DRAWS)
def test_explanations_that_mean_nothing_are_above_chance_no_oftener_than_the_error_rate(kind):
    draw, agreement = DRAWS[kind]
    for groups in (10, 150):
        rng = default_rng(groups)
        drawn = ((rng.integers(0, groups, 200), draw(rng, 200)) for _ in range(100))
        found = [fs.consistency(*each, agreement=agreement) for each in drawn]
        wrong = np.mean([bool(one.above_chance) for one in found])  # None if all predictions agree
        assert wrong <= 0.025 + 3 * np.sqrt(0.025 * 0.975 / 100), groups
        assert np.mean([level(one) in {"partly", "faithful"} for one in found]) <= wrong
        assert all(one.verified_low >= one.chance for one in found if one.above_chance)
        assert not any(one.verified_low > one.chance for one in found if one.above_chance is False)


def test_where_the_test_is_close_it_is_that_of_all_permutations():
    why, settled = np.array([0, 0, 0, 0, 1, 1, 2, 2, 3]), set()
    for y in ([0, 0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1, 2, 2, 2]):
        labels = np.array(y)
        every = np.array([agreeing(why, np.array(order)) for order in set(permutations(y))])
        p, excess = np.mean(every >= agreeing(why, labels) - 1e-9), agreeing(why, labels) - every.mean()
        for confidence in (0.6, 0.7, 0.8, 0.9, 0.95):
            wrong = (1 - confidence) / 2
            bar = (stats.norm.ppf(1 - wrong / 2) ** 2 - 1) / np.sqrt(2)
            close = bar < excess / every.std() < np.sqrt(1 / wrong - 1)
            if close and not 0.7 < p / wrong < 1.3:
                settled.add(fs.consistency(why, labels, confidence=confidence).above_chance)
                assert fs.consistency(why, labels, confidence=confidence).above_chance == (p < wrong)
    assert settled == {True, False}


def test_shuffles_do_not_depend_on_the_order_of_rows_and_cost_no_more_than_their_bound():
    rng = default_rng(3)
    why, labels = rng.integers(0, 20_000, 60_000), rng.integers(0, 300, 60_000)
    profile, order = fs.consistency(why, labels).counts.profile(), rng.permutation(60_000)
    again = fs.consistency(why[order], labels[order]).counts.profile()
    level = profile.terms.agreeing + 4 * shuffled_spread(profile)
    began = process_time()
    far = [exceeds_chance(one, level, one.chance, 0.95, None) for one in (profile, again)]
    assert process_time() - began < 10
    assert far == [False, False], "shuffles would cost too much, and it is not proven without them"
    few = fs.consistency(why % 50, labels % 3).counts.profile()
    level = few.chance * few.n + 4 * shuffled_spread(few)
    assert exceeds_chance(few, level, few.chance, 0.95, None)
