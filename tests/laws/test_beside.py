"""Beside everybody: rows of a group ask and all rows answer, with all rows and without each, as brute force has it."""

import pytest

import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType
from refused import refused


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


@pytest.mark.parametrize("measure", [fs.consistency, fs.sufficiency, fs.necessity])
def test_rows_of_weight_0_do_not_ask(measure):
    rules = fs.Rules.from_conditions([[("a", "<=", 1.0)], [("a", ">", 1.0)]] * 2, features=["a"])
    rows = ([[0.0], [2.0]] * 2,) * (measure is not fs.consistency)
    asked = {"askers": [True, False, False, False], "weights": [0, 1, 1, 1]}
    refused(BadInput, "True only for rows that are not measured", lambda: measure(rules, [0, 0, 1, 1], *rows, **asked))


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
