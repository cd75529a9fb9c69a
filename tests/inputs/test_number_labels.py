"""Laws of numbers as labels: they are read like a tuple."""

import copy
import pickle

import numpy as np

from faithscope.inputs.labels import NumberLabels


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
