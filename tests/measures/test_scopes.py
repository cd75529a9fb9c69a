"""Anchors on my data: precision, coverage."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from bins import rules_in_bins

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})


def test_a_plan_for_sufficiency_reads_the_same_curves():
    rng = default_rng(0)
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
