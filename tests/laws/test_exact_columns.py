"""A rule covers the same rows whoever holds the column, in memory by any library, or by brute force.

A decimal is compared as its nearest double, which is what a model sees; integers are compared exactly, of any size.
"""

import datetime
import operator
import random
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import faithscope as fs
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.missing import is_missing
from refused import refused

DAY = datetime.date(2024, 3, 1)
NOON = datetime.datetime(2024, 3, 1, 12)
TICK = datetime.timedelta(microseconds=1)
BIG = 2**53
COLUMNS = {
    "int": (pa.int64(), [-3, 0, 1, 2, BIG - 1, BIG, BIG + 1, BIG + 2, -BIG - 1, 2**63 - 1, -(2**63)]),
    "small": (pa.int8(), [-128, -1, 0, 1, 127]),
    "uint": (pa.uint64(), [0, 1, BIG + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1]),
    "float": (pa.float64(), [0.1, 0.3, 0.1 + 0.2, -0.0, 0.5, float(BIG), BIG + 2.0, 1e300, -1e300, 5e-324]),
    "single": (pa.float32(), [0.5, float(np.float32(0.3)), 0.25, -1.0]),
    "money": (pa.decimal128(10, 2), list(map(Decimal, ["0.30", "0.31", "-0.30", "0.50", "12345678.90", "1.00"]))),
    "fine": (
        pa.decimal128(38, 20),
        [Decimal("0.3") + k * Decimal("1e-20") for k in range(-3000, 3001, 500)] + [Decimal(BIG) + Decimal("0.5")],
    ),
    "whole": (pa.decimal128(38, 0), list(map(Decimal, [BIG, BIG + 1, BIG + 2, -BIG - 1, 2**63, 10**37 + 3, 0, 1]))),
    "bool": (pa.bool_(), [True, False]),
    "date": (pa.date32(), [DAY + datetime.timedelta(days=k) for k in (-1, 0, 1)]),
    "moment": (pa.timestamp("us"), [NOON - TICK, NOON, NOON + TICK]),
    "text": (pa.string(), ["", "a", "A", "o'x", "é", "a\x1fb", "missing"]),
}
NUMBERS = [0, 1, 2, -1, 0.3, -0.3, 0.1 + 0.2, 0.5, 0.25, 1e-20, 5e-324, 127, 127.5, 1e300, -1e300, 2**1100]
NUMBERS += [BIG, BIG + 1, BIG + 2, -BIG - 1, BIG - 0.5, *(2**63 + k for k in (-1, 0, 1)), 2**64 - 1, 2**64]
NUMBERS += [10**37, 10**37 + 3]
NUMBERS += [float(np.nextafter(0.3, 1)), float(np.nextafter(0.3, 0)), float(np.float32(0.3)), -(2**63), -(2**63) - 1]
VALUES = dict.fromkeys(COLUMNS, NUMBERS)
VALUES["bool"] = [*NUMBERS, True, False]
VALUES["date"] = [*COLUMNS["date"][1], NOON]
VALUES["moment"] = [*COLUMNS["moment"][1], DAY]
VALUES["text"] = [*COLUMNS["text"][1], "unheard of"]
ORDERED = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
OPERATORS = {**ORDERED, "==": operator.eq, "!=": operator.ne}


def rows_of(name, seed=0):
    """Every value of a column, some of them again, and some missing."""
    _, values = COLUMNS[name]
    chosen = random.Random(seed)
    rows = [*values, *chosen.choices(values, k=5), None, None]
    chosen.shuffle(rows)
    return rows


