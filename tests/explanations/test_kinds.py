"""Whatever a caller has becomes explanations; equal ones are equal."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shap
from numpy.random import default_rng

import faithscope as fs
from faithscope.discretizers import discretize
from faithscope.errors import BadInput, Incompatible, WrongType
from faithscope.explanations.keys import Plain, Records
from faithscope.readers import as_explanations
from held import columns, tables
from refused import refused

VALUES = np.array([[0.5, -1.0], [0.5, -1.0], [0.0, 2.0]])
WORDS = ["dull", "dull", "great"]


def test_rows_of_numbers_are_importances():
    frame = pd.DataFrame(VALUES, columns=["a", "b"], index=[7, 7, 9])
    for given in (
        VALUES,
        VALUES[:, ::-1][:, ::-1],
        VALUES.astype(np.float32),
        VALUES.tolist(),
        *tables(frame),
        frame.assign(a=frame["a"].astype("Float64"), b=frame["b"].astype(int)),
        *(made(VALUES.tolist()) for made in (pd.Series, pl.Series, pa.array)),
        shap.Explanation(VALUES, base_values=np.zeros(3), feature_names=["a", "b"]),
        fs.Importances(VALUES),
    ):
        explanations = as_explanations(given)
        assert isinstance(explanations, fs.Importances), type(given)
        assert explanations.values.tolist() == VALUES.tolist(), type(given)
        assert explanations.group()[0].tolist() == [0, 0, 1], type(given)


def test_one_hashable_a_row_is_a_plain_key():
    for given in (
        *columns(WORDS),
        [("dull", 1), ("dull", 1), ("great", 2)],
        [frozenset({"a", "b"}), frozenset({"b", "a"}), frozenset()],
        [True, True, False],
        np.array([3, 3, 4], np.uint64),
        [1, 1.0, 2],
        np.array(["2026-01-01", "2026-01-01", "2026-01-02"], "datetime64[D]"),
    ):
        explanations = as_explanations(given)
        assert isinstance(explanations, Plain), given
        assert explanations.group()[0].tolist() == [0, 0, 1], given


def test_a_table_that_is_not_all_numbers_is_a_record_a_row():
    for table in tables(pd.DataFrame({"job": ["clerk", "clerk", "cook"], "age": [1, 1, 1]})):
        explanations = as_explanations(table)
        assert isinstance(explanations, Records)
        assert explanations.group()[0].tolist() == [0, 0, 1]
        assert explanations.describe(2) == "job cook, age 1"


def test_prototypes_are_sets_of_indices():
    sets = fs.Prototypes([[4, 1], [1, 4], {1, 4}, [1, 4, 4], [7], []])
    assert sets.group()[0].tolist() == [0, 0, 0, 0, 1, 2]
    assert sets.describe(0) == "{1, 4}"
    bare, with_points = fs.Prototypes([[1], [0]]), fs.Prototypes([[0]], points=[[0.0], [1.0]])
    assert bare.join(with_points).points is with_points.join(bare).points is with_points.points
    refused(BadInput, "names prototype 2, but there are only 2 points", fs.Prototypes([[2]]).join, with_points)
    small, large = fs.Prototypes([[1], [2]]), fs.Prototypes([[1, 2], [2]])
    assert small.join(large).group()[0].tolist() == [0, 1, 2, 1]
    assert small.locate(large).tolist() == large.locate(small).tolist() == [-1, 1]


def test_counterfactuals_are_equal_where_their_points_are():
    pairs = fs.Counterfactuals([[1.0, 2.0], [1.0, 2.0]], [[0.0, 2.0], [1.0, 5.0]])
    assert pairs.group()[0].tolist() == [0, 0]
    assert pairs.describe(0) == "x0 1, x1 2"
    table = pd.DataFrame({"age": [30, 31], "job": ["cook", "cook"]})
    mixed = fs.Counterfactuals(table, table.assign(job=["clerk", "cook"]))
    assert mixed.group()[0].tolist() == [0, 1]
    assert mixed.describe(1) == "age 31, job cook"


def test_explanations_are_taken_joined_and_located():
    a = as_explanations(["x", "y", "z"])
    assert a.take([2, 0]).values.tolist() == ["z", "x"]
    assert a.take(np.array([True, False, True])).values.tolist() == ["x", "z"]
    assert a.locate(as_explanations(["z", "q"])).tolist() == [2, -1]
    assert a.locate(as_explanations([1, 2])).tolist() == [-1, -1]
    assert as_explanations([1, 2**53 + 1]).locate(as_explanations([1.0, float(2**53)])).tolist() == [0, -1]
    assert as_explanations([1, 2]).join(as_explanations([2.0, 2.5])).group()[0].tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    "kind",
    [as_explanations(["x"]), fs.Rules.parse(["x < 3"]), fs.Highlights([{"x"}]), fs.Prototypes([1]), fs.Reasons(["x"])],
)
def test_joined_explanations_keep_the_notes_of_both(kind):
    first, second = (kind._with(remarks=notes) for notes in (("a", "b"), ("b", "c")))
    assert first.join(second).notes == ("a", "b", "c")


@pytest.mark.parametrize("rows", [[["R1", "R9"], ["R1"], []], [["R1", "R9"], ["R9", "R1"]], [[], ["R1"], ["R1"]]])
def test_lists_of_texts_lead_to_codes_and_highlights(rows):
    for given in (rows, pd.Series(rows), pl.Series(rows)):
        refused(
            WrongType,
            r"pass fs\.Codes\(explanations\) .* or fs\.Highlights\(explanations\)",
            fs.consistency,
            given,
            [1] * len(rows),
        )
    for advised in (fs.Codes(rows), fs.Highlights(rows)):
        assert fs.consistency(advised, [1] * len(rows)).n == len(rows)


DAYS = np.array(["2024-01-01", "2024-01-02", "2024-01-01"], "M8[D]")
SPANS = np.array([1, 2, 1], "m8[s]")
SAME = {
    "day": [DAYS.astype(f"M8[{unit}]") for unit in ("D", "h", "s", "ms", "us", "ns")]
    + [DAYS.tolist(), DAYS.astype("M8[s]").tolist(), [pd.Timestamp(day) for day in DAYS]]
    + [pd.Series(DAYS).astype(f"datetime64[{unit}]") for unit in ("s", "ns")]
    + [pl.Series(DAYS.tolist()), pl.Series(DAYS.astype("M8[ns]")), pa.array(DAYS.astype("M8[ms]"))],
    "zone": [
        pd.Series(DAYS.astype("M8[ns]")).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
        pl.Series(DAYS.astype("M8[ms]")).dt.replace_time_zone("UTC"),
        pa.array(DAYS.astype("M8[s]"), pa.timestamp("s", "UTC")),
    ],
    "span": [SPANS, SPANS.astype("m8[ns]"), SPANS.tolist(), pd.Series(SPANS).astype("timedelta64[ns]")],
    "fine": [DAYS.astype("M8[ns]") + 1, pd.Series(DAYS.astype("M8[ns]") + 1)],
}


@pytest.mark.parametrize("what", SAME)
def test_equal_dates_are_equal_explanations_whatever_their_unit_and_library(what):
    first, *others = map(as_explanations, SAME[what])
    for other in others:
        assert first.join(other).group()[0].tolist() == [0, 1, 0, 0, 1, 0]
        assert first.locate(other.take([1])).tolist() == first.locate(first.take([1])).tolist()
        assert other.describe(1) == first.describe(1)
    table = pd.DataFrame({"when": SAME[what][-1] if what == "span" else SAME[what][0], "job": ["a", "b", "a"]})
    first, *others = map(as_explanations, tables(table))
    assert all(first.join(other).group()[0].tolist() == [0, 1, 0, 0, 1, 0] for other in others)


def test_groups_that_are_dates_read_as_dates_whatever_their_unit():
    evaluation = fs.evaluate([1, 0, 1], [1, 1, 2], np.zeros((3, 1)), progress=False)
    told = [evaluation.by(DAYS.astype(f"M8[{unit}]")).table()["group"].tolist() for unit in ("s", "us", "ns")]
    assert told[0] == told[1] == told[2]


def test_explanations_over_other_features_are_never_compared():
    zeros, names = np.zeros((1, 15)), [f"f{j}" for j in range(15)]
    named = fs.Importances(zeros, names)
    assert len(named.join(fs.Importances(zeros))) == 2
    refused(Incompatible, "Use one explainer", named.locate, as_explanations(["x"]))
    refused(Incompatible, r"Sign\(\)", fs.Sign()(named).locate, named)
    for join in (named.join, named.locate):  # names beyond those shown count too
        other = fs.Importances(zeros, [*names[:13], "f15", "f13"])
        refused(Incompatible, "'f13' in one and 'f15' in the other", join, other)


@pytest.mark.parametrize("discretizer", [None, fs.Sign(), fs.SignOfTop(2), fs.Rank()])
def test_columns_in_another_order_are_the_same_features(discretizer):
    rng = default_rng(0)
    values = pd.DataFrame(rng.permuted(np.tile(np.arange(-2.0, 3.0), (50, 1)), axis=1), columns=list("abcde"))
    first, second = (discretize(fs.Importances(values[list(order)]), discretizer) for order in ("abcde", "ceadb"))
    codes, rows = first.group()
    assert np.array_equal(first.take(rows).locate(second), codes)
    assert np.array_equal(first.join(second).group()[0], np.tile(codes, 2))
    assert first.join(second).describe(50) == first.describe(0)
