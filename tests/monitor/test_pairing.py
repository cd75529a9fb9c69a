"""Openers and closers: who is matched, and that agreements are independent draws with the consistency as mean."""

from collections import Counter
from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy import stats

from faithscope.monitor.pairing import Rows, pair, sides

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.booleans()), max_size=40
)


def _rows(lines):
    """Rows of (explanation, label, day, group, closing)."""
    columns = np.array(lines, np.int64).reshape(-1, 5).T
    high = columns[0].astype(np.uint64)
    return Rows(columns[3], high, 0 * high + 5, columns[1], columns[2], columns[4].astype(bool))


NOBODY = _rows([])


def _told(rows, *names):
    return Counter(zip(*(getattr(rows, name).tolist() for name in names), strict=True))


@given(ROWS, ROWS)
def test_every_opener_is_matched_or_waits_and_no_explanation_waits_on_both_sides(lines, more):
    rng = default_rng(3)
    first = pair(_rows(lines), NOBODY, rng, spare=10**6)
    second = pair(_rows(more), first.waiting, rng, spare=10**6)
    matched = len(first.agreeing) + len(second.agreeing)
    closing = [*_rows(lines).closing, *_rows(more).closing]
    assert len(closing) - sum(closing) == matched + np.count_nonzero(~second.waiting.closing)
    assert len(closing) == 2 * matched + len(second.waiting.day)
    sides = Counter((g, h) for g, h, _ in _told(second.waiting, "group", "high", "closing"))
    assert set(sides.values()) <= {1}


@given(ROWS)
def test_labels_do_not_decide_who_is_matched(lines):
    plain, renamed = (
        pair(_rows(each), NOBODY, default_rng(4)) for each in (lines, [(e, 0, d, g, c) for e, _, d, g, c in lines])
    )
    for mine, theirs in ((plain.openers, renamed.openers), (plain.waiting, renamed.waiting)):
        assert all(np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("group", "high", "day"))


@given(ROWS, ROWS)
def test_explanations_that_do_not_arrive_wait_as_they_did(lines, earlier):
    waiting = pair(_rows(earlier), NOBODY, default_rng(5)).waiting
    whole = pair(_rows(lines), waiting, default_rng(6)).waiting
    others = [each.take(~np.isin(each.high, _rows(lines).high)) for each in (whole, waiting)]
    assert _told(others[0], *Rows._fields) == _told(others[1], *Rows._fields)


def test_closers_that_wait_are_the_latest_and_at_most_the_spare_ones():
    arrivals = _rows([(1, day, day, 0, 1) for day in (1, 2, 3) for _ in range(5)])
    waiting = pair(arrivals, NOBODY, default_rng(0), spare=7).waiting
    assert Counter(waiting.day.tolist()) == {3: 5, 2: 2}
    assert waiting.closing.all()


def test_pairs_are_as_likely_as_in_all_matchings_listed_one_by_one():
    """Every opener set and every injection of the smaller side into the other, by brute force."""
    labels, share, draws = [0, 0, 1, 1, 1], 0.4, 5_000
    expected = Counter()
    for openers in range(2 ** len(labels)):
        opening = [y for i, y in enumerate(labels) if openers >> i & 1]
        closing = [y for i, y in enumerate(labels) if not openers >> i & 1]
        weight = share ** len(opening) * (1 - share) ** len(closing)
        few, many = sorted((opening, closing), key=len)
        lists = list(permutations(many, len(few)))
        for partners in lists:
            expected[len(opening), sum(a == b for a, b in zip(few, partners, strict=True))] += weight / len(lists)
    rng = default_rng(7)
    cell, closing = sides(np.tile([2, 3], draws), rng, share=share)
    group, same = cell // 2, np.zeros(len(cell), np.uint64)
    pairs = pair(Rows(group, same, same, cell % 2, 0 * group, closing), NOBODY, rng)
    opened, agreeing = (
        np.bincount(which, minlength=draws) for which in (group[~closing], pairs.openers.group[pairs.agreeing])
    )
    seen = Counter(zip(opened.tolist(), agreeing.tolist(), strict=True))
    assert set(seen) <= set(expected)
    kinds = sorted(expected)
    assert stats.chisquare([seen[k] for k in kinds], [expected[k] * draws for k in kinds]).pvalue > 1e-3


def test_different_explanations_with_half_a_key_in_common_are_not_matched():
    lines = np.repeat(np.arange(4), 500)
    rng = default_rng(10)
    _, closing = sides(np.ones(2000, int), rng)
    high, low, zeros = (lines // 2).astype(np.uint64), (lines % 2).astype(np.uint64), np.zeros_like(lines)
    assert pair(Rows(zeros, high, low, lines, zeros, closing), NOBODY, rng).agreeing.all()
