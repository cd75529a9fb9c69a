"""Any small log is measured as brute force says; rules of a log as those of memory."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import brute
import faithscope as fs
import strategies
from faithscope.errors import WrongType
from faithscope.tables.audit import audit
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
