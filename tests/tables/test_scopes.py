"""Any small log is measured as brute force says; blocks of rows say nearly what single rows do."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import brute
import faithscope as fs
import strategies
from faithscope.errors import WrongType
from faithscope.tables.audit import audit
from faithscope.tables.log.writing import to_log
from faithscope.tables.scoped.measures import scoped_measures
from tables.logs import assert_same


@given(strategies.samples(min_size=2))
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
    rules = [[("a", "<=", cut), ("c", "==", row % 4)][: 1 + (row % 3 == 0)] for row, cut in enumerate(cuts)]
    labels = np.where(X.a + 0.3 * rng.normal(size=rows) > 0, "yes", "no")
    return fs.Rules.from_conditions(rules, features=list(X.columns)), X, labels


def test_blocks_of_rows_say_nearly_what_single_rows_do():
    rules, X, labels = _system(6000)
    audited = audit(to_log(rules, labels, X))
    blocks = scoped_measures(audited._measured, exact=0)
    assert blocks.sufficiency.counts == audited.sufficiency.counts
    for rows, parts in ((audited.sufficiency, blocks.sufficiency), (audited.necessity, blocks.necessity)):
        assert parts.value == pytest.approx(rows.value, abs=1e-12)
        assert parts.chance == pytest.approx(rows.chance, abs=1e-12)
        assert (parts.unverifiable, parts.above_chance) == (rows.unverifiable, rows.above_chance)
        assert parts.margins.below == pytest.approx(rows.margins.below, rel=0.3)
        assert parts.margins.above == pytest.approx(rows.margins.above, rel=0.3)


@pytest.mark.parametrize("agreement", [None, fs.Close(0.3), fs.Tolerance(0.3), fs.Spread()], ids=str)
@pytest.mark.parametrize("clusters", [None, "customer"])
def test_two_texts_of_one_rule_are_one_explanation(agreement, clusters):
    if clusters and agreement == fs.Spread():
        clusters = None  # which is refused
    rules = ["a <= 1 and b > 2", "b > 2.0 and a <= 1 and a <= 7", "a <= 1", "a <= 1.0"]
    rng = np.random.default_rng(0)
    texts, y, customers = rng.choice(rules, 60), rng.normal(size=60), np.arange(60) // 4
    one = np.where(np.isin(texts, rules[:2]), rules[0], rules[2])
    y = y if agreement else (y > 0).astype(int)
    log = pd.DataFrame({"rule": texts, "y": y, "customer": customers, "a": 0.0, "b": 3.0})
    audited = audit(log, prediction="y", explanation="rule", kind="rules", agreement=agreement, clusters=clusters)
    given = {"agreement": agreement, "clusters": customers if clusters else None}
    assert_same(audited.consistency, fs.consistency(one.tolist(), y, **given))
    assert sorted(audited.table().n) == sorted(np.unique(one, return_counts=True)[1])
    pairs = audited.counterexamples(2)
    assert len(pairs) == 2
    if agreement is None:
        apart = (y[:, None] != y) & ((customers[:, None] != customers) | (clusters is None))
        held = {rule: np.triu(apart[np.ix_(one == rule, one == rule)]).sum() for rule in set(one)}
        assert pairs.disagreeing_pairs.tolist() == sorted(held.values(), reverse=True)


def test_a_condition_on_a_column_of_another_type_is_refused():
    frame = pd.DataFrame({"rule": ["a <= 3", "a <= 4"], "a": ["x", "y"], "y": [0, 1]})
    with pytest.raises(WrongType, match="compare with a number"):
        audit(frame, prediction="y", explanation="rule")


def test_booleans_and_large_integers_are_compared_exactly():
    big = 2**53
    frame = pd.DataFrame({"n": [big, big + 1, big + 2, 5], "flag": [True, False, True, True], "y": [0, 1, 0, 1]})
    conditions = [[("n", "==", big + 1)], [("n", "<=", big)], [("flag", "==", True)], [("flag", "<", 1)]]
    rules = fs.Rules.from_conditions(conditions, features=["n", "flag"])
    assert audit(to_log(rules, frame.y, frame)).sufficiency.counts == fs.sufficiency(rules, frame.y, frame).counts


def test_few_rows_give_what_memory_gives_and_a_single_one_the_widest_interval():
    for rows in (1, 2, 3, 40):
        rules, X, labels = _system(rows)
        audited = audit(to_log(rules, labels, X))
        assert_same(audited.necessity, fs.necessity(rules, labels, X))
        assert_same(audited.sufficiency, fs.sufficiency(rules, labels, X))
        assert rows > 1 or audited.sufficiency.interval == (0.0, 1.0)


@pytest.mark.parametrize("agreement", [fs.Close(0.5), fs.Tolerance(0.5)], ids=str)
def test_necessity_of_logged_numbers_has_the_interval_of_memory(agreement):
    rules, X, _ = _system(300)
    y = np.round(X["a"].to_numpy() + 1, 1)
    audited = audit(to_log(rules, y, X), agreement=agreement).necessity
    expected = fs.necessity(rules, y, X, agreement=agreement)
    assert audited.interval == pytest.approx(expected.interval, abs=0.02)  # their blocks differ
