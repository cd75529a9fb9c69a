"""Moments as whole seconds since 1970, floored: the same in every engine, with a zone as UTC, without as they stand."""

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.protocol import Expression, Table

_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, which Python's dates have


def seconds(moment: Expression) -> Expression:
    """Seconds since 1970 of a date or moment as an expression, null if it is infinite or missing."""
    return engine_of(moment).seconds(moment)


def refuse_far(table: Table, column: str) -> None:
    """Raise if a moment is infinite, or of a year that no date of Python has."""
    number = seconds(table[column])
    infinite = (table[column].notnull() & number.isnull()).sum()
    ends = fetch_line(table.aggregate(infinite=infinite, low=number.min(), high=number.max()))
    if ends["infinite"]:
        raise BadInput(f"Column {column!r} holds an infinite moment in {ends['infinite']:,} rows: leave such rows out.")
    if ends["low"] is not None and not _FIRST <= ends["low"] <= ends["high"] <= _LAST:
        raise BadInput(f"Column {column!r} holds moments outside the years 1 to 9999: leave such rows out.")
