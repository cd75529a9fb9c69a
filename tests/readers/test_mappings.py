"""Dicts of a number per feature are importances, whatever the order of their keys."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

NUMBERS = st.floats(-100, 100).map(lambda x: round(x, 2))
ROWS = st.lists(st.dictionaries(st.sampled_from("abcdef"), NUMBERS, max_size=6), min_size=1, max_size=20)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_what_counts_0_do_not_matter(rows, random):
    def shuffled(row):
        full = {**dict.fromkeys("abcdef", 0), **row}
        return {key: full[key] for key in random.sample(sorted(full), 6)}

    labels = [len(row) % 2 for row in rows]
    expected = fs.consistency([tuple(row.get(key, 0.0) for key in "abcdef") for row in rows], labels).value
    forms = [[shuffled(row) for row in rows]]
    if any(rows):
        forms += [rows, list(map(json.dumps, rows)), pd.Series(rows, index=range(7, 7 + len(rows)))]
    for form in forms:
        assert fs.consistency(form, labels).value == expected


def test_what_a_column_of_pandas_holds_keeps_its_row_labels():
    labels = pd.Series([0, 1], index=[9, 4])
    held = pd.Series([{"a": 1.0}, {"a": 2.0}], index=labels.index)
    assert fs.read(held).index.tolist() == [9, 4]
    refused(BadInput, "in another order", fs.consistency, held, labels[::-1])


def test_features_are_in_the_order_asked_for():
    rows = [{"b": 1, "a": 2.0}, {"c": 0.5}]
    assert fs.read(rows).names == ("b", "a", "c")
    read = fs.read(rows, features=["a", "b", "c", "d"])
    assert read.values.tolist() == [[2, 1, 0, 0], [0, 0, 0.5, 0]]
    assert any("count 0" in note for note in read.notes)
    refused(BadInput, "Rows name 'c', which features= lacks", fs.read, rows, features=["a", "b"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"a": 1.0}, {"a": np.nan}], "Row 1 gives 'a' the value nan"),
        ([{"a": 1.0}, {"a": None}], "Row 1 gives 'a' the value None"),
        ([{"a": True}], "Row 0 gives 'a' the value True"),
        ([{"a": {"b": 1}}], "importances must be finite numbers"),
        ([{"a": 1.0}, 7], "Row 1 is a int"),
        ([{}, {}], "name no feature"),
        (['{"a": 1.0}', "leaf 3"], "Row 1 is a str"),
        (['{"a": 1.0}', '{"a": 1.0, "a": 2.0}'], "Row 1 is a str"),
    ],
)
def test_what_is_no_number_per_feature_is_refused(rows, message):
    refused(BadInput, message, fs.read, rows)


def test_token_attributions_of_different_lengths_and_sets_of_words_are_highlights():
    rows = [
        [("[CLS]", 0.9), ("great", 0.5), ("plot", -0.1)],
        [("dull", -0.7), ("##ish", -0.2), ("plot", 0.3), ("[SEP]", 1.0)],
    ]
    read = fs.read(rows * 3, top=1)
    assert [read.item(0), read.item(1)] == [{"great"}, {"dullish"}]
    twice = [[("a", 0.5), ("b", 0.1)], [("a", 0.5), ("a", 0.1)]]  # a word may occur twice in a text
    for words in ([{"great"}, {"dull", "plot"}], [{"great"}, set()], pd.Series([{"great"}, {"plot"}]), twice):
        assert isinstance(fs.read(words), fs.Highlights)
    assert fs.sufficiency([{"great"}, {"great"}], [1, 1], ["great plot", "great fun"]).value == 1


def test_top_is_for_words_alone():
    refused(BadInput, r"discretizer=fs.SignOfTop\(2\) .*: leave it out", fs.read, np.ones((3, 4)), top=2)
    assert fs.read([{"great": 0.5, "plot": 0.1}], top=1).item(0) == {"great"}


def test_features_are_chosen_of_rankings_and_of_regions():
    ranks = fs.Rank()(fs.Importances([[1.0, 2.0, 3.0], [5.0, -1.0, 2.0]], ["a", "b", "c"]))
    for features, told in ((["c", "a", "b"], ["a < b < c", "b < c < a"]), (["a", "c"], ["a < c", "c < a"])):
        read = fs.read(ranks, features=features)
        assert ([read.describe(row) for row in range(2)], read.names) == (told, tuple(features))
    regions = fs.Pool((2, 2))(fs.Importances(np.arange(32.0).reshape(2, 4, 4)))
    some = fs.read(regions, features=regions.names[::3])
    assert (some.shape, some.values.tolist()) == (None, regions.values[:, ::3].tolist())
    assert fs.read(regions, features=regions.names).shape == (2, 2)
