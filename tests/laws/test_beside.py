"""Beside everybody: rows of a group ask and all rows answer, with all rows and without each, as brute force has it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.counting.beside import Kinds
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.measures.consistency import measure_consistency
from faithscope.sample import Sample
from refused import refused
from strategies import samples


def brute(codes, labels, weights, units, agree, asks, kept, answers=None):
    """Sums over explanations: m P / Q, the weight of silent askers, and that of all askers."""
    answers = np.ones(len(codes), bool) if answers is None else answers
    agreeing = silent = total = 0.0
    for code in set(codes[kept].tolist()):
        rows = np.flatnonzero(kept & (codes == code))
        asking = rows[asks[rows]]
        mass = weights[asking].sum()
        pairs = [(i, j) for i in asking for j in rows[answers[rows]] if units[i] != units[j]]
        all_pairs = sum(weights[i] * weights[j] for i, j in pairs)
        total += mass
        if all_pairs == 0:
            silent += mass
        else:
            agreeing += mass * sum(weights[i] * weights[j] * agree(labels[i], labels[j]) for i, j in pairs) / all_pairs
    return agreeing, silent, total


@pytest.mark.parametrize("everybody_answers", [False, True])
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_group_of_askers_and_the_same_without_each_unit_are_those_of_brute_force(
    seed, weighted, clustered, numbers, everybody_answers
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 14))
    codes, groups, labels = (rng.integers(0, many, n) for many in (4, 3, 3))
    weights = rng.choice([0.5, 1.0, 2.0], n) if weighted else np.ones(n)
    units = rng.permutation(n) % 5 if clustered else np.arange(n)
    agree = (lambda a, b: max(0, 1 - abs(a - b) / 1.5)) if numbers else (lambda a, b: float(a == b))
    sample = Sample.of(
        codes.tolist(),
        labels.astype(float) if numbers else labels,
        None,
        weights if weighted else None,
        fs.Close(1.5) if numbers else None,
        units if clustered else None,
    )
    kinds, asks, everybody = Kinds.of(sample, groups), groups == groups[0], np.ones(n, bool)
    answers = everybody if everybody_answers else groups != groups[-1]  # rows that ask may answer or not
    if not everybody_answers:
        kinds = replace(kinds, answers=kinds.group != groups[-1])
    asked = kinds.asked(kinds.group == groups[0])
    assert asked.sums == pytest.approx(brute(codes, labels, weights, units, agree, asks, everybody, answers))
    chance = brute(np.zeros(n), labels, weights, units, agree, asks, everybody, answers)
    assert (0 if asked.chance is None else asked.chance) == pytest.approx(chance[0] / chance[2])
    for row in range(n):
        agreeing, silent, total = brute(codes, labels, weights, units, agree, asks, units != units[row], answers)
        if total == 0:
            continue
        columns = (sample.explanations.group()[0], sample.numbered_labels[1], groups, weights)
        here = zip((kinds.code, kinds.value, kinds.group, kinds.each), columns, strict=True)
        mine = np.all([kind == column[row] for kind, column in here], axis=0)
        place = sample.clusters[row] if clustered else np.flatnonzero(mine)[0]
        assert asked.left_out.value[place] == pytest.approx(agreeing / total)
        assert asked.left_out.silent[place] == pytest.approx(silent / total)


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
