"""No condition of a sufficient reason can be dropped; of one tree, by brute force over all cells."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from sklearn.tree import DecisionTreeClassifier

from explainers.reason.models import fitted, table
from explainers.systems import graded
from faithscope.explainers import SufficientReason
from faithscope.explainers.reason import Boxes, label_slack
from faithscope.explainers.trees.reading import read_forest


def searched(model, X):
    """The boxes of rows with the prediction of the first, before they are widened."""
    forest, predicted = read_forest(model), model.predict(X)
    slack = label_slack(forest, int(np.searchsorted(model.classes_, predicted[0])))
    boxes = Boxes(forest, forest.cells(X[predicted == predicted[0]]), slack)
    boxes.drop()
    return boxes


SOON = ["forest", "histograms", "xgboost"]


@pytest.mark.parametrize("name", graded(SOON, [*SOON, "boosting", "lightgbm"]))
def test_without_any_of_its_conditions_the_bound_fails(name):
    boxes = searched(fitted(name, 3), table(3)[0][:25])
    for after in (lambda: None, boxes.widen):
        after()
        assert boxes.proves(boxes.shut == 0, np.arange(len(boxes.low))).all()
        for j in range(6):
            rows = np.flatnonzero(boxes.kept[:, j])
            assert not boxes.proves(boxes.without(j, rows) == 0, rows).any()


def test_no_bound_of_a_condition_can_be_widened():
    boxes = searched(fitted("histograms"), table()[0][:40])
    boxes.widen()
    for row, j in np.argwhere(boxes.kept).tolist():
        for side, end, step in (("low", 0, -1), ("high", len(boxes.forest.edges[j]), 1)):
            if getattr(boxes, side)[row, j] != end:
                wider, rows = deepcopy(boxes), np.array([row])
                getattr(wider, side)[row, j] += step
                reach = (boxes.without(j, rows) + wider.shut_by(j, rows)) == 0
                assert not boxes.proves(reach, rows)[0]


def cells_of(explainer):
    """A row of every cell of a model over few thresholds."""
    edges = explainer._forest.edges
    axes = [np.concatenate([edge, [edge[-1] + 1]]) if len(edge) else np.zeros(1) for edge in edges]
    return np.array(list(product(*axes)))


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3))
def test_reasons_of_one_tree_are_those_of_all_cells(seed, depth, classes):
    rng = default_rng(seed)
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
