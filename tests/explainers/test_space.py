"""Rows of every library become numbers and the same rows again, missing values, new categories and dates included."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.errors import BadInput, WrongType
from faithscope.explainers.space import Space
from refused import refused

DAYS = [datetime.date(2024, 1, 1), None, datetime.date(2024, 2, 1), datetime.date(2024, 3, 1)]
TIMES = [None if day is None else datetime.datetime(day.year, day.month, 1, 12) for day in DAYS]
HOLEY = {
    "float": [1.5, None, 2.0, 3.0],
    "text": ["a", None, "b", "a"],
    "flag": [True, None, False, True],
    "whole": [1, None, 3, 4],
    "day": DAYS,
    "time": TIMES,
}


def pandas_rows():
    return pd.DataFrame(
        {
            "float": [1.5, np.nan, 2.0, 3.0],
            "single": np.array([1.5, np.nan, 2.0, 3.0], np.float32),
            "Int64": pd.array([1, None, 3, 4], "Int64"),
            "Float64": pd.array([1.5, None, 3, 4], "Float64"),
            "boolean": pd.array(HOLEY["flag"], "boolean"),
            "arrow": pd.array([1, None, 3, 4], "int64[pyarrow]"),
            "str": HOLEY["text"],
            "string": pd.array(HOLEY["text"], "string"),
            "None": pd.Series(["u", None, "v", "u"], dtype=object),
            "NaN": pd.Series(["u", np.nan, "v", "u"], dtype=object),
            "NA": pd.Series([1, pd.NA, 2.5, 3], dtype=object),
            "category": pd.Categorical(["k", None, "l", "k"]),
            "date": pd.to_datetime(pd.Series(DAYS)),
            "nano": pd.to_datetime(pd.Series(TIMES)).astype("datetime64[ns]"),
            "zone": pd.to_datetime(pd.Series(TIMES)).dt.tz_localize("Europe/Berlin"),
            "days": pd.Series(DAYS, dtype=object),
            "times": pd.Series(TIMES, dtype=object),
            "span": pd.to_timedelta(pd.Series(["1h", None, "2h", "3h"])),
            "int": [1, 2, 3, 4],
        }
    )


def polars_rows():
    kinds = {
        "kind": pl.Series(HOLEY["text"], dtype=pl.Categorical),
        "enum": pl.Series(HOLEY["text"], dtype=pl.Enum("ab")),
    }
    zone = pl.Series(TIMES).dt.replace_time_zone("Europe/Berlin")
    return pl.DataFrame({**HOLEY, **kinds, "zone": zone, "nan": [1.5, float("nan"), 2.0, 3.0]})


def arrow_rows():
    zone = pa.array(TIMES, pa.timestamp("us", "Europe/Berlin"))
    return pa.table({**HOLEY, "zone": zone, "kind": pa.array(HOLEY["text"]).dictionary_encode()})


def arrays():
    yield np.array([[1.0, np.nan], [np.nan, 2.0]])
    yield np.array([[1.0, np.nan], [np.nan, 2.0]], np.float32)
    yield np.array([[1.5, "a", None], [None, None, 2.5], [2.5, "b", "c"]], object)
    yield np.array([["2024-01-01", "NaT"], ["2024-01-01T12", "2024-01-02"]], "M8[s]")
    yield np.array([[datetime.datetime(2024, 1, 1), "a"], [None, "b"]], object)


def test_rows_of_every_library_come_back_as_they_were():
    for rows in (pandas_rows(), polars_rows(), arrow_rows(), *arrays()):
        table = Space.learn(rows)
        again = table.decode(table.encode(rows))
        if isinstance(rows, pd.DataFrame):
            pd.testing.assert_frame_equal(again, rows)
        elif isinstance(rows, np.ndarray):
            assert again.dtype == rows.dtype
            assert repr(again.tolist()) == repr(rows.tolist())
        else:
            assert again.schema == rows.schema
            assert again.equals(rows)


def test_missing_has_a_place_of_its_own_and_so_has_each_category_that_no_training_row_has():
    table = Space.learn(pd.DataFrame({"job": ["cook", "clerk"], "age": [1.0, 2.0]}))
    rows = pd.DataFrame({"job": ["cook", None, "nurse", "pilot"], "age": [1.0, np.nan, 2.0, 3.0]})
    matrix, own = table.read(rows)
    np.testing.assert_array_equal(matrix, [[1, 1], [2, np.nan], [3, 2], [4, 3]])
    np.testing.assert_array_equal(table.alike(matrix)[:, 0], [1, 2, 3, 3])
    pd.testing.assert_frame_equal(own.decode(matrix), rows)
    assert own.decode(matrix[[3, 2, 0]])["job"].tolist() == ["pilot", "nurse", "cook"]


def test_a_category_that_the_dtype_cannot_hold_is_missing():
    table = Space.learn(pd.DataFrame({"job": pd.Categorical(["cook", "clerk"])}))
    matrix, own = table.read(pd.DataFrame({"job": ["nurse", "cook"]}))
    again = own.decode(matrix)
    assert again["job"].dtype == pd.CategoricalDtype(["clerk", "cook"])
    assert again["job"].isna().tolist() == [True, False]


def test_values_that_are_missing_for_the_first_time_are_no_other_value():
    table = Space.learn(pd.DataFrame({"flag": [True, False], "age": [1, 2]}))
    again = table.decode(table.encode(pd.DataFrame({"flag": [None, True], "age": [np.nan, 2]})))
    assert again["flag"].tolist() == [None, True]
    assert again["age"].isna().tolist() == [True, False]


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_dates_are_whole_numbers_of_the_coarsest_unit(unit):
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-03"]).as_unit(unit)})
    table = Space.learn(frame)
    assert table.encode(frame).ravel().tolist() == [19723, 19725]
    later = pd.DataFrame({"day": pd.to_datetime(["2024-01-01T06:00:00.000001"]).as_unit(unit)})
    pd.testing.assert_frame_equal(table.decode(table.encode(later)), later)
    assert str(table.scales[0].readable(19725.0)) == "2024-01-03"


def learned(column):
    """A table that learned one column, x."""
    return Space.learn(pd.DataFrame({"x": column}))


NANOSECONDS = pd.to_datetime(pd.Series(["2024-01-01", "2024-01-03"])).astype("datetime64[ns]")


@pytest.mark.parametrize(
    ("train", "rows", "error", "message"),
    [
        (
            [1.0, 2.0],
            [1.0, np.inf, -np.inf],
            BadInput,
            "'x' holds inf at row 1 and 1 more: every number must be finite",
        ),
        ([1.0, 2.0], [1, 2**53 + 1, 2**60], BadInput, "beyond 2[*][*]53, .* at row 1 and 1 more"),
        ([1.0], pd.Series([0.5, 2**53 + 1, np.int64(-(2**60))], dtype=object), BadInput, "beyond .* at row 1 and 1 mo"),
        ([1.0], ["a", "b", "c"], WrongType, "'x' held numbers in training but holds 'a' here at row 0: convert"),
        (NANOSECONDS, [3], WrongType, "'x' held dates in training but holds 3 here"),
        (["a", "b"], [[2]], WrongType, "can be no category"),
        (["a", [2]], ["a"], WrongType, r"a list \(\[2\]\) at row 1, which can be no category: use a tuple"),
    ],
)
def test_what_is_refused_says_how_many(train, rows, error, message):
    refused(error, message, lambda: learned(train).encode(pd.DataFrame({"x": rows})))


@pytest.mark.parametrize("names", [["a", "b", "a"], ["b", "a", "a"], ["b", "b", "a"]])
def test_two_columns_of_one_name_are_never_read_as_the_first(names):
    rows = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"])
    table = Space.learn(rows)
    assert table.encode(rows).tolist() == [[1.0, 2.0, 3.0]]
    refused(BadInput, f"has twice, '{max(names, key=names.count)}'", table.encode, rows.set_axis(names, axis=1))
    refused(BadInput, r"have 2 features .* has twice, 'a'", table.encode, rows.iloc[:, 1:])
    near = fs.Counterfactuals(rows + 1, rows)
    predictions = {"predictions": [1], "X": rows.set_axis(names, axis=1)}
    refused(BadInput, "two columns", lambda: fs.sufficiency(near, **predictions))


def test_rows_with_the_columns_of_another_table_are_refused():
    train = pd.DataFrame({"pay": [1.0, 2.0, 3.0], "age": [20.0, 30.0, 40.0]})
    table = Space.learn(train)
    refused(
        BadInput,
        r"has twice, 'height', 'weight', 'pay', 'age'\..*rows\.to_numpy\(\)",
        table.encode,
        train.rename(columns={"pay": "height", "age": "weight"}),
    )
    plain = train.to_numpy()
    for rows in (train, train[["age", "pay"]], plain, pd.DataFrame(plain)):
        assert (table.encode(rows) == plain).all()
    assert (Space.learn(plain).encode(train.rename(columns={"pay": "height"})) == plain).all()
