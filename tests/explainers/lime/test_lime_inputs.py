"""Lime over rows of every kind, the same in any batch; and what is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression

import faithscope as fs
import faithscope.explainers.lime.own as module
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.lime.explainer import Lime

IRIS, SPECIES = load_iris(return_X_y=True)
TUMORS = load_breast_cancer().data
GARDEN = LogisticRegression(max_iter=1000).fit(IRIS, SPECIES)
PAIR = LogisticRegression(max_iter=1000).fit(IRIS[:100], SPECIES[:100])  # of two species, two classes


@pytest.mark.parametrize("draws", ["shared", "own"])
def test_the_same_seed_gives_the_same_explanations_and_another_seed_others(draws):
    first, again, other = (
        Lime(PAIR, IRIS, samples=300, seed=s, draws=draws).explain(IRIS[:5]).values for s in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_a_row_gets_the_same_explanation_alone_and_in_any_batch(monkeypatch):
    explainer = Lime(GARDEN, IRIS, samples=400, draws="own")
    whole = explainer.explain(IRIS[:23]).values
    alone = np.concatenate([explainer.explain(IRIS[[row]]).values for row in range(23)])
    backwards = explainer.explain(IRIS[22::-1]).values[::-1]
    monkeypatch.setattr(module, "VALUES", 400 * 4 * 5)
    for other in (alone, backwards, explainer.explain(IRIS[:23]).values):
        np.testing.assert_allclose(other, whole, atol=1e-9, rtol=0)


def test_it_pickles_and_explains_the_same_afterwards():
    explainer = Lime(PAIR, IRIS, samples=300)
    again = pickle.loads(pickle.dumps(explainer))
    np.testing.assert_array_equal(explainer.explain(IRIS[:3]).values, again.explain(IRIS[:3]).values)
    assert repr(again).endswith(
        "X_train=(150, 4), class_index=None, categorical=(), samples=300, discretize=True, seed=0, mode=None, "
        "draws='shared')"
    )


def test_one_row_and_none_are_explained():
    explainer = Lime(PAIR, IRIS, samples=100)
    assert explainer.explain(IRIS[:1]).values.shape == (1, 4)
    none = explainer.explain(IRIS[:0])
    assert none.values.shape == (0, 4)
    assert none.join(explainer.explain(IRIS[:2])).values.shape == (2, 4)
    assert Lime(GARDEN, IRIS, samples=100).explain(IRIS[:0]).values.shape == (0, 12)


def test_progress_counts_the_rows(monkeypatch):
    monkeypatch.setattr(module, "VALUES", 2 * 100 * 4)
    calls = []
    Lime(PAIR, IRIS, samples=100, draws="own").explain(IRIS[:5], progress=lambda *call: calls.append(call))
    assert calls == [(2, 5), (4, 5), (5, 5)]


def test_a_row_too_wide_for_a_part_is_explained_on_its_own(monkeypatch):
    monkeypatch.setattr(module, "VALUES", 1)
    assert Lime(PAIR, IRIS, samples=50, draws="own").explain(IRIS[:3]).values.shape == (3, 4)


def test_explanations_are_measured_as_they_come():
    explanations = Lime(PAIR, IRIS, samples=200).explain(IRIS[:100])
    assert fs.consistency(explanations, PAIR.predict(IRIS[:100]), discretizer=fs.Sign()).n == 100


def test_of_three_classes_every_one_is_explained_and_named():
    frame = pd.DataFrame(IRIS, columns=["sl", "sw", "pl", "pw"])
    explanations = Lime(lambda rows: GARDEN.predict_proba(rows.to_numpy()), frame, samples=300).explain(frame[:6])
    assert explanations.names is not None
    assert explanations.names[:5] == ("sl | class 0", "sw | class 0", "pl | class 0", "pw | class 0", "sl | class 1")
    for number in range(3):
        single = Lime(GARDEN, IRIS, class_index=number, samples=300).explain(IRIS[:6])
        np.testing.assert_allclose(explanations.values[:, 4 * number : 4 * number + 4], single.values, atol=1e-12)
        assert single.names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize(("draws", "error"), [("shared", 1e-6), ("own", 1e-9)])
def test_probabilities_that_sum_to_one_make_coefficients_that_sum_to_zero(draws, error):
    values = Lime(GARDEN, IRIS, samples=300, draws=draws).explain(IRIS[:6]).values
    np.testing.assert_allclose(values.reshape(6, 3, 4).sum(axis=1), 0, atol=error)


def test_of_two_classes_class_1_is_explained():
    default, first, zero = (Lime(PAIR, IRIS, class_index=c, samples=300).explain(IRIS[:4]) for c in (None, 1, 0))
    np.testing.assert_array_equal(default.values, first.values)
    np.testing.assert_allclose(first.values, -zero.values, atol=1e-9)


def test_one_column_of_probabilities_is_class_1():
    both = Lime(PAIR, IRIS, samples=300).explain(IRIS[:4]).values
    single = Lime(lambda rows: PAIR.predict_proba(rows)[:, 1], IRIS, samples=300).explain(IRIS[:4]).values
    np.testing.assert_allclose(both, single, atol=1e-12)


def test_the_predicted_class_is_explained_with_a_warning():
    chosen = [0, 60, 120]
    with pytest.warns(UserWarning, match="different class from row to row"):
        values = Lime(GARDEN, IRIS, class_index="predicted", samples=300).explain(IRIS[chosen]).values
    every = Lime(GARDEN, IRIS, samples=300).explain(IRIS[chosen]).values.reshape(3, 3, 4)
    np.testing.assert_allclose(values, every[range(3), GARDEN.predict(IRIS[chosen])], atol=1e-12)


@pytest.mark.parametrize("wrong", [2, -1, "first", 1.5, True])
def test_a_class_that_does_not_exist_is_refused(wrong):
    with pytest.raises(BadInput, match="class_index must be a class from 0 to 1"):
        Lime(PAIR, IRIS, class_index=wrong, samples=50).explain(IRIS[:1])


@pytest.mark.parametrize("discretize", [True, False])
def test_a_constant_feature_gets_exactly_zero(discretize):
    train = np.column_stack([IRIS, np.full(150, 3.0)])
    explainer = Lime(lambda rows: PAIR.predict_proba(rows[:, :4]), train, samples=300, discretize=discretize)
    values = explainer.explain(train[:5]).values
    assert (values[:, 4] == 0).all()
    assert (values[:, :4] != 0).all()
    assert not np.signbit(values[:, 4]).any()


def test_a_constant_model_gets_exactly_zero():
    assert (Lime(lambda rows: np.full(len(rows), 0.7), IRIS, samples=300).explain(IRIS[:5]).values == 0).all()


@pytest.mark.parametrize("discretize", [True, False])
def test_a_row_outside_the_training_range_gets_finite_numbers(discretize):
    values = Lime(PAIR, IRIS, samples=300, discretize=discretize).explain([[1e6, -1e6, 0.0, 5.0]]).values
    assert np.isfinite(values).all()


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

    explanations = Lime(model, train, samples=2000).explain(train[:3])
    assert explanations.names == ("age", "job", "tall")
    np.testing.assert_allclose(explanations.values[[0, 2], 1], 0.8, atol=0.05)
    np.testing.assert_allclose(explanations.values[:, 2], 0, atol=0.05)


def test_truth_values_are_categories_where_numbers_are_seen_as_they_are():
    train = pd.DataFrame({"tall": [True, False] * 50, "age": np.arange(100.0)})

    def model(rows):
        assert set(rows["tall"]) == {True, False}
        return rows["tall"] * 0.8

    values = Lime(model, train, samples=2000, discretize=False).explain(train[:2]).values
    np.testing.assert_allclose(values, [[0.8, 0], [-0.8, 0]], atol=0.05)


def test_labels_where_probabilities_are_wanted_are_refused():
    with pytest.raises(BadInput, match="gave 2, which is no probability from 0 to 1"):
        Lime(GARDEN.predict, IRIS, samples=200).explain(IRIS[:2])
    with pytest.raises(BadInput, match="Pass predict_proba"):
        Lime(GARDEN.decision_function, IRIS, samples=200).explain(IRIS[:2])


def test_probabilities_in_single_precision_may_be_rounded_past_one():
    rounded = Lime(lambda rows: np.full(len(rows), np.float32(1 + 1e-7)), IRIS, samples=50)
    assert rounded.explain(IRIS[:1]).values.shape == (1, 4)


def test_another_number_of_probabilities_than_rows_is_refused():
    for draws, rows in (("shared", 51), ("own", 100)):
        with pytest.raises(BadInput, match=f"gave 7 outputs for {rows} rows"):
            Lime(lambda rows: np.full(7, 0.5), IRIS, samples=50, draws=draws).explain(IRIS[:2])


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


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_logits_of_a_torch_module_are_explained_as_probabilities(classes):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Linear(3, classes).double()
    rows = np.random.default_rng(0).normal(size=(60, 3)) * 9
    last = torch.nn.Sigmoid() if classes == 1 else torch.nn.Softmax(1)
    of_logits = Lime(net, rows, samples=99, mode="classification").explain(rows[:5])
    of_chances = Lime(torch.nn.Sequential(net, last), rows, samples=99, mode="classification").explain(rows[:5])
    np.testing.assert_allclose(of_logits.values, of_chances.values, atol=1e-9)
    assert [len(each.remarks) for each in (of_logits, of_chances)] == [1, 0]
    assert not Lime(net, rows, samples=99).explain(rows[:2]).remarks or classes > 1, "one number may be a regression's"
