"""Repeatability against brute force, and what must hold of it whatever the runs."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs


@st.composite
def systems(draw, least_rows=1):
    """Runs of explanations of the same rows, with weights or clusters or neither."""
    many, n = draw(st.integers(2, 5)), draw(st.integers(least_rows, 12))
    codes = draw(st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=many, max_size=many))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    grouped = st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(lambda group: len(set(group)) > 1)
    return codes, weights, draw(st.none() | grouped) if n > 1 else None


def brute_value(codes, weights):
    shares = []
    for row in range(len(codes[0])):
        pairs = [codes[a][row] == codes[b][row] for a, b in combinations(range(len(codes)), 2)]
        shares.append(sum(pairs) / len(pairs))
    return sum(w * share for w, share in zip(weights, shares, strict=True)) / sum(weights), shares


def brute_chance(codes, weights, clusters):
    equal = total = 0.0
    for i, j in permutations(range(len(weights)), 2):
        if clusters[i] == clusters[j]:
            continue
        for a, b in permutations(range(len(codes)), 2):
            total += weights[i] * weights[j]
            equal += weights[i] * weights[j] * (codes[a][i] == codes[b][j])
    return equal / total if total else None


@given(systems(), st.randoms(use_true_random=False))
def test_value_and_chance_are_those_of_all_pairs_of_runs_and_rows_in_any_order(system, random):
    codes, weights, clusters = system
    options = {"weights": weights, "clusters": clusters}
    repeated = fs.repeatability(codes, **options)
    mass = weights or [1] * len(codes[0])
    value, shares = brute_value(codes, mass)
    assert repeated.value == pytest.approx(value)
    table = repeated.table().sort_values("row")
    assert table["value"].tolist() == pytest.approx(shares)
    assert table["different"].tolist() == [len(set(column)) for column in zip(*codes, strict=True)]
    chance = brute_chance(codes, mass, clusters or list(range(len(mass))))
    assert repeated.chance == (None if chance is None else pytest.approx(chance))
    assert repeated.low <= repeated.rows_low <= repeated.value + 1e-12
    assert repeated.value <= repeated.rows_high + 1e-12 <= repeated.high + 2e-12
    order = random.sample(range(len(mass)), len(mass))
    moved = {name: column and [column[row] for row in order] for name, column in options.items()}
    same = fs.repeatability([[run[row] for row in order] for run in reversed(codes)], **moved)
    for name in ("value", "low", "high", "rows_low", "rows_high", "chance", "distinct"):
        number = getattr(repeated, name)
        assert getattr(same, name) == (None if number is None else pytest.approx(number, abs=1e-9)), name


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=7))
def test_the_commonest_explanations_are_counted_per_row(codes):
    table = fs.repeatability(codes).table().sort_values("row")
    for line, column in zip(table.itertuples(), zip(*codes, strict=True), strict=True):
        assert column.count(int(line.commonest)) == max(map(column.count, column))
        assert line.different == len(set(column))


def test_coarser_explanations_repeat_at_least_as_often():
    rng = default_rng(0)
    phi = rng.normal(size=(200, 4))
    runs = [phi + 0.05 * rng.normal(size=phi.shape) for _ in range(4)]
    fine, coarse = (fs.repeatability(runs, discretizer=fs.Sign() | fs.SignOfTop(k)) for k in (4, 1))
    assert fs.repeatability(runs).value <= fine.value <= 1
    assert fine.value == pytest.approx(fs.repeatability(runs, discretizer="sign").value)
    assert coarse.value >= fine.value
