"""An estimate reads aloud, and its numbers hang together."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from noted import noted


@pytest.fixture
def found():
    rng = default_rng(0)
    return fs.consistency(rng.integers(0, 500, 1000), rng.integers(0, 2, 1000))


def test_the_line_leads_with_what_can_be_checked_and_rounds_its_interval_outward(found):
    low, high = np.floor(100 * found.low) / 100, np.ceil(100 * found.high) / 100
    assert str(found) == (
        f"consistency {found.verified:.2f}, 95% interval [{low:.2f}, {high:.2f}], chance {found.chance:.2f}; "
        f"1,000 rows, {found.distinct} explanations;\n  {found.unverifiable:.0%} of rows cannot be checked"
    )


def test_no_line_tells_all_or_nothing_that_is_not():
    rows = 2_000
    nearly = fs.consistency(["a"] * rows, [1] + [0] * (rows - 1))
    assert str(nearly).startswith("consistency 0.999, 95% interval [0.9")
    few = fs.consistency([*["a"] * rows, "b"], [0] * (rows + 1))
    assert "less than 1% of rows cannot be checked" in str(few)
    assert str(fs.consistency(["a", "b"], [0, 1])) == (
        "consistency: no row can be checked, 95% interval [0.00, 1.00]; 2 rows, 2 explanations"
    )
    assert "cannot be checked" not in str(fs.consistency(["a", "a"], [0, 0]))


def test_real_vectors_that_all_differ_are_told_which_discretizer_to_try():
    vectors = np.concatenate([default_rng(0).normal(size=(40, 6)), np.eye(6)])
    labels, told = np.arange(46) % 2, "pass discretizer="
    maps = default_rng(0).normal(size=(46, 1, 28, 28))
    maps[..., :7, :7] += 9
    moved = fs.Counterfactuals(vectors, vectors - 1.0)
    for explanations in (vectors, fs.Importances(maps), moved):
        (note,) = noted(fs.consistency(explanations, labels), told)
        found = re.search("discretizer=(.+)", note)[1]
        assert fs.consistency(explanations, labels, discretizer=eval(found)).unverifiable < 1
    for explanations, how in (
        (vectors, {"discretizer": "original"}),
        (np.vstack([vectors[:15]] * 3), {}),
        (list(map(str, vectors)), {}),
        (vectors[:1], {}),
    ):
        silent = fs.consistency(explanations, labels[: len(explanations)], **how)
        assert told not in str(silent)


@pytest.mark.parametrize("way", ["plain", "weights", "clusters", "numbers", "variance"])
def test_what_is_printed_first_lies_inside_its_interval_and_so_do_differences(way):
    rng = default_rng(0)
    for _ in range(40):
        n, many = int(rng.choice([8, 40, 200])), int(rng.choice([2, 10, 80]))
        why, groups = rng.integers(0, many, n), rng.integers(0, 2, n)
        predictions = np.append([0.0, 1.0], rng.integers(0, 2, n - 2)) + (way == "variance") * rng.normal(size=n)
        how = {
            "weights": {"weights": rng.uniform(0.1, 3, n)},
            "clusters": {"clusters": rng.integers(0, n // 2, n)},
            "numbers": {"agreement": fs.Close(0.5)},
            "variance": {"agreement": fs.Spread()},
        }.get(way, {})
        found = fs.consistency(why, predictions, **how)
        assert found.verified is None or found.low <= found.verified <= found.high
        for apart in fs.consistency(why, predictions, by=groups, **how).to_dict()["differences"]:
            assert apart["low"] <= apart["value"] <= apart["high"]


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
