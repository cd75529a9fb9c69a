"""Lime of classes, numbers and rows of every kind; and what is refused."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

from explainers.systems import assert_refused, diabetes, network
from faithscope.errors import BadInput, WrongType
from faithscope.explainers import Lime
from refused import refused

IRIS, SPECIES = load_iris(return_X_y=True)


@cache
def garden(species=3):
    """A model of three species, or of two."""
    rows = slice(50 * species)
    return LogisticRegression(max_iter=1000).fit(IRIS[rows], SPECIES[rows])


def values(model, rows, train=IRIS, **how):
    return Lime(model, train, **{"samples": 300, **how}).explain(rows).values


def numbers(rows):
    """Numbers far from [0, 1]."""
    return 500 + 300 * rows.sum(axis=1)


def test_one_column_of_probabilities_is_that_of_class_1():
    for mode in (None, "classification", "regression"):
        column = values(lambda rows: garden(2).predict_proba(rows)[:, 1], IRIS[:4], mode=mode)
        np.testing.assert_allclose(values(garden(2), IRIS[:4]), column, atol=1e-12)


class Own:
    """What has predict alone, and is no known regressor."""

    def predict(self, rows):
        return numbers(rows)


def stage(rows):
    return np.digitize(rows.sum(axis=1), [10, 12, 14]).astype(float)


def test_a_constant_feature_gets_exactly_zero_and_rows_beyond_training_finite_numbers():
    train = np.column_stack([IRIS, np.full(150, 3.0)])
    found = values(lambda rows: garden(2).predict_proba(rows[:, :4]), train[:5], train)
    assert (found[:, 4] == 0).all()
    assert (found[:, :4] != 0).all()
    assert not np.signbit(found[:, 4]).any()
    assert np.isfinite(values(garden(2), [[1e6, -1e6, 0.0, 5.0]])).all()


def test_a_constant_model_gets_exactly_zero_and_so_does_the_only_training_row():
    for constant in (0.7, 1234.5):
        assert (values(lambda rows, constant=constant: np.full(len(rows), constant), IRIS[:5]) == 0).all()
    assert (values(garden(2), IRIS[:1], IRIS[:1]) == 0).all()
    assert np.isfinite(values(garden(2), IRIS[:60], IRIS[:1])).all()


def test_numbers_that_are_whole_throughout_a_quarter_are_asked_about_as_whole():
    train = np.array([[0.0, 3.0], [0.0, 4.0], [1.0, 5.0], [1.0, 6.0]])
    assert values(lambda rows: rows[:, 0] == 1, train[:1], train, samples=2000)[0, 0] < -0.5


def test_truth_values_stay_truth_values():
    train = pd.DataFrame({"age": [20, 35, 50, 65] * 25, "tall": [True, False] * 50, "short": [False, True] * 50})

    def model(rows):
        assert rows["tall"].dtype == bool
        return (rows["age"] > 40) * 0.6 + rows["tall"] * 0.3

    values = Lime(model, train, samples=2000).explain(train[:2]).values
    np.testing.assert_allclose(values[:, 1:], [[0.3, 0], [-0.3, 0]], atol=0.05)


@pytest.mark.filterwarnings("error")
def test_as_many_categories_as_a_byte_counts_are_explained():
    for many in (254, 255, 256):
        train = np.column_stack([np.arange(3 * many) % many, np.arange(3 * many) % 5])
        found = values(
            lambda rows, many=many: rows[:, 0] < many / 2, [[many - 1, 1], [many + 7, 2]], train, categorical=[0]
        )
        assert found[0, 0] < 0


def lime_of(model, train=IRIS, **how):
    """A call that must be refused, in the making or when rows are explained."""
    return lambda: Lime(model, train, **{"samples": 50, **how}).explain(train[:2])


def two_targets():
    model = LinearRegression().fit(IRIS, np.column_stack([SPECIES, SPECIES]))
    Lime(model, IRIS, samples=50).explain(IRIS[:1])


NO_CLASS = "class_index must be a class from 0 to 1"


def test_logits_of_a_module_are_refused():
    refused(BadInput, r"or logits.*a module that ends in a softmax", lime_of(network(3)))
    assert Lime(network(1), IRIS, samples=50).explain(IRIS[:2]).values.shape == (2, 4), "a single output is a number"


ONE_OUTPUT = "^A regression has one output and no classes: class_index must be None, got"
BAD_INPUT = [
    *[(lambda k=k: lime_of(garden(2), class_index=k)(), NO_CLASS) for k in (2, -1, "first", 1.5, True)],
    *[(lime_of(numbers, mode="regression", class_index=k), ONE_OUTPUT) for k in (0, 1, "predicted")],
    *[(lambda k=k: Lime(diabetes()[2], IRIS, class_index=k), ONE_OUTPUT) for k in (0, "predicted")],
    (lambda: Lime(diabetes()[2].predict, IRIS, class_index=1), ONE_OUTPUT),
    *[(lime_of(numbers, class_index=k), "class_index must be None") for k in (0, 1, "predicted")],
    (lambda: lime_of(garden().predict)(), "gave 2, or rows that do not sum to 1: no probabilities"),
    (lambda: lime_of(garden().decision_function)(), "Pass predict_proba"),
    (lime_of(stage), r'Pass predict_proba.* explained with mode="regression"'),
    (lambda: lime_of(garden(2).decision_function)(), r'Pass predict_proba.* explained with mode="regression"'),
    (lime_of(numbers, mode="classification"), "no probabilities"),
    (two_targets, "must give one number per row, got 2"),
    (lime_of(lambda rows: np.full(7, 0.5)), "gave 7 outputs for 51 rows"),
    (lime_of(lambda rows: np.full(7, 0.5), draws="own"), "gave 7 outputs for 50 rows"),
    *[(lime_of(numbers, samples=k), "samples must be a whole number of at least 2") for k in (1, 0, 2.5, True)],
    (lime_of(numbers, mode="number"), "mode must be one of 'classification', 'regression' or None; got 'number'"),
    (lime_of(numbers, draws="common"), "draws must be one of 'shared', 'own'; got 'common'"),
]
WRONG_TYPE = [
    (lime_of(3), "predict_proba"),
    (lime_of(Own()), "must have predict_proba"),
]


@pytest.mark.filterwarnings("ignore:class_index='predicted'")
def test_what_cannot_be_explained_is_refused():
    assert_refused({BadInput: BAD_INPUT, WrongType: WRONG_TYPE})
