"""The tight interval: its bracket holds in expectation for every system, and its sums are those over explanations."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.measures.estimate import estimate

rows = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=3, max_size=40)


def counts_of(kappa, size, n):
    """How much a row of an explanation of so many rows counts."""
    odds = (n - 1) / max(1, n - 2)
    return {1: 0.0, 2: 1 + kappa, 3: 1 - kappa**2 / 2 * odds}.get(size, 1.0)


def groups_of(sample):
    """Per explanation its rows, and how much they agree with each other per row."""
    groups = {}
    for explanation, label in sample:
        groups.setdefault(explanation, []).append(label)
    agree = {
        key: sum(labels.count(label) - 1 for label in labels) / max(1, len(labels) - 1)
        for key, labels in groups.items()
    }
    return groups, agree


def bracket_of(sample, kappa, n=None):
    """M' and 1 - D', from their definition; b is that of n rows."""
    n = n or len(sample)
    groups, agree = groups_of(sample)
    low = sum(counts_of(kappa, len(labels), n) * agree[key] for key, labels in groups.items())
    lost = sum(counts_of(kappa, len(labels), n) * (len(labels) - agree[key]) for key, labels in groups.items())
    return low / len(sample), 1 - lost / len(sample)


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("kappa", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("shares", [(0.05, 0.05, 0.9), (0.33, 0.33, 0.34)])
def test_the_bracket_holds_in_expectation_whatever_the_system(n, kappa, shares):
    flips = (0.5, 0.1, 0.9)  # the chance of label 1
    chance = {(e, y): shares[e] * (flips[e] if y else 1 - flips[e]) for e in range(3) for y in range(2)}
    truth = sum(share * (flip**2 + (1 - flip) ** 2) for share, flip in zip(shares, flips, strict=True))
    low = high = 0.0
    for sample in product(chance, repeat=n):
        weight = np.prod([chance[row] for row in sample])
        ends = bracket_of(list(sample), kappa)
        low, high = low + weight * ends[0], high + weight * ends[1]
    assert low <= truth + 1e-12 <= high + 2e-12


@given(rows)
def test_the_bracket_of_an_estimate_is_that_of_its_kappa(sample):
    known = fs.consistency(*zip(*sample, strict=True)).margins.bracket
    if known is not None:
        low, high = bracket_of(sample, known.kappa)
        assert known[:2] == pytest.approx((max(0.0, low), min(1.0, max(low, high))), abs=1e-12)


@given(rows, st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_the_default_is_never_wider_than_the_jackknife_and_holds_its_bracket(sample, confidence):
    explanations, labels = (list(map(str, part)) for part in zip(*sample, strict=True))
    tight = fs.consistency(explanations, labels, confidence=confidence)
    jackknife = estimate(fs.count(explanations, labels), confidence=confidence, interval="jackknife")
    assert (tight.method, jackknife.method) == ("tight", "jackknife")
    assert tight.high - tight.low <= jackknife.high - jackknife.low + 1e-12
    least, most = tight.bracket
    assert 0 <= tight.low <= least <= most <= tight.high <= 1
    assert jackknife.bracket == (jackknife.value, jackknife.upper)
    for same in ("value", "unverifiable", "verified", "verified_low", "verified_high", "above_chance"):
        assert getattr(tight, same) == getattr(jackknife, same)


KINDS = ("n", "nn", "ny", "nnn", "nny", "nyy", "nnnny")


def rows_of(many):
    """Rows alone, pairs, triples and more, which agree or do not: so many explanations of each of the KINDS."""
    groups = [kind for kind, times in zip(KINDS, many, strict=True) for _ in range(times)]
    return np.repeat(np.arange(len(groups)), list(map(len, groups))), list("".join(groups))


def assert_held(estimate):
    least, most = estimate.bracket
    assert 0 <= estimate.low <= least <= most <= estimate.high <= 1


@example((33, 0, 7, 4, 0, 0, 0), 0.5)
@example((31, 7, 0, 0, 0, 2, 0), 0.95)
@given(st.tuples(*[st.integers(0, 30)] * len(KINDS)).filter(any), st.sampled_from([0.5, 0.95]))
def test_a_bracket_lies_within_0_and_1_though_pairs_count_more_and_triples_less(many, confidence):
    assert_held(fs.consistency(*rows_of(many), confidence=confidence))
