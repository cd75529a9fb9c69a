"""Lime is lime's algorithm, as a function of the row alone; and what the paper says of it."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from faithscope.explainers.lime.explainer import Lime
from recorder import Recorder

IRIS, SPECIES = load_iris(return_X_y=True)
TUMORS, MALIGNANT = load_breast_cancer(return_X_y=True)
GARDEN = LogisticRegression(max_iter=1000).fit(IRIS, SPECIES)
PAIR = LogisticRegression(max_iter=1000).fit(IRIS[:100], SPECIES[:100])  # of two species, two classes


def mixed_rows(n=500):
    """Skewed, normal and counted numbers, one with a common least value, and a category in the last column."""
    rng = np.random.default_rng(1)
    numbers = [rng.exponential(size=n), rng.normal(size=n), rng.poisson(0.8, n), rng.integers(2, 7, n)]
    return np.column_stack([*numbers, rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])])


def mixed_model(rows):
    """A probability that depends on every column, with an interaction."""
    sign = rows[:, 0] - 1 + np.sin(2 * rows[:, 1]) + 0.5 * rows[:, 2] * (rows[:, 4] == 1) - 0.2 * rows[:, 3]
    return 1 / (1 + np.exp(-2 * sign))


def same_sign(rows):
    """The paper's XOR model."""
    return (np.sign(rows[:, 0]) == np.sign(rows[:, 1])).astype(float)


def lime_coefficients(train, row, model, seed, samples, categorical=(), discretize=True):
    tabular = pytest.importorskip("lime.lime_tabular")
    asked = {"categorical_features": categorical, "feature_selection": "none", "random_state": seed}
    asked["discretize_continuous"] = discretize

    def both(rows):
        return np.column_stack([1 - model(rows), model(rows)])

    explanations = tabular.LimeTabularExplainer(train, **asked).explain_instance(
        row, both, num_features=len(row), num_samples=samples
    )
    return [coefficient for _, coefficient in sorted(explanations.local_exp[1])]


def both_over_seeds(train, rows, model, samples, seeds, draws="shared", **options):
    """Coefficients of lime and of ours: two arrays (seeds, rows, features)."""
    options["samples"] = samples
    lime_values = [[lime_coefficients(train, row, model, seed, **options) for row in rows] for seed in range(seeds)]
    ours = [Lime(model, train, seed=seed, draws=draws, **options).explain(rows).values for seed in range(seeds)]
    return np.array(lime_values), np.array(ours)


def assert_alike(lime_values, ours):
    """No bias beyond four standard errors, and the same noise from seed to seed."""
    error = np.sqrt((lime_values.var(axis=0, ddof=1) + ours.var(axis=0, ddof=1)) / len(ours))
    assert (np.abs(lime_values.mean(axis=0) - ours.mean(axis=0)) <= 4 * error).all()
    noise = ours.std(axis=0).mean(axis=0) / lime_values.std(axis=0).mean(axis=0)
    assert ((noise > 1 / 2) & (noise < 2)).all()
    assert 1 / 1.2 < np.median(noise) < 1.2


@pytest.mark.slow
@pytest.mark.parametrize("draws", ["shared", "own"])
def test_coefficients_agree_with_lime_within_its_own_noise_on_numbers_and_a_category(draws):
    train = mixed_rows()
    assert_alike(*both_over_seeds(train, train[:4], mixed_model, 1000, 40, draws, categorical=[4]))


@pytest.mark.slow
def test_coefficients_agree_with_lime_within_its_own_noise_on_thirty_features():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(TUMORS, MALIGNANT)
    lime_values, ours = both_over_seeds(TUMORS, TUMORS[:2], lambda rows: tree.predict_proba(rows)[:, 1], 1000, 20)
    assert_alike(lime_values, ours)


@pytest.mark.slow
def test_numbers_as_they_are_give_coefficients_that_agree_with_lime_within_its_own_noise():
    train = mixed_rows()
    assert_alike(*both_over_seeds(train, train[:4], mixed_model, 1000, 40, categorical=[4], discretize=False))


@pytest.mark.parametrize("discretize", [True, False])
def test_a_single_run_with_many_samples_agrees_with_lime(discretize):
    train, options = mixed_rows(), {"samples": 100_000, "categorical": [4], "discretize": discretize}
    lime_values = lime_coefficients(train, train[7], mixed_model, 0, **options)
    ours = Lime(mixed_model, train, **options).explain(train[7:8]).values[0]
    np.testing.assert_allclose(ours, lime_values, atol=0.015)


