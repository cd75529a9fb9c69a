"""The share of a label that was chosen by looking: its interval holds, however many labels there are."""

from itertools import combinations
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import faithscope as fs
from faithscope.measures.intervals.local import clopper_pearson, commonest_interval, every_label_interval

shares = st.lists(st.integers(1, 30), min_size=1, max_size=4).map(lambda parts: np.array(parts) / sum(parts))


def outcomes(rows, chances):
    """All ways in which rows may fall on labels, one per line, and the chance of each."""
    bars = combinations(range(rows + len(chances) - 1), len(chances) - 1)
    ends = [(-1, *bar, rows + len(chances) - 1) for bar in bars]
    ways = np.diff(np.array(ends), axis=1) - 1
    return ways, np.array(
        [factorial(rows) / prod(map(factorial, way)) * np.prod(chances**way) for way in ways.tolist()]
    )


@given(shares, st.integers(1, 9), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
@settings(max_examples=60, deadline=None)
def test_both_promises_are_kept_for_every_population_of_labels(chances, rows, confidence):
    ways, chance = outcomes(rows, chances)
    low, high = every_label_interval(ways.ravel(), np.full(ways.size, rows), confidence)
    misses = (low > np.tile(chances, len(ways)) + 1e-12) | (high < np.tile(chances, len(ways)) - 1e-12)
    assert chance @ misses.reshape(ways.shape).any(axis=1) <= 1 - confidence + 1e-12  # all labels at once
    named = ways.argmax(axis=1)
    low, high = commonest_interval(ways.max(axis=1), np.full(len(ways), rows), confidence)
    assert chance @ ((low > chances[named] + 1e-12) | (high < chances[named] - 1e-12)) <= 1 - confidence + 1e-12
    assert chance @ ((low > chances.max() + 1e-12) | (high < chances.max() - 1e-12)) <= 1 - confidence + 1e-12


@given(st.integers(0, 300), st.integers(0, 300), st.floats(0.01, 0.9999))
def test_the_ends_are_where_the_tails_have_the_chance_that_is_promised(labeled, others, confidence):
    rows, wrong = labeled + others, (1 - confidence) / 2
    (low,), (high,) = every_label_interval(np.array([labeled]), np.array([rows]), confidence)
    exact = clopper_pearson(np.array([labeled]), np.array([rows]), confidence)
    assert 0 <= low <= exact[0][0]
    assert exact[1][0] <= high <= 1
    if labeled > 1:
        assert binom.sf(labeled - 1, rows, low) == pytest.approx(low * wrong, rel=1e-9)
    else:
        assert low == 0
    if others > 0:
        assert binom.cdf(labeled, rows, high) == pytest.approx(high * wrong, rel=1e-9)
    else:
        assert high == 1


def test_the_cost_is_what_the_page_says():
    low, high = commonest_interval(np.array([98, 20, 5, 1, 0]), np.array([100, 20, 5, 1, 0]), 0.95)
    assert low == pytest.approx([0.9287, 0.8235, 0.3976, 0, 0], abs=1e-4)
    assert high == pytest.approx([0.9976, 1, 1, 1, 1], abs=1e-4)


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_an_explanation_may_have_very_many_rows(n):
    labeled = np.array([2, 10, n // 1000, n // 2, n - 1, n])
    low, high = every_label_interval(labeled, np.full(6, n), 0.95)
    exact = clopper_pearson(labeled, np.full(6, n), 0.95)
    assert (low > 0).all()
    assert (low <= exact[0]).all()
    assert (high >= exact[1]).all()
    assert (high - low <= 4 * (exact[1] - exact[0]) + 1e-12).all()


@pytest.mark.parametrize("labels", [3, 20, 1000])
def test_sampling_names_the_commonest_of_many_labels_and_its_interval_holds(labels):
    rng, held = np.random.default_rng(0), []
    for _ in range(200):
        rows = (np.zeros(60), rng.integers(0, labels, 60).astype(str))
        local = fs.sample_until([rows], 0, epsilon=0.1, budget=60, confidence=0.9)
        held.append(local.low <= 1 / labels <= local.high)
    assert np.mean(held) >= 0.9


def test_the_tables_show_these_intervals():
    rules = fs.Rules.from_conditions([[("x", "<=", 2.0)]] * 2 + [[("x", ">=", 1.0)]] * 3, features=["x"])
    evaluation = fs.evaluate([0, 0, 1, 0, 1], rules, np.arange(5.0)[:, None])
    table, scopes = (lines.set_index("explanation") for lines in (evaluation.table(), evaluation.scopes()))
    low, high = commonest_interval(np.array([2, 2]), np.array([2, 3]), 0.95)
    purity = table.loc[["x <= 2", "x >= 1"], ["purity_low", "purity_high"]].to_numpy()
    assert purity == pytest.approx(np.column_stack([low, high]))
    low, high = every_label_interval(np.array([2, 2]), np.array([3, 4]), 0.95)
    precision = scopes.loc[["x <= 2", "x >= 1"], ["precision_low", "precision_high"]].to_numpy()
    assert precision == pytest.approx(np.column_stack([low, high]))
