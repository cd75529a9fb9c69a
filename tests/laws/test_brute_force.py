"""Counting equals the definitions, pair by pair: any measure, agreement, weights and clusters, with rows left out."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting import leave_out
from faithscope.counting import rows as numbered_rows
from small_systems import LABELS, MEASURES, NUMBERS, System, systems

FIELDS = ("value", "low", "high", "upper", "unverifiable", "verified", "chance", "effective_n")


def check(found, expected, why):
    """An estimate against the definition."""
    if hasattr(found, "alone"):  # encoding, which is from -1 to 1, and has no chance level
        assert (found.value is None) == math.isnan(expected.value), why
        assert found.exclusive == pytest.approx(expected.upper), why
        assert found.alone + found.exclusive == pytest.approx(expected.unverifiable), why
    else:
        assert found.upper == pytest.approx(min(1.0, expected.upper), abs=1e-9, rel=1e-9), why
        told = math.nan if found.chance is None else found.chance
        assert told == pytest.approx(expected.chance, abs=1e-9, nan_ok=True), why
        assert found.upper <= found.high + 1e-9 <= 1 + 1e-9, why
    assert found.unverifiable == pytest.approx(expected.unverifiable, abs=1e-12), why
    if found.value is not None:
        assert found.value == pytest.approx(expected.value, abs=1e-9, rel=1e-9), why
        assert found.low - 1e-12 <= found.value <= found.high + 1e-9, why


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_is_its_definition(measure):
    for system, name, why in systems(measure):
        check(system.measured(measure, name), system.brute(measure, name), why)
        if name == "spread":
            found, expected = (ask(measure, name, system.vectors) for ask in (system.measured, system.brute))
            check(found, expected, f"vectors, {why}")


def one_decides(predictions, block):
    """Whether all variance, up to rounding, is that of one block."""
    columns = np.asarray(predictions, float).reshape(len(block), -1)
    columns = columns - columns[0]
    left = [columns[block != number].var(axis=0).sum() for number in range(block.max() + 1)]
    return min(left) <= 1e-12 * columns.var(axis=0).sum()


def check_left_out(system, measure, name, exact, why, predictions=None):
    left, block = system.left_out(measure, name, exact, predictions)
    if name == "spread" and one_decides(system.predictions if predictions is None else predictions, block):
        assert left is None, f"equal up to rounding without one row: no share of variance, {why}"
        return
    parts = [number for number in range(block.max() + 1) if (block != number).any()]
    without = [system.brute(measure, name, predictions, block != number) for number in parts]
    expected = [one.value for one in without]
    assert left.value[parts] == pytest.approx(expected, abs=1e-9, rel=1e-9, nan_ok=True), why
    if measure == "encoding":
        return
    upper = [one.upper for one in without]
    assert (left.value + left.silent)[parts] == pytest.approx(upper, abs=1e-9, rel=1e-9), why
    if measure not in ("consistency", "necessity") and system.weights is system.clusters is None and exact:
        others = system.covers(measure) & ~np.eye(system.n, dtype=bool)
        share = np.divide(others, others.sum(axis=1, keepdims=True), out=np.zeros(others.shape), where=others)
        assert max(1.0, left.reach) == pytest.approx(max(1.0, share.sum(axis=0).max())), why


LEFT_OUT = [(measure, exact) for measure in MEASURES for exact in (10**8, 0)]
LEFT_OUT.remove(("consistency", 0))  # equality needs no blocks


@pytest.mark.parametrize(("measure", "exact"), LEFT_OUT)
def test_leaving_out_rows_blocks_or_clusters_is_measuring_the_others(measure, exact):
    for system, name, why in systems(measure, most=16 if exact else 32):
        if system.n > 3:
            check_left_out(system, measure, name, exact, why)
            if name == "spread":
                check_left_out(system, measure, name, exact, f"vectors, {why}", system.vectors)


@pytest.mark.parametrize("listed", [0, 10**9], ids=["tables", "lists"])
@pytest.mark.parametrize("covered", [0, 10**9], ids=["by row", "all bits"])
def test_however_covered_rows_are_counted_rows_and_blocks_are_left_out_exactly(listed, covered, monkeypatch):
    monkeypatch.setattr(numbered_rows, "ROWS_PER_SEGMENT", listed)
    monkeypatch.setattr(leave_out, "_COVERED", covered)
    for system, name, why in systems("rules", range(2), LABELS, most=40):
        for exact in (0, 10**8):
            check_left_out(system, "rules", name, exact, why)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_order_of_rows_the_names_of_clusters_and_the_scale_of_weights_say_nothing(measure):
    for system, name, why in systems(measure, most=30):
        if measure == "judged" and system.weights is not None:
            continue  # blocks of rows that tell nothing of themselves hold other rows in another order
        order = default_rng(system.n).permutation(system.n)
        moved = system.take(order)
        default = {} if measure == "encoding" else {"interval": None}
        asked, fields = dict(default), FIELDS
        if measure == "encoding":
            fields = ("value", "low", "high", "tested", "flagged", "encodes")
        if moved.clusters is not None:
            asked["clusters"] = np.array([f"c{9 - one}" for one in moved.clusters])
        if moved.weights is not None:
            asked["weights"] = 7.3 * moved.weights
        before, after = system.measured(measure, name, **default), moved.measured(measure, name, **asked)
        for field in fields:
            told, again = (getattr(one, field) for one in (before, after))
            close = 1e-9 if measure == "encoding" or (system.weights is None and (before.chance or 0) < 0.999) else 1e-6
            assert again == (None if told is None else pytest.approx(told, abs=close)), (field, why)


@pytest.mark.parametrize("measure", MEASURES)
def test_equal_weights_and_clusters_of_one_row_change_nothing(measure):
    for system, name, why in systems(measure):
        if system.weights is not None or system.clusters is not None:
            continue
        plain, options = system.measured(measure, name), [{"clusters": np.arange(system.n)}] * (name != "spread")
        options += [{"weights": np.full(system.n, 2.5)}] * (measure != "within")
        if measure == "consistency" and name == "labels":
            default, same = (system.measured(measure, name, **{"interval": None, **how}) for how in ({}, options[-1]))
            assert replace(same, counts=default.counts) == default, why
        for option in options:
            same = system.measured(measure, name, **option)
            fields = {"consistency": FIELDS, "encoding": ("value", "unverifiable")}.get(measure, FIELDS[3:])
            for field in fields:
                told = getattr(plain, field)
                assert getattr(same, field) == (None if told is None else pytest.approx(told)), (field, why, option)


@pytest.mark.parametrize("measure", [measure for measure in MEASURES if measure not in ("within", "judged")])
def test_rows_of_weight_zero_are_as_if_they_were_not_there_and_the_result_says_so(measure):
    for kind, name in (("labels", "labels"), ("normal", "close"), ("normal", "spread")):
        if name == "spread" and measure in ("necessity", "encoding"):
            continue
        system = System.random(kind, 3, most=60, weighted=True)
        weights = system.weights * (np.arange(system.n) % 5 > 0)
        part = system.take(np.flatnonzero(weights)).measured(measure, name)
        whole = system.measured(measure, name, weights=weights)
        assert whole.n == part.n < system.n
        assert (whole.value, whole.low, whole.high) == pytest.approx((part.value, part.low, part.high), abs=1e-12)
        if measure != "encoding":
            assert any(re.fullmatch(r"\d+ rows? of weight 0 left out", note) for note in whole.notes)


def test_a_curve_over_distances_holds_the_estimates_of_within():
    for system, name, why in systems("within", [2], NUMBERS):
        if system.clusters is None:
            far, y, agreement = system.codes[:, None].astype(float), system.predictions, system.agreement(name)
            curve = fs.within_curve(far, y, [0, 1, 3], agreement=agreement)
            for tau, found in zip(curve.taus, curve.estimates, strict=True):
                told, expected = found.to_dict(), fs.within(far, y, tau, agreement=agreement).to_dict()
                assert told.pop("notes") == expected.pop("notes"), why
                assert told == pytest.approx(expected), why
