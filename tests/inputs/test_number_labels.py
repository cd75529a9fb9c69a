"""Laws of numbers as labels: what a plain sort says, whatever the numbers."""

import copy
import pickle

import numpy as np
import pytest

from faithscope.inputs.number_labels import NumberLabels, number_floats


def numbers(seed, rows):
    """Numbers of all magnitudes, nearly equal ones, equal ones, zeros of both signs and infinities."""
    generator = np.random.default_rng(seed)
    near = 1 + generator.integers(-50, 50, rows) * np.finfo(np.float64).eps  # told apart by their last bits only
    wide = generator.standard_normal(rows) * 10.0 ** generator.integers(-300, 300, rows)
    few = generator.choice([0.0, -0.0, 5e-324, -5e-324, np.inf, -np.inf, 1.5], rows)
    return np.select([generator.random(rows) < 0.3, generator.random(rows) < 0.5], [near, wide], few)


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 300, 200_000])
def test_numbers_are_numbered_as_a_plain_sort_would(rows):
    given = numbers(rows, rows)
    values, place = number_floats(given)
    expected, inverse = np.unique(given + 0.0, return_inverse=True)
    assert values.tolist() == expected.tolist()
    assert place.tolist() == inverse.reshape(-1).tolist()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_other_floats_keep_their_kind_and_order(kind):
    with np.errstate(over="ignore"):
        given = numbers(3, 500).astype(kind)
    if kind is np.longdouble:
        given = given + np.finfo(kind).eps * np.arange(500)  # less than float64 can tell
    values, place = number_floats(given)
    assert values.dtype == kind
    assert (values[1:] > values[:-1]).all()
    assert (values[place] == given).all()


def test_number_labels_are_read_like_a_tuple():
    labels = NumberLabels(np.array([-1.0, 0.5, 2.0]))
    told = (-1.0, 0.5, 2.0)
    assert labels == told
    assert told == labels
    assert labels != told[:2]
    assert hash(labels) == hash(told)
    assert labels[1:] == told[1:]
    assert type(labels[0]) is float
    assert [*labels] == [*told]
    assert np.asarray(labels, np.float64).tolist() == [*told]
    assert repr(labels) == repr(told)
    assert pickle.loads(pickle.dumps(labels)) == copy.deepcopy(labels) == told
