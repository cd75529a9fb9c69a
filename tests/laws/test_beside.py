"""Beside everybody: rows of a group ask and all rows answer, with all rows and without each, as brute force has it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.measures.consistency import measure_consistency
from faithscope.sample import Sample
from refused import refused
from strategies import samples


@given(samples(min_size=2), st.data())
def test_terms_of_groups_beside_everybody_add_up_to_those_of_all_rows(sample, data):
    explanations, predictions = map(np.array, sample)
    n = len(predictions)
    groups = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    parts, whole = fs.consistency(explanations, predictions, by=groups), fs.consistency(explanations, predictions)
    for name in ("value", "unverifiable"):
        mean = sum(each.n * getattr(each, name) for each in parts.estimates.values()) / n
        assert mean == pytest.approx(getattr(whole, name))
    for group, found in parts.estimates.items():
        assert found.unverifiable <= parts.among[group].unverifiable
        asked = fs.consistency(explanations, predictions, askers=groups == group)
        assert (asked.value, asked.interval) == (pytest.approx(found.value), pytest.approx(found.interval))
        assert found.low - 1e-12 <= found.value
        assert found.value + found.unverifiable <= found.high + 1e-12


@given(samples(min_size=2))
def test_if_all_rows_ask_it_is_the_jackknife_of_all_rows(sample):
    explanations, predictions = map(np.array, sample)
    whole = measure_consistency(Sample.of(explanations, predictions), method="jackknife")
    asked = fs.consistency(explanations, predictions, askers=np.ones(len(predictions), bool))
    for name in ("value", "low", "high", "unverifiable", "verified", "chance", "n", "distinct"):
        assert getattr(asked, name) == pytest.approx(getattr(whole, name))


def test_one_row_that_asks_tells_nothing_of_its_group():
    alone = fs.consistency(["a"] * 10, [1] * 10, askers=[True] + [False] * 9)
    assert (alone.value, alone.low, alone.high, alone.n) == (1.0, 0.0, 1.0, 1)


@pytest.mark.parametrize(
    ("askers", "kind", "why"),
    [
        ([0, 1, 1], WrongType, "says of each row whether it asks, True or False"),
        ([False] * 3, BadInput, "False for every row"),
        ([True], BadInput, "one of each per row"),
    ],
)
def test_askers_are_a_mask(askers, kind, why):
    refused(kind, why, lambda: fs.consistency(["a", "a", "b"], [0, 1, 1], askers=askers))


def test_what_needs_rows_that_all_ask_refuses_groups_beside_everybody():
    asked = fs.consistency(["a", "a", "b", "b"], [0, 1, 1, 1], askers=[True, True, True, False])
    refused(WrongType, "here some ask and all answer", lambda: fs.plan(asked))
    refused(
        NotProven,
        "proven for rows that all ask",
        lambda: fs.consistency(["a", "a"], [0, 1], askers=[True, True], interval="proven"),
    )
    both = {"askers": [True, True], "by": ["x", "y"]}
    refused(BadInput, "not both", lambda: fs.consistency(["a", "a"], [0, 1], **both))
