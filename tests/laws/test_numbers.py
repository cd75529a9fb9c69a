"""How the agreements of numbers hang together: with labels, with each other, with units, and with what is known."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from brute_numbers import brute_spread
from faithscope.agreements import GroupedRows
from small_systems import AGREEMENTS, System, systems

MEASURES = pytest.mark.parametrize("measure", ["consistency", "sufficiency", "within"])


def numbers_of(estimate):
    """All that an estimate says, less what names it."""
    return {name: value for name, value in estimate.to_dict().items() if name not in ("agreement", "notes", "gap")}


def unclustered(measure, seeds, kinds, name="close", most=24):
    return (system for system, *_ in systems(measure, seeds, kinds, (name,), most) if system.clusters is None)


@MEASURES
def test_units_and_where_they_begin_say_nothing(measure):
    rng = default_rng(3)
    system = System(rng.integers(0, 9, 60), rng.random((60, 60)) < 0.2, rng.normal(size=60), 0.4)
    for name in AGREEMENTS:
        before = system.measured(measure, name)
        for unit, origin in [(4.0, 0.0), (1 / 3, 0.0), (1.0, 1000.0), (-2.0, 7.0), (1e9, -1e9)]:
            moved = replace(system, predictions=unit * system.predictions + origin, eps=abs(unit) * system.eps)
            after = moved.measured(measure, name)
            assert numbers_of(after) == pytest.approx(numbers_of(before), abs=1e-6)
            if name == "spread":
                assert after.gap == pytest.approx(abs(unit) * before.gap)


@MEASURES
def test_spread_of_one_hot_labels_is_the_adjusted_agreement_of_labels(measure):
    for system in unclustered(measure, range(6), ("repeated",), most=40):
        labels = system.predictions.astype(int)
        if len(np.unique(labels)) < 2:
            continue
        plain = replace(system, predictions=labels).measured(measure, "labels")
        found = system.measured(measure, "spread", np.eye(4)[labels])
        assert found.unverifiable == pytest.approx(plain.unverifiable)
        assert found.verified == (None if plain.adjusted is None else pytest.approx(plain.adjusted, abs=1e-12))
        if plain.adjusted is not None:
            disagreeing = (1 - plain.unverifiable - plain.value) / (1 - plain.chance)
            assert found.upper == pytest.approx(1 - disagreeing, abs=1e-12)
            assert system.weights is not None or found.above_chance == plain.above_chance


def of_population(agreement, codes, y):
    """The true consistency of a population that has these rows and no others; the variance within, for `Spread`."""
    values, place = np.unique(y, return_inverse=True)
    order = np.lexsort((place, codes))
    rows = GroupedRows(codes[order], place[order], np.ones(len(y)))
    return float(np.mean(agreement.over(values).within(rows) / np.bincount(codes)[codes[order]]))


def test_coarser_explanations_never_agree_more():
    for agreement in [fs.Close(0.7), fs.Close(3.0), fs.Spread()]:
        assert agreement.convex
        sign = -1 if isinstance(agreement, fs.Spread) else 1  # it sums distances
        for seed in range(60):
            rng = default_rng(seed)
            codes, y = np.sort(rng.integers(0, 8, 30)), rng.choice(rng.normal(size=12), 30)
            fine, coarse = (np.unique(each, return_inverse=True)[1] for each in (codes, codes // 2))
            assert sign * of_population(agreement, coarse, y) <= sign * of_population(agreement, fine, y) + 1e-12


def test_a_single_column_of_rows_is_not_taken_for_predictions():
    rng = default_rng(0)
    X, outputs = rng.random((30, 1)), rng.random((30, 3))
    bounds = np.ceil(4 * X[:, 0]) / 4
    rules = fs.Rules.from_conditions([[("x", "<=", float(bound))] for bound in bounds], features=["x"])
    found = fs.sufficiency(rules, outputs, X, agreement=fs.Spread())
    assert found.value == pytest.approx(
        brute_spread(X[:, 0][None, :] <= bounds[:, None], outputs, bounds).value, abs=1e-9
    )


def test_numbers_that_are_so_large_that_their_neighbors_are_eps_apart_do_not_agree():
    large = [1e15 + 3.125, 1e15 + 2.625, 1e15 + 2.75]
    assert fs.consistency(["a"] * 3, large, agreement=fs.Close(0.12)).value == 0
    assert fs.consistency(["a"] * 4, [*large, large[0]], agreement=fs.Close(0.12)).value == pytest.approx(1 / 6)
