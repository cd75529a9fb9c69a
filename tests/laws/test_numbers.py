"""Measures of numeric predictions equal brute force: values, silence, chance, and everything with rows left out."""

import numpy as np
import pytest

import faithscope as fs
from brute_numbers import brute_spread
from faithscope.counting.coverage import cover
from faithscope.counting.spread import spread_by_explanation
from faithscope.errors import BadInput
from faithscope.measures.comparing.paired import consistency_left_out
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.sufficiency import measure_sufficiency
from faithscope.relations import Within, to_relation
from number_systems import AGREEMENTS, KINDS, NumberSystem

MEASURES = ("consistency", "sufficiency", "within")
SEEDS = range(8)

MEASURED = {"consistency": measure_consistency, "sufficiency": measure_sufficiency}


def varies(predictions):
    return np.ptp(np.asarray(predictions, float)) > 0


def assert_equal(found, expected):
    assert found.value == pytest.approx(expected.value, abs=1e-9, rel=1e-9)
    assert found.unverifiable == pytest.approx(expected.unverifiable, abs=1e-12)
    assert found.upper == pytest.approx(min(1.0, expected.upper), abs=1e-9, rel=1e-9)
    assert found.chance == pytest.approx(expected.chance, abs=1e-9)
    assert found.low <= found.value + 1e-12
    assert found.upper <= found.high + 1e-9 <= 1 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_measure_is_that_of_brute_force(kind, measure, weighted):
    for seed in SEEDS:
        system = NumberSystem.random(kind, seed, weighted=weighted)
        for name in AGREEMENTS:
            if name == "spread" and not varies(system.predictions):
                continue
            assert_equal(system.measured(measure, name), system.brute(measure, name))


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_outputs_of_several_columns_add_up_to_brute_force(measure, weighted):
    for seed, kind in enumerate(KINDS):
        system = NumberSystem.random(kind, seed, weighted=weighted)
        vectors = system.vectors
        assert_equal(system.measured(measure, "spread", vectors), system.brute(measure, "spread", vectors))


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREEMENTS)
def test_a_curve_over_distances_holds_the_estimates_of_within(name):
    for seed, kind in enumerate(KINDS):
        system = NumberSystem.random(kind, seed)
        if not varies(system.predictions):
            continue
        given, agreement = system.codes[:, None].astype(float), system.agreement(name)
        curve = fs.within_curve(given, system.predictions, [0, 1, 3], agreement=agreement)
        for tau, found in zip(curve.taus, curve.estimates, strict=True):
            alone = fs.within(given, system.predictions, tau, agreement=agreement)
            told, expected = found.to_dict(), alone.to_dict()
            assert told.pop("notes") == expected.pop("notes")
            assert told == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["consistency", "sufficiency"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_each_group_is_measured_as_if_alone(measure, weighted):
    for seed, kind in enumerate(KINDS):
        system = NumberSystem.random(kind, seed, weighted=weighted)
        groups = np.arange(system.n) % 2
        for name in AGREEMENTS:
            for group, part in system.sample(measure, name).split(groups).items():
                if part.n < 2 or not varies(part.labels):
                    continue
                asked = (part,) if measure == "consistency" else (part, system.applies)
                found = MEASURED[measure](*asked, method="jackknife")
                assert_equal(found, system.brute(measure, name, kept=groups == group))


def left_out(system, measure, name, in_blocks, predictions=None):
    """What the package computes without each row or block, and the block of each row."""
    sample = system.sample(measure, name, predictions)
    if measure == "consistency":
        if name != "spread":
            estimate = measure_consistency(sample, 0.95, "jackknife")
            return consistency_left_out("", estimate, sample).left_out, np.arange(system.n)
        spread, counted, *_ = spread_by_explanation(sample)
        return spread.left_out(counted), np.arange(system.n)
    relation = Within(1.0, "euclidean") if measure == "within" else to_relation(system.applies, sample.explanations)
    coverage = cover(sample, relation, exact=0 if in_blocks else 10**8)
    left = coverage.left_out if name != "spread" else coverage.spread.left_out(coverage.left_out)
    return left, np.arange(system.n) if coverage.block is None else coverage.block


def one_decides(predictions, block):
    """Whether all variance, up to rounding, is that of one block."""
    columns = np.asarray(predictions, float).reshape(len(block), -1)
    columns = columns - columns[0]
    left = [columns[block != number].var(axis=0).sum() for number in range(block.max() + 1)]
    return min(left) <= 1e-12 * columns.var(axis=0).sum()


def assert_left_out(system, measure, name, in_blocks=False, predictions=None):
    left, block = left_out(system, measure, name, in_blocks, predictions)
    without = [system.brute(measure, name, predictions, block != number) for number in range(block.max() + 1)]
    if name == "spread" and one_decides(system.predictions if predictions is None else predictions, block):
        assert left is None, "predictions that are all equal without one row, up to rounding, have no share of variance"
        return
    assert left.value == pytest.approx([one.value for one in without], abs=1e-9, rel=1e-9)
    assert left.value + left.silent == pytest.approx([one.upper for one in without], abs=1e-9, rel=1e-9)
    if measure != "consistency" and not in_blocks and system.weights is None:
        others = system.covers(measure) & ~np.eye(system.n, dtype=bool)
        share = np.divide(others, others.sum(axis=1, keepdims=True), out=np.zeros(others.shape), where=others)
        assert max(1.0, left.reach) == pytest.approx(max(1.0, share.sum(axis=0).max()))


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREEMENTS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_leaving_out_a_row_is_measuring_the_others(measure, name, seed):
    for kind in KINDS:
        system = NumberSystem.random(kind, seed, most=16)
        if system.n > 3 and (name != "spread" or varies(system.predictions)):
            assert_left_out(system, measure, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", AGREEMENTS)
@pytest.mark.parametrize(
    ("measure", "weighted"),
    [("consistency", True), ("sufficiency", True), ("sufficiency", False), ("within", False)],
    ids=lambda value: {True: "weighted", False: "plain"}.get(value, value),
)
def test_leaving_out_blocks_or_weighted_rows_is_measuring_the_others(measure, weighted, name):
    for seed, kind in enumerate(KINDS):
        system = NumberSystem.random(kind, seed, most=60, weighted=weighted)
        if system.n > 3 and (name != "spread" or varies(system.predictions)):
            assert_left_out(system, measure, name, in_blocks=True)
            if name == "spread":
                assert_left_out(system, measure, name, True, system.vectors)


def test_a_single_column_of_rows_is_not_taken_for_predictions():
    rng = np.random.default_rng(0)
    X, outputs = rng.random((30, 1)), rng.random((30, 3))
    rules = fs.Rules.from_conditions([[("x", "<=", float(np.ceil(4 * x) / 4))] for x in X[:, 0]], features=["x"])
    bounds = np.ceil(4 * X[:, 0]) / 4
    found = fs.sufficiency(rules, outputs, X, agreement=fs.Spread())
    assert_equal(found, brute_spread(X[:, 0][None, :] <= bounds[:, None], outputs))


def test_predictions_that_are_all_equal_have_no_share_of_variance():
    for measure in MEASURES:
        system = NumberSystem.random("normal", 1)
        with pytest.raises(BadInput, match="all equal"):
            system.measured(measure, "spread", np.full(system.n, 0.1))
