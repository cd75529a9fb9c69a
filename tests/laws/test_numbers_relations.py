"""How the agreements of numbers hang together: with labels, with each other, with units and with the order of rows."""

import numpy as np
import pytest

import faithscope as fs
from faithscope.agreements import GroupedRows
from number_systems import AGREEMENTS, KINDS, NumberSystem

MEASURES = ("consistency", "sufficiency", "within")
SCALED = {"close": fs.Close, "tolerance": fs.Tolerance}


def numbers_of(estimate):
    """All that an estimate says, less what names it."""
    told = estimate.to_dict()
    return {name: value for name, value in told.items() if name not in ("agreement", "notes", "gap")}


def permuted(system, order):
    weights = None if system.weights is None else system.weights[order]
    return NumberSystem(system.codes[order], system.masks[:, order], system.predictions[order], system.eps, weights)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", AGREEMENTS)
def test_the_order_of_rows_says_nothing(measure, weighted, name):
    for seed, kind in enumerate(KINDS):
        system = NumberSystem.random(kind, seed, most=50, weighted=weighted)
        if not np.ptp(np.asarray(system.predictions, float)):
            continue
        order = np.random.default_rng(seed).permutation(system.n)
        given, again = (numbers_of(one.measured(measure, name)) for one in (system, permuted(system, order)))
        if measure == "sufficiency" and weighted:  # blocks hold the same rows only if the rows tell so
            given, again = ({k: one[k] for k in ("value", "upper", "verified", "chance")} for one in (given, again))
        assert again == pytest.approx(given, abs=1e-9 if given["chance"] < 0.999 else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("unit", "origin"), [(4.0, 0.0), (1 / 3, 0.0), (1.0, 1000.0), (-2.0, 7.0), (1e9, -1e9)])
@pytest.mark.parametrize("measure", MEASURES)
def test_units_and_where_they_begin_say_nothing(measure, unit, origin):
    rng = np.random.default_rng(3)
    codes, y, eps = rng.integers(0, 9, 60), rng.normal(size=60), 0.4
    system = NumberSystem(codes, rng.random((60, 60)) < 0.2, y, eps, None)
    moved = NumberSystem(codes, system.masks, unit * y + origin, abs(unit) * eps, None)
    for name in AGREEMENTS:
        given, again = (one.measured(measure, name) for one in (system, moved))
        assert numbers_of(again) == pytest.approx(numbers_of(given), abs=1e-6)
        if name == "spread":
            assert again.gap == pytest.approx(abs(unit) * given.gap)


def every_origin(y, eps):
    """Where bins of width eps may begin: one origin per way of cutting, and how often it occurs."""
    cuts = np.unique(np.concatenate([[0.0], np.mod(y, eps), [eps]]))
    return (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / eps


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_close_is_the_mean_over_where_bins_begin_of_the_measure_of_bins(measure, weighted):
    for seed, kind in enumerate(("normal", "on a lattice", "heavy tails")):
        system = NumberSystem.random(kind, seed, weighted=weighted)
        found, mean, chance = system.measured(measure, "close"), 0.0, 0.0
        for origin, share in zip(*every_origin(system.predictions, system.eps), strict=True):
            bins = np.floor((system.predictions - origin) / system.eps).astype(int)
            labels = labeled(system, measure, bins)
            mean, chance = mean + share * labels.value, chance + share * labels.chance
        assert found.value == pytest.approx(mean, abs=1e-9)
        assert found.chance == pytest.approx(chance, abs=1e-9)


def labeled(system, measure, labels):
    """The measure of labels, on the rows of a system of numbers; by the jackknife, as numbers are measured here."""
    if measure == "consistency":
        return fs.consistency(system.codes, labels, weights=system.weights, interval="jackknife")
    if measure == "within":
        return fs.within(system.codes[:, None].astype(float), labels, 1.0)
    asked = {"relation": system.applies, "weights": system.weights, "interval": "jackknife"}
    return fs.sufficiency(system.codes, labels, system.rows, **asked)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", ["close", "tolerance"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_an_eps_below_every_gap_makes_numbers_labels(measure, weighted, name):
    for seed in range(12):
        system = NumberSystem.random("eps below all", seed, most=50, weighted=weighted)
        labels = system.predictions.astype(int)
        found, expected = (
            numbers_of(one) for one in (system.measured(measure, name), labeled(system, measure, labels))
        )
        if measure == "sufficiency" and weighted:  # labels are digested as what they are, so blocks differ
            assert found["value"] == pytest.approx(expected["value"], abs=1e-12)
            continue
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_spread_of_one_hot_labels_is_the_adjusted_agreement_of_labels(measure, weighted):
    for seed in range(25):
        system = NumberSystem.random("repeated", seed, most=40, weighted=weighted)
        labels = system.predictions.astype(int)
        if len(np.unique(labels)) < 2:
            continue
        found, plain = system.measured(measure, "spread", np.eye(4)[labels]), labeled(system, measure, labels)
        assert found.unverifiable == pytest.approx(plain.unverifiable)
        if plain.adjusted is None:
            assert found.verified is None
            continue
        assert found.verified == pytest.approx(plain.adjusted, abs=1e-12)
        disagreeing = (1 - plain.unverifiable - plain.value) / (1 - plain.chance)
        assert found.upper == pytest.approx(1 - disagreeing, abs=1e-12)
        if not weighted:
            assert found.above_chance == plain.above_chance


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_close_is_never_above_tolerance_and_both_grow_with_eps(measure, weighted):
    for seed, kind in enumerate(KINDS):
        system, before = NumberSystem.random(kind, seed, weighted=weighted), {"close": 0.0, "tolerance": 0.0}
        for factor in (0.1, 0.5, 1.0, 2.0, 10.0):
            wider = NumberSystem(system.codes, system.masks, system.predictions, factor * system.eps, system.weights)
            found = {name: wider.measured(measure, name).value for name in before}
            assert found["close"] <= found["tolerance"] + 1e-12
            assert all(found[name] >= before[name] - 1e-12 for name in before)
            before = found


def of_population(agreement, codes, y):
    """The true consistency of a population that has these rows and no others; the variance within, for `Spread`."""
    values, place = np.unique(y, return_inverse=True)
    order = np.lexsort((place, codes))
    rows = GroupedRows(codes[order], place[order], np.ones(len(y)))
    return float(np.mean(agreement.over(values).within(rows) / np.bincount(codes)[codes[order]]))


@pytest.mark.parametrize("agreement", [fs.Close(0.7), fs.Close(3.0), fs.Spread()], ids=repr)
def test_coarser_explanations_never_agree_more(agreement):
    assert agreement.convex
    for seed in range(200):
        rng = np.random.default_rng(seed)
        codes, y = np.sort(rng.integers(0, 8, 30)), rng.choice(rng.normal(size=12), 30)
        _, fine = np.unique(codes, return_inverse=True)
        _, coarse = np.unique(codes // 2, return_inverse=True)
        sign = -1 if isinstance(agreement, fs.Spread) else 1  # it sums distances
        assert sign * of_population(agreement, coarse, y) <= sign * of_population(agreement, fine, y) + 1e-12


def test_coarser_explanations_may_agree_more_within_a_tolerance():
    assert not fs.Tolerance(1.0).convex
    y = np.array([0.0, 2.0, 1.0, 1.0])
    assert of_population(fs.Tolerance(1.0), np.array([0, 0, 1, 1]), y) == 0.75
    assert of_population(fs.Tolerance(1.0), np.zeros(4, int), y) == 0.875
