"""An estimate reads aloud, and its numbers hang together."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import faithscope as fs


@pytest.fixture
def found():
    rng = np.random.default_rng(0)
    return fs.consistency(rng.integers(0, 500, 1000), rng.integers(0, 2, 1000))


def test_the_line_says_value_interval_verified_chance_and_silence(found):
    assert str(found) == (
        f"consistency {found.value:.3f}, 95% interval [{found.low:.2f}, {found.high:.2f}]; "
        f"{found.verified:.2f} where it can be checked (chance {found.chance:.2f});\n"
        f"  n=1,000, {found.distinct} explanations, {found.unverifiable:.0%} unverifiable "
        f"(bracket {found.bracket[0]:.2f} to {found.bracket[1]:.2f})"
    )


def test_derived_numbers(found):
    assert found.upper == found.value + found.unverifiable
    assert found.verified == pytest.approx(found.value / (1 - found.unverifiable))
    assert found.adjusted == pytest.approx((found.verified - found.chance) / (1 - found.chance))


def test_html_is_escaped(found):
    hostile = replace(found, measure="<script>alert(1)</script>", notes=("<img src=x>",))._repr_html_()
    assert "<script>" not in hostile
    assert "<img" not in hostile
    assert "&lt;script&gt;" in hostile


def test_an_estimate_is_frozen_and_pickles(found):
    with pytest.raises(AttributeError):
        found.value = 1.0
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.counts == found.counts
    bound = fs.mse_bound(found)
    assert pickle.loads(pickle.dumps(bound)).confidence == bound.confidence