@pytest.mark.parametrize("discretize", [True, False])
def test_the_model_is_asked_about_rows_distributed_as_in_lime(discretize):
    train, lime_model, our_model = mixed_rows(), Recorder(mixed_model), Recorder(mixed_model)
    options = {"samples": 20_000, "categorical": [4], "discretize": discretize}
    lime_coefficients(train, train[3], lime_model, 0, **options)
    Lime(our_model, train, **options).explain(train[3:4])
    for column in range(5):
        # lime draws a value that fills a quarter less 1e-11; rounded, the two are equal
        pair = lime_model.asked[0][:, column].round(6), our_model.asked[0][:, column].round(6)
        assert ks_2samp(*pair).pvalue > 0.001


def test_where_the_least_value_is_common_it_is_drawn_where_lime_draws_zero():
    train = np.column_stack([np.repeat([5.0, 6.0, 9.0], [60, 20, 20]), np.arange(100.0)])
    lime_model, our_model = Recorder(indifferent), Recorder(indifferent)
    lime_coefficients(train, train[0], lime_model, 0, 200)
    Lime(our_model, train, samples=200).explain(train[:1])
    assert 0.0 in lime_model.asked[0][:, 0]
    assert set(our_model.asked[0][:, 0]) == {5.0, 6.0, 9.0}


def indifferent(rows):
    return 0.5 + 0.0 * rows[:, 0]


@pytest.mark.parametrize(("draws", "error"), [("shared", 1e-6), ("own", 1e-9)])
def test_coefficients_are_those_of_a_weighted_ridge_regression_on_staying_in_the_same_quarter(draws, error):
    train, model = mixed_rows(), Recorder(mixed_model)
    explanations = Lime(model, train, categorical=[4], samples=800, draws=draws).explain(train[11:12]).values[0]
    (asked,), numbers = model.asked, range(4)
    np.testing.assert_array_equal(asked[0], train[11])
    bins = asked.copy()
    for j in numbers:
        bins[:, j] = np.searchsorted(np.unique(np.percentile(train[:, j], [25, 50, 75])), asked[:, j])
    like = (bins == bins[0]).astype(float)
    distance = np.sqrt((1 - like).sum(axis=1))
    weights = np.sqrt(np.exp(-(distance**2) / (0.75 * np.sqrt(5)) ** 2))
    expected = Ridge(alpha=1).fit(like, mixed_model(asked), sample_weight=weights).coef_
    np.testing.assert_allclose(explanations, expected, atol=error)


def test_coefficients_of_numbers_as_they_are_are_those_of_a_weighted_ridge_regression_on_deviations():
    train, model = mixed_rows(), Recorder(mixed_model)
    explanations = Lime(model, train, categorical=[4], samples=800, discretize=False).explain(train[11:12]).values[0]
    (asked,) = model.asked
    np.testing.assert_array_equal(asked[0], train[11])
    seen = (asked - train.mean(axis=0)) / train.std(axis=0)
    seen[:, 4] = asked[:, 4] == asked[0, 4]
    squared = ((seen - seen[0]) ** 2).sum(axis=1)
    weights = np.sqrt(np.exp(-squared / (0.75 * np.sqrt(5)) ** 2))
    expected = Ridge(alpha=1).fit(seen, mixed_model(asked), sample_weight=weights).coef_
    np.testing.assert_allclose(explanations, expected, atol=1e-9)


def test_drawn_values_stay_within_the_range_of_training_values():
    model = Recorder(indifferent)
    Lime(model, TUMORS).explain(TUMORS[:3])
    asked = model.asked[0][3:]
    assert (asked >= TUMORS.min(axis=0)).all()
    assert (asked <= TUMORS.max(axis=0)).all()


def test_a_category_is_drawn_as_often_as_training_rows_have_it():
    train, model = mixed_rows(), Recorder(indifferent)
    Lime(model, train, categorical=[4], samples=40_000).explain(train[:1])
    drawn = np.bincount(model.asked[0][:, 4].astype(int)) / 40_000
    np.testing.assert_allclose(drawn, np.bincount(train[:, 4].astype(int)) / 500, atol=0.01)


def test_where_there_are_many_features_tables_are_smaller_and_draws_alike():
    train, model = np.random.default_rng(0).normal(size=(300, 600)), Recorder(indifferent)
    Lime(model, train, samples=4000).explain(train[:1])
    for column in (0, 599):
        assert abs(model.asked[0][:, column].mean() - train[:, column].mean()) < 0.1
        assert abs((model.asked[0][:, column] <= np.percentile(train[:, column], 25)).mean() - 0.25) < 0.03


