"""`Column` and `Rows`: rows are read alike by rules, distances, digests and draws, whatever holds them."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.distances.metrics import Gower
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.grouping import hash_rows
from faithscope.inputs.repeats import row_blocks
from refused import refused

DAYS = [datetime.datetime(2024, 3, 1), None, datetime.datetime(2024, 3, 2)]
CELLS = {"age": [37.0, None, 41.0], "job": ["clerk", "cook", None], "day": DAYS, "big": [2**60 + 1, None, 2**60]}


def tables():
    whole = pd.DataFrame({**CELLS, "big": pd.array(CELLS["big"], "Int64")})
    frame = pl.DataFrame(CELLS)
    fine = whole.assign(day=whole["day"].astype("datetime64[ns]"))
    return [whole, fine, frame, frame.to_arrow(), np.array(list(zip(*CELLS.values(), strict=True)), object)]


@pytest.mark.parametrize("place", range(4))
def test_every_library_gives_the_same_columns(place):
    columns = [Rows(table).column(place) for table in tables()]
    assert len({column.family for column in columns}) == 1
    missing = {tuple(column.missing.tolist()) for column in columns}
    assert len(missing) == 1
    assert len({tuple(column.coded[0].tolist()) for column in columns}) == 1
    digests = {tuple(hash_rows(row_blocks(table)).tolist()) for table in tables()}
    assert len(digests) == 1


def test_integers_beyond_floats_stay_exact():
    for table in tables():
        numbers = Rows(table).column(3).numbers
        assert numbers[0] != numbers[2]


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ([1, True, 2.5, Decimal("1.5")], "number"),
        ([None, float("nan")], ""),
        (["a", None], "text"),
        (["a", 1], "mixed"),
        ([datetime.date(2024, 1, 1), None], "date"),
        ([datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)], "date with a time zone"),
        ([(1, 2)], "tuple"),
    ],
)
def test_a_column_is_of_one_family_or_of_several(values, family):
    assert Column("x", to_vector(values)).family == family


def test_categories_are_equal_by_one_equality():
    mixed = [1, 1.0, True, "1", np.int64(1), Decimal(1), 2, "a", None]
    codes = Column("x", to_vector(mixed)).coded[0].tolist()
    assert codes == [0, 0, 0, 1, 0, 0, 2, 3, -1]
    gower = Gower((None,))
    (digests,) = gower.read([to_vector(mixed)])
    alike = digests[:, None] == digests[None, :]
    assert (alike == (np.array(codes)[:, None] == np.array(codes)[None, :])).all()
    (unhashable,) = gower.read([to_vector([[1], None, float("nan"), [1]])])
    assert len(set(unhashable.tolist())) == 2
    # So a row is inside a ball exactly if its counterfactual is another explanation.
    given = fs.Counterfactuals([["1"], [1.0]], originals=[[1], [1]], metric=gower)
    assert given.balls().radii.tolist() == [1.0, 0.0]
    assert len(given.group()[1]) == 2


def test_columns_are_found_by_name_or_refused_with_a_hint():
    frame = pd.DataFrame([[1, 2, 3]], columns=["age", "job", "job"])
    assert Rows(frame).place("age", "a rule needs") == 0
    refused(
        BadInput, "no column 'agee', which a rule needs. Did you mean 'age'", Rows(frame).place, "agee", "a rule needs"
    )
    refused(BadInput, "two columns 'job', which a rule needs", Rows(frame).place, "job", "a rule needs")


def test_tuples_of_a_list_are_rows_and_those_of_an_array_single_values():
    pairs = [(1, "a"), (2, "b")]
    assert len(Rows(pairs, loose=True).names) == 2
    keys = np.empty(2, object)
    keys[:] = pairs
    assert len(Rows(keys, loose=True).names) == 1


def test_numpys_own_numbers_among_missing_ones_have_distances():
    given = np.array([np.True_, None, np.float32(1.5), 1e308], object)
    np.testing.assert_array_equal(Column("", given).measured, [1.0, np.nan, 1.5, 1e308])
