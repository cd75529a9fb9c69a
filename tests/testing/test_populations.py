"""Populations on which intervals fail: their truths are those of enumeration, and their samples what they say."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.testing import FinitePopulation, hard_populations, word_lists, zero_vectors
from refused import refused

P, Q = np.array([0.5, 0.3, 0.2]), np.array([[0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
HARD = hard_populations(200)


def agreement_of_pairs(masses, covers):
    """The chance that a row that x's explanation covers has x's label, from masses of (explanation, label) pairs."""
    masses = masses / masses.sum()
    total = 0.0
    for i, given in enumerate(masses):
        covered = sum(masses[j] for j in range(len(masses)) if covers(i, j))
        total += given @ covered / covered.sum()
    return total


def test_weighted_rows_are_rows_of_a_population_in_which_pairs_count_by_their_weights():
    for weights in [(1.0, 4.0), (4.0, 1.0), ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0)), 3.0]:
        masses = P[:, None] * Q * np.asarray(weights)
        weighted = FinitePopulation(P, Q, weights=weights, scatter=1.0)
        assert weighted.truth == pytest.approx(agreement_of_pairs(masses, int.__eq__))


def test_a_hub_is_covered_by_all_and_what_it_covers_is_told_apart():
    for made, covers in [
        (word_lists, lambda i, j: j in (i, 3)),  # under every word, but no topic is under the hub's
        (zero_vectors, lambda i, j: i == j or 3 in (i, j)),  # the zero vector is close to all
    ]:
        for hub in (0.01, 0.3):
            masses = np.array([[(1 - hub) / 3, 0.0]] * 3 + [[0.0, hub]])
            assert made(3, hub).truth == pytest.approx(agreement_of_pairs(masses, covers))
        seen = made(5, 0.2)
        estimate = getattr(fs, seen.measure)(**seen.rows(4_000, default_rng(0)))
        assert estimate.value == pytest.approx(seen.truth, abs=0.03)


def test_rows_logged_twice_are_pairs_of_equal_rows_and_rows_that_never_stick_are_those_of_the_system():
    twice, never = (
        FinitePopulation(P, Q, together=2, stickiness=stick).rows(101, default_rng(0)) for stick in (1.0, 0.0)
    )
    for column in twice.values():
        assert len(column) == 101
        assert (column[:-1:2] == column[1::2]).all()
    expected = FinitePopulation(P, Q).draw(101, default_rng(0))
    assert np.array_equal([never["explanations"], never["predictions"]], expected)


SOME = [name if place % 3 == 0 else pytest.param(name, marks=pytest.mark.thorough) for place, name in enumerate(HARD)]


@pytest.mark.parametrize("name", SOME)
def test_what_every_row_says_lies_about_the_truth_on_average(name):
    """M̂ is too low by silence at most; with weights and hubs it is a little off, which is why they are hard."""
    hard, rng = HARD[name], default_rng(2)
    estimates = [getattr(fs, hard.measure)(**hard.rows(200, rng)) for _ in range(30)]
    assert {estimate.n for estimate in estimates} == {200}
    value, silent = np.mean([(each.value, each.unverifiable) for each in estimates], axis=0)
    learned = name == "leaves fitted on these rows"
    assert (value - 0.06 <= hard.truth <= value + silent + 0.06) != learned
    assert 0 < hard.truth <= 1
    assert hard.breaks


def test_too_few_rows_get_one_sentence():
    for n in [19, 0, -1, 2.5, "many", 10**9]:
        refused(BadInput, "n must be a whole number from 20 to 1000000", hard_populations, n)
