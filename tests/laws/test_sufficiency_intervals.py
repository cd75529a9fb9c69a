"""Intervals for overlapping explanations cover the truth, or say that they cannot tell."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.counting.coverage import cover
from faithscope.measures.intervals.margins import jackknife_margins
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.relations import Applies
from faithscope.sample import Sample
from faithscope.testing.scoped_systems import SCOPED, Hub, covers


def rules_of(low, high):
    return fs.Rules.from_bins(low[:, None], high[:, None], ["x"])


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("name", SCOPED)
@pytest.mark.slow
def test_intervals_cover_the_truth_of_overlapping_rules(name, n):
    system, rng, times = SCOPED[name], np.random.default_rng(5), 150
    covered = 0
    for _ in range(times):
        x, y, low, high = system.draw(n, rng)
        found = fs.sufficiency(rules_of(low, high), y, x[:, None])
        covered += found.low <= system.truth <= found.high
    # Nominal .95, allowing .02 and what 150 trials can tell.
    assert covered / times >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / times)


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("hub", [Hub(0.01, 1.0), Hub(0.01, 0.5), Hub(0.05, 0.8), Hub(0.2, 0.9)], ids=str)
@pytest.mark.slow
def test_intervals_cover_the_truth_where_everything_hangs_on_a_hub(hub, n):
    rng, times, covered = np.random.default_rng(6), 100, 0
    for _ in range(times):
        places, labels = hub.draw(n, rng)
        found = fs.sufficiency(places, labels, places[:, None], relation=covers)
        covered += found.low <= hub.truth <= found.high
    assert covered / times >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / times)


def test_one_row_that_decides_everything_leaves_the_answer_open():
    places = np.append(np.arange(1.0, 100.0), 0.0)
    found = fs.sufficiency(places, np.ones(100), places[:, None], relation=covers)
    assert found.value == pytest.approx(0.99)
    assert found.low == 0, "a single row of the hub cannot speak for all of it"


def test_agreement_everywhere_does_not_collapse_the_interval():
    x = np.linspace(0, 1, 400)
    found = fs.sufficiency(rules_of(x - 0.1, x + 0.1), np.ones(400), x[:, None])
    assert found.value == 1
    assert found.low < 1 - 2 * np.log(2 / 0.05) / 400 + 1e-12
    assert found.low > 0.9


def test_blocks_of_rows_give_nearly_the_interval_of_single_rows():
    x, y, low, high = SCOPED["sliding, noisy"].draw(3000, np.random.default_rng(0))
    rules = rules_of(low, high)
    single, blocks = (
        coverage_estimate(cover(Sample(rules, y, x[:, None]), Applies(), exact=exact), "sufficiency", 0.95)
        for exact in (10**8, 0)
    )
    assert single.value == blocks.value
    assert blocks.high - blocks.low == pytest.approx(single.high - single.low, rel=0.35)


@pytest.mark.slow
def test_intervals_by_blocks_cover_too():
    system, rng, covered = SCOPED["nested"], np.random.default_rng(1), 0
    for _ in range(150):
        x, y, low, high = system.draw(600, rng)
        found = cover(Sample(rules_of(low, high), y, x[:, None]), Applies(), exact=0)
        estimate = coverage_estimate(found, "sufficiency", 0.95)
        covered += estimate.low <= system.truth <= estimate.high
    assert covered / 150 >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / 150)


def test_the_order_of_the_rows_does_not_narrow_the_interval():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.3).astype(int)
    everything = fs.Rules.from_conditions([[]] * 4000, features=["x"])
    margins = [
        jackknife_margins(
            cover(Sample(everything, labels, np.zeros((4000, 1))), Applies(), exact=0).left_out, 4000, 0.95
        ).below
        for labels in (y, np.sort(y))
    ]
    exact = jackknife_margins(cover(Sample(everything, y, np.zeros((4000, 1))), Applies()).left_out, 4000, 0.95).below
    assert margins == pytest.approx([exact] * 2, rel=0.5)
