"""Which classes Lime, Shap and Gradient explain: all of three, class 1 of two, or the one that is chosen."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from explainers.systems import library, network
from faithscope.explainers import Gradient, Lime, Shap

IRIS, SPECIES = load_iris(return_X_y=True)
FRAME = pd.DataFrame(IRIS, columns=["sl", "sw", "pl", "pw"])
NORMAL = pd.DataFrame(default_rng(0).normal(size=(15, 4)), columns=FRAME.columns)
LINEAR, FOREST = partial(LogisticRegression, max_iter=1000), partial(RandomForestClassifier, random_state=0)


@cache
def garden(species, kind=LINEAR):
    """A model of so many species."""
    rows = slice(50 * species)
    return kind().fit(FRAME[rows], SPECIES[rows])


def gradient(method):
    return lambda classes, **how: Gradient(network(classes if classes > 2 else 1), method=method, offset=True, **how)


MAKERS = {
    "lime": lambda classes, **how: Lime(garden(classes), FRAME, samples=300, **how),
    "lime, own draws": lambda classes, **how: Lime(garden(classes), FRAME, samples=300, draws="own", **how),
    "shap": lambda classes, **how: Shap(garden(classes), FRAME[::20], output="probability", **how),
    "shap of trees": lambda classes, **how: Shap(garden(classes, FOREST), FRAME[::20], **how),
    "shap of margins": lambda classes, **how: Shap(garden(classes), FRAME[::20], output="margin", **how),
    **{method: gradient(method) for method in ("gradient", "gradient x input", "integrated gradients")},
}


def outputs(name, rows):
    if "gradient" in name:
        return network(3)(library("torch").tensor(rows.to_numpy(np.float32))).detach().numpy()
    return garden(3, FOREST if "trees" in name else LINEAR).predict_proba(rows)


@pytest.mark.parametrize("name", MAKERS)
def test_all_of_three_classes_are_explained_and_named_unless_one_is_chosen(name):
    make, rows = MAKERS[name], NORMAL if "gradient" in name else FRAME[::10]
    every = make(3).explain(rows)
    by_class = every.values.reshape(15, 3, -1)
    near = {"rtol": 0, "atol": 0} if "shap" in name else {"rtol": 1e-9, "atol": 1e-12}
    for number in range(3):
        alone = make(3, class_index=number).explain(rows)
        assert alone.names == (*FRAME, *["offset"] * ("gradient" in name))
        np.testing.assert_allclose(alone.values, by_class[:, number], **near)
    assert every.names == tuple(f"{feature} | class {number}" for number in range(3) for feature in alone.names)
    predicted = make(3, class_index="predicted").explain(rows)
    assert "so that equal numbers may speak of different classes" in predicted.notes[0]
    predicted = predicted.values
    best = outputs(name, rows).argmax(axis=1)
    assert len(set(best)) > 1
    np.testing.assert_allclose(predicted, by_class[range(15), best], **near)
    assert make(3).explain(rows[:0]).values.shape == (0, every.values.shape[1])
    if name in ("lime", "lime, own draws", "shap"):  # as probabilities sum to one
        np.testing.assert_allclose(by_class.sum(axis=1), 0, atol=1e-6)


@pytest.mark.parametrize("name", MAKERS)
def test_of_two_classes_class_1_is_explained_which_a_single_output_is(name):
    default, one, zero = (MAKERS[name](2, class_index=number).explain(FRAME[:9]).values for number in (None, 1, 0))
    np.testing.assert_array_equal(default, one)
    np.testing.assert_allclose(one, -zero, rtol=0, atol=0 if "margins" in name or "gradient" in name else 1e-9)
