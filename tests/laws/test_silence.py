"""What the sample cannot tell is said, not hidden."""

import numpy as np
import pytest
from hypothesis import given

import faithscope as fs
from faithscope.counting.counts import count
from faithscope.measures.estimate import agreement, unverifiable
from faithscope.readers import as_explanations
from faithscope.testing.systems import SYSTEMS
from strategies import samples


@given(samples())
def test_agreement_never_exceeds_what_can_be_verified(sample):
    found = fs.consistency(*sample)
    assert found.value <= 1 - found.unverifiable + 1e-12
    assert 0 <= found.low <= found.value + 1e-12
    assert found.upper <= found.high + 1e-12 <= 1 + 1e-12
    assert found.high > found.low, "an interval never collapses"


@pytest.mark.parametrize("method", ["jackknife", "mcdiarmid"])
def test_an_unverifiable_explainer_may_be_perfect_or_a_coin(method):
    # The paper's Claim: e1 gives every example its own explanation, e2 gives one to each pair of different labels.
    # No finite sample of an infinite set holds both halves of a pair, so both give samples of unique explanations.
    rng = np.random.default_rng(0)
    pair, label = rng.random(500), rng.integers(0, 2, 500)
    e1, e2 = [(x, y) for x, y in zip(pair, label, strict=True)], list(pair)
    for explanations in (e1, e2):
        found = fs.consistency(explanations, label, interval=method)
        assert found.value == 0
        assert found.unverifiable == 1
        assert found.low <= 0.5 < 1 <= found.high
        assert found.verified is None
        assert found.adjusted is None


def test_one_row_cannot_tell():
    found = fs.consistency(["leaf"], [1])
    assert (found.value, found.unverifiable, found.low, found.high) == (0.0, 1.0, 0.0, 1.0)
    assert found.chance is None
    assert "no row can be checked" in str(found)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.slow
def test_the_mean_of_the_estimator_is_the_theorems_closed_form(name):
    system, rng, n = SYSTEMS[name], np.random.default_rng(3), 60
    draws = [count(as_explanations(e), y).profile() for e, y in (system.draw(n, rng) for _ in range(3000))]
    values = np.array([agreement(profile) for profile in draws])
    uppers = values + np.array([unverifiable(profile) for profile in draws])
    error = 4 * values.std() / np.sqrt(len(values))
    assert values.mean() == pytest.approx(system.expected(n), abs=max(error, 1e-12))
    assert values.mean() - error <= system.truth <= uppers.mean() + 4 * uppers.std() / np.sqrt(len(uppers)) + 1e-12


@pytest.mark.parametrize(
    ("explanations", "value", "silent"),
    [
        (lambda y, rng: np.zeros(len(y)), "chance", 0.0),
        (lambda y, rng: y, 1.0, 0.0),
        (lambda y, rng: np.arange(len(y)), 0.0, 1.0),
        (lambda y, rng: rng.integers(0, 20, len(y)), "chance", 0.0),
    ],
    ids=["constant", "the label itself", "unique", "random"],
)
def test_explanations_whose_worth_is_known(explanations, value, silent):
    rng = np.random.default_rng(5)
    y = (rng.random(3000) < 0.8).astype(int)
    found = fs.consistency(explanations(y, rng), y)
    assert found.unverifiable == silent
    expected = found.chance if value == "chance" else value
    assert found.value == pytest.approx(expected, abs=0.01)
    if value == "chance":
        assert found.adjusted == pytest.approx(0, abs=0.02)
    if value == 1.0:
        assert found.adjusted == pytest.approx(1)


def test_shuffled_predictions_reach_chance_among_rows_that_can_be_checked():
    rng = np.random.default_rng(1)
    e = rng.integers(0, 60, 100)
    y = np.repeat([0, 1], [80, 20])
    found = [fs.consistency(e, rng.permutation(y)) for _ in range(800)]
    mean = np.mean([one.value for one in found])
    assert mean == pytest.approx(found[0].chance * (1 - found[0].unverifiable), abs=0.01)
