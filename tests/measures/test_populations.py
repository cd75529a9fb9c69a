"""For whom does it fail: groups add up, and are called different only with reason."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.counts import Counts
from faithscope.measures.comparing.populations import difference
from faithscope.measures.planning.rarefaction import rarefy
from faithscope.testing.systems import SYSTEMS
from strategies import samples


def by(groups, explanations, predictions, **options):
    return fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None], **options).by(groups)


@given(samples(min_size=2), st.data())
def test_groups_sum_to_the_whole(sample, data):
    explanations, predictions = map(np.array, sample)
    n = len(predictions)
    groups = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    parts = by(groups, explanations, predictions).estimates
    whole = fs.consistency(explanations, predictions).counts
    assert sum((found.counts for found in parts.values()), Counts.zero()) == whole
    for group, found in parts.items():
        assert found == fs.consistency(explanations[groups == group], predictions[groups == group])


def test_a_difference_carries_silence():
    rng = np.random.default_rng(0)
    a = fs.consistency(*SYSTEMS["many rare"].draw(400, rng))
    b = fs.consistency(*SYSTEMS["few common"].draw(300, rng))
    d = difference(a, b, ("a", "b"))
    assert (d.value, d.n) == (a.value - b.value, 300)
    assert d.low == pytest.approx(a.bracket[0] - b.bracket[1] - np.hypot(a.margins.below, b.margins.above))
    assert d.high == pytest.approx(min(1, a.bracket[1] - b.bracket[0] + np.hypot(a.margins.above, b.margins.below)))
    assert (d.a_at_equal_n, d.b_at_equal_n) == (rarefy(a.counts.profile(), 300)[0], pytest.approx(b.value))


@pytest.mark.parametrize("seeds", [20, pytest.param(100, marks=pytest.mark.thorough)])
def test_identical_populations_of_unequal_size_are_not_called_different(seeds):
    called = []
    for seed in range(seeds):
        parts = by(np.arange(4400) < 4000, *SYSTEMS["many rare"].draw(4400, np.random.default_rng(seed)))
        (line,) = parts.differences().itertuples()
        called.append(line.differ)
        if seed == 0:
            assert abs(line.value) > 0.2, "the values differ by silence alone ..."
            assert abs(line.a_at_equal_n - line.b_at_equal_n) < 0.1, "... and not at equal numbers of rows"
    assert np.mean(called) <= 0.05


def test_populations_that_differ_are_called_different():
    rng = np.random.default_rng(0)
    good, bad = SYSTEMS["perfect"].draw(2000, rng), SYSTEMS["noisy"].draw(2000, rng)
    explanations, predictions = np.concatenate([good[0], bad[0] + 1000]), np.concatenate([good[1], bad[1]])
    parts = by(np.repeat(["good", "bad"], 2000), explanations, predictions)
    (line,) = parts.differences().itertuples()
    assert (line.a, line.b, line.differ) == ("bad", "good", True)
    assert line.high < 0
    assert parts.table()["value"].tolist() == [parts.estimates[group].value for group in ("bad", "good")]
    assert str(parts).startswith("bad: consistency")


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "told"), [(50, True), (51, False), (1000, False)])
def test_differences_of_many_groups_are_told_on_request_only(groups, told):
    found = by(np.repeat(np.arange(groups), 4).astype(str), ["a", "b"] * 2 * groups, ["y", "z"] * 2 * groups).to_dict()
    assert len(found["groups"]) == groups
    note = f"differences of {groups:,} groups are left out: ask for them with .differences()"
    assert (found["differences"] is None, note in found.get("notes", [])) == (not told, not told)
