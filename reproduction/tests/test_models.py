"""Boosted trees of scikit-learn's and their stand-in as models of xgboost's, against what they stand for."""

from dataclasses import replace

import numpy as np
import pytest

from faithscope_reproduction import models
from faithscope_reproduction.authors import mixed_labels
from faithscope_reproduction.authors.kernel_coalitions import draw
from faithscope_reproduction.models import STAND_IN, Tabulated, of_scikit_learn, stand_in, tabulated, trained
from faithscope_reproduction.settings import Settings
from faithscope_reproduction.systems import BoostedSystem, sample

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
    return estimator, of_scikit_learn(estimator, CHOSEN), X


def asked(X, trees):
    """Rows of the data, rows between them, and rows right at, above and below thresholds."""
    rng = np.random.default_rng(1)
    mixed = np.column_stack([rng.choice(column, 2_000) for column in X.T])
    at = np.column_stack([rng.choice(np.append(splits, 0.0), 2_000) for splits in trees.thresholds])
    beside = [np.nextafter(at.astype(np.float32), np.float32(side)) for side in (-np.inf, np.inf)]
    return np.concatenate([X, mixed, mixed + rng.normal(0, 0.3, mixed.shape), at, *beside])


def test_margins_are_scikit_learns_but_for_single_precision_and_labels_its_labels(fitted):
    estimator, trees, X = fitted
    rows = asked(X, trees)
    raw, margins = estimator.decision_function(rows).reshape(len(rows), -1), trees._margins(rows)
    np.testing.assert_allclose(margins[:, -raw.shape[1] :], raw, rtol=1e-5, atol=1e-5)
    assert np.array_equal(trees.predict(rows), estimator.predict(rows))
    np.testing.assert_allclose(trees.predict_proba(rows), estimator.predict_proba(rows), atol=1e-5)
    assert np.array_equal(trees._margins(trees.snapped(rows)), margins)
    assert trees.predict(X[:0]).shape == (0,)
    turned = np.asfortranarray(rows)
    assert np.array_equal(np.concatenate([trees._margins(turned[at : at + 1]) for at in range(20)]), margins[:20])


def test_leaves_add_up_to_the_margins_of_their_cells(fitted):
    _, trees, X = fitted
    rows = asked(X, trees)[::7]
    cells, margins = trees.cells(rows), np.tile(trees.start, (len(rows), 1))
    for output, low, high, value in trees.leaves():
        margins[:, output] += value * ((cells >= low) & (cells <= high)).all(axis=1)
    np.testing.assert_allclose(margins, trees._margins(rows)[:, -margins.shape[1] :], atol=1e-4)


def test_many_trees_are_asked_about_equal_rows_once(fitted, settings, monkeypatch):
    others = BoostedSystem.of("avila", settings, "as_defined")
    for trees, rows in (fitted[1:], (others.trees, others.split.test)):
        rows, asked, plain = np.concatenate([rows, rows, -0.0 * rows[:3]]), [], type(trees)._margins
        expected = trees.predict(rows)
        counted = lambda self, part, asked=asked, plain=plain: asked.append(len(part)) or plain(self, part)  # noqa: E731
        with monkeypatch.context() as patch:
            patch.setattr(models, "_MANY_TREES", 1)
            patch.setattr(models.Boosted, "_margins", counted)
            assert np.array_equal(trees.predict(rows), expected)
        assert asked[0] <= len(rows) // 2


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_table_of_trees_says_what_the_trees_say(classes):
    X, y = problem(classes, np.random.default_rng(classes), n=200, d=4)
    estimator = ensemble.GradientBoostingClassifier(random_state=0, **CHOSEN).fit(X // 3, y)
    trees = of_scikit_learn(estimator, CHOSEN)
    table, rows = tabulated(trees), asked(X // 3, trees)
    assert isinstance(table, Tabulated)
    assert np.array_equal(table.predict(rows), estimator.predict(rows))
    np.testing.assert_allclose(table.predict_proba(rows), trees.predict_proba(rows), atol=1e-12)


def test_mean_labels_of_mixtures_are_those_of_scikit_learn(fitted, monkeypatch):
    estimator, trees, X = fitted
    rows, background = X[:40], X[100:130]
    members = draw(rows, rows.shape[1], 20, 0)[0]
    mixtures = np.where(members[:, :, None, :], rows[:, None, None, :], background)
    expected = estimator.predict(mixtures.reshape(-1, X.shape[1])).reshape(mixtures.shape[:3]).mean(axis=2)
    for many in (10**9, 1) if len(trees.start) > 1 else (10**9,):  # by asking, and by leaves, of several classes
        monkeypatch.setattr(mixed_labels, "_MANY_TREES", many)
        assert np.array_equal(mixed_labels.mean_labels(trees, rows, background, members), expected)


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
def test_a_model_is_read_back_as_it_was_kept_and_trained_anew_if_it_was_cut_short(fresh, setting):
    def content():
        trained.cache_clear()
        return trained("heart", fresh, setting)[1].__fingerprint__()

    first = content()
    assert content() == first
    (kept,) = (fresh.cache / "models").iterdir()
    kept.write_bytes(kept.read_bytes()[:-100])
    assert content() == first


def test_codes_stand_for_categories_of_which_a_missing_one_is_its_own(settings):
    data, _ = trained("adult", settings, "as_defined")
    place = data.names.index("workclass")
    assert data.categories[place][:2] == ("?", "Federal-gov")
    assert set(data.train[:, place]) <= set(range(len(data.categories[place])))
    assert len(data.train) == 2 * len(data.test)


def test_the_grid_finds_the_best_mean_accuracy(fresh, monkeypatch):
    for name, few in {"_RATES": (0.001, 0.5), "_TREES": (1, 10), "_DEPTHS": (3,)}.items():
        monkeypatch.setattr(models, name, few)
    _, model = trained("heart", replace(fresh, search=True), "as_defined")
    assert model.chosen == {"learning_rate": 0.5, "n_estimators": 10, "max_depth": 3}


def test_as_run_covtypes_model_is_a_stand_in(settings):
    assert STAND_IN == ("covtype",)
    for name in ("heart", "covtype"):
        data, model = trained(name, settings, "as_run")
        assert model.start.any()
        assert np.mean(model.predict(data.test) == data.y_test) > 0.6


def test_the_background_is_what_shap_samples():
    shap = pytest.importorskip("shap")
    rows = np.random.default_rng(0).normal(size=(300, 3))
    assert np.array_equal(sample(rows, 100), shap.sample(rows, 100))
    assert np.array_equal(sample(rows, 400), rows)


def test_split_as_the_authors_split_heart_has_the_printed_accuracy(real_folder, tmp_path):
    data, model = trained("heart", Settings(real_folder, cache=tmp_path, progress=False), "as_run")
    assert (len(data.train), len(data.test)) == (203, 100)
    assert np.mean(model.predict(data.test) == data.y_test) == 0.80
