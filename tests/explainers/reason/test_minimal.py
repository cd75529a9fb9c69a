"""No condition of a sufficient reason can be dropped; of one tree, by brute force over all cells."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from explainers.reason.models import fitted, table
from explainers.systems import graded
from faithscope.explainers import SufficientReason
from faithscope.explainers.reason import Boxes, LabelBound, by_slack, drop_in_order, widen
from faithscope.explainers.trees.reading import read_forest


def searched(model, X):
    """The boxes of rows with the commonest prediction, and their bound."""
    forest, predicted = read_forest(model), model.predict(X)
    bound = LabelBound(forest, int(np.searchsorted(model.classes_, predicted[0])))
    start = Boxes.of(forest, forest.cells(X[predicted == predicted[0]]))
    return drop_in_order(start, bound, by_slack(start, bound)), bound


SOON = ["forest", "histograms", "xgboost"]


@pytest.mark.parametrize("name", graded(SOON, [*SOON, "boosting", "lightgbm"]))
def test_without_any_of_its_conditions_the_bound_fails(name):
    boxes, bound = searched(fitted(name, 3), table(3)[0][:25])
    for final in (boxes, widen(boxes, bound)):
        assert bound.proves(final.reach).all()
        for j in range(6):
            rows = np.flatnonzero(final.kept[:, j])
            assert not bound.take(rows).proves(final.take(rows).without(j) == 0).any()


def test_no_bound_of_a_condition_can_be_widened():
    boxes, bound = searched(fitted("histograms"), table()[0][:40])
    final = widen(boxes, bound)
    for row, j in np.argwhere(final.kept).tolist():
        part = final.take([row])
        for side, end, step in (("low", 0, -1), ("high", len(final.forest.edges[j]), 1)):
            if getattr(part, side)[0, j] != end:
                ends = getattr(part, side).copy()
                ends[0, j] += step
                wider = replace(part, **{side: ends})
                reach = (part.without(j) + wider.shut_by(j)) == 0
                assert not bound.proves(reach)[0]


def cells_of(explainer):
    """A row of every cell of a model over few thresholds."""
    edges = explainer._forest.edges
    axes = [np.concatenate([edge, [edge[-1] + 1]]) if len(edge) else np.zeros(1) for edge in edges]
    return np.array(list(product(*axes)))


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3))
def test_reasons_of_one_tree_are_those_of_all_cells(seed, depth, classes):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, classes, 60)
    model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    explainer = SufficientReason(model, widen=False)
    every = cells_of(explainer)
    answers, rules = model.predict(every), explainer.explain(X)
    for row in range(0, 60, 7):
        masks = [mask.copy() for mask in rules.holds(rules.conjunction(row), every)]
        for left_out in (None, *range(len(masks))):
            kept = [mask for number, mask in enumerate(masks) if number != left_out]
            inside = answers[np.logical_and.reduce([*kept, np.ones(len(every), bool)])]
            constant = (inside == model.predict(X[[row]])[0]).all()
            assert constant == (left_out is None)


def test_the_features_listed_are_dropped_first():
    shorter, longer = (
        sum(any(condition.position == 2 for condition in rules.conjunction(row)) for row in range(100))
        for rules in (
            SufficientReason(fitted("histograms"), order=order).explain(table()[0][:100])
            for order in ([2], [0, 1, 3, 4, 5, 2])
        )
    )
    assert shorter < longer