def number_of(value):
    """A date as a moment, a decimal as its nearest double, anything else as it is."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value


def compared(cell, test, value):
    exact = isinstance(cell, Decimal) and isinstance(value, int) and abs(value) > BIG  # no double holds it
    return OPERATORS[test](cell if exact else number_of(cell), number_of(value))


def brute(cell, test, value):
    """Whether a condition holds on a cell, in words of Python alone."""
    if test.endswith(" or missing"):
        return cell is None or brute(cell, test.removesuffix(" or missing"), value)
    if cell is None:
        return test == "in" and None in value
    if test in ("in", "not in"):
        return any(compared(cell, "==", one) for one in value if one is not None) == (test == "in")
    if test == "between":
        return compared(cell, ">=", value[0]) and compared(cell, "<=", value[1])
    return compared(cell, test, value)


def conditions_on(name):
    values, found = VALUES[name], []
    for value in values:
        found += [(name, test, value) for test in ("==", "!=", "!= or missing")]
        found += [(name, test, value) for test in (*ORDERED, "<= or missing") if name != "text"]
    chosen = random.Random(1)
    for _ in range(20):
        some = chosen.sample(values, 2)
        found += [(name, "in", [*some, None]), (name, "not in", some)]
        if name != "text":
            low, high = sorted(some, key=number_of)
            found.append((name, "between", (low, high)))
    return found


def check(name, hold):
    """Every condition covers what brute force covers; `hold` gives the mask of each part of the rules."""
    conditions, rows = conditions_on(name), rows_of(name)
    rules = fs.Rules.from_conditions([[one] for one in conditions], features=[name])
    held = [rules.conjunction(row) for row in range(len(conditions))]
    parts = list(dict.fromkeys(part for parts in held for part in parts))
    masks = dict(zip(parts, map(list, hold(rules, parts)), strict=True))
    for one, conjunction in zip(conditions, held, strict=True):
        found = [all(cells) for cells in zip([True] * len(rows), *map(masks.get, conjunction), strict=True)]
        assert found == [brute(cell, *one[1:]) for cell in rows], (one, rows)


def tables(name):
    """The same column as every library has it."""
    kind, rows = COLUMNS[name][0], rows_of(name)
    arrow = pa.table({name: pa.array(rows, kind)})
    yield "arrow", arrow
    yield "chunks", pa.concat_tables([arrow.slice(0, 3), arrow.slice(3)])
    yield "polars", pl.from_arrow(arrow)
    yield "pandas, Arrow's types", arrow.to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas, objects", pd.DataFrame({name: pd.Series(rows, dtype=object)})
    if pa.types.is_integer(kind):
        nullable = {"int8": "Int8", "int64": "Int64", "uint64": "UInt64"}[str(kind)]
        yield "pandas, nullable", pd.DataFrame({name: pd.array(rows, dtype=nullable)})
        yield "pandas, categories", pd.DataFrame({name: pd.Series(rows, dtype=object).astype("category")})
    if pa.types.is_decimal(kind):
        yield "wide decimals", pa.table({name: pa.array(rows, pa.decimal256(60, kind.scale))})
    if name != "date":
        yield "lists", [[row] for row in rows]


@pytest.mark.parametrize("name", COLUMNS)
def test_in_memory_every_library_agrees_with_brute_force(name):
    for _, X in tables(name):
        check(name, lambda rules, parts, X=X: rules.holds(parts, X))


def test_integers_with_holes_stay_exact_and_small_ones_stay_numbers():
    for kind in ["int64", "uint64"]:
        large, small = [BIG + 1, None, 3], [1, None, 3]
        for many, expected in ((large, [BIG + 1, None, 3]), (small, [1.0, None, 3.0])):
            arrow = pa.array(many, kind)
            columns = [arrow, pl.from_arrow(arrow), pd.Series(many, dtype=kind.replace("i", "I").replace("u", "U"))]
            columns += [pd.Series(arrow.to_pandas(types_mapper=pd.ArrowDtype)), arrow.dictionary_encode()]
            columns += [pd.Series(many, dtype=object).astype("category")] if kind == "int64" else []
            for column in columns:
                found = to_vector(column)
                assert [None if is_missing(one) else one for one in found.tolist()] == expected
                assert found.dtype == (object if many is large else np.float64)


WIDE = [Decimal("0." + "1" * 50), Decimal("0." + "1" * 49 + "2"), Decimal("0.5"), Decimal("0.5")]


def test_decimals_of_more_digits_than_an_engine_keeps_are_refused(tmp_path):
    columns = {"wide": pa.array(WIDE, pa.decimal256(60, 50)), "key": list("abab"), "y": [0, 1, 1, 1]}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    chosen = {"prediction": "y", "explanation": "key"}
    refused(
        fs.errors.WrongType,
        r"'wide' holds decimals of 60 digits, .* at most 38",
        fs.audit,
        tmp_path / "log.parquet",
        **chosen,
    )
    refused(fs.errors.WrongType, "decimals of 60 digits", fs.audit, pa.table(columns), **chosen)
