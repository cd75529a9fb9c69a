"""Under a sufficient reason the prediction never changes: on any float, next to any threshold, missing ones too."""

import numpy as np
import pytest

import faithscope as fs
from explainers.reason.models import CLASSIFIERS, NO_MISSING, fitted, inside, table
from explainers.systems import covered, graded, library, written
from faithscope.explainers import SufficientReason
from faithscope.explainers.trees.reading import read_forest

ROWS = 15


def assert_sound(predict, rules, X, missing=False):
    """No random row inside the rules gets another prediction, and most rules leave conditions out."""
    rng, given = np.random.default_rng(0), predict(X)
    for row in range(len(X)):
        assert (predict(inside(rules, row, X, rng, missing)) == given[row]).all()
    assert np.mean([len(rules.conjunction(row)) for row in range(len(X))]) < X.shape[1]


SOON = [
    ("forest", 3, False, True),
    ("histograms", 2, True, False),
    ("xgboost", 3, False, True),
    ("lightgbm", 2, False, True),
]
LATER = [(name, 2, False, place % 2 == 0) for place, name in enumerate(CLASSIFIERS)]
LATER += [(name, 2, True, False) for name in CLASSIFIERS if name not in NO_MISSING]


@pytest.mark.parametrize(("name", "classes", "holes", "whole"), graded(SOON, LATER))
def test_no_row_inside_a_reason_gets_another_label(name, classes, holes, whole):
    X, model = table(classes, holes, whole)[0][:ROWS], fitted(name, classes, holes, whole)
    rules = SufficientReason(model).explain(X)
    assert_sound(model.predict, rules, X, missing=name not in NO_MISSING)
    assert not holes or any("missing" in text for text in written(rules))


@pytest.mark.parametrize("how", [{"minimal": False}, {"widen": False}])
def test_every_way_to_search_is_sound(how):
    X, model = table(3)[0], fitted("forest", 3)
    assert_sound(model.predict, SufficientReason(model, X, **how).explain(X[:ROWS]), X[:ROWS], missing=True)


def test_a_booster_of_classes_is_read_as_its_model():
    """A booster of a library without scikit-learn's face."""
    module, (X, y) = library("xgboost"), table(3)
    booster = module.train({"objective": "multi:softmax", "num_class": 3}, module.DMatrix(X, y), 10)
    predict = lambda rows: booster.predict(module.DMatrix(rows))  # noqa: E731
    assert_sound(predict, SufficientReason(booster).explain(X[:ROWS]), X[:ROWS])


def test_what_xgboost_has_pruned_is_no_leaf():
    X, y = table()
    model = library("xgboost").XGBClassifier(n_estimators=5, tree_method="exact", gamma=5.0, n_jobs=1).fit(X, y)
    leaves = np.unique(model.apply(X)[:, 0])
    forest = read_forest(model)
    assert sum(forest.nodes.tree[forest.leaves.node] == 0) == len(leaves) < sum(forest.trees[0].left < 0)


def test_only_the_rounds_before_early_stopping_count():
    X, y = table()
    noise = np.random.default_rng(0).integers(2, size=200)
    model = library("xgboost").XGBClassifier(n_estimators=60, early_stopping_rounds=2)
    model.fit(X[:400], y[:400], eval_set=[(X[400:], noise)], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    explainer = SufficientReason(model)
    assert len(explainer._forest.trees) == model.best_iteration + 1
    assert_sound(model.predict, explainer.explain(X[:ROWS]), X[:ROWS])


@pytest.mark.parametrize("name", graded(["lightgbm"], [name for name in CLASSIFIERS if name not in NO_MISSING]))
def test_rows_of_whole_numbers_meet_the_text_of_their_own_reason(name):
    """A text is all that a reader has: thresholds that lie at whole numbers must not be rounded to the other side."""
    X = table(whole=True)[0]
    rules = SufficientReason(fitted(name, whole=True)).explain(X)
    exact, told = (covered(read, X) for read in (rules, fs.Rules.parse(written(rules), rules.features)))
    assert exact.diagonal().all()
    assert (exact == told).all()


@pytest.mark.parametrize("share", [1e-6, 0.99, 0.9999, 0.99999])
def test_a_base_score_near_1_is_read_as_xgboost_computes_it(share):
    """1/p - 1 has few digits in single precision: at 0.9999 the margin is 7e-5 off, more than the bound allowed for."""
    X, y = table()
    model = library("xgboost").XGBClassifier(n_estimators=3, max_depth=2, base_score=share, n_jobs=1).fit(X, y)
    forest = SufficientReason(model)._forest
    sums = forest.sums(forest.cells(X))[:, 0]
    assert np.abs(sums - model.predict(X, output_margin=True)).max() < forest.tolerance / 2
