"""The share of a label that was chosen by looking: its interval holds, however many labels there are."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import multinomial

import faithscope as fs
from faithscope.measures.intervals.local import label_interval

shares = st.lists(st.integers(1, 30), min_size=1, max_size=4).map(lambda parts: np.array(parts) / sum(parts))


@given(shares, st.integers(1, 9), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_both_promises_are_kept_for_every_population_of_labels(chances, rows, confidence):
    ways = np.array([way for way in product(range(rows + 1), repeat=len(chances)) if sum(way) == rows])
    chance = multinomial(rows, chances).pmf(ways)

    def rarely_missed(interval, truth):
        low, high = (np.reshape(end, np.shape(truth)) for end in interval)
        missed = (low > truth + 1e-12) | (high < truth - 1e-12)
        return chance @ missed.reshape(len(ways), -1).any(axis=1) <= 1 - confidence + 1e-12

    every = label_interval(ways.ravel(), np.full(ways.size, rows), confidence)
    assert rarely_missed(every, np.tile(chances, (len(ways), 1)))  # all labels at once
    commonest = label_interval(ways.max(axis=1), np.full(len(ways), rows), confidence, commonest=True)
    assert rarely_missed(commonest, chances[ways.argmax(axis=1)])
    assert rarely_missed(commonest, np.full(len(ways), chances.max()))


def test_sampling_names_the_commonest_label_and_tells_its_interval():
    labels = default_rng(0).integers(0, 20, 60)
    local = fs.sample_until([(np.zeros(60), labels)], 0, epsilon=0.1, budget=60, confidence=0.9)
    assert local.agreeing == np.bincount(labels).max() == np.sum(labels == local.prediction)
    expected = label_interval(np.array([local.agreeing]), np.array([60]), 0.9, commonest=True)
    assert (local.low, local.high) == pytest.approx(np.ravel(expected))
