"""Local measures, tables and counterexamples of numbers, by equality and by rules, against pairs of rows one by one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.special import rel_entr

import faithscope as fs
from faithscope.measures import scopes
from faithscope.measures.intervals.local import chernoff
from faithscope.measures.local import at_row
from faithscope.relations import to_relation
from number_evaluations import AGREEMENTS, between, evaluated, systems

SEEDS = st.integers(0, 10_000)


class Ruled:
    """Rows, rules that overlap (of which some are the same, and some miss their own row), and numbers with ties."""

    def __init__(self, seed, agreement=None):
        rng = default_rng(seed)
        n = int(rng.integers(2, 15))
        x, cuts, below = rng.integers(0, 6, n), rng.integers(0, 6, n), rng.random(n) < 0.5
        self.names = np.array([f"x {'<=' if low else '>='} {cut}" for low, cut in zip(below, cuts, strict=True)])
        self.same = self.names[:, None] == self.names
        self.covers = np.where(below[:, None], x <= cuts[:, None], x >= cuts[:, None])
        ticks = rng.integers(-9, 10, n)
        ticks[0] = ticks[1] + 1  # not all are equal
        self.y = ticks * rng.choice([0.25, 0.5, 1.0]) + rng.choice([0.0, 1e6])
        self.rules = fs.Rules.parse(self.names.tolist(), features=["x"])
        self.agreement, self.X = agreement, pd.DataFrame({"x": x.astype(float)})

    def evaluated(self):
        return evaluated(self.rules, self.y, self.X, self.agreement)

    def mean(self, number, others):
        """The mean agreement of a number with those of other rows, or 1 - mean d / T."""
        if not others.any():
            return np.nan
        mean = np.mean([between(self.agreement, number, other) for other in self.y[others]])
        return 1 - mean / np.var(self.y, ddof=1) if isinstance(self.agreement, fs.Spread) else mean


ruled = st.builds(Ruled, SEEDS, st.sampled_from(AGREEMENTS))


@given(ruled)
def test_a_row_outside_the_sample_is_compared_with_all_rows_of_its_explanation_or_that_it_applies_to(system):
    sample = fs.Sample.of(system.rules, system.y, system.X, agreement=system.agreement)
    given, number = system.rules.take(np.array([0])), system.y[0] + 0.3
    for local, mine, words in (
        (at_row(sample, system.same[0], given, number, 0.95), system.same[0], "with this explanation have mean"),
        (
            scopes.at_row(given, number, sample, to_relation(None, system.rules), 0.95),
            system.covers[0],
            "it applies to have mean",
        ),
    ):
        if not mine.any():
            assert local.value is None
            continue
        assert local.value == pytest.approx(system.mean(number, mine), abs=1e-7)
        assert (local.others, local.mean) == (mine.sum(), pytest.approx(system.y[mine].mean()))
        assert words in str(local)
        if isinstance(system.agreement, fs.Spread):
            assert local.low is local.high is None
        else:
            assert local.low <= local.value <= local.high


def test_sums_of_agreements_that_are_off_by_rounding_are_those_of_none_or_all():
    rows = np.array([3, 3])
    off, known = (chernoff(np.array(sums), rows, 0.95) for sums in ([-1e-17, 3 + 1e-15], [0.0, 3.0]))
    assert np.array_equal(off, known)


@given(st.floats(0, 1), st.integers(1, 10_000), st.floats(0.01, 0.999))
def test_the_ends_of_a_proven_interval_are_where_the_entropy_is_reached_and_never_inside(mean, m, confidence):
    (low, nothing), (high, everything) = chernoff(np.array([mean * m, 0]), np.array([m, 0]), confidence)
    assert (nothing, everything) == (0, 1)  # where no row is known
    most = np.log(2 / (1 - confidence)) / m
    share = min(1.0, mean * m / m)
    for end, extreme in ((low, 0.0), (high, 1.0)):
        entropy = rel_entr(share, end) + rel_entr(1 - share, 1 - end)
        assert abs(end - extreme) < 1e-12 or entropy == pytest.approx(most, rel=1e-6, abs=1e-12)
    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize("agreement", [fs.Close(0.5), fs.Tolerance(0.5), fs.Spread()])
def test_equal_predictions_have_no_spread_whatever_their_rounding(agreement):
    evaluation = evaluated(["a"] * 7 + ["b"] * 3, [0.1] * 7 + [0.7, 0.7, 9.9], agreement=agreement)
    calm = evaluation.table().set_index("explanation").loc["a"]
    assert calm[["disagreement", "consistency"]].tolist() == [0, 1]
    assert set(evaluation.counterexamples()["explanation"]) == {"b"}


@given(systems(agreements=(fs.Spread(),)), st.sampled_from([2.0**-500, 2.0**500]))
def test_no_scale_of_the_predictions_is_too_small_or_too_large(system, scale):
    numbers = system.numbers - system.numbers.min()
    plain, scaled = (evaluated(system.keys, y, agreement=fs.Spread()) for y in (numbers, scale * numbers))
    for one, other, columns in (
        (plain.local(), scaled.local(), ["mean"]),
        (plain.table(), scaled.table(), ["mean", "highest"]),
    ):
        pd.testing.assert_series_equal(one["consistency"], other["consistency"])
        pd.testing.assert_frame_equal(scale * one[columns], other[columns], rtol=1e-6, atol=0)
