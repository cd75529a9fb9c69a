"""Covered rows are counted alike in tables and in lists, and leaving out rows or blocks is measuring the others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import faithscope as fs
from faithscope.counting.layout import numbered_pairs, order_by, run_starts
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.inputs.grouping import group
from faithscope.relations.base import number_parts


def test_orders_by_digits_are_stable_sorts():
    for many in [1, 2, 2**16, 2**16 + 1, 2**33]:
        numbers = default_rng(0).integers(0, many, 1000)
        order = order_by(numbers, many)
        assert_array_equal(order, np.argsort(numbers, kind="stable"))
        starts = run_starts(numbers[order])
        values, places, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
        assert_array_equal(numbers[order][starts], values)
        assert_array_equal(np.diff(starts, append=len(numbers)), sizes)
        first, second, place = numbered_pairs(numbers // 7, numbers % 7)
        assert_array_equal(7 * first + second, values)
        assert_array_equal(place, places)


@given(st.lists(st.lists(st.sampled_from(["a > 1", "b <= 2", "a == 0"]), max_size=2), min_size=1, max_size=20))
def test_rules_are_grouped_and_their_parts_numbered_in_order_of_appearance(texts):
    rules = fs.Rules.parse([" and ".join(row) or "everything" for row in texts], features=["a", "b"]).take(
        np.arange(len(texts))[::-1]
    )
    for found, expected in zip(rules.group(), group(rules.key), strict=True):
        assert_array_equal(found, expected)
    parts, lists = number_parts(rules)
    assert parts == list(dict.fromkeys(part for row in range(len(rules)) for part in rules.conjunction(row)))
    assert [tuple(parts[j] for j in row) for row in lists] == [rules.conjunction(row) for row in range(len(rules))]
    assert number_conjunctions(lists)[1].tolist() == rules.group()[0].tolist()
