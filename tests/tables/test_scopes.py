"""Any small log is measured as brute force says; blocks of rows say nearly what single rows do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import brute
import faithscope as fs
import strategies
from faithscope.errors import WrongType
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from faithscope.tables.scoped.measures import scoped_measures


@given(strategies.samples(min_size=2))
@settings(max_examples=25)
@pytest.mark.slow
def test_any_small_log_is_measured_as_brute_force_says(sample):
    explanations, predictions = sample
    frame = pd.DataFrame({"key": explanations, "y": predictions})
    estimate = audit(frame, prediction="y", explanation="key").consistency
    assert estimate.value == pytest.approx(brute.consistency(explanations, predictions), abs=1e-12)
    assert estimate.unverifiable == pytest.approx(brute.unverifiable(explanations), abs=1e-12)
    assert estimate.chance == pytest.approx(brute.chance(predictions), abs=1e-12)


def _system(rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows), "c": rng.integers(0, 4, rows)})
    cuts = rng.choice([-0.5, 0.0, 0.5, 1.0], rows)
    rules = [
        [("a", "<=", cut)] if row % 3 else [("a", "<=", cut), ("c", "==", row % 4)] for row, cut in enumerate(cuts)
    ]
    labels = np.where(X.a + 0.3 * rng.normal(size=rows) > 0, "yes", "no")
    return fs.Rules.from_conditions(rules, features=list(X.columns)), X, labels


def test_blocks_of_rows_say_nearly_what_single_rows_do():
    rules, X, labels = _system(6000)
    audited = audit(to_log(rules, labels, X))
    rows, blocks = audited.sufficiency, scoped_measures(audited._measured, exact=0).sufficiency
    assert blocks.counts == rows.counts
    assert blocks.value == rows.value
    assert blocks.margins.below == pytest.approx(rows.margins.below, rel=0.3)
    assert blocks.margins.above == pytest.approx(rows.margins.above, rel=0.3)


def test_two_texts_of_one_rule_are_one_explanation():
    frame = pd.DataFrame({"rule": ["a <= 3 and b > 1", "b > 1.0 and a <= 3 and a <= 7"] * 2, "y": [0, 0, 1, 0]})
    audited = audit(frame, prediction="y", explanation="rule")
    assert audited.consistency.distinct == 1
    assert audited.table()["n"].tolist() == [4]
    assert audited.counterexamples(2).disagreeing_pairs.tolist() == [3, 3]


def test_a_condition_on_a_column_of_another_type_is_refused():
    frame = pd.DataFrame({"rule": ["a <= 3", "a <= 4"], "a": ["x", "y"], "y": [0, 1]})
    with pytest.raises(WrongType, match="compare with a number"):
        audit(frame, prediction="y", explanation="rule")


def test_booleans_and_large_integers_are_compared_exactly():
    big = 2**53
    frame = pd.DataFrame({"n": [big, big + 1, big + 2, 5], "flag": [True, False, True, True], "y": [0, 1, 0, 1]})
    conditions = [[("n", "==", big + 1)], [("n", "<=", big)], [("flag", "==", True)], [("flag", "<", 1)]]
    rules = fs.Rules.from_conditions(conditions, features=["n", "flag"])
    estimate = audit(to_log(rules, frame.y, frame)).sufficiency
    assert estimate.counts == fs.sufficiency(rules, frame.y, frame).counts


def test_a_single_row_has_the_widest_interval():
    frame = pd.DataFrame({"rule": ["a <= 3"], "a": [1.0], "y": [0]})
    audited = audit(frame, prediction="y", explanation="rule")
    assert (audited.sufficiency.low, audited.sufficiency.high) == (0.0, 1.0)


@pytest.mark.parametrize("rows", [1, 2, 3, 40, 400])
def test_necessity_of_a_log_is_that_of_memory(rows):
    rules, X, labels = _system(rows)
    audited, ours = audit(to_log(rules, labels, X)).necessity, fs.necessity(rules, labels, X)
    _same(audited, ours)


def test_necessity_by_blocks_says_nearly_what_single_rows_do():
    rules, X, labels = _system(6000)
    audited = audit(to_log(rules, labels, X))
    rows, blocks = audited.necessity, scoped_measures(audited._measured, exact=0).necessity
    assert blocks.value == pytest.approx(rows.value, abs=1e-12)
    assert blocks.chance == pytest.approx(rows.chance, abs=1e-12)
    assert blocks.unverifiable == rows.unverifiable
    assert blocks.margins.below == pytest.approx(rows.margins.below, rel=0.3)
    assert blocks.above_chance == rows.above_chance


@pytest.mark.parametrize("agreement", [fs.Close(0.5), fs.Tolerance(0.5)], ids=str)
def test_necessity_of_logged_numbers_is_that_of_memory(agreement):
    rules, X, _ = _system(300)
    y = np.round(X["a"].to_numpy() + 1, 1)
    audited = audit(to_log(rules, y, X), agreement=agreement).necessity
    ours = fs.necessity(rules, y, X, agreement=agreement)
    assert audited.value == pytest.approx(ours.value, abs=1e-12)
    assert audited.chance == pytest.approx(ours.chance, abs=1e-12)
    assert audited.interval == pytest.approx(ours.interval, abs=0.02)  # their blocks differ


def test_spread_of_logged_numbers_has_no_necessity():
    rules, X, _ = _system(60)
    audited = audit(to_log(rules, X["a"], X), agreement=fs.Spread())
    assert audited.sufficiency is not None
    assert audited.necessity is None


def _same(a, b):
    for name in ("value", "low", "high", "unverifiable", "verified", "chance", "verified_low", "verified_high"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), abs=1e-9), name
    assert (a.above_chance, a.n, a.distinct, a.notes) == (b.above_chance, b.n, b.distinct, b.notes)
