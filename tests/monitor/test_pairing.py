"""Openers and closers: who is matched, and that agreements are independent draws with the consistency as mean."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from faithscope.monitor import pairing
from faithscope.monitor.pairing import Cells, pair

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), max_size=40)


def _cells(rows):
    """One cell per row: (explanation, label, day, group)."""
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return Cells.of(columns[0], columns[0] * 0 + 5, columns[1], columns[2], np.ones(len(rows)), columns[3])


def _same(cells, others):
    """Whether both hold the same rows, whatever their order."""
    columns = (vars(each.merged()).values() for each in (cells, others))
    return all(np.array_equal(mine, theirs) for mine, theirs in zip(*columns, strict=True))


def _days(pairs):
    columns = (pairs.groups, pairs.days, pairs.openers, pairs.matched, pairs.agreeing)
    return {(int(g), int(d)): (int(o), int(m), float(a)) for g, d, o, m, a in zip(*columns, strict=True)}


@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_their_division_into_cells_do_not_matter(rows, earlier, random):
    waiting = pair(_cells(earlier), Cells.none(), np.random.default_rng(1)).waiting
    counted = Counter(rows)
    shuffled = list(counted.elements())
    random.shuffle(shuffled)
    whole = Cells.of(
        *np.array([(e, 5, y, d, count, g) for (e, y, d, g), count in counted.items()], np.int64).reshape(-1, 6).T
    )
    first = pair(_cells(rows), waiting, np.random.default_rng(2))
    for other in (_cells(shuffled), whole):
        again = pair(other, waiting.take(np.arange(len(waiting))[::-1]), np.random.default_rng(2))
        assert _days(again) == _days(first)
        assert _same(again.waiting, first.waiting)


@given(ROWS, ROWS)
def test_every_opener_is_matched_or_waits_and_no_explanation_waits_on_both_sides(rows, more):
    rng = np.random.default_rng(3)
    first = pair(_cells(rows), Cells.none(), rng, spare=10**6)
    second = pair(_cells(more), first.waiting, rng, spare=10**6)
    openers = first.openers.sum() + second.openers.sum()
    matched = first.matched.sum() + second.matched.sum()
    assert openers == matched + second.waiting.opening.sum()
    assert len(rows) + len(more) == 2 * matched + second.waiting.counts.sum()
    left = second.waiting
    assert ((left.opening == 0) | (left.opening == left.counts)).all()
    sides = Counter((g, h) for g, h, _ in {*zip(left.groups, left.high, left.opening > 0, strict=True)})
    assert set(sides.values()) <= {1}


@given(ROWS)
def test_labels_decide_neither_who_opens_nor_who_is_matched(rows):
    plain = pair(_cells(rows), Cells.none(), np.random.default_rng(4))
    renamed = pair(_cells([(e, 0, d, g) for e, _, d, g in rows]), Cells.none(), np.random.default_rng(4))
    assert [v[:2] for v in _days(plain).values()] == [v[:2] for v in _days(renamed).values()]


@given(ROWS, ROWS)
def test_explanations_that_do_not_arrive_may_be_kept_from_the_call(rows, earlier):
    waiting = pair(_cells(earlier), Cells.none(), np.random.default_rng(5)).waiting
    touched = np.isin(waiting.high, _cells(rows).high)
    whole = pair(_cells(rows), waiting, np.random.default_rng(6), share=1.0)
    part = pair(_cells(rows), waiting.take(touched), np.random.default_rng(6), share=1.0)
    assert part.matched.sum() == whole.matched.sum()
    kept = whole.waiting.take(~np.isin(whole.waiting.high, _cells(rows).high))
    assert _same(kept, waiting.take(~touched))


def test_closers_that_wait_are_the_latest_and_at_most_the_spare_ones():
    arrivals = Cells.of([1] * 3, [1] * 3, [0, 1, 2], [1, 2, 3], [5, 5, 5])
    waiting = pair(arrivals, Cells.none(), np.random.default_rng(0), share=0.0, spare=7).waiting
    assert dict(zip(waiting.days.tolist(), waiting.counts.tolist(), strict=True)) == {3: 5, 2: 2}
    assert not waiting.opening.any()


@pytest.mark.parametrize("heavy", [True, False])
def test_pairs_are_as_likely_as_in_all_matchings_listed_one_by_one(heavy, monkeypatch):
    """Every opener set and every injection of the smaller side into the other, by brute force."""
    labels, share, draws = [0, 0, 1, 1, 1], 0.4, 5_000
    monkeypatch.setattr(pairing, "_HEAVY", 0 if heavy else 10**9)
    monkeypatch.setattr(pairing, "_TABLE", 0)
    expected = Counter()
    for openers in range(2 ** len(labels)):
        opening = [y for i, y in enumerate(labels) if openers >> i & 1]
        closing = [y for i, y in enumerate(labels) if not openers >> i & 1]
        weight = share ** len(opening) * (1 - share) ** len(closing)
        few, many = sorted((opening, closing), key=len)
        lists = list(permutations(many, len(few)))
        for partners in lists:
            expected[len(opening), sum(a == b for a, b in zip(few, partners, strict=True))] += weight / len(lists)
    groups = np.repeat(np.arange(draws), 2)
    ones = np.ones(len(groups))
    arrivals = Cells.of(ones, ones, np.tile([0, 1], draws), 0, np.tile([2, 3], draws), groups)
    pairs = pair(arrivals, Cells.none(), np.random.default_rng(7), share=share)
    seen = Counter(zip(pairs.openers.tolist(), pairs.agreeing.astype(int).tolist(), strict=True))
    seen[0, 0] += draws - len(pairs.groups)  # groups without openers are not listed
    assert set(seen) <= set(expected)
    kinds = sorted(expected)
    assert stats.chisquare([seen[k] for k in kinds], [expected[k] * draws for k in kinds]).pvalue > 1e-3


def test_different_explanations_with_half_a_key_in_common_are_not_matched():
    arrivals = Cells.of([1, 1, 1, 1], [1, 2, 1, 2], [0, 1, 0, 1], 0, [500, 500, 500, 500])
    pairs = pair(arrivals, Cells.none(), np.random.default_rng(10))
    assert float(pairs.agreeing[0]) == pairs.matched[0] == pairs.openers[0]
