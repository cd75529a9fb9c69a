"""What an explanation hides, and whether explainers agree, as a report tells it."""

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.card import Sentence, Table
from faithscope.report.document import Chart
from faithscope.report.html import render
from faithscope.report.summary import summarize
from report_examples import printed as print_summary

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


def hidden(explainer, kind):
    """The blocks of one kind in the section of what it hides."""
    return examples.blocks(explainer.parts["hidden"], kind)


def test_a_code_for_the_prediction_is_doubted_in_every_rendering(summary):
    code = of(summary, "code")
    assert hidden(code, Sentence)[0].text.startswith("The choice of this explanation says more than it does: of the ")
    for text in (code.said, render(summary), print_summary(summary, width=5000)):
        assert "Read with care:" in text
        assert "The choice of this explanation says more than it does" in text


def test_rules_that_leave_no_choice_are_not_doubted_and_others_hide_nothing_here(summary):
    by_age, importances = of(summary, "rules by age"), of(summary, "importances")
    assert "Nothing is encoded" in hidden(by_age, Sentence)[0].text
    assert not by_age.doubts
    assert hidden(by_age, Table) == []
    assert importances.parts["hidden"] == []


def test_rules_whose_choice_says_more_are_listed(summary):
    (flagged,) = hidden(of(summary, "code"), Table)
    assert {row[0] for row in flagged.rows} == {"age <= 200", "income <= 900"}


def test_heat_maps_show_what_agreement_measured(summary):
    maps, (table,) = examples.blocks(summary.agreement, Chart), examples.blocks(summary.agreement, Table)
    assert len(maps) == 2
    for square in maps:
        measure = table.columns.index("same" if "say the same" in square.words else "feature agreement")
        rows = [cell for cells in square.spec["datasets"].values() for cell in cells]
        told = {(cell["name"], cell["other"]): cell.get("value") for cell in rows}
        for row in table.rows:
            known = row[measure].value
            for pair in (row[:2], row[1::-1]):
                assert told[pair] == (known if known is None else pytest.approx(known, abs=1e-5))


def test_explainers_that_cannot_be_compared_are_told_and_a_single_one_agrees_with_nobody():
    X = examples.rows(40)
    explainers = {"keys": list(map(str, X["age"])), "rules": examples.by_age}
    compared = fs.compare(examples.predict, explainers, X)
    agreement = summarize(compared).agreement
    assert examples.blocks(agreement, Chart) == []
    assert any("keys" in note.text for note in examples.blocks(agreement, Sentence))
    assert summarize(compared["rules"]).agreement == []


def test_numbers_are_told_by_their_means():
    rng = default_rng(0)
    X, y = rng.uniform(size=(300, 2)), rng.normal(size=300)
    rules = fs.Rules.parse(np.where(y > 0, "a <= 9", "b <= 9").tolist(), features=["a", "b"])
    summary = summarize(fs.evaluate(y, rules, X, agreement=fs.Close(1.0)))
    assert summary.explainers[0].doubted
    assert "given_mean" in render(summary)


def test_rules_that_stand_out_by_chance_are_not_listed():
    rng = default_rng(38)
    X, labels = rng.uniform(size=(100, 2)), np.where(rng.random(100) < 0.5, "yes", "no")
    rules = fs.Rules.parse(rng.choice(["a <= 2", "b <= 2"], 100).tolist(), features=["a", "b"])
    (told,) = summarize(fs.evaluate(labels, rules, X)).explainers
    assert "2 of 2 explanations flagged" in hidden(told, Sentence)[0].text
    assert hidden(told, Table) == []
    assert not any("says more than" in doubt for doubt in told.doubts)
