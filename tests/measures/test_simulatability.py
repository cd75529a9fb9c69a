"""What `accuracy` tells beside its numbers: rows that were learned, labels that were not, and who decides it."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.notes import TOO_HIGH

RNG = default_rng(0)
LEAVES = RNG.integers(0, 12, 600)
LABELS = np.where(LEAVES + RNG.normal(size=600) > 6, "yes", "no")


def same_rows(told):
    return any(TOO_HIGH in note for note in told.notes)


def accuracy(decoder, explanations, labels=LABELS):
    """Learned from the first 300 rows, asked about the others."""
    return decoder.fit(explanations[:300], labels[:300]).accuracy(explanations[300:], labels[300:])


def test_the_rows_that_it_learned_from_are_told_in_any_order():
    learned = np.arange(300)
    for kind in (fs.OptimalDecoder, fs.GibbsDecoder):
        decoder = kind().fit(LEAVES[:300], LABELS[:300])
        for rows, told in ((learned, True), (learned[::-1], True), (learned + 300, False), (learned[1:], False)):
            assert same_rows(decoder.accuracy(LEAVES[rows], LABELS[rows])) == told


def test_labels_that_were_never_learned_are_told_with_their_share():
    unknown = np.where((np.arange(500) >= 300) & (np.arange(500) < 330), "maybe", LABELS[:500])
    (note,) = accuracy(fs.GibbsDecoder(), LEAVES[:500], unknown).notes
    assert note == "15.0% of rows are predicted a label that was never learned, such as 'maybe'"


def test_labels_of_equal_numbers_are_the_same_whatever_their_type():
    decoder = fs.OptimalDecoder().fit([1, 1, 2, 2], [0, 0, 1, 1])
    assert decoder.accuracy([1, 2], [False, True]).value == decoder.accuracy([1, 2], [0.0, 1.0]).value == 1


def test_the_prediction_gains_all_that_chance_leaves_and_what_means_nothing_gains_nothing():
    told = accuracy(fs.OptimalDecoder(), LABELS)
    assert (told.value, told.high, told.gain) == (1.0, 1.0, pytest.approx(1 - told.chance))
    assert told.gain_low > 0.3
    noise = accuracy(fs.OptimalDecoder(), RNG.integers(0, 12, 600))
    assert noise.gain_low <= 0
    assert "do not show that explanations tell more" in noise.to_markdown()
