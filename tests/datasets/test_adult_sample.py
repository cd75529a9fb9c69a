"""The people that come with the package are rows of the whole data set, chosen as it says."""

import os

import pandas as pd
import pytest
from numpy.random import default_rng

from faithscope import datasets

ROWS = 8000


def test_it_is_a_sample_of_the_whole_data_set():
    if not os.environ.get("FAITHSCOPE_DATA"):
        pytest.skip("needs the whole data set in FAITHSCOPE_DATA")
    whole, people = datasets.load("adult"), datasets.adult_sample()
    chosen = default_rng(0).permutation(len(whole.y))[:ROWS]
    expected = whole.X.assign(label=whole.y).iloc[chosen].reset_index(drop=True)
    pd.testing.assert_frame_equal(people.X.assign(label=people.y), expected, check_dtype=False)


def test_changing_what_was_loaded_changes_nothing_for_the_next():
    people = datasets.adult_sample()
    people.X["age"] = 0
    people.y[:] = "none"
    again = datasets.adult_sample()
    assert len(again.X) == ROWS
    assert again.X["age"].min() >= 17
    assert set(again.y) == set(again.classes) == {"<=50K", ">50K"}


def test_it_has_missing_values_and_categories():
    people = datasets.adult_sample()
    assert people.X[["workclass", "occupation", "native-country"]].isna().any().all()
    assert "marital-status" in people.categorical
    assert "age" not in people.categorical
