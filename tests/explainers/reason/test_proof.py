"""Under a sufficient reason the prediction never changes: on any float, next to any threshold, missing ones too."""

import numpy as np
import pytest

import faithscope as fs
from explainers.reason.models import CLASSIFIERS, NO_MISSING, REGRESSORS, numbers, table
from explainers.reason.points import holds, inside
from faithscope.explainers import SufficientReason
from faithscope.explainers.reason.boxes import Boxes

POINTS, ROWS = 300, 15


def violations(model, rules, X, eps=None, missing=False, per_row=POINTS):
    """How many random rows inside the rules get another prediction."""
    rng, wrong, given = np.random.default_rng(0), 0, model.predict(X)
    for row in range(len(X)):
        points = inside(rules, row, X, per_row, rng, missing)
        assert holds(rules, row, points)
        predicted = model.predict(points)
        wrong += int(np.sum(predicted != given[row] if eps is None else np.abs(predicted - given[row]) > eps))
    return wrong


@pytest.mark.parametrize("whole", [False, True], ids=["fractions", "whole"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_no_row_inside_a_reason_gets_another_label(name, classes, whole):
    if name == "exponential" and classes > 2:
        pytest.skip("this loss knows two classes")
    X, y = table(classes, whole=whole)
    model = CLASSIFIERS[name]().fit(X, y)
    rules = SufficientReason(model).explain(X[:ROWS])
    assert violations(model, rules, X[:ROWS], missing=name not in NO_MISSING) == 0
    assert np.mean([len(rules.conjunction(row)) for row in range(ROWS)]) < 6


@pytest.mark.parametrize("name", REGRESSORS)
def test_no_row_inside_a_reason_is_predicted_more_than_eps_away(name):
    X, _ = table()
    model = REGRESSORS[name]().fit(X, numbers(X))
    rules = SufficientReason(model, eps=0.2).explain(X[:ROWS])
    assert violations(model, rules, X[:ROWS], 0.2, missing=name not in NO_MISSING) == 0
    assert np.mean([len(rules.conjunction(row)) for row in range(ROWS)]) < 6


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in NO_MISSING])
def test_rows_that_miss_values_have_reasons_too(name):
    X, y = table(holes=True)
    model = CLASSIFIERS[name]().fit(X, y)
    rules = SufficientReason(model).explain(X[:ROWS])
    assert violations(model, rules, X[:ROWS], missing=True) == 0
    assert any("missing" in rules.describe(row) for row in range(ROWS))


@pytest.mark.parametrize("how", [{"order": "coverage"}, {"minimal": False}, {"widen": False}, {"order": [3, 1]}])
def test_every_way_to_search_is_sound(how):
    X, y = table(3)
    model = CLASSIFIERS["hist"]().fit(X, y)
    rules = SufficientReason(model, X, **how).explain(X[:ROWS])
    assert violations(model, rules, X[:ROWS], missing=True) == 0


def test_sufficiency_of_reasons_is_one_on_real_rows():
    X, y = table()
    model = CLASSIFIERS["hist"]().fit(X, y)
    rules = SufficientReason(model).explain(X)
    estimate = fs.sufficiency(rules, model.predict(X), X)
    assert estimate.verified == 1.0
    assert estimate.counts.missed.sum() == 0


@pytest.mark.parametrize("learner", ["xgboost", "lightgbm"])
def test_boosters_are_read_as_their_models(learner):
    library = pytest.importorskip(learner, reason=f"{learner} is not installed")
    X, y = table()
    if learner == "xgboost":
        booster = library.train({"objective": "binary:logistic"}, library.DMatrix(X, y), 10)
        predict = lambda rows: booster.predict(library.DMatrix(rows))  # noqa: E731
    else:
        booster = library.train({"objective": "binary", "verbose": -1}, library.Dataset(X, y), 10)
        predict = booster.predict
    rules = SufficientReason(booster, eps=0.25).explain(X[:ROWS])
    rng, given = np.random.default_rng(0), predict(X)
    for row in range(ROWS):
        assert np.abs(predict(inside(rules, row, X, 100, rng)) - given[row]).max() <= 0.25


def test_a_booster_of_classes_has_reasons_for_its_labels():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = table(3)
    booster = xgboost.train({"objective": "multi:softmax", "num_class": 3}, xgboost.DMatrix(X, y), 10)
    rules = SufficientReason(booster).explain(X[:ROWS])
    rng, given = np.random.default_rng(0), booster.predict(xgboost.DMatrix(X))
    for row in range(ROWS):
        assert (booster.predict(xgboost.DMatrix(inside(rules, row, X, 100, rng))) == given[row]).all()


def test_only_the_rounds_before_early_stopping_count():
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = table()
    noise = np.random.default_rng(0).integers(2, size=200)
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2)
    model.fit(X[:400], y[:400], eval_set=[(X[400:], noise)], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    explainer = SufficientReason(model)
    assert len(explainer._ensemble.trees) == model.best_iteration + 1
    assert violations(model, explainer.explain(X[:ROWS]), X[:ROWS]) == 0


def test_the_first_class_wins_a_tie_of_votes():
    """Two trees that disagree: the forest predicts the first class wherever they do, and that is a reason."""
    from sklearn.ensemble import RandomForestClassifier

    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    model = RandomForestClassifier(2, max_depth=1, max_features=1, bootstrap=False, random_state=3)
    model.fit(X, (X[:, 0] > 0) & (X[:, 1] > 0))
    rules = SufficientReason(model).explain(X[:4])
    grid = np.array([[a, b] for a in (0.0, 0.5, np.nextafter(0.5, 1), 1.0) for b in (0.0, 0.5, 1.0)])
    for row in range(4):
        covered = np.logical_and.reduce([*rules.holds(rules.conjunction(row), grid), np.ones(len(grid), bool)])
        assert (model.predict(grid[covered]) == model.predict(X[[row]])[0]).all()


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name not in NO_MISSING])
def test_rows_of_whole_numbers_meet_the_text_of_their_own_reason(name):
    """A text is all that a reader has: thresholds that lie at whole numbers must not be rounded to the other side."""
    X, y = table(whole=True)
    model = CLASSIFIERS[name]().fit(X, y)
    rules = SufficientReason(model).explain(X)
    texts = fs.Rules.parse([rules.describe(row) for row in range(len(X))], rules.features)
    for row in range(len(X)):
        exact, told = (
            np.logical_and.reduce([np.ones(len(X), bool), *read.holds(read.conjunction(row), X)])
            for read in (rules, texts)
        )
        assert exact[row]
        assert (exact == told).all()


@pytest.mark.parametrize("share", [1e-6, 0.99, 0.9999, 0.99999])
def test_a_base_score_near_1_is_read_as_xgboost_computes_it(share):
    """1/p - 1 has few digits in single precision: at 0.9999 the margin is 7e-5 off, more than the bound allowed for."""
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    X, y = table()
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, base_score=share, n_jobs=1).fit(X, y)
    ensemble = SufficientReason(model)._ensemble
    reach = Boxes.of(ensemble.leaves, ensemble.leaves.cells(X)).reach
    sums = np.where(reach, ensemble.leaves.values, 0.0).sum(axis=0) + ensemble.base[0]
    assert np.abs(sums - model.predict(X, output_margin=True)).max() < ensemble.tolerance / 2
