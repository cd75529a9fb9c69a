"""What the sample cannot tell is said, not hidden."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting.counts import count
from faithscope.readers import as_explanations
from faithscope.testing import POPULATIONS


def test_an_unverifiable_explainer_may_be_perfect_or_a_coin():
    for method in [None, "proven"]:
        # The paper's Claim: e1 gives every example its own explanation, e2 gives one to each pair of different labels.
        # No finite sample of an infinite set holds both halves of a pair, so both give samples of unique explanations.
        rng = default_rng(0)
        pair, label = rng.random(500), rng.integers(0, 2, 500)
        e1, e2 = [(x, y) for x, y in zip(pair, label, strict=True)], list(pair)
        for explanations in (e1, e2):
            found = fs.consistency(explanations, label, interval=method)
            assert found.value == 0
            assert found.unverifiable == 1
            assert found.low <= 0.5 < 1 <= found.high
            assert found.verified is None
            assert found.adjusted is None


@pytest.mark.parametrize(
    "name", ["few common", *(pytest.param(key, marks=pytest.mark.thorough) for key in POPULATIONS)]
)
def test_the_mean_of_the_estimator_is_the_theorems_closed_form(name):
    system, rng, n = POPULATIONS[name], default_rng(3), 60
    draws = [count(as_explanations(e), y).profile() for e, y in (system.draw(n, rng) for _ in range(1000))]
    values = np.array([profile.terms.agreeing / n for profile in draws])
    uppers = values + np.array([profile.terms.silent / n for profile in draws])
    error, upper_error = (4 * each.std() / np.sqrt(len(draws)) for each in (values, uppers))
    assert values.mean() == pytest.approx(system.expected(n), abs=max(error, 1e-12))
    assert values.mean() - error <= system.truth <= uppers.mean() + upper_error + 1e-12
