"""Differences between explainers of the same rows: closed form, silence carried along, and coverage."""

import numpy as np
import pytest

import brute
import faithscope as fs
from faithscope.counting.counts import count_rows
from faithscope.explanations import as_explanations
from faithscope.measures.paired import LeftOutEstimate, consistency_left_out, paired_difference
from faithscope.sample import Sample
from faithscope.testing.systems import SYSTEMS


def measured(name, explanations, labels):
    found = fs.consistency(explanations, labels)
    sample = Sample(as_explanations(explanations), np.asarray(labels))
    return LeftOutEstimate(name, found, consistency_left_out(found.counts, sample))


def test_rows_are_left_out_in_their_own_order():
    rng = np.random.default_rng(0)
    explanations, labels = rng.integers(0, 6, 40).tolist(), rng.integers(0, 2, 40).tolist()
    sample = Sample.of(explanations, labels)
    left = consistency_left_out(count_rows(sample), sample)
    for i in range(40):
        rest = explanations[:i] + explanations[i + 1 :], labels[:i] + labels[i + 1 :]
        assert left.value[i] == pytest.approx(brute.consistency(*rest), abs=1e-12)
        assert left.silent[i] == pytest.approx(brute.unverifiable(rest[0]), abs=1e-12)


def test_an_explainer_does_not_differ_from_itself():
    explanations, labels = SYSTEMS["medium"].draw(300, np.random.default_rng(1))
    a = measured("a", explanations, labels)
    found = paired_difference(a, a, 0.95)
    assert found.value == 0
    assert found.low < 0 < found.high
    assert not found.differ


def test_a_difference_turned_around_is_its_negative():
    rng = np.random.default_rng(2)
    explanations, labels = SYSTEMS["medium"].draw(300, rng)
    a, b = measured("a", explanations, labels), measured("b", rng.permutation(explanations), labels)
    one, other = paired_difference(a, b, 0.95), paired_difference(b, a, 0.95)
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-12)


def test_silence_alone_is_no_difference():
    explanations, labels = SYSTEMS["few common"].draw(400, np.random.default_rng(3))
    a, b = measured("a", explanations, labels), measured("all different", np.arange(400), labels)
    found = paired_difference(a, b, 0.95)
    assert found.value > 0.4
    assert not found.differ


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("name", ["few common", "medium", "near-deterministic"])
@pytest.mark.slow
def test_intervals_of_paired_differences_cover_the_truth(name, n):
    """The second explainer merges explanations in pairs, so its truth is known and the two are strongly related."""
    system = SYSTEMS[name]
    half = np.arange(len(system.p)) // 2
    merged = np.zeros((half.max() + 1, system.q.shape[1]))
    np.add.at(merged, half, system.p[:, None] * system.q)
    coarse = float((merged**2).sum(axis=1) @ (1 / merged.sum(axis=1)))
    truth, rng, trials = system.truth - coarse, np.random.default_rng(4), 200
    hits = 0
    for _ in range(trials):
        explanations, labels = system.draw(n, rng)
        found = paired_difference(
            measured("fine", explanations, labels), measured("coarse", half[explanations], labels), 0.95
        )
        hits += found.low <= truth <= found.high
    assert hits / trials >= 0.93


def test_pairing_is_narrower_than_treating_the_samples_as_independent():
    explanations, labels = SYSTEMS["few common"].draw(2000, np.random.default_rng(5))
    a, b = measured("a", explanations, labels), measured("b", explanations // 2, labels)
    paired = paired_difference(a, b, 0.95)
    apart = np.hypot(a.estimate.margins.below, b.estimate.margins.above)
    assert paired.value - paired.low < apart
