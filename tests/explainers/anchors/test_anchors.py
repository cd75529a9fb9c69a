"""Anchors of table rows: rules under which the prediction stays, of labels and of numbers."""

import numpy as np
import pandas as pd
import pytest

from explainers.systems import (
    UNIFORM,
    assert_refused,
    corner,
    diabetes,
    first_is_high,
    forest,
    graded,
    people,
    tumors,
    written,
)
from faithscope.agreements import Tolerance
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import Anchors
from faithscope.explainers.outcomes import Outcomes
from faithscope.inputs import labels


def conditions(rules, row):
    names = {name: j for j, name in enumerate(rules.features)}
    return [(names[name], operator, value) for name, operator, value in rules.to_conditions()[row]]


def fresh_precision(rules, row, agrees, train, draws=3000):
    """The definition, drawn anew: broken values are replaced by values of the same column that keep the rule."""
    chance = np.random.default_rng(1)
    rows = train[chance.integers(len(train), size=draws)].copy()
    compare = {"<=": np.less_equal, ">": np.greater, "==": np.equal}
    asked = conditions(rules, row)
    for j in {feature for feature, _, _ in asked}:
        own = [(compare[operator], value) for feature, operator, value in asked if feature == j]
        keeps = np.logical_and.reduce([holds(train[:, j], value) for holds, value in own])
        broken = ~np.logical_and.reduce([holds(rows[:, j], value) for holds, value in own])
        rows[broken, j] = chance.choice(train[keeps, j], broken.sum())
    return float(np.mean(agrees(rows)))


PRECISE = [(0.95, None), (0.7, None), (0.7, 40.0), (0.9, 60.0)]


@pytest.mark.parametrize(("threshold", "eps"), graded(PRECISE[::2], PRECISE))
def test_precision_is_what_the_definition_gives_on_draws_of_ones_own(threshold, eps):
    predict, X = (forest().predict, tumors()[0]) if eps is None else (diabetes()[2].predict, diabetes()[0])
    agreement = None if eps is None else Tolerance(eps)
    explainer = Anchors(predict, X, threshold=threshold, beam=1, max_conditions=6, agreement=agreement)
    rules = explainer.explain(X[:60:3])
    own = predict(X[:60:3])

    def agrees(row):
        return lambda rows: predict(rows) == own[row] if eps is None else np.abs(predict(rows) - own[row]) <= eps

    brute = np.array([fresh_precision(rules, row, agrees(row), X) for row in range(20)])
    claimed = rules.claimed["precision"]
    assert np.abs(claimed - brute).max() < 0.12
    assert abs(np.mean(claimed - brute)) < 0.03
    assert np.mean(brute >= threshold - 0.1) >= 0.9
    assert brute.mean() >= threshold - 0.02


def test_the_widest_rule_that_passes_is_given_though_a_shorter_one_passes():
    low, high = np.percentile(UNIFORM, (25, 75), axis=0)

    def either(rows):
        return (rows[:, 0] > high[0]) | ((rows[:, 1] <= high[1]) & (rows[:, 2] > low[2]))

    row = [[0.9, 0.4, 0.6, 0.5]]
    narrow, wide = (Anchors(either, UNIFORM, threshold=0.99, beam=beam).explain(row) for beam in (1, 4))
    assert narrow.describe(0) == f"x0 > {high[0]:.7g}"
    assert wide.describe(0) == f"x1 <= {high[1]:.7g} and x2 > {low[2]:.7g}"
    assert wide.claimed["coverage"] > narrow.claimed["coverage"]


def test_what_needs_two_conditions_gets_two_and_both_bounds_of_a_number_are_one():
    rules = Anchors(corner, UNIFORM, threshold=0.9).explain([[0.9, 0.9, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5]])
    assert [features(rules.take([row])) for row in (0, 1)] == [{"x0", "x1"}, {"x0"}]
    rows = np.linspace(0, 1, 1001)[:, None].repeat(2, axis=1)
    rules = Anchors(lambda X: (X[:, 0] > 0.25) & (X[:, 0] <= 0.5), rows).explain([[0.4, 0.9]])
    assert rules.describe(0) == "0.25 < x0 <= 0.5"


class Counting:
    """A model that counts what it is asked."""

    def __init__(self, model=corner):
        self.model, self.rows, self.calls = model, 0, 0

    def predict(self, rows):
        self.rows += len(rows)
        self.calls += 1
        return self.model(rows)


# Several thresholds in one search.

THRESHOLDS = (0.5, 0.7, 0.95, 1.0)


def wavy(rows):
    """Labels that no short rule explains fully, one of them rare."""
    rows = np.asarray(rows, float)
    return np.where(rows[:, 3] > 0.98, 2, (np.sin(7 * rows[:, 0]) + rows[:, 1] * rows[:, 2] > 0.4).astype(int))


@pytest.mark.parametrize(
    ("model", "train", "how"),
    [
        (corner, UNIFORM[:500], {"beam": 1}),
        (wavy, UNIFORM[:500], {"beam": 1}),
        pytest.param(wavy, UNIFORM[:500], {"beam": 3}, marks=pytest.mark.thorough),
        (lambda rows: rows[:, 0] + rows[:, 1], UNIFORM[:300], {"agreement": Tolerance(0.2), "max_conditions": 3}),
    ],
)
def test_the_rules_of_several_thresholds_are_those_of_separate_explainers(model, train, how):
    how, rows = {"max_conditions": 4, **how}, train[:8]
    together = Anchors(model, train, **how).explain_at(rows, THRESHOLDS)
    assert list(together) == list(THRESHOLDS)
    for asked, rules in together.items():
        assert written(rules) == written(Anchors(model, train, threshold=asked, **how).explain(rows))


