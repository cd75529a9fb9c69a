"""Covered rows are counted alike in tables and in lists, and leaving out rows or blocks is measuring the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.layout import order_by, run_starts
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.inputs.grouping import group
from faithscope.relations.base import number_parts
from noted import noted
from refused import refused


@pytest.mark.parametrize("many", [1, 2, 2**16, 2**16 + 1, 2**33])
def test_orders_by_digits_are_stable_sorts(many):
    numbers = np.random.default_rng(0).integers(0, many, 1000)
    order = order_by(numbers, many)
    np.testing.assert_array_equal(order, np.argsort(numbers, kind="stable"))
    starts = run_starts(numbers[order])
    values, sizes = np.unique(numbers, return_counts=True)
    np.testing.assert_array_equal(numbers[order][starts], values)
    np.testing.assert_array_equal(np.diff(starts, append=len(numbers)), sizes)


@given(st.lists(st.lists(st.sampled_from(["a > 1", "b <= 2", "a == 0"]), max_size=2), min_size=1, max_size=20))
def test_rules_are_grouped_and_their_parts_numbered_in_order_of_appearance(texts):
    rules = fs.Rules.parse([" and ".join(row) or "everything" for row in texts], features=["a", "b"]).take(
        np.arange(len(texts))[::-1]
    )
    for found, expected in zip(rules.group(), group(rules.key), strict=True):
        np.testing.assert_array_equal(found, expected)
    parts, lists = number_parts(rules)
    assert parts == list(dict.fromkeys(part for row in range(len(rules)) for part in rules.conjunction(row)))
    assert [tuple(parts[j] for j in row) for row in lists] == [rules.conjunction(row) for row in range(len(rules))]
    assert number_conjunctions(lists)[1].tolist() == rules.group()[0].tolist()


def test_a_value_of_another_family_is_named_by_its_own_row():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": pd.Series([1, 2, "three", 4, "five"], dtype=object)})
    rules = fs.Rules.from_conditions([[("a", ">", 1.0)]] * 5, ["a"])
    refused(fs.errors.WrongType, "'three' \\(str\\) at row 2", fs.sufficiency, rules, [4, 3, 2, 1, 0], X)


def test_the_first_condition_that_holds_nowhere_is_named():
    rules = fs.Rules.parse(["b > 9 and a > 0", "a > 8", "a > 0"], features=["a", "b"])
    estimate = fs.sufficiency(rules, [0, 1, 0], np.ones((3, 2)))
    assert noted(estimate, "2 conditions hold on no row, such as 'b > 9'")