def test_a_row_in_a_quarter_that_no_training_row_is_in_differs_from_every_draw():
    train = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [1.0, 4.0]])  # the median of the first is 0.5
    values = Lime(lambda rows: (rows[:, 0] > 0.2) * 1.0, train, samples=2000).explain([[0.3, 2.0]]).values
    assert 0 < values[0, 0] < 0.5  # the row alone is in its quarter
    assert np.isfinite(values).all()


def test_many_categories_are_drawn_as_evenly_as_few():
    train, model = np.arange(40.0)[:, None], Recorder(indifferent)
    Lime(model, train, categorical=[0], samples=40_000).explain(train[:1])
    np.testing.assert_allclose(np.bincount(model.asked[0][:, 0].astype(int)) / 1000, 1, atol=0.15)


@pytest.mark.parametrize("draws", ["shared", "own"])
def test_the_model_is_asked_once_for_many_rows(draws):
    model = Recorder(lambda rows: PAIR.predict_proba(rows))
    Lime(model, IRIS, samples=500, draws=draws).explain(IRIS[:50])
    assert len(model.asked) == 1


def test_the_papers_picture_of_the_xor_model():
    """Appendix, figure 5: the first feature counts nothing and the second .44, for both rows, though labels differ."""
    train, rows = np.random.default_rng(0).normal(size=(4000, 2)), np.array([[2.5, 0.5], [-2.5, 0.5]])
    with pytest.warns(UserWarning, match="different class from row to row"):
        values = Lime(same_sign, train, class_index="predicted", samples=50_000, discretize=False).explain(rows).values
    assert same_sign(rows).tolist() == [1, 0]
    np.testing.assert_allclose(values[:, 0], 0, atol=0.06)
    np.testing.assert_allclose(values[:, 1], 0.44, atol=0.06)


def test_two_rows_of_the_xor_model_get_the_same_explanation_though_their_labels_differ():
    """Appendix: the first feature says nothing, the second speaks for the predicted class, on both rows."""
    train = np.array([(a, b) for a in (-2.5, 2.5) for b in [-0.5] * 61 + [0.5] * 39])
    rows = np.array([[2.5, 0.5], [-2.5, 0.5]])
    with pytest.warns(UserWarning, match="different class from row to row"):
        values = Lime(same_sign, train, class_index="predicted", samples=20_000).explain(rows).values
    assert same_sign(rows).tolist() == [1, 0]
    np.testing.assert_allclose(values[0], values[1], atol=0.05)
    assert (np.abs(values[:, 0]) < 0.05).all()
    assert (values[:, 1] > 0.15).all()


def test_of_even_training_rows_both_features_of_the_xor_model_count_alike():
    """By symmetry: quarters see no difference between the features; explaining class 1 turns the signs."""
    train = np.random.default_rng(0).uniform(-5, 5, (4000, 2))
    rows, options = np.array([[2.5, 0.5], [-2.5, 0.5]]), {"samples": 50_000}
    with pytest.warns(UserWarning, match="predicted"):
        values = Lime(same_sign, train, class_index="predicted", **options).explain(rows).values
    np.testing.assert_allclose(values, 0.081, atol=0.025)  # 2 · 2/3 · (0.561 - 1/2)
    fixed = Lime(same_sign, train, class_index=1, **options).explain(rows).values
    np.testing.assert_allclose(fixed, values * [[1], [-1]], atol=1e-9)


def test_rows_in_the_same_quarters_get_nearly_the_same_explanation_whatever_the_model_predicts():
    train = np.random.default_rng(0).normal(size=(2000, 2))
    rows = np.array([[0.1, 0.2], [0.6, 0.3]])

    def model(asked):
        return (asked[:, 0] > 0.3).astype(float)

    values = Lime(model, train, samples=20_000).explain(rows).values
    assert model(rows).tolist() == [0, 1]
    np.testing.assert_allclose(values[0], values[1], atol=0.05)
    assert values[0, 0] > 0.1


def test_different_rows_draw_independently_if_each_has_its_own_draws():
    model = Recorder(indifferent)
    Lime(model, TUMORS, samples=5000, draws="own").explain(TUMORS[:2])
    first, second = model.asked[0].reshape(2, 5000, 30)[:, 1:]
    assert abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) < 0.06
