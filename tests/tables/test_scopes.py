"""Any small log is measured as brute force says; rules of a log as those of memory."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import WrongType
from faithscope.tables.audit import audit
from refused import refused
from tables.logs import assert_same


@pytest.mark.parametrize("agreement", [None, fs.Close(0.3), fs.Tolerance(0.3), fs.Spread()], ids=str)
@pytest.mark.parametrize("clusters", [None, "customer"])
def test_two_texts_of_one_rule_are_one_explanation(agreement, clusters):
    if clusters and agreement == fs.Spread():
        clusters = None  # which is refused
    rules = ["a <= 1 and b > 2", "b > 2.0 and a <= 1 and a <= 7", "a <= 1", "a <= 1.0"]
    rng = default_rng(0)
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
    refused(WrongType, "compare with a number", audit, frame, prediction="y", explanation="rule")


def test_a_rule_may_speak_of_a_column_called_document_and_a_missing_document_leaves_a_note():
    rng = default_rng(0)
    log = pd.DataFrame({"document": rng.choice(["1", "2"], 60), "y": rng.integers(0, 2, 60)})
    rules = np.where(log.document == "1", 'document == "1"', 'document != "1"')
    found = audit(log.assign(rule=rules), prediction="y", explanation="rule").sufficiency
    assert_same(found, fs.sufficiency(fs.Rules.parse(list(rules)), log.y, log[["document"]]))
    words = pd.DataFrame({"words": [["a"], ["b"]] * 10, "document": ["a b", None] * 10, "y": [0, 1] * 10})
    audited = audit(words, prediction="y", explanation="words", kind="words")
    assert audited.sufficiency is None
    assert audited.notes[-1].endswith("the document is missing in 10 rows")
    copied = audit(log.assign(rule="y <= 0.5"), prediction="y", explanation="rule")
    assert "no column 'y', which the explanations speak of, beside predictions" in copied.notes[-1]


def test_one_column_of_importances_is_asked_whether_it_names_the_right_features():
    rng = default_rng(0)
    age = rng.normal(size=200).round(1)
    log = pd.DataFrame({"age": age, "shap_age": np.where(age > 1, 0.0, age), "y": (age > 0).astype(int)})
    for discretizer in (fs.Sign(), fs.Floor(1)):
        found = audit(log, prediction="y", explanation="shap_age", discretizer=discretizer)
        given = fs.Importances(log[["shap_age"]].to_numpy(), names=["age"])
        wanted = fs.sufficiency(given, log.y, log[["age"]], relation=fs.Alike())
        ours, theirs = ((each.value, *each.interval) for each in (found.sufficiency, wanted))
        assert ours == pytest.approx(theirs, abs=1e-9)
        assert not found.notes


def test_groups_of_rules_are_those_of_memory_in_any_order_and_by_the_same_names():
    rng = default_rng(0)
    k = rng.integers(0, 4, 240)
    log = pd.DataFrame({"k": k, "y": rng.random(240) < 0.15 * k + 0.2, "g": rng.choice(["few", "many", "many"], 240)})
    log["rule"] = np.where(k > 2, "k > 2", np.where(k > 1, "k > 1", "k <= 1"))
    log["day"] = pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(240) % 2, unit="D")
    audited = audit(log, prediction="y", explanation="rule", by=["g", "day"])
    assert list(audited.sufficiency_populations.estimates) == list(audited.populations.estimates)
    found = audit(log, prediction="y", explanation="rule", by="g").sufficiency_populations
    for seed in range(3):
        rows = log.sample(frac=1, random_state=seed)
        expected = fs.sufficiency(fs.Rules.parse(list(rows.rule)), rows.y, rows[["k"]], by=rows.g)
        for name, estimate in found.estimates.items():
            assert estimate.interval == pytest.approx(expected.estimates[name].interval, abs=1e-12)


def test_the_page_of_an_audit_of_rules_has_what_they_say_beyond_their_scopes(tmp_path):
    rng = default_rng(0)
    log = pd.DataFrame({"k": rng.integers(0, 4, 300), "y": rng.integers(0, 2, 300)})
    log["rule"] = np.where(log["y"] == 1, "k >= 0", "k <= 3")
    audited = audit(log, prediction="y", explanation="rule")
    declared = fs.Log(log, prediction="y", explanation="rule")
    assert (
        audited.encoding().value == fs.encoding(declared).value == 1.0
    )  # the spelling tells the label, the scope does not
    audited.to_html(tmp_path / "page.html")
    assert "does the choice of the explanation say more" in (tmp_path / "page.html").read_text(encoding="utf-8")
