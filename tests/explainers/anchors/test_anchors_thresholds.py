"""Anchors at several thresholds in one search."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from anchor_systems import UNIFORM, corner, first_is_high, written
from faithscope.errors import BadInput
from faithscope.explainers.anchors.explainer import Anchors

THRESHOLDS = (0.5, 0.7, 0.95, 1.0)


class Counting:
    """A model that counts the rows that it is asked about."""

    def __init__(self, model):
        self.model, self.asked = model, 0

    def predict(self, rows):
        self.asked += len(rows)
        return self.model(rows)


def wavy(rows):
    """Labels that no short rule explains fully, one of them rare."""
    rows = np.asarray(rows, float)
    return np.where(rows[:, 3] > 0.98, 2, (np.sin(7 * rows[:, 0]) + rows[:, 1] * rows[:, 2] > 0.4).astype(int))


def separate(model, train, rows, **settings):
    return {asked: written(Anchors(model, train, threshold=asked, **settings).explain(rows)) for asked in THRESHOLDS}


def at_once(model, train, rows, **settings):
    return {
        asked: written(rules) for asked, rules in Anchors(model, train, **settings).explain_at(rows, THRESHOLDS).items()
    }


@pytest.mark.parametrize(
    ("model", "beam"),
    [(corner, 1), (wavy, 1), pytest.param(wavy, 3, marks=pytest.mark.slow), (lambda rows: np.zeros(len(rows), int), 3)],
)
def test_the_rules_of_several_thresholds_are_those_of_separate_explainers(model, beam):
    train, rows = UNIFORM[:500], UNIFORM[500:508]
    assert at_once(model, train, rows, beam=beam, max_conditions=4) == separate(
        model, train, rows, beam=beam, max_conditions=4
    )


def test_so_are_those_of_tables_with_categories_and_missing_values():
    table = pd.DataFrame({"a": UNIFORM[:300, 0], "b": np.where(UNIFORM[:300, 1] > 0.6, "high", "low")})
    table.loc[::9, "a"] = np.nan

    def model(rows):
        return ((rows["a"].fillna(0.8) > 0.4) & (rows["b"] == "high")).to_numpy()

    assert at_once(model, table, table[:20]) == separate(model, table, table[:20])


def test_so_are_those_of_a_regressor():
    settings = {"agreement": fs.Tolerance(0.2), "max_conditions": 3}

    def model(rows):
        return rows[:, 0] + rows[:, 1]

    assert at_once(model, UNIFORM[:300], UNIFORM[300:304], **settings) == separate(
        model, UNIFORM[:300], UNIFORM[300:304], **settings
    )


def test_the_model_is_asked_about_a_perturbed_row_once_for_all_thresholds():
    together, alone = Counting(wavy), [Counting(wavy) for _ in THRESHOLDS]
    Anchors(together, UNIFORM, beam=1).explain_at(UNIFORM[:5], THRESHOLDS)
    for asked, model in zip(THRESHOLDS, alone, strict=True):
        Anchors(model, UNIFORM, threshold=asked, beam=1).explain(UNIFORM[:5])
    counts = [model.asked for model in alone]
    assert max(counts) <= together.asked < 0.6 * sum(counts)


def test_one_row_no_rows_and_a_threshold_that_is_given_twice():
    anchors = Anchors(first_is_high, UNIFORM)
    assert [len(rules) for rules in anchors.explain_at(UNIFORM[:0], [0.5, 0.9]).values()] == [0, 0]
    assert list(anchors.explain_at(UNIFORM[:1], iter([0.9, 0.9]))) == [0.9]


def test_progress_counts_rows_and_ends_with_all_of_them():
    calls = []
    Anchors(corner, UNIFORM).explain_at(UNIFORM[:30], [0.5, 0.8, 0.95], progress=lambda *call: calls.append(call))
    assert calls[-1] == (30, 30)
    assert calls == sorted(calls)


@pytest.mark.parametrize("wrong", [0.9, [], "0.9", [0.9, 1.5], [0.0]])
def test_thresholds_that_are_none_are_refused(wrong):
    with pytest.raises(BadInput, match="threshold"):
        Anchors(corner, UNIFORM).explain_at(UNIFORM[:2], wrong)
