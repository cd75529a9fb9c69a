"""Fingerprints: equal for equal things in any process, different for things that answer differently."""

import subprocess
import sys
from collections import OrderedDict
from functools import cached_property, partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from faithscope.errors import WrongType
from faithscope.fingerprint import fingerprint

X, Y = load_breast_cancer(return_X_y=True)
MODELS = {
    "forest": lambda seed: RandomForestClassifier(5, random_state=seed).fit(X, Y),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=5, max_depth=seed + 2, random_state=0).fit(X, Y),
    "pipeline": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(C=seed + 1)).fit(X, Y),
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4)
    | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def same(a, b):
    """Equality that tells 1 from 1.0 and True, and -0.0 from 0.0, at any depth."""
    return repr(a) == repr(b)


@given(VALUES, VALUES)
def test_two_values_have_one_fingerprint_exactly_where_they_are_the_same(a, b):
    assert (fingerprint(a) == fingerprint(b)) == same(a, b)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_fitted_alike_is_the_same_and_predicting_changes_nothing(name):
    model = MODELS[name](0)
    before = fingerprint(model)
    model.predict(X)
    assert fingerprint(model) == before == fingerprint(MODELS[name](0))
    assert fingerprint(MODELS[name](1)) != before


def test_tables_differ_by_names_types_and_values():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    others = [
        table.rename(columns={"a": "c"}),
        table.assign(a=[1, 3]),
        table.assign(a=[1.0, 2.0]),
        table.assign(b=["x", "z"]),
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    ]
    assert len({fingerprint(one) for one in [table, *others]}) == 6
    assert fingerprint(table.copy()) == fingerprint(table)
    assert fingerprint(sparse.csr_matrix([[0, 1]])) != fingerprint(sparse.csr_matrix([[0, 2]]))


def test_arrays_differ_by_shape_and_type():
    arrays = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, object), np.zeros(4, int)]
    assert len({fingerprint(one) for one in arrays}) == 5
    assert fingerprint(np.arange(10)[::2]) == fingerprint(np.array([0, 2, 4, 6, 8]))


def test_a_function_is_its_code_and_what_it_refers_to():
    def scaled(by):
        return lambda rows: rows * by

    assert fingerprint(scaled(2)) == fingerprint(scaled(2)) != fingerprint(scaled(3))
    assert fingerprint(lambda rows: rows + 1) != fingerprint(lambda rows: rows + 2)
    assert fingerprint(partial(scaled, 2)) != fingerprint(partial(scaled, 3))
    assert fingerprint(scaled(np.array([1.0]))) != fingerprint(scaled(np.array([2.0])))


def test_what_an_object_merely_remembers_does_not_count():
    class Lazy:
        def __init__(self, by):
            self.by = by

        @cached_property
        def table(self):
            return np.arange(self.by)

    one = Lazy(3)
    before = fingerprint(one)
    assert len(one.table) == 3
    assert fingerprint(one) == before != fingerprint(Lazy(4))


def test_things_that_hold_themselves_end():
    one: list = [1]
    one.append(one)
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(OrderedDict(a=1)) != fingerprint(OrderedDict(a=2))


def test_what_cannot_be_taken_apart_is_an_error():
    with pytest.raises(WrongType, match="cannot be told from others"):
        fingerprint(one for one in range(3))


def test_numpys_global_chance_is_known_by_its_name():
    def drawn(rows):
        return np.random.permutation(len(rows))  # noqa: NPY002

    before = fingerprint(drawn, np.random.mtrand._rand)
    drawn([1, 2, 3])
    assert fingerprint(drawn, np.random.mtrand._rand) == before


def test_another_process_finds_the_same():
    code = (
        "from sklearn.tree import DecisionTreeClassifier; import numpy as np;"
        "from faithscope.fingerprint import fingerprint; X = np.arange(40.).reshape(20, 2);"
        "tree = DecisionTreeClassifier(random_state=0).fit(X, X[:, 0] > 9);"
        "print(fingerprint(tree, {'a', 'b', 'c'}, lambda rows: tree.predict(rows)))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
