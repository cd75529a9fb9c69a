"""Whatever a caller has becomes explanations; equal ones are equal."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shap

import faithscope as fs
from faithscope.discretizers import discretize
from faithscope.errors import Incompatible
from faithscope.explanations.keys import Plain, Records
from faithscope.readers import as_explanations

VALUES = np.array([[0.5, -1.0], [0.5, -1.0], [0.0, 2.0]])
WORDS = ["dull", "dull", "great"]


@pytest.mark.parametrize(
    "given",
    [
        VALUES,
        np.asfortranarray(VALUES),
        VALUES[:, ::-1][:, ::-1],
        VALUES.astype(np.float32),
        VALUES.tolist(),
        list(VALUES),
        pd.DataFrame(VALUES, columns=["a", "b"], index=[7, 7, 9]),
        pd.DataFrame({"a": pd.array([0.5, 0.5, 0.0], "Float64"), "b": [-1, -1, 2]}),
        pl.DataFrame(VALUES, schema=["a", "b"]),
        pa.table({"a": VALUES[:, 0], "b": VALUES[:, 1]}),
        pa.record_batch({"a": VALUES[:, 0], "b": VALUES[:, 1]}),
        pl.Series(VALUES.tolist()),
        pa.array(VALUES.tolist()),
        pd.Series(VALUES.tolist()),
        shap.Explanation(VALUES, base_values=np.zeros(3), feature_names=["a", "b"]),
        fs.Importances(VALUES),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]}.{type(given).__name__}",
)
def test_rows_of_numbers_are_importances(given):
    explanations = as_explanations(given)
    assert isinstance(explanations, fs.Importances)
    assert explanations.values.tolist() == VALUES.tolist()
    assert explanations.group()[0].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "given",
    [
        WORDS,
        tuple(WORDS),
        np.array(WORDS),
        np.array(WORDS, object),
        np.array(WORDS, np.dtypes.StringDType()),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype="string"),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Categorical),
        pa.array(WORDS),
        pa.chunked_array([WORDS[:1], WORDS[1:]]),
        pa.array(WORDS).dictionary_encode(),
        pa.chunked_array([pa.array(WORDS).dictionary_encode()]),
        [("dull", 1), ("dull", 1), ("great", 2)],
        [frozenset({"a", "b"}), frozenset({"b", "a"}), frozenset()],
        [b"x", b"x", b"y"],
        [True, True, False],
        [3, 3, 4],
        np.array([3, 3, 4], np.uint64),
        [0.5, 0.5, 1.0],
        [1, 1.0, 2],
        np.array(["2026-01-01", "2026-01-01", "2026-01-02"], "datetime64[D]"),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]}.{type(given).__name__}",
)
def test_one_hashable_a_row_is_a_plain_key(given):
    explanations = as_explanations(given)
    assert isinstance(explanations, Plain)
    assert explanations.group()[0].tolist() == [0, 0, 1]


def test_a_table_that_is_not_all_numbers_is_a_record_a_row():
    table = pd.DataFrame({"job": ["clerk", "clerk", "cook"], "age": [1, 1, 1]})
    for given in (table, pl.DataFrame(table.to_dict("list")), pa.table(table.to_dict("list"))):
        explanations = as_explanations(given)
        assert isinstance(explanations, Records)
        assert explanations.group()[0].tolist() == [0, 0, 1]
        assert explanations.describe(2) == "job cook, age 1"


def test_column_names_are_kept_and_shown():
    assert as_explanations(pd.DataFrame({"age": [0.5], "<b>": [1.0]})).describe(0) == "age 0.5, <b> 1"
    assert fs.Importances([[1.0, 2.0]], names=["a", "b"]).names == ("a", "b")
    assert fs.Importances(np.ones((1, 20))).describe(0).endswith("… (8 more)")
    assert as_explanations([frozenset({"b", "a"})]).describe(0) == "{a, b}"


def test_prototypes_are_sets_of_indices():
    sets = fs.Prototypes([[4, 1], [1, 4], [1, 4, 4], [7], []])
    assert sets.group()[0].tolist() == [0, 0, 0, 1, 2]
    assert sets.describe(0) == "{1, 4}"
    assert fs.Prototypes(np.array([3, 3, 5])).group()[0].tolist() == [0, 0, 1]
    assert fs.Prototypes([{1, 2}, frozenset({2, 1})]).group()[0].tolist() == [0, 0]
    assert fs.Prototypes(np.array([[1, 2], [2, 1]])).group()[0].tolist() == [0, 0]
    assert len(fs.Prototypes([])) == 0


def test_prototype_sets_of_different_sizes_join_and_are_found():
    small, large = fs.Prototypes([[1], [2]]), fs.Prototypes([[1, 2], [2]])
    assert small.join(large).group()[0].tolist() == [0, 1, 2, 1]
    assert small.locate(large).tolist() == [-1, 1]
    assert large.locate(small).tolist() == [-1, 1]


def test_counterfactuals_are_equal_where_their_points_are():
    pairs = fs.Counterfactuals([[1.0, 2.0], [1.0, 2.0]], [[0.0, 2.0], [1.0, 5.0]])
    assert pairs.group()[0].tolist() == [0, 0]
    assert pairs.describe(0) == "x0 1, x1 2"
    mixed = fs.Counterfactuals(
        pd.DataFrame({"age": [30, 31], "job": ["cook", "cook"]}),
        pd.DataFrame({"age": [30, 30], "job": ["clerk", "cook"]}),
    )
    assert mixed.group()[0].tolist() == [0, 1]
    assert mixed.describe(1) == "age 31, job cook"


def test_explanations_are_taken_joined_and_located():
    a = as_explanations(["x", "y", "z"])
    assert a.take([2, 0]).values.tolist() == ["z", "x"]
    assert a.take(np.array([True, False, True])).values.tolist() == ["x", "z"]
    assert a.locate(as_explanations(["z", "q"])).tolist() == [2, -1]
    assert len(a.join(a)) == 6
    assert a.locate(as_explanations([1, 2])).tolist() == [-1, -1]
    assert as_explanations([1, 2**53 + 1]).locate(as_explanations([1.0, float(2**53)])).tolist() == [0, -1]
    assert as_explanations([1, 2]).join(as_explanations([2.0, 2.5])).group()[0].tolist() == [0, 1, 1, 2]
    with pytest.raises(Incompatible, match="Use one explainer"):
        a.locate(fs.Importances([[1.0, 2.0]]))
    named = fs.Importances([[1.0, 2.0]], names=["a", "b"])
    with pytest.raises(Incompatible, match="number 0 is 'a' in one and 'c' in the other"):
        named.join(fs.Importances([[1.0, 2.0]], names=["c", "a"]))
    assert len(named.join(fs.Importances([[1.0, 2.0]]))) == 2


@pytest.mark.parametrize(
    "explanations",
    [
        fs.Importances(VALUES, ["a", "b"]),
        as_explanations(WORDS),
        fs.Prototypes([[1, 2]]),
        fs.Counterfactuals(VALUES, VALUES + 1),
        fs.Rank()(fs.Importances(VALUES)),
    ],
    ids=lambda e: type(e).__name__,
)
def test_explanations_pickle(explanations):
    again = pickle.loads(pickle.dumps(explanations))
    assert again.kind == explanations.kind
    assert again.group()[0].tolist() == explanations.group()[0].tolist()
    assert repr(len(explanations)) in repr(again)


class Tensor:
    """Stands for a tensor of a library that NumPy knows only by its __array__."""

    def __init__(self, values):
        self.values_, self.shape = np.asarray(values), np.shape(values)

    def __array__(self, dtype=None, copy=None):
        return self.values_

    def __len__(self):
        return len(self.values_)

    def __iter__(self):
        return (Tensor(row) for row in self.values_)


def test_tensors_are_arrays_not_objects():
    assert as_explanations(Tensor(VALUES)).values.tolist() == VALUES.tolist()
    assert as_explanations(list(Tensor(VALUES))).values.tolist() == VALUES.tolist()
    assert fs.consistency(Tensor(VALUES), Tensor([0, 0, 1])).chance == pytest.approx(1 / 3)


def test_names_beyond_those_shown_are_compared_too():
    names = [f"f{j}" for j in range(15)]
    a, b = fs.Importances(np.zeros((1, 15)), names), fs.Importances(np.zeros((1, 15)), [*names[:13], "f15", "f13"])
    with pytest.raises(Incompatible, match="number 13 is 'f13' in one and 'f15' in the other"):
        a.locate(b)


@pytest.mark.parametrize("discretizer", [None, fs.Sign(), fs.SignOfTop(2), fs.Rank()])
def test_columns_in_another_order_are_the_same_features(discretizer):
    rng = np.random.default_rng(0)
    values, order = rng.permuted(np.tile(np.arange(-2.0, 3.0), (50, 1)), axis=1), rng.permutation(5)
    names = ["a", "b", "c", "d", "e"]
    first = discretize(fs.Importances(values, names), discretizer)
    second = discretize(fs.Importances(values[:, order], [names[j] for j in order]), discretizer)
    codes, rows = first.group()
    assert np.array_equal(first.take(rows).locate(second), codes)
    assert np.array_equal(first.join(second).group()[0], np.tile(codes, 2))
    assert first.join(second).describe(50) == first.describe(0)


def test_discretized_explanations_do_not_mix_with_raw_ones():
    raw = fs.Importances([[1.0, -1.0]])
    with pytest.raises(Incompatible, match=r"Sign\(\)"):
        fs.Sign()(raw).locate(raw)


def test_sets_read_the_same_in_every_process():
    assert as_explanations([(1, frozenset("cab"))]).describe(0) == "(1, {a, b, c})"
    assert fs.Importances([[0.12345678, 2.0]]).describe(0) == "x0 0.12345678, x1 2"


def test_prototype_sets_of_very_different_sizes_stay_small():
    sets = fs.Prototypes([list(range(20_000)), *([i] for i in range(20_000))])
    assert len(sets) == len(sets.distinct) == 20_001
