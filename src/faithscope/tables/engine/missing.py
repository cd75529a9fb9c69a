"""Missing and infinite values in the columns that an audit uses: counted first, then refused, dropped or kept."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.notes import Note
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.engines import engine_of
from faithscope.tables.engine.expressions import Expression, Table, literal

Nulls = Literal["error", "drop", "key"]
NULLS = ("error", "drop", "key")
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # seconds of the years 1 to 9999, which Python's dates have
_NAMED = 5  # columns that an error names


@dataclass(frozen=True)
class Scan:
    """What one pass over the used columns counted.

    Attributes
    ----------
    rows : int
    missing : dict
        The number of values that are null or NaN, for each column that has any.
    nan : frozenset
        Columns that hold NaN.
    largest : dict
        The largest absolute value of each column of numbers.
    """

    rows: int
    missing: Mapping[str, int]
    nan: frozenset[str]
    largest: Mapping[str, float]


def scan(table: Table, columns: Sequence[str]) -> Scan:
    """Count what is missing in these columns; an infinite number is an error."""
    names = list(dict.fromkeys(columns))
    schema = table.schema()
    question: dict[str, Any] = {"rows": table.count()}
    for j, name in enumerate(names):
        question[f"c{j}"] = table[name].count()
        if schema[name].is_numeric():
            question[f"m{j}"] = table[name].abs().max().cast("float64")
    line = fetch_line(table.aggregate(**question))
    largest = {name: _largest(line, j) for j, name in enumerate(names) if f"m{j}" in line}
    not_finite = [name for name, value in largest.items() if not math.isfinite(value)]  # NaN is the largest of all
    nan = _nans(table, not_finite) if not_finite else {}
    missing = {name: line["rows"] - line[f"c{j}"] + nan.get(name, 0) for j, name in enumerate(names)}
    return Scan(line["rows"], {name: count for name, count in missing.items() if count}, frozenset(nan), largest)


def _largest(line: Mapping[str, Any], j: int) -> float:
    """The largest number of column j; a driver may hand NaN over as null."""
    value = line[f"m{j}"]
    return float(value) if value is not None else math.nan if line[f"c{j}"] else 0.0


def _nans(table: Table, columns: Sequence[str]) -> dict[str, int]:
    """The number of NaN for each column that has any; infinite numbers are refused."""
    numbers = {name: table[name].cast("float64") for name in columns}
    question = {f"n{j}": numbers[name].isnan().sum() for j, name in enumerate(columns)}
    # By comparison, since Ibis takes it for granted that Spark has no infinite numbers.
    question |= {f"i{j}": (numbers[name].abs() == literal(math.inf)).sum() for j, name in enumerate(columns)}
    line = fetch_line(table.aggregate(**question))
    refuse_infinite({name: int(line[f"i{j}"]) for j, name in enumerate(columns)})
    return {name: int(line[f"n{j}"]) for j, name in enumerate(columns) if line[f"n{j}"]}


def refuse_infinite(counts: Mapping[str, int]) -> None:
    """Raise if a column holds infinite numbers, given how many each column holds."""
    name = next((name for name, count in counts.items() if count), None)
    if name is not None:
        raise BadInput(
            f"Column {name!r} holds an infinite number in {counts[name]:,} rows: every value must be finite. "
            "Leave such rows out of the log."
        )


def refuse_missing(seen: Scan, nulls: Nulls, advice: str = "", numeric: Sequence[str] = ()) -> None:
    """Raise if values are missing and nobody said what to do with them, or if no row is left; with further advice.

    Missing cannot be a value of columns that must hold numbers, `numeric`.
    """
    if seen.rows == 0:
        raise BadInput("The log has no rows: nothing can be measured.")
    for name, count in seen.missing.items():
        if count == seen.rows:
            raise BadInput(f"Column {name!r} is null in all {count:,} rows: name another column.{advice}")
    if nulls == "error" and seen.missing:
        columns = ", ".join(f"{name!r} in {count:,}" for name, count in list(seen.missing.items())[:_NAMED])
        keyed = ', or nulls="key" (--nulls key) to let missing be a value'
        raise BadInput(
            f"Values are missing (null or NaN) in {len(seen.missing)} of the used columns: {columns} of "
            f'{seen.rows:,} rows. Say nulls="drop" (--nulls drop) to leave such rows out'
            f"{'' if seen.missing.keys() & set(numeric) else keyed}.{advice}"
        )


def refuse_far(table: Table, column: str) -> None:
    """Raise if a moment is infinite, or of a year that no date of Python has."""
    number = engine_of(table).seconds(table[column])
    infinite = (table[column].notnull() & number.isnull()).sum()
    ends = fetch_line(table.aggregate(infinite=infinite, low=number.min(), high=number.max()))
    if ends["infinite"]:
        raise BadInput(f"Column {column!r} holds an infinite moment in {ends['infinite']:,} rows: leave such rows out.")
    if ends["low"] is not None and not _FIRST <= ends["low"] <= ends["high"] <= _LAST:
        raise BadInput(f"Column {column!r} holds moments outside the years 1 to 9999: leave such rows out.")


def dropped_note(rows: int) -> tuple[str, ...]:
    """How many rows were dropped since values are missing."""
    return (Note(f"{several(rows, 'row was', 'rows were')} dropped: values missing", "dropped"),) if rows else ()


def is_missing(value: Expression) -> Expression:
    """Whether a value is null or NaN."""
    return value.isnull() | _is_nan(value) if _may_be_nan(value) else value.isnull()


def without_nan(value: Expression) -> Expression:
    """The value, null if it is NaN."""
    import ibis

    return ibis.ifelse(_is_nan(value), ibis.null(value.type()), value)


def nan_as_null(value: Expression) -> Expression:
    """The value, null if it is a NaN, which engines order and compare in ways of their own."""
    return without_nan(value) if _may_be_nan(value) else value


def _may_be_nan(value: Expression) -> bool:
    kind = value.type()
    return bool(kind.is_floating() or (kind.is_decimal() and engine_of(value).nan_decimals))


def _is_nan(value: Expression) -> Expression:
    return value.cast("float64").isnan()
