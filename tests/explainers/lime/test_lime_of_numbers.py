"""Lime of regressors: lime's regression mode, and which outputs are numbers."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.lime.explainer import Lime

X, TARGET = load_diabetes(return_X_y=True)
X = np.delete(X, 1, axis=1)  # without sex: of a common least value lime draws 0, an oversight that Lime does not share
FOREST = RandomForestRegressor(10, max_depth=5, random_state=0).fit(X, TARGET)
CLASSES = LogisticRegression().fit(X, TARGET > 150)


def waves(rows):
    """Numbers far from [0, 1] that depend on every column, with an interaction."""
    return 500 + 100 * np.sin(40 * rows[:, 1]) + 2000 * rows[:, 0] * rows[:, 7] * 20 + 300 * rows.sum(axis=1)


def lime_coefficients(row, model, seed, samples, discretize=True):
    tabular = pytest.importorskip("lime.lime_tabular")
    asked = {"feature_selection": "none", "random_state": seed, "discretize_continuous": discretize}
    explanations = tabular.LimeTabularExplainer(X, mode="regression", **asked).explain_instance(
        row, model, num_features=len(row), num_samples=samples
    )
    return [coefficient for _, coefficient in sorted(explanations.local_exp[1])]


@pytest.mark.parametrize("discretize", [True, False])
@pytest.mark.parametrize("model", [waves, FOREST], ids=["function", "forest"])
def test_a_single_run_with_many_samples_agrees_with_the_regression_mode_of_lime(discretize, model):
    predict = getattr(model, "predict", model)
    theirs = lime_coefficients(X[7], predict, 0, 100_000, discretize)
    ours = Lime(model, X, samples=100_000, discretize=discretize).explain(X[7:8]).values[0]
    np.testing.assert_allclose(ours, theirs, atol=0.02 * np.ptp(predict(X)))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("discretize", [True, False])
def test_coefficients_agree_with_the_regression_mode_of_lime_within_its_own_noise(discretize):
    rows, seeds = X[:4], range(40)
    theirs = np.array([[lime_coefficients(row, waves, seed, 1000, discretize) for row in rows] for seed in seeds])
    ours = np.array([Lime(waves, X, samples=1000, discretize=discretize, seed=s).explain(rows).values for s in seeds])
    error = np.sqrt((theirs.var(axis=0, ddof=1) + ours.var(axis=0, ddof=1)) / len(ours))
    assert (np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) <= 4 * error).all()
    assert 1 / 1.2 < np.median(ours.std(axis=0) / theirs.std(axis=0)) < 1.2


@pytest.mark.parametrize(("draws", "error"), [("shared", 1e-3), ("own", 1e-7)])
def test_coefficients_are_those_of_a_weighted_ridge_regression_on_staying_in_the_same_quarter(draws, error):
    asked = []

    def model(rows):
        asked.append(rows.copy())
        return waves(rows)

    values = Lime(model, X, samples=800, draws=draws).explain(X[11:12]).values[0]
    bins = np.column_stack(
        [np.searchsorted(np.unique(np.percentile(X[:, j], [25, 50, 75])), asked[0][:, j]) for j in range(9)]
    )
    like = (bins == bins[0]).astype(float)
    weights = np.sqrt(np.exp(-(1 - like).sum(axis=1) / (0.75**2 * 9)))
    expected = Ridge(alpha=1).fit(like, waves(asked[0]), sample_weight=weights).coef_
    np.testing.assert_allclose(values, expected, atol=error)


def test_coefficients_are_in_the_units_of_the_prediction_wherever_these_begin():
    plain = Lime(FOREST, X, samples=300).explain(X[:5]).values
    changed = Lime(lambda rows: 1e6 - 3 * FOREST.predict(rows), X, samples=300).explain(X[:5]).values
    np.testing.assert_allclose(changed, -3 * plain, atol=1e-6)


def test_a_regressor_its_method_a_function_and_a_column_are_explained_alike():
    plain = Lime(FOREST, X, samples=300).explain(X[:5])
    assert plain.names == tuple(f"x{j}" for j in range(9))
    for model in (FOREST.predict, lambda rows: FOREST.predict(rows), lambda rows: FOREST.predict(rows)[:, None]):
        for mode in (None, "regression"):
            np.testing.assert_array_equal(Lime(model, X, samples=300, mode=mode).explain(X[:5]).values, plain.values)


def test_one_number_is_explained_alike_whether_it_is_a_probability_or_not():
    def chance(rows):
        return CLASSES.predict_proba(rows)[:, 1]

    classes = Lime(CLASSES, X, samples=300).explain(X[:5]).values
    for mode in (None, "classification", "regression"):
        np.testing.assert_allclose(Lime(chance, X, samples=300, mode=mode).explain(X[:5]).values, classes, atol=1e-12)


def test_a_constant_regressor_gets_exactly_zero():
    values = Lime(lambda rows: np.full(len(rows), 1234.5), X, samples=300).explain(X[:5]).values
    assert (values == 0).all()


def test_no_rows_are_explained():
    assert Lime(FOREST, X, samples=50).explain(X[:0]).values.shape == (0, 9)


@pytest.mark.parametrize("class_index", [0, 1, "predicted"])
def test_a_regression_has_no_classes(class_index):
    for model, mode in ((FOREST, None), (FOREST.predict, None), (waves, "regression")):
        with pytest.raises(BadInput, match=r"^A regression has one output .* class_index must be None; got"):
            Lime(model, X, class_index=class_index, mode=mode)


@pytest.mark.filterwarnings("ignore:class_index='predicted'")
@pytest.mark.parametrize("class_index", [0, 1, "predicted"])
def test_a_function_that_turns_out_to_give_numbers_has_no_classes(class_index):
    with pytest.raises(BadInput, match="class_index must be None"):
        Lime(waves, X, class_index=class_index, samples=50).explain(X[:1])


def test_labels_and_scores_of_a_classifier_are_no_numbers_unless_they_are_said_to_be():
    def stage(rows):
        return np.digitize(waves(rows), [400, 500, 600]).astype(float)

    for wrong in (stage, CLASSES.decision_function):
        with pytest.raises(BadInput, match=r'Pass predict_proba.* explained with mode="regression"'):
            Lime(wrong, X, samples=50).explain(X[:2])
    with pytest.raises(BadInput, match="no probability"):
        Lime(waves, X, samples=50, mode="classification").explain(X[:2])
    assert Lime(stage, X, samples=50, mode="regression").explain(X[:2]).values.any()
    margins = Lime(CLASSES.decision_function, X, samples=50, mode="regression").explain(X[:2])
    assert margins.values.any()


def test_several_numbers_per_row_are_refused():
    model = LinearRegression().fit(X, np.column_stack([TARGET, TARGET]))
    with pytest.raises(BadInput, match="one number per row, and the model gave 2"):
        Lime(model, X, samples=50).explain(X[:1])


def test_what_has_predict_alone_and_is_no_known_regressor_is_told_of_the_mode():
    class Own:
        def predict(self, rows):
            return waves(rows)

    with pytest.raises(WrongType, match='If its predict gives numbers, pass mode="regression"'):
        Lime(Own(), X)
    own = Lime(Own(), X, samples=50, mode="regression").explain(X[:2]).values
    np.testing.assert_array_equal(own, Lime(waves, X, samples=50).explain(X[:2]).values)


def test_a_mode_that_does_not_exist_is_refused_and_the_mode_is_in_the_repr():
    with pytest.raises(BadInput, match="mode must be one of None, 'classification', 'regression'; got 'number'"):
        Lime(FOREST, X, mode="number")
    assert repr(Lime(waves, X, mode="regression")).endswith("mode='regression', draws='shared')")
