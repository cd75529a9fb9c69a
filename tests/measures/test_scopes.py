"""Anchors on my data: precision, coverage, and the rows a rule wrongly covers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
LABELS = np.array([0, 0, 1, 1, 1])
RULES = fs.Rules.parse(["x <= 2"] * 2 + ["x >= 2"] * 3, features=["x"])
GROUPS = [0, 0, 0, 1, 1]


def test_the_rows_a_rule_wrongly_covers_are_shown():
    evaluation = fs.evaluate(LABELS, RULES, X)
    assert evaluation.scopes()["label"].tolist() == [0, 1]
    assert evaluation.wrongly_covered().to_dict("records") == [
        {"explanation": "x <= 2", "row": 0, "index": 0, "wrong_row": 2, "wrong_index": 2}
        | {"prediction": 0, "wrong_prediction": 1}
    ]


@given(st.integers(0, 10_000))
def test_every_rule_has_its_precision_and_coverage_and_wrongly_covered_rows_are_covered_and_wrong(seed):
    rng, n = np.random.default_rng(seed), 30
    x, labels = rng.random(n), rng.integers(0, 2, n)
    bounds = np.round(x, 1)
    evaluation = fs.evaluate(labels, fs.Rules.parse([f"x <= {b}" for b in bounds], features=["x"]), x[:, None])
    table, wrong = evaluation.scopes(), evaluation.wrongly_covered(k=12)
    assert len(wrong) == min(12, table["wrongly_covered"].sum())
    for line in wrong.itertuples():
        assert x[line.wrong_row] <= bounds[line.row]
        assert labels[line.row] != labels[line.wrong_row]
    assert table["wrongly_covered"].is_monotonic_decreasing
    assert len(evaluation.scopes(k=1)) == 1
    for line in table.itertuples():
        bound = float(line.explanation.removeprefix("x <= "))
        covered = labels[x <= bound]
        assert (line.n, line.coverage) == (np.sum(bounds == bound), pytest.approx(len(covered) / n))
        assert np.isnan(line.precision) if not len(covered) else line.precision == np.mean(covered == line.label)


def test_local_sufficiency_says_whether_a_row_is_covered_by_its_own_rule():
    local = fs.evaluate(LABELS, fs.Rules.from_conditions([[("x", ">", 3.0)]] + [[]] * 4, features=["x"]), X).local()
    assert local["covers_itself"].tolist() == [False, True, True, True, True]
    assert local["covered"].tolist() == [1, 5, 5, 5, 5]
    assert local["sufficiency"].tolist() == [0.0, 0.25, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("weights", [None, np.arange(1, 6)], ids=["plain", "weighted"])
def test_populations_by_sufficiency_cover_only_their_own_rows(weights):
    evaluation = fs.evaluate(LABELS, RULES, X, weights=weights)
    assert evaluation.sufficiency == fs.sufficiency(RULES, LABELS, X, weights=weights)
    assert evaluation.scopes()["n"].tolist() == [2, 3]
    parts = evaluation.by(GROUPS, measure="sufficiency")
    first = weights if weights is None else weights[:3]
    assert parts.estimates[0].value == fs.sufficiency(RULES.take([0, 1, 2]), LABELS[:3], X[:3], weights=first).value
    assert parts.table()["n"].tolist() == [3, 2]
    assert len(parts.differences()) == 1


def test_explanations_without_a_scope_have_no_sufficiency():
    evaluation = fs.evaluate(LABELS, X, X)
    assert evaluation.sufficiency is evaluation.to_dict()["sufficiency"] is None


def test_an_evaluation_with_a_scope_reads_three_lines():
    evaluation = fs.evaluate(LABELS, RULES, X)
    assert [line.split()[0] for line in str(evaluation).splitlines()] == ["consistency", "sufficiency", "necessity"]
    assert evaluation._repr_html_().count("<table>") == 3


def test_a_plan_for_sufficiency_reads_the_same_curves():
    rng = np.random.default_rng(0)
    x, labels = rng.random((200, 1)), rng.integers(0, 2, 200)
    rules = fs.Rules.from_bins(np.round(x, 2) - 0.004, np.round(x, 2) + 0.004, ["x"])

    def silent(rows):
        return fs.sufficiency(rules.take(rows), labels[rows], x[rows]).unverifiable

    plan = fs.plan(fs.sufficiency(rules, labels, x))
    assert plan.unverifiable == silent(np.arange(200))
    assert plan.at(100) == pytest.approx(np.mean([silent(rng.permutation(200)[:100]) for _ in range(100)]), abs=0.01)


def test_a_row_outside_the_sample_has_both_local_measures():
    def predict(rows):
        return (np.asarray(rows)[:, 0] >= 2).astype(int)

    def explain(rows):
        return fs.Rules.parse(["x <= 2" if x < 2 else "x >= 2" for x in np.asarray(rows)[:, 0]], features=["x"])

    found = fs.local([1.5], predict, explain, X)
    assert (found.others, found.agreeing) == (2, 2)
    sufficiency = found.sufficiency
    assert (sufficiency.measure, sufficiency.others, sufficiency.agreeing) == ("sufficiency", 3, 2)
    assert "2 of 3 rows it applies to agree" in str(found)
    assert found.to_dict()["sufficiency"]["value"] == pytest.approx(2 / 3)
    ball = fs.local([1.5], predict, lambda rows: fs.Counterfactuals(np.asarray(rows) + 1, rows), X)
    assert ball.sufficiency.others == 2


def test_an_unknown_category_covers_nothing_and_is_reported():
    rules = fs.Rules.parse(["job == cook", "job == pilot", "job == cook"], features=["job"])
    found = fs.sufficiency(rules, [1, 0, 1], pd.DataFrame({"job": ["cook", "clerk", "cook"]}))
    assert "1 condition holds on no row, such as 'job == pilot'" in found.notes
    assert (found.value, found.unverifiable) == pytest.approx((2 / 3, 1 / 3))
