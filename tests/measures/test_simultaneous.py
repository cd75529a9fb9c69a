"""Many comparisons: intervals that hold for all pairs together, and pairs that cannot differ."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.measures.comparing.populations import difference
from faithscope.measures.intervals.margins import Margins

RNG = default_rng(3)
ROWS = 600
LEAVES, FLIPS = RNG.integers(0, 6, ROWS), RNG.random(ROWS) < 0.1
LABELS = (LEAVES % 2) ^ FLIPS
GROUPS = RNG.integers(0, 6, ROWS)
X = np.arange(float(ROWS))[:, None]
NUMBERS = LEAVES + RNG.normal(0, 0.3, ROWS)
EXPLAINERS = {"leaf": LEAVES, "half": LEAVES // 2, "parity": LEAVES % 2, "all": np.zeros(ROWS)}
DAYS = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(ROWS) // 60, "D")
LOG = pd.DataFrame({"leaf": LEAVES, "yhat": LABELS, "number": NUMBERS, "when": DAYS})


def grouped(predictions, groups=GROUPS, **how):
    return fs.evaluate(predictions, LEAVES, X, **how).by(groups)


def windows(prediction, **how):
    return fs.audit(LOG, prediction=prediction, explanation="leaf", time="when", **how).windows


FAMILIES = {
    "labels": lambda: grouped(LABELS),
    "proven": lambda: grouped(LABELS, interval="proven"),
    "weights": lambda: grouped(LABELS, weights=1 + GROUPS % 2),
    "close": lambda: grouped(NUMBERS, agreement=fs.Close(1.0)),
    "tolerance": lambda: grouped(NUMBERS, agreement=fs.Tolerance(0.5)),
    "spread": lambda: grouped(NUMBERS, agreement=fs.Spread()),
    "compare": lambda: fs.compare(LABELS, EXPLAINERS, X),
    "compare numbers": lambda: fs.compare(NUMBERS, EXPLAINERS, X, agreement=fs.Spread()),
    "windows": lambda: windows("yhat"),
    "windows of numbers": lambda: windows("number", agreement=fs.Close(1.0)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_together_hold_those_by_themselves_and_agree_with_differ(family):
    pairs = FAMILIES[family]()
    alone, all_ = pairs.differences(), pairs.differences(simultaneous=True)
    assert alone.equals(pairs.differences(simultaneous=False))
    assert list(alone) == list(all_)
    assert alone["value"].equals(all_["value"])
    assert ((all_["low"] <= alone["low"]) & (all_["high"] >= alone["high"])).all()
    assert (all_["low"] < alone["low"]).any()
    assert all_["differ"].tolist() == ((all_["low"] > 0) | (all_["high"] < 0)).tolist()


@pytest.mark.thorough
def test_each_pair_is_what_it_would_be_at_the_share_of_its_error():
    wide = grouped(LABELS, confidence=1 - 0.05 / 15).differences()
    narrow = grouped(LABELS).differences(simultaneous=True)
    assert len(narrow) == 15
    assert narrow[["low", "high"]].to_numpy() == pytest.approx(wide[["low", "high"]].to_numpy(), abs=1e-12)


def test_explainers_that_only_look_the_same_in_this_sample_may_differ():
    pure = fs.compare(LEAVES % 2, {"leaf": LEAVES, "parity": LEAVES % 2}, X).differences().iloc[0]
    assert pure["low"] < pure["value"] == 0 < pure["high"]
    unique = fs.compare(LABELS, {"a": np.arange(ROWS), "b": np.arange(ROWS)[::-1]}, X).differences().iloc[0]
    assert (unique["low"], unique["high"]) == (-1, 1)


def test_margins_that_say_nothing_say_nothing_at_another_confidence():
    assert Margins(1.0, 1.0).at(0.99) == Margins(1.0, 1.0)
    one = fs.consistency([1], [1])
    surer = difference(one, one).at(0.999)
    assert (surer.low, surer.high) == (-1, 1)


def test_nothing_is_known_of_a_difference_where_an_interval_may_miss():
    codes = RNG.integers(0, 4, ROWS)
    told = np.where(codes < 2, codes % 2, RNG.integers(0, 2, ROWS))
    weights = np.where(told == 1, 5.0, 1.0) * RNG.uniform(0.5, 1.5, ROWS)
    groups = fs.consistency(codes, told, weights=weights, by=codes < 2)
    pair = groups.differences().iloc[0]
    assert any("may miss the truth" in note for note in groups[True].notes)
    assert (pair["low"], pair["high"]) == (-1, 1)
    assert -0.5 < pair["value"] < -0.1
