"""Anchors on my data: precision, coverage, and the rows a rule wrongly covers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import faithscope as fs
from faithscope.errors import BadInput, NotScoped

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
LABELS = np.array([0, 0, 1, 1, 1])
RULES = fs.Rules.from_conditions([[("x", "<=", 2.0)]] * 2 + [[("x", ">=", 2.0)]] * 3, features=["x"])


def test_every_rule_has_its_precision_and_coverage():
    table = fs.evaluate(LABELS, RULES, X).scopes()
    assert table["explanation"].tolist() == ["x <= 2", "x >= 2"]
    assert table["label"].tolist() == [0, 1]
    assert table["n"].tolist() == [2, 3]
    assert table["precision"].tolist() == [2 / 3, 1]
    assert table["coverage"].tolist() == [0.6, 0.6]
    assert table["wrongly_covered"].tolist() == [1, 0]
    low = table["precision_low"][0]
    assert binom.sf(1, 3, low) == pytest.approx(0.025 * low)  # the label was chosen by looking


def test_the_rows_a_rule_wrongly_covers_are_shown():
    wrong = fs.evaluate(LABELS, RULES, X).wrongly_covered()
    assert wrong.to_dict("records") == [
        {"explanation": "x <= 2", "row": 0, "index": 0, "wrong_row": 2, "wrong_index": 2}
        | {"prediction": 0, "wrong_prediction": 1}
    ]
    assert len(fs.evaluate(LABELS, RULES, X).scopes(k=1)) == 1


@given(st.integers(0, 10_000))
def test_wrongly_covered_rows_are_covered_and_wrong(seed):
    rng = np.random.default_rng(seed)
    n = 30
    x, labels = rng.random(n), rng.integers(0, 2, n)
    bounds = np.round(x, 1)
    rules = fs.Rules.from_conditions([[("x", "<=", b)] for b in bounds], features=["x"])
    ev = fs.evaluate(labels, rules, x[:, None])
    wrong = ev.wrongly_covered(k=12)
    for line in wrong.itertuples():
        assert x[line.wrong_row] <= bounds[line.row]
        assert labels[line.row] != labels[line.wrong_row]
    total = ev.scopes()["wrongly_covered"].sum()
    assert len(wrong) == min(12, total)
    table = ev.scopes()
    assert table["wrongly_covered"].is_monotonic_decreasing
    for line in table.itertuples():
        bound = float(line.explanation.removeprefix("x <= "))
        covered = labels[x <= bound]
        assert line.coverage == pytest.approx(len(covered) / n)
        assert np.isnan(line.precision) if not len(covered) else line.precision == np.mean(covered == line.label)


def test_local_sufficiency_says_whether_a_row_is_covered_by_its_own_rule():
    rules = fs.Rules.from_conditions([[("x", ">", 3.0)]] + [[]] * 4, features=["x"])
    local = fs.evaluate(LABELS, rules, X).local()
    assert local["covers_itself"].tolist() == [False, True, True, True, True]
    assert local["covered"].tolist() == [1, 5, 5, 5, 5]
    assert local["sufficiency"].tolist() == [0.0, 0.25, 0.5, 0.5, 0.5]


def test_populations_by_sufficiency_cover_only_their_own_rows():
    parts = fs.evaluate(LABELS, RULES, X).by([0, 0, 0, 1, 1], measure="sufficiency")
    assert parts.estimates[0].value == fs.sufficiency(RULES.take([0, 1, 2]), LABELS[:3], X.iloc[:3]).value
    assert parts.table()["n"].tolist() == [3, 2]
    assert len(parts.differences()) == 1
    with pytest.raises(BadInput, match="measure must be"):
        fs.evaluate(LABELS, RULES, X).by([0, 0, 0, 1, 1], measure="accuracy")


def test_explanations_without_a_scope_say_so():
    ev = fs.evaluate(LABELS, X, X)
    assert ev.sufficiency is None
    assert ev.to_dict()["sufficiency"] is None
    with pytest.raises(NotScoped, match="do not say where they apply"):
        ev.scopes()


def test_weighted_rows_have_a_sufficiency_and_are_listed_once_each():
    weights = [1, 2, 3, 4, 5]
    ev = fs.evaluate(LABELS, RULES, X, weights=weights)
    assert ev.sufficiency == fs.sufficiency(RULES, LABELS, X, weights=weights)
    assert ev.scopes()["n"].sum() == fs.evaluate(LABELS, RULES, X).scopes()["n"].sum()
    parts = ev.by([0, 0, 0, 1, 1], measure="sufficiency")
    alone = fs.sufficiency(RULES.take([0, 1, 2]), LABELS[:3], X.iloc[:3], weights=[1, 2, 3])
    assert parts.estimates[0].value == alone.value
    with pytest.raises(BadInput, match="have weight 0"):
        fs.evaluate(LABELS, RULES, X, weights=[1, 1, 1, 0, 0]).by([0, 0, 0, 1, 1], measure="sufficiency")


def test_an_evaluation_with_a_scope_reads_three_lines():
    ev = fs.evaluate(LABELS, RULES, X)
    assert [line.split()[0] for line in str(ev).splitlines()] == ["consistency", "sufficiency", "necessity"]
    assert ev.to_dict()["sufficiency"]["value"] == ev.sufficiency.value
    assert ev._repr_html_().count("<table>") == 3


@pytest.mark.slow
def test_a_plan_for_sufficiency_reads_the_same_curves():
    rng = np.random.default_rng(0)
    x, labels = rng.random(200), rng.integers(0, 2, 200)
    rules = fs.Rules.from_bins(np.round(x, 2)[:, None] - 0.004, np.round(x, 2)[:, None] + 0.004, ["x"])
    found = fs.sufficiency(rules, labels, x[:, None])
    plan = fs.plan(found)
    assert plan.unverifiable == found.unverifiable
    sizes = [
        fs.sufficiency(rules.take(rows), labels[rows], x[rows][:, None]).unverifiable
        for rows in (rng.permutation(200)[:100] for _ in range(200))
    ]
    assert plan.at(100) == pytest.approx(np.mean(sizes), abs=0.01)


def test_a_row_outside_the_sample_has_both_local_measures():
    def predict(rows):
        return (np.asarray(rows)[:, 0] >= 2).astype(int)

    def explain(rows):
        x = np.asarray(rows)[:, 0]
        return fs.Rules.from_conditions(
            [[("x", "<=", 2.0)] if v < 2 else [("x", ">=", 2.0)] for v in x], features=["x"]
        )

    found = fs.local([1.5], predict, explain, X)
    assert (found.others, found.agreeing) == (2, 2)
    assert (found.sufficiency.others, found.sufficiency.agreeing) == (3, 2)
    assert found.sufficiency.measure == "sufficiency"
    assert "2 of 3 rows it applies to agree" in str(found)
    assert found.to_dict()["sufficiency"]["value"] == pytest.approx(2 / 3)
    ball = fs.local([1.5], predict, lambda rows: fs.Counterfactuals(np.asarray(rows) + 1, rows), X)
    assert ball.sufficiency.others == 2


def test_an_unknown_category_covers_nothing_and_is_reported():
    table = pd.DataFrame({"job": ["cook", "clerk", "cook"]})
    rules = fs.Rules.from_conditions(
        [[("job", "==", "cook")], [("job", "==", "pilot")], [("job", "==", "cook")]], features=["job"]
    )
    found = fs.sufficiency(rules, [1, 0, 1], table)
    assert "1 condition holds on no row, such as 'job == pilot'" in found.notes
    assert found.value == pytest.approx(2 / 3)
    assert found.unverifiable == pytest.approx(1 / 3)
