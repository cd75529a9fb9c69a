"""What an explanation hides, and whether explainers agree, as a report tells it."""

import json

import numpy as np
import pytest

import faithscope as fs
import report_examples as examples
from faithscope.report.html import render
from faithscope.report.summary import summarize
from faithscope.report.terminal import render as print_summary

ALWAYS_TRUE = {"yes": [("age", "<=", 200.0)], "no": [("income", "<=", 900.0)]}


def coded(X):
    """Rules that hold for everybody; which of them a row is given says its prediction."""
    chosen = [ALWAYS_TRUE[str(label)] for label in examples.predict(X)]
    return fs.Rules.from_conditions(chosen, features=list(X.columns))


@pytest.fixture(scope="module")
def summary():
    explainers = {"code": coded, "rules by age": examples.by_age, "importances": examples.importances}
    return summarize(fs.compare(examples.predict, explainers, examples.rows()))


def of(summary, name):
    """One explainer of a summary; they stand in the order of their verdicts."""
    return next(explainer for explainer in summary.explainers if explainer.name == name)


def test_a_code_for_the_prediction_is_doubted_in_every_rendering(summary):
    code = of(summary, "code")
    assert code.hidden.encodes
    assert code.hidden.encoding.startswith("The choice of this rule says more than the rule: of the ")
    for text in (code.said, render(summary), print_summary(summary, width=5000)):
        assert "Read with care:" in text
        assert "The choice of this rule says more than the rule" in text


def test_rules_that_leave_no_choice_are_not_doubted_and_others_hide_nothing_here(summary):
    by_age, importances = of(summary, "rules by age"), of(summary, "importances")
    assert by_age.hidden.encodes is None
    assert "nothing to choose" in by_age.hidden.encoding
    assert not by_age.doubts
    assert by_age.hidden.claims is None
    assert "<strong>too low</strong>" not in render(summary)
    assert importances.hidden is None
    assert json.loads(json.dumps(summary.to_dict(), allow_nan=False))["explainers"]


def test_every_rule_is_a_point_of_the_table_of_scopes_and_those_that_encode_are_ringed(summary):
    table = examples.evaluation().scopes().set_index("explanation")
    for name, encodes in {"code": True, "rules by age": False}.items():
        explainer = of(summary, name)
        hidden = explainer.hidden
        assert len(hidden.points) + hidden.left_out == explainer.measures[1].counts.distinct
        assert {point["flagged"] for point in hidden.points} == {encodes}
    for point in hidden.points:
        for share in ("precision", "recall"):
            assert point[share] == pytest.approx(table.loc[point["explanation"], share])
    assert {line["explanation"] for line in of(summary, "code").hidden.flagged} == {"age <= 200", "income <= 900"}


def test_heat_maps_show_what_agreement_measured(summary):
    assert len(summary.agreeing.maps) == 2
    for square in summary.agreeing.maps:
        measure = "same" if "say the same" in square.title else "feature_agreement"
        for line in summary.agreeing.pairs:
            if {line["a"], line["b"]} <= set(square.names):
                i, j = map(square.names.index, (line["a"], line["b"]))
                assert square.values[i][j] == line[measure] == square.values[j][i]


def test_explainers_that_cannot_be_compared_are_told_and_a_single_one_agrees_with_nobody():
    X = examples.rows(40)
    explainers = {"keys": list(map(str, X["age"])), "rules": examples.by_age}
    compared = fs.compare(examples.predict, explainers, X)
    agreeing = summarize(compared).agreeing
    assert agreeing.maps == ()
    assert any("keys" in note for note in (*agreeing.notes, *agreeing.remarks))
    assert summarize(compared["rules"]).agreeing is None


def test_numbers_are_told_by_their_means():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(300, 2)), rng.normal(size=300)
    rules = fs.Rules.parse(np.where(y > 0, "a <= 9", "b <= 9").tolist(), features=["a", "b"])
    summary = summarize(fs.evaluate(y, rules, X, agreement=fs.Close(1.0)))
    assert summary.explainers[0].hidden.encodes
    assert summary.explainers[0].hidden.points == ()
    assert "their mean prediction" in render(summary)


def test_rules_that_stand_out_by_chance_are_neither_listed_nor_ringed():
    rng = np.random.default_rng(38)
    X, labels = rng.uniform(size=(100, 2)), np.where(rng.random(100) < 0.5, "yes", "no")
    rules = fs.Rules.parse(rng.choice(["a <= 2", "b <= 2"], 100).tolist(), features=["a", "b"])
    (told,) = summarize(fs.evaluate(labels, rules, X)).explainers
    assert "2 of 2 rules stand out, as they may by chance" in told.hidden.encoding
    assert told.hidden.encodes is False
    assert told.hidden.flagged == ()
    assert not any(point["flagged"] for point in told.hidden.points)
    assert not any("says more than" in doubt for doubt in told.doubts)


def claiming(X, claimed):
    """Rules by age, each of which says how precise it is."""
    rules = examples.by_age(X)
    columns = np.array([(claimed[text],) for text in map(rules.describe, range(len(X)))], [("precision", float)])
    return rules._with(claimed=columns)


def test_claims_stand_beside_what_was_measured_and_those_outside_the_interval_come_first():
    table = examples.evaluation().scopes().set_index("explanation")
    claimed = {"age > 38": 0.01, "age <= 38": float(table.loc["age <= 38", "precision"])}
    evaluation = fs.evaluate(examples.predict, lambda rows: claiming(rows, claimed), examples.rows())
    summary = summarize(evaluation)
    claims = summary.explainers[0].hidden.claims
    assert "1 of 2 claims lie within the 95% interval of the measured precision; 1 too low." in claims.sentence
    assert [line["verdict"] for line in claims.lines] == ["too low", "holds"]
    for line, (explanation, precision) in zip(claims.lines, claimed.items(), strict=True):
        assert (line["explanation"], line["claimed"]) == (explanation, pytest.approx(precision))
        assert line["precision"] == table.loc[explanation, "precision"]
    assert "<strong>too low</strong>" in render(summary)
