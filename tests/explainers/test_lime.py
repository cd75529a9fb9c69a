"""Lime is lime's algorithm, as a function of the row alone; and what the paper says of it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
import faithscope.explainers.lime as module
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.lime import Lime

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


class Recorder:
    """A model that remembers the rows it was asked about."""

    def __init__(self, model):
        self.model, self.asked = model, []

    def __call__(self, rows):
        self.asked.append(rows.copy())
        return self.model(rows)


def lime_coefficients(train, row, model, seed, samples, categorical=()):
    tabular = pytest.importorskip("lime.lime_tabular")
    asked = {"categorical_features": categorical, "feature_selection": "none", "random_state": seed}

    def both(rows):
        return np.column_stack([1 - model(rows), model(rows)])

    found = tabular.LimeTabularExplainer(train, **asked).explain_instance(
        row, both, num_features=len(row), num_samples=samples
    )
    return [coefficient for _, coefficient in sorted(found.local_exp[1])]


def both_over_seeds(train, rows, model, samples, seeds, categorical=()):
    """Coefficients of lime and of ours: two arrays (seeds, rows, features)."""
    theirs = [[lime_coefficients(train, row, model, s, samples, categorical) for row in rows] for s in range(seeds)]
    options = {"samples": samples, "categorical": categorical}
    ours = [Lime(model, train, seed=seed, **options).explain(rows).values for seed in range(seeds)]
    return np.array(theirs), np.array(ours)


def assert_alike(theirs, ours):
    """No bias beyond four standard errors, and the same noise from seed to seed."""
    error = np.sqrt((theirs.var(axis=0, ddof=1) + ours.var(axis=0, ddof=1)) / len(ours))
    assert (np.abs(theirs.mean(axis=0) - ours.mean(axis=0)) <= 4 * error).all()
    noise = ours.std(axis=0).mean(axis=0) / theirs.std(axis=0).mean(axis=0)
    assert ((noise > 1 / 2) & (noise < 2)).all()
    assert 1 / 1.2 < np.median(noise) < 1.2


def test_coefficients_agree_with_lime_within_its_own_noise_on_numbers_and_a_category():
    train = mixed_rows()
    assert_alike(*both_over_seeds(train, train[:4], mixed_model, 1000, 40, categorical=[4]))


def test_coefficients_agree_with_lime_within_its_own_noise_on_thirty_features():
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(TUMORS, MALIGNANT)
    theirs, ours = both_over_seeds(TUMORS, TUMORS[:2], lambda rows: tree.predict_proba(rows)[:, 1], 1000, 20)
    assert_alike(theirs, ours)


def test_a_single_run_with_many_samples_agrees_with_lime():
    train = mixed_rows()
    theirs = lime_coefficients(train, train[7], mixed_model, 0, 100_000, [4])
    ours = Lime(mixed_model, train, categorical=[4], samples=100_000).explain(train[7:8]).values[0]
    np.testing.assert_allclose(ours, theirs, atol=0.015)


def test_the_model_is_asked_about_rows_distributed_as_in_lime():
    train, theirs, ours = mixed_rows(), Recorder(mixed_model), Recorder(mixed_model)
    lime_coefficients(train, train[3], theirs, 0, 20_000, [4])
    Lime(ours, train, categorical=[4], samples=20_000).explain(train[3:4])
    for column in range(5):
        # lime draws a value that fills a quarter less 1e-11; rounded, the two are equal
        pair = theirs.asked[0][:, column].round(6), ours.asked[0][:, column].round(6)
        assert ks_2samp(*pair).pvalue > 0.001


def test_where_the_least_value_is_common_it_is_drawn_where_lime_draws_zero():
    train = np.column_stack([np.repeat([5.0, 6.0, 9.0], [60, 20, 20]), np.arange(100.0)])
    theirs, ours = Recorder(indifferent), Recorder(indifferent)
    lime_coefficients(train, train[0], theirs, 0, 200)
    Lime(ours, train, samples=200).explain(train[:1])
    assert 0.0 in theirs.asked[0][:, 0]
    assert set(ours.asked[0][:, 0]) == {5.0, 6.0, 9.0}


def indifferent(rows):
    return 0.5 + 0.0 * rows[:, 0]


def test_coefficients_are_those_of_a_weighted_ridge_regression_on_staying_in_the_same_quarter():
    train, model = mixed_rows(), Recorder(mixed_model)
    found = Lime(model, train, categorical=[4], samples=800).explain(train[11:12]).values[0]
    (asked,), numbers = model.asked, range(4)
    np.testing.assert_array_equal(asked[0], train[11])
    bins = asked.copy()
    for j in numbers:
        bins[:, j] = np.searchsorted(np.unique(np.percentile(train[:, j], [25, 50, 75])), asked[:, j])
    like = (bins == bins[0]).astype(float)
    distance = np.sqrt((1 - like).sum(axis=1))
    weights = np.sqrt(np.exp(-(distance**2) / (0.75 * np.sqrt(5)) ** 2))
    expected = Ridge(alpha=1).fit(like, mixed_model(asked), sample_weight=weights).coef_
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_drawn_values_stay_within_the_range_of_training_values():
    model = Recorder(indifferent)
    Lime(model, TUMORS).explain(TUMORS[:3])
    asked = model.asked[0].reshape(3, 5000, 30)[:, 1:]
    assert (asked >= TUMORS.min(axis=0)).all()
    assert (asked <= TUMORS.max(axis=0)).all()


def test_a_category_is_drawn_as_often_as_training_rows_have_it():
    train, model = mixed_rows(), Recorder(indifferent)
    Lime(model, train, categorical=[4], samples=40_000).explain(train[:1])
    drawn = np.bincount(model.asked[0][:, 4].astype(int)) / 40_000
    np.testing.assert_allclose(drawn, np.bincount(train[:, 4].astype(int)) / 500, atol=0.01)


def test_many_categories_are_drawn_as_evenly_as_few():
    train, model = np.arange(40.0)[:, None], Recorder(indifferent)
    Lime(model, train, categorical=[0], samples=40_000).explain(train[:1])
    np.testing.assert_allclose(np.bincount(model.asked[0][:, 0].astype(int)) / 1000, 1, atol=0.15)


def test_the_model_is_asked_once_for_many_rows():
    model = Recorder(lambda rows: PAIR.predict_proba(rows))
    Lime(model, IRIS, samples=500).explain(IRIS[:50])
    assert len(model.asked) == 1


def test_two_rows_of_the_xor_model_get_the_same_explanation_though_their_labels_differ():
    """Appendix: the first feature says nothing, the second speaks for the predicted class, on both rows."""
    train = np.array([(a, b) for a in (-2.5, 2.5) for b in [-0.5] * 61 + [0.5] * 39])
    rows = np.array([[2.5, 0.5], [-2.5, 0.5]])
    with pytest.warns(UserWarning, match="different class from row to row"):
        found = Lime(same_sign, train, class_index="predicted", samples=20_000).explain(rows).values
    assert same_sign(rows).tolist() == [1, 0]
    np.testing.assert_allclose(found[0], found[1], atol=0.05)
    assert (np.abs(found[:, 0]) < 0.05).all()
    assert (found[:, 1] > 0.15).all()


def test_of_even_training_rows_both_features_of_the_xor_model_count_alike():
    """By symmetry: quarters see no difference between the features; explaining class 1 turns the signs."""
    train = np.random.default_rng(0).uniform(-5, 5, (4000, 2))
    rows, options = np.array([[2.5, 0.5], [-2.5, 0.5]]), {"samples": 50_000}
    with pytest.warns(UserWarning, match="predicted"):
        found = Lime(same_sign, train, class_index="predicted", **options).explain(rows).values
    np.testing.assert_allclose(found, 0.081, atol=0.025)  # 2 · 2/3 · (0.561 - 1/2)
    fixed = Lime(same_sign, train, class_index=1, **options).explain(rows).values
    np.testing.assert_allclose(fixed, found * [[1], [-1]], atol=1e-9)


def test_rows_in_the_same_quarters_get_nearly_the_same_explanation_whatever_the_model_predicts():
    train = np.random.default_rng(0).normal(size=(2000, 2))
    rows = np.array([[0.1, 0.2], [0.6, 0.3]])

    def model(asked):
        return (asked[:, 0] > 0.3).astype(float)

    found = Lime(model, train, samples=20_000).explain(rows).values
    assert model(rows).tolist() == [0, 1]
    np.testing.assert_allclose(found[0], found[1], atol=0.05)
    assert found[0, 0] > 0.1


def test_the_same_seed_gives_the_same_explanations_and_another_seed_others():
    first, again, other = (Lime(PAIR, IRIS, samples=300, seed=s).explain(IRIS[:5]).values for s in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_a_row_gets_the_same_explanation_alone_and_in_any_batch(monkeypatch):
    explainer = Lime(GARDEN, IRIS, samples=400)
    whole = explainer.explain(IRIS[:23]).values
    alone = np.concatenate([explainer.explain(IRIS[[row]]).values for row in range(23)])
    backwards = explainer.explain(IRIS[22::-1]).values[::-1]
    monkeypatch.setattr(module, "_VALUES", 400 * 4 * 5)
    for other in (alone, backwards, explainer.explain(IRIS[:23]).values):
        np.testing.assert_allclose(other, whole, atol=1e-9, rtol=0)


def test_different_rows_draw_independently():
    model = Recorder(indifferent)
    Lime(model, TUMORS, samples=5000).explain(TUMORS[:2])
    first, second = model.asked[0].reshape(2, 5000, 30)[:, 1:]
    assert abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) < 0.06


def test_it_pickles_and_explains_the_same_afterwards():
    explainer = Lime(PAIR, IRIS, samples=300)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(explainer.explain(IRIS[:3]).values, again.explain(IRIS[:3]).values)
    assert repr(again) == "Lime(class_index=None, samples=300, seed=0)"


def test_one_row_and_none_are_explained():
    explainer = Lime(PAIR, IRIS, samples=100)
    assert explainer.explain(IRIS[:1]).values.shape == (1, 4)
    none = explainer.explain(IRIS[:0])
    assert none.values.shape == (0, 4)
    assert none.join(explainer.explain(IRIS[:2])).values.shape == (2, 4)
    assert Lime(GARDEN, IRIS, samples=100).explain(IRIS[:0]).values.shape == (0, 12)


def test_progress_counts_the_rows(monkeypatch):
    monkeypatch.setattr(module, "_VALUES", 2 * 100 * 4)
    calls = []
    Lime(PAIR, IRIS, samples=100).explain(IRIS[:5], progress=lambda *call: calls.append(call))
    assert calls == [(2, 5), (4, 5), (5, 5)]


def test_a_row_too_wide_for_a_part_is_explained_on_its_own(monkeypatch):
    monkeypatch.setattr(module, "_VALUES", 1)
    assert Lime(PAIR, IRIS, samples=50).explain(IRIS[:3]).values.shape == (3, 4)


def test_explanations_are_measured_as_they_come():
    found = Lime(PAIR, IRIS, samples=200).explain(IRIS[:100])
    assert fs.consistency(found, PAIR.predict(IRIS[:100]), discretizer=fs.Sign()).n == 100


def test_of_three_classes_every_one_is_explained_and_named():
    frame = pd.DataFrame(IRIS, columns=["sl", "sw", "pl", "pw"])
    found = Lime(lambda rows: GARDEN.predict_proba(rows.to_numpy()), frame, samples=300).explain(frame[:6])
    assert found.names is not None
    assert found.names[:5] == ("sl | class 0", "sw | class 0", "pl | class 0", "pw | class 0", "sl | class 1")
    for one in range(3):
        single = Lime(GARDEN, IRIS, class_index=one, samples=300).explain(IRIS[:6])
        np.testing.assert_allclose(found.values[:, 4 * one : 4 * one + 4], single.values, atol=1e-12)
        assert single.names == ("x0", "x1", "x2", "x3")


def test_probabilities_that_sum_to_one_make_coefficients_that_sum_to_zero():
    found = Lime(GARDEN, IRIS, samples=300).explain(IRIS[:6]).values
    np.testing.assert_allclose(found.reshape(6, 3, 4).sum(axis=1), 0, atol=1e-9)


def test_of_two_classes_class_1_is_explained():
    default, one, zero = (Lime(PAIR, IRIS, class_index=c, samples=300).explain(IRIS[:4]) for c in (None, 1, 0))
    np.testing.assert_array_equal(default.values, one.values)
    np.testing.assert_allclose(one.values, -zero.values, atol=1e-9)


def test_one_column_of_probabilities_is_class_1():
    both = Lime(PAIR, IRIS, samples=300).explain(IRIS[:4]).values
    single = Lime(lambda rows: PAIR.predict_proba(rows)[:, 1], IRIS, samples=300).explain(IRIS[:4]).values
    np.testing.assert_allclose(both, single, atol=1e-12)


def test_the_predicted_class_is_explained_with_a_warning():
    chosen = [0, 60, 120]
    with pytest.warns(UserWarning, match="different class from row to row"):
        found = Lime(GARDEN, IRIS, class_index="predicted", samples=300).explain(IRIS[chosen]).values
    every = Lime(GARDEN, IRIS, samples=300).explain(IRIS[chosen]).values.reshape(3, 3, 4)
    np.testing.assert_allclose(found, every[range(3), GARDEN.predict(IRIS[chosen])], atol=1e-12)


@pytest.mark.parametrize("wrong", [2, -1, "first", 1.5, True])
def test_a_class_that_does_not_exist_is_refused(wrong):
    with pytest.raises(BadInput, match="class_index must be a class from 0 to 1"):
        Lime(PAIR, IRIS, class_index=wrong, samples=50).explain(IRIS[:1])


def test_a_constant_feature_gets_exactly_zero():
    train = np.column_stack([IRIS, np.full(150, 3.0)])
    explainer = Lime(lambda rows: PAIR.predict_proba(rows[:, :4]), train, samples=300)
    found = explainer.explain(train[:5]).values
    assert (found[:, 4] == 0).all()
    assert (found[:, :4] != 0).all()
    assert not np.signbit(found[:, 4]).any()


def test_a_constant_model_gets_exactly_zero():
    assert (Lime(lambda rows: np.full(len(rows), 0.7), IRIS, samples=300).explain(IRIS[:5]).values == 0).all()


def test_a_row_outside_the_training_range_gets_finite_numbers():
    found = Lime(PAIR, IRIS, samples=300).explain([[1e6, -1e6, 0.0, 5.0]]).values
    assert np.isfinite(found).all()


def test_one_training_row_is_enough_and_leaves_nothing_to_say_of_itself():
    explainer = Lime(PAIR, IRIS[:1], samples=50)
    assert (explainer.explain(IRIS[:1]).values == 0).all()
    assert np.isfinite(explainer.explain(IRIS[:60]).values).all()


def test_numbers_that_are_whole_throughout_a_quarter_are_asked_about_as_whole():
    train = np.array([[0.0, 3.0], [0.0, 4.0], [1.0, 5.0], [1.0, 6.0]])
    explainer = Lime(lambda rows: rows[:, 0] == 1, train, samples=2000)
    assert explainer.explain(train[:1]).values[0, 0] < -0.5


def test_a_model_trained_on_a_table_is_asked_about_a_table():
    train = pd.DataFrame(
        {"age": [20, 35, 50, 65] * 25, "job": ["clerk", "smith", "clerk", "nurse"] * 25, "tall": [True, False] * 50}
    )

    def model(rows):
        assert list(rows.columns) == ["age", "job", "tall"]
        assert rows["tall"].dtype == bool
        assert set(rows["job"]) <= {"clerk", "smith", "nurse"}
        return (rows["job"] == "clerk") * 0.8 + (rows["age"] > 40) * 0.1

    found = Lime(model, train, samples=2000).explain(train[:3])
    assert found.names == ("age", "job", "tall")
    np.testing.assert_allclose(found.values[[0, 2], 1], 0.8, atol=0.05)
    np.testing.assert_allclose(found.values[:, 2], 0, atol=0.05)


def test_a_category_that_training_does_not_have_is_named():
    train = pd.DataFrame({"job": ["clerk", "smith"] * 5, "age": range(10)})
    explainer = Lime(lambda rows: rows["age"] > 4, train, samples=50)
    with pytest.raises(BadInput, match="Column 'job' holds 'pilot' at row 1"):
        explainer.explain(pd.DataFrame({"job": ["clerk", "pilot"], "age": [1, 2]}))


def test_labels_where_probabilities_are_wanted_are_refused():
    with pytest.raises(BadInput, match="gave 2 where a probability, 0 to 1, is wanted: labels or scores"):
        Lime(GARDEN.predict, IRIS, samples=200).explain(IRIS[:2])
    with pytest.raises(BadInput, match="Pass predict_proba"):
        Lime(GARDEN.decision_function, IRIS, samples=200).explain(IRIS[:2])


def test_probabilities_in_single_precision_may_be_rounded_past_one():
    rounded = Lime(lambda rows: np.full(len(rows), np.float32(1 + 1e-7)), IRIS, samples=50)
    assert rounded.explain(IRIS[:1]).values.shape == (1, 4)


def test_another_number_of_probabilities_than_rows_is_refused():
    with pytest.raises(BadInput, match="gave 7 probabilities for 100 rows"):
        Lime(lambda rows: np.full(7, 0.5), IRIS, samples=50).explain(IRIS[:2])


def test_what_is_no_model_is_refused():
    with pytest.raises(WrongType, match="predict_proba"):
        Lime(3, IRIS, samples=50).explain(IRIS[:1])


@pytest.mark.parametrize("samples", [1, 0, 2.5, True])
def test_too_few_samples_are_refused(samples):
    with pytest.raises(BadInput, match="samples must be a whole number of at least 2"):
        Lime(PAIR, IRIS, samples=samples)


def test_nothing_is_warned_of_where_all_is_well():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(Lime(GARDEN, IRIS, samples=50).explain(IRIS[:2])) == 2
