"""Counts are a commutative monoid: how the sample is cut, ordered or named does not matter."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.counts import Counts, count
from faithscope.errors import Incompatible
from faithscope.measures.estimate import estimate
from faithscope.readers import as_explanations
from strategies import samples


def numbers(sample):
    return {name: value for name, value in fs.consistency(*sample).to_dict().items() if name != "notes"}


def counted(explanations, predictions):
    return count(as_explanations(explanations), predictions)


@given(samples(), samples(), samples())
def test_addition_is_associative_and_commutative_with_a_zero(a, b, c):
    x, y, z = counted(*a), counted(*b), counted(*c)
    assert (x + y) + z == x + (y + z)
    assert x + y == y + x
    assert x + Counts.zero() == x == Counts.zero() + x


@given(samples(min_size=2), st.data())
def test_how_the_sample_is_partitioned_does_not_matter(sample, data):
    explanations, predictions = sample
    cuts = sorted(data.draw(st.sets(st.integers(1, len(explanations) - 1), max_size=4)))
    bounds = [0, *cuts, len(explanations)]
    parts = [counted(explanations[a:b], predictions[a:b]) for a, b in itertools.pairwise(bounds)]
    whole = counted(explanations, predictions)
    assert sum(parts, Counts.zero()) == whole
    merged, alone = (
        sorted(zip(one.others, one.agreeing, one.pairs, one.rows, strict=True))
        for one in (sum(parts, Counts.zero()).profile(), whole.profile())
    )
    assert merged == alone


@given(samples())
def test_different_counts_are_not_equal(sample):
    explanations, predictions = sample
    assert counted(explanations, predictions) != counted([k + 1 for k in explanations], predictions)
    assert counted(explanations, predictions) != counted([*explanations, 0], [*predictions, 0])


@given(samples())
def test_cells_hold_exact_counts_and_nothing_is_missed_by_equality(sample):
    counts = counted(*sample)
    assert counts.n == len(sample[0]) == counts.given.sum() == counts.per_label.sum()
    assert (counts.given > 0).all()
    assert (counts.covered == counts.given).all()
    assert not counts.missed.any()
    assert counts.given.dtype == np.int64


def test_a_billion_rows_do_not_overflow():
    one = counted(["a", "a", "b"], [0, 1, 1])
    billion = Counts(
        one.explanations, one.labels, one.explanation, one.label, *[one.given * 10**9 // 3] * 2, one.missed
    )
    twice = billion + billion
    assert twice.n == 2 * (10**9 // 3) * 3
    found = fs.plan(twice)
    assert found.unverifiable == 0
    assert (estimate(twice).value, estimate(twice).chance) == pytest.approx((2 / 3, 5 / 9), abs=1e-8)


def test_counts_of_different_kinds_do_not_add():
    for a, b, words in [
        (["a"], [[1.0, 2.0]], r"plain keys.* importances over 2 features"),
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], "importances over 2 features"),
        (["a"], None, "weighted"),
    ]:
        other = fs.consistency(["a"], [0], weights=[1.0]).counts if b is None else counted(b, [0])
        with pytest.raises(Incompatible, match=words):
            counted(a, [0]) + other


def test_weighted_counts_add_and_groups_of_them_too():
    e, y, w = ["a", "a", "b", "a", "b"], [0, 1, 1, 0, 1], [2.0, 4.0, 1.0, 1.0, 1.0]
    whole = fs.consistency(e, y, weights=w).counts
    parts = [fs.consistency(e[a:b], y[a:b], weights=w[a:b]).counts for a, b in ((0, 3), (3, 5))]
    assert sum(parts) == whole
    assert sum(parts).effective_n == pytest.approx(9**2 / 23)
    assert whole != counted(e, y)
    groups = fs.evaluate(y, e, e, weights=w).by([0, 0, 0, 1, 1])
    assert sum(found.counts for found in groups.among.estimates.values()) == whole


def test_counts_refuse_more_rows_than_they_hold_exactly():
    counts = counted(["a"], [0])
    for _ in range(31):
        counts = counts + counts
    with pytest.raises(fs.errors.BadInput, match="at most 3,000,000,000 rows"):
        counts + counts


def test_numbers_of_any_type_add():
    assert (counted([1, 2], [0, 1]) + counted([2.5, 1.0], [0, 1])).distinct == 3
    assert fs.OptimalDecoder().fit([1, 2.5], [0, 1]).predict([1]).tolist() == [0]
    named = fs.Importances([[1.0]], ["a"]), fs.Importances([[1.0]])
    a, b = (count(one, [0]) for one in named)
    assert a + b == b + a


def test_labels_that_are_sets_have_one_order():
    labels = [frozenset(s) for s in ("ab", "c", "bd", "a")]
    orders = {counted([0] * 4, list(order)).labels for order in itertools.permutations(labels)}
    assert len(orders) == 1


def test_counts_of_nothing_find_nothing():
    codes, cells = Counts.zero().locate(as_explanations(["a"]), np.array([0]))
    assert codes.tolist() == cells.tolist() == [-1]
