"""Anchors on my data: precision, coverage, and the rows a rule wrongly covers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from bins import rules_in_bins

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
LABELS = np.array([0, 0, 1, 1, 1])
RULES = fs.Rules.parse(["x <= 2"] * 2 + ["x >= 2"] * 3, features=["x"])


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
        assert (line.prediction, line.wrong_prediction) == (labels[line.row], labels[line.wrong_row])
        assert line.prediction != line.wrong_prediction
    assert table["wrongly_covered"].is_monotonic_decreasing
    assert len(evaluation.scopes(k=1)) == 1
    for line in table.itertuples():
        bound = float(line.explanation.removeprefix("x <= "))
        covered = labels[x <= bound]
        assert (line.n, line.coverage) == (np.sum(bounds == bound), pytest.approx(len(covered) / n))
        assert np.isnan(line.precision) if not len(covered) else line.precision == np.mean(covered == line.label)


def test_a_plan_for_sufficiency_reads_the_same_curves():
    rng = np.random.default_rng(0)
    x, labels = rng.random((200, 1)), rng.integers(0, 2, 200)
    rules = rules_in_bins(np.round(x, 2) - 0.004, np.round(x, 2) + 0.004, ["x"])

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
