"""Boosted trees of scikit-learn's and their stand-in as models of xgboost's, against what they stand for."""

import numpy as np
import pytest

from faithscope_reproduction import models
from faithscope_reproduction.models import STAND_IN, of_scikit_learn, stand_in, trained
from faithscope_reproduction.settings import Settings

ensemble = pytest.importorskip("sklearn.ensemble")
CHOSEN = {"learning_rate": 0.25, "n_estimators": 12, "max_depth": 4}


def problem(classes, rng, n=500, d=5):
    X = np.column_stack([rng.integers(0, 20, (n, d - 1)), rng.normal(size=n)]).astype(float)
    bent = X[:, 0] * (X[:, 1] - 9) + 10 * X[:, -1] + rng.normal(size=n)
    return X, np.searchsorted(np.quantile(bent, np.arange(1, classes) / classes), bent)


@pytest.fixture(scope="module", params=[2, 3, 7], ids=["two classes", "three", "seven"])
def fitted(request):
    X, y = problem(request.param, np.random.default_rng(request.param))
    estimator = ensemble.GradientBoostingClassifier(random_state=0, **CHOSEN).fit(X, y)
    return estimator, of_scikit_learn(estimator), X


def asked(X, trees):
    """Rows of the data, rows between them, and rows right at, above and below thresholds."""
    rng = np.random.default_rng(1)
    mixed = np.column_stack([rng.choice(column, 2_000) for column in X.T])
    at = np.column_stack([rng.choice(np.append(splits, 0.0), 2_000) for splits in trees.forest.edges])
    beside = [np.nextafter(at.astype(np.float32), np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([X, mixed, mixed + rng.normal(0, 0.3, mixed.shape), at, *beside])


def test_margins_are_scikit_learns_but_for_single_precision_and_labels_its_labels(fitted, monkeypatch):
    estimator, trees, X = fitted
    rows = asked(X, trees)
    raw = estimator.decision_function(rows).reshape(len(rows), -1)
    monkeypatch.setattr(models, "_MOST_CELLS", 0)
    np.testing.assert_allclose(trees.margins(rows)[:, -raw.shape[1] :], raw, rtol=1e-5, atol=1e-5)
    assert np.array_equal(trees.predict(rows), estimator.predict(rows))
    np.testing.assert_allclose(trees.predict_proba(rows), estimator.predict_proba(rows), atol=1e-5)
    assert trees.predict(X[:0]).shape == (0,)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_table_of_trees_says_what_the_trees_say(classes):
    X, y = problem(classes, np.random.default_rng(classes), n=200, d=4)
    estimator = ensemble.GradientBoostingClassifier(random_state=0, **CHOSEN).fit(X // 3, y)
    trees = of_scikit_learn(estimator)
    rows = asked(X // 3, trees)
    assert trees.table is not None
    assert np.array_equal(trees.predict(rows), estimator.predict(rows))
    np.testing.assert_allclose(trees.predict_proba(rows), estimator.predict_proba(rows), atol=1e-5)


@pytest.mark.parametrize("classes", [3, 7])
def test_the_stand_in_predicts_what_scikit_learn_predicts_where_bins_hold_every_value(classes):
    X, y = problem(classes, np.random.default_rng(0), n=900)
    X = np.round(X)  # fewer values than bins, so both try the same splits
    known, labels = X[:600], y[:600]
    exact = ensemble.GradientBoostingClassifier(random_state=0, **CHOSEN).fit(known, labels)
    other = stand_in(known, labels, CHOSEN, 0)
    # Splits that are as good as each other are chosen by chance, and lie elsewhere between the values of a node.
    assert np.mean(other.predict(known) == exact.predict(known)) > 0.97
    assert np.mean(other.predict(X) == exact.predict(X)) > 0.94
    plain = pytest.importorskip("xgboost").XGBClassifier(tree_method="hist", **CHOSEN).fit(known, labels)
    gaps = [np.abs(model.predict_proba(known) - exact.predict_proba(known)).mean() for model in (other, plain)]
    assert gaps[0] < gaps[1] / 4  # much nearer than xgboost's own rule


@pytest.mark.parametrize("setting", ["as_defined", "as_run"])
def test_a_model_is_read_back_as_it_was_kept(fresh, setting, monkeypatch):
    first = trained("heart", fresh, setting)[1]
    trained.cache_clear()
    monkeypatch.delattr(models, "_fitted")
    again = trained("heart", fresh, setting)[1]
    assert (again.content, again.start.tolist()) == (first.content, first.start.tolist())


def test_codes_stand_for_categories_of_which_a_missing_one_is_its_own(settings):
    data, _ = trained("adult", settings, "as_defined")
    place = data.names.index("workclass")
    assert data.categories[place][:2] == ("?", "Federal-gov")
    assert set(data.train[:, place]) <= set(range(len(data.categories[place])))
    assert len(data.train) == 2 * len(data.test)


def test_as_run_covtypes_model_is_a_stand_in(settings):
    assert STAND_IN == ("covtype",)
    for name in ("heart", "covtype"):
        data, model = trained(name, settings, "as_run")
        assert model.start.any()
        assert np.mean(model.predict(data.test) == data.y_test) > 0.6


def test_split_as_the_authors_split_heart_has_the_printed_accuracy(real_folder, tmp_path):
    data, model = trained("heart", Settings(real_folder, cache=tmp_path, progress=False), "as_run")
    assert (len(data.train), len(data.test)) == (203, 100)
    assert np.mean(model.predict(data.test) == data.y_test) == 0.80


def test_leaves_that_single_precision_cannot_hold_decide_as_in_double():
    X, y = problem(3, np.random.default_rng(2))
    estimator = ensemble.GradientBoostingClassifier(random_state=0, **CHOSEN).fit(X, y)
    grown = estimator.estimators_[3, 1].tree_
    grown.value[np.flatnonzero(grown.children_left < 0)[:2], 0, 0] = 1e118, -1e90
    trees = of_scikit_learn(estimator)
    assert np.array_equal(trees.predict(X), estimator.predict(X))
    np.testing.assert_allclose(trees.predict_proba(X), estimator.predict_proba(X), atol=1e-5)
