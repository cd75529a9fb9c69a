"""Many comparisons: intervals that hold for all pairs together, and pairs that cannot differ."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from faithscope.measures.comparing.differences import Apart, together
from faithscope.measures.comparing.populations import Difference, difference
from faithscope.measures.intervals.margins import Margins

RNG = np.random.default_rng(3)
ROWS = 600
LEAVES, FLIPS = RNG.integers(0, 6, ROWS), RNG.random(ROWS) < 0.1
LABELS = (LEAVES % 2) ^ FLIPS
GROUPS = RNG.integers(0, 6, ROWS)
X = np.arange(float(ROWS))[:, None]
NUMBERS = LEAVES + RNG.normal(0, 0.3, ROWS)


EXPLAINERS = {"leaf": LEAVES, "half": LEAVES // 2, "parity": LEAVES % 2, "all": np.zeros(ROWS)}
DAYS = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(ROWS) // 60, "D")
LOG = pd.DataFrame({"leaf": LEAVES, "yhat": LABELS, "number": NUMBERS, "when": DAYS})
FAMILIES = {
    "labels": lambda: fs.evaluate(LABELS, LEAVES, X).by(GROUPS),
    "mcdiarmid": lambda: fs.evaluate(LABELS, LEAVES, X, interval="mcdiarmid").by(GROUPS),
    "weights": lambda: fs.evaluate(LABELS, LEAVES, X, weights=1 + GROUPS % 2).by(GROUPS),
    "close": lambda: fs.evaluate(NUMBERS, LEAVES, X, agreement=fs.Close(1.0)).by(GROUPS),
    "tolerance": lambda: fs.evaluate(NUMBERS, LEAVES, X, agreement=fs.Tolerance(0.5)).by(GROUPS),
    "spread": lambda: fs.evaluate(NUMBERS, LEAVES, X, agreement=fs.Spread()).by(GROUPS),
    "compare": lambda: fs.compare(LABELS, EXPLAINERS, X),
    "compare numbers": lambda: fs.compare(NUMBERS, EXPLAINERS, X, agreement=fs.Spread()),
    "windows": lambda: fs.audit(LOG, prediction="yhat", explanation="leaf", time="when").windows,
    "windows of numbers": lambda: (
        fs.audit(LOG, prediction="number", explanation="leaf", time="when", agreement=fs.Close(1.0)).windows
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_intervals_together_hold_those_by_themselves_and_agree_with_differ(family):
    pairs = FAMILIES[family]()
    alone, all_ = pairs.differences(), pairs.differences(simultaneous=True)
    assert alone.equals(pairs.differences(simultaneous=False))
    assert list(alone) == list(all_)
    assert alone["value"].equals(all_["value"])
    assert (all_["low"] <= alone["low"]).all()
    assert (all_["high"] >= alone["high"]).all()
    assert (all_["low"] < alone["low"]).any()
    assert all_["differ"].tolist() == ((all_["low"] > 0) | (all_["high"] < 0)).tolist()
    assert not (all_["differ"] & ~alone["differ"]).any()


def test_each_pair_is_what_it_would_be_at_the_share_of_its_error():
    wide = fs.evaluate(LABELS, LEAVES, X, confidence=1 - 0.05 / 15).by(GROUPS).differences()
    narrow = fs.evaluate(LABELS, LEAVES, X).by(GROUPS).differences(simultaneous=True)
    assert len(narrow) == 15
    assert narrow[["low", "high"]].to_numpy() == pytest.approx(wide[["low", "high"]].to_numpy(), abs=1e-12)


def test_one_pair_is_the_same_together():
    parts = fs.evaluate(LABELS, LEAVES, X).by(GROUPS > 2)
    pd.testing.assert_frame_equal(parts.differences(True), parts.differences())
    assert fs.evaluate(LABELS, LEAVES, X).by(np.zeros(ROWS)).differences(True).empty


def test_all_pairs_of_equal_groups_hold_together_and_by_themselves_they_do_not():
    rng, alone, all_ = np.random.default_rng(0), [], []
    for _ in range(60):
        leaves, groups = rng.integers(0, 4, 1600), np.repeat(np.arange(8), 200)
        labels = rng.random(1600) < 0.3
        parts = fs.evaluate(labels, leaves, np.zeros((1600, 1))).by(groups)
        alone.append(not parts.differences()["differ"].any())
        all_.append(not parts.differences(simultaneous=True)["differ"].any())
    assert np.mean(all_) >= 0.9
    assert np.mean(alone) < 0.9


def test_intervals_of_the_level_of_holms_test_would_not_hold_together():
    """One pair that does not differ among many that do: Holm tests it with all of the error."""
    rng, held = np.random.default_rng(0), {"together": 0, "holm": 0}
    truth = np.array([0.0] + [0.5] * 11)

    def margins(confidence):
        return (0.05 * norm.isf((1 - confidence) / 2),) * 2

    for _ in range(1000):
        values = truth + 0.05 * rng.normal(size=12)
        pairs = [_pair(value, margins) for value in values]
        bonferroni = together(pairs)
        holm = [bonferroni[0].at(0.95), *bonferroni[1:]]  # all others are called different first
        for name, intervals in (("together", bonferroni), ("holm", holm)):
            held[name] += all(pair.low <= true <= pair.high for pair, true in zip(intervals, truth, strict=True))
    assert held["together"] / 1000 == pytest.approx(0.95, abs=0.02)
    assert held["holm"] / 1000 == pytest.approx(0.905, abs=0.025)


def _pair(value, margins):
    apart = Apart(value, value, margins, 0.95)
    return Difference("a", "b", value, *apart.interval(0.95), 1, None, None, apart)


def test_explainers_that_are_the_same_differ_by_nothing():
    same = {"one": LEAVES, "other": LEAVES.astype(float), "finer": np.arange(ROWS)}
    for simultaneous in (False, True):
        lines = fs.compare(LABELS, same, X).differences(simultaneous).set_index(["a", "b"])
        assert lines.loc[("one", "other"), ["value", "low", "high", "differ"]].tolist() == [0, 0, 0, False]
        assert lines.loc[("one", "finer"), "low"] < 0 < lines.loc[("one", "finer"), "high"]
    rules = fs.Rules.from_conditions([[("x", "<=", float(leaf))] for leaf in LEAVES], features=["x"])
    for agreement in (None, fs.Close(1.0), fs.Spread()):
        predictions = LABELS if agreement is None else NUMBERS
        lines = fs.compare(predictions, {"a": rules, "b": rules}, LEAVES[:, None], agreement=agreement).differences()
        measured = ["consistency", "sufficiency", "necessity"][: 2 if agreement == fs.Spread() else 3]
        assert lines["measure"].tolist() == measured
        assert lines[["value", "low", "high"]].to_numpy().tolist() == [[0, 0, 0]] * len(measured)
        assert not lines["differ"].any()


def test_explainers_that_only_look_the_same_in_this_sample_may_differ():
    pure = fs.compare(LEAVES % 2, {"leaf": LEAVES, "parity": LEAVES % 2}, X).differences().iloc[0]
    assert pure["value"] == 0
    assert pure["low"] < 0 < pure["high"]
    unique = fs.compare(LABELS, {"a": np.arange(ROWS), "b": np.arange(ROWS)[::-1]}, X).differences().iloc[0]
    assert (unique["low"], unique["high"]) == (-1, 1)


def test_what_is_not_a_flag_is_refused():
    parts = fs.evaluate(LABELS, LEAVES, X).by(GROUPS)
    with pytest.raises(BadInput, match="simultaneous must be True or False; got 'yes'"):
        parts.differences("yes")


def test_margins_that_are_known_once_are_not_told_at_another_confidence():
    with pytest.raises(NotProven, match="measure again"):
        Margins(0.1, 0.1).at(0.99)
    assert Margins(1.0, 1.0).at(0.99) == Margins(1.0, 1.0)
    one = fs.consistency([1], [1])
    assert (difference(one, one).at(0.999).low, difference(one, one).at(0.999).high) == (-1, 1)