def test_the_model_is_asked_about_a_perturbed_row_once_for_all_thresholds():
    together, told, asked = Counting(wavy), [], []
    explainer = Anchors(together, UNIFORM, beam=1)
    explainer.explain_at(UNIFORM[:5], THRESHOLDS, progress=lambda *call: told.append(call))
    assert told[-1] == (5, 5)
    assert told == sorted(told)
    for threshold in THRESHOLDS:
        alone = Counting(wavy)
        Anchors(alone, UNIFORM, threshold=threshold, beam=1).explain(UNIFORM[:5])
        asked.append(alone.rows)
    assert max(asked) <= together.rows < 0.6 * sum(asked)
    assert [len(rules) for rules in explainer.explain_at(UNIFORM[:0], [0.5, 0.9]).values()] == [0, 0]
    assert list(explainer.explain_at(UNIFORM[:1], iter([0.9, 0.9]))) == [0.9]


# Numbers that agree within eps.


def first(predict, agreement=None, rows=9):
    return written(Anchors(predict, UNIFORM, agreement=agreement).explain(UNIFORM[:rows]))


def test_a_step_is_told_from_a_slope_by_eps_whose_edge_agrees_at_any_size():
    steps, everything = first(first_is_high), ["everything"] * 9
    for size in (1.0, 1e6, 1e307):
        slope = lambda rows, size=size: size * (rows[:, 0] * 0.1 + 8.0 * first_is_high(rows))  # noqa: E731
        assert first(slope, Tolerance(1.0 * size)) == steps
        assert first(slope, Tolerance(9.0 * size)) == everything
    for eps, expected in ((2.0, everything), (1.99, steps)):
        assert first(lambda rows: 2.0 * first_is_high(rows), Tolerance(eps)) == expected
    huge = lambda rows: np.where(first_is_high(rows), 1.7e308, -1.7e308)  # noqa: E731
    assert first(huge, Tolerance(1e300)) == steps


def halves(rows):
    return np.where(first_is_high(rows), 0.5, 1.5)


# Rows and labels of every kind.


def features(rules):
    return {condition.feature for row in range(len(rules)) for condition in rules.conjunction(row)}


def test_categories_are_equalities_truth_values_have_bounds_and_numbers_may_be_codes():
    rows = people(200).assign(member=np.arange(200) % 2 > 0)
    clerks = Anchors(lambda X: np.where(X["job"] == "clerk", "yes", "no"), rows).explain(rows)
    assert {written(clerks)[row] for row in np.flatnonzero(rows["job"] == "clerk")} == {"job == clerk"}
    assert features(Anchors(lambda X: X["member"].to_numpy(), rows).explain(rows)) == {"member"}
    codes = np.column_stack([np.arange(300) % 5, np.arange(300) % 7])
    rules = Anchors(lambda rows: rows[:, 0] == 3, codes, categorical=[0, 1]).explain([[3, 2], [4, 3]])
    assert rules.describe(0) == "x0 == 3"


def test_a_model_of_one_class_or_one_training_row_gives_the_rule_that_covers_everything():
    for model, train in ((lambda rows: np.zeros(len(rows)), UNIFORM), (first_is_high, UNIFORM[:1])):
        rules = Anchors(model, train).explain(UNIFORM[:10])
        assert written(rules) == ["everything"] * 10
        assert (rules.claimed["coverage"] == 1).all()
        assert (np.nan_to_num(rules.claimed["precision"]) == (model(UNIFORM[:10]) == model(UNIFORM[:1]))).all()
    assert Anchors(first_is_high, UNIFORM).explain(UNIFORM[:0]).features == ("x0", "x1", "x2", "x3")


# What is refused.


def infinite():
    rows = UNIFORM.copy()
    rows[[3, 5], 1] = np.inf
    return rows


def explained(predict=first_is_high, rows=UNIFORM[:30], train=UNIFORM, **how):
    return lambda: Anchors(predict, train, **how).explain(rows)


SETTINGS = {"threshold": [0, 1.2], "beam": [0], "delta": [1], "tau": [0]}
BAD_INPUT = [
    (explained(train=pd.DataFrame(UNIFORM[:, :3], columns=["a", "b", "a"])), "Two features are called 'a'"),
    (explained(train=infinite()), "'x1' holds inf at row 3 and 1 more"),
    (explained(rows=infinite()), "'x1' holds inf at row 3 and 1 more"),
    (explained(lambda rows: rows[:, 0]), "continuous"),
    (explained(lambda rows: np.full((len(rows), 2), 0.5)), "probabilities"),
    (explained(lambda rows: np.zeros(len(rows) - 1)), "pass one of each per row"),
    (explained(halves), r"If fractions are the names of classes, pass agreement=fs.Same\(\)"),
    *[(explained(**{name: value}), name) for name, values in SETTINGS.items() for value in values],
    (explained(max_conditions=0), "max_conditions must be"),
    (explained(categorical=["nobody"]), "nobody"),
    *[
        (lambda wrong=wrong: Anchors(corner, UNIFORM).explain_at(UNIFORM[:2], wrong), "threshold")
        for wrong in (0.9, [], "0.9", [0.9, 1.5], [0.0])
    ],
]


def test_what_cannot_be_explained_is_refused():
    assert_refused({BadInput: BAD_INPUT, WrongType: [(explained("model"), "predict")]})


def test_the_answers_of_a_function_are_checked_once(monkeypatch):
    checked = []
    monkeypatch.setattr(labels, "to_keys", lambda given, what: checked.append(len(given)) or given)
    Outcomes(lambda X: np.array(["yes"] * len(X), object), None, "Anchors").ask(np.zeros((3, 1)))
    assert checked == [3]
