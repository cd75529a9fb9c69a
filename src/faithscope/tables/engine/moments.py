"""Moments as whole seconds since 1970, floored: the same in every engine, with a zone as UTC, without as they stand."""

from collections.abc import Mapping
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.calls import backend_of, call, fetch

DAY = 86400
_MILLION = 1_000_000
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999, which dates here have


def seconds(moment: Any) -> Any:
    """Seconds since 1970 of a date or moment as an expression, null where it is infinite or missing."""
    count = {"duckdb": _in_duckdb, "postgres": _in_postgres, "pyspark": _in_spark}.get(backend_of(moment), _elsewhere)
    return count(moment)


def floor_to(number: Any, step: int) -> Any:
    """Integers divided and floored, as an expression; engines disagree on how to divide negative ones."""
    inside = (number % step + step) % step
    return ((number - inside) / step).round().cast("int64")


def refuse_far(table: Any, column: str) -> None:
    """Raise where a moment is infinite, or of a year that no date here has."""
    found = seconds(table[column])
    lost = (table[column].notnull() & found.isnull()).sum()
    seen: Mapping[str, Any] = fetch(table.aggregate(lost=lost, low=found.min(), high=found.max())).to_pylist()[0]
    if seen["lost"]:
        raise BadInput(f"Column {column!r} holds an infinite moment in {seen['lost']:,} rows: leave such rows out.")
    if seen["low"] is not None and not _FIRST <= seen["low"] <= seen["high"] <= _LAST:
        raise BadInput(f"Column {column!r} holds moments outside the years 1 to 9999: leave such rows out.")


def _in_duckdb(moment: Any) -> Any:
    if moment.type().is_timestamp() and moment.type().scale == 9:  # of which DuckDB would round microseconds
        return floor_to(call("epoch_ns", moment, "int64"), 1000 * _MILLION)
    return floor_to(call("epoch_us", moment, "int64"), _MILLION)


def _in_postgres(moment: Any) -> Any:
    import ibis

    finite = ibis.ifelse(call("isfinite", moment, "boolean"), moment, ibis.null(moment.type()))
    finite = finite.cast("timestamp") if moment.type().is_date() else finite
    return finite.truncate("s").epoch_seconds().cast("int64")  # whole seconds: a cast alone would round


def _in_spark(moment: Any) -> Any:
    import ibis

    if moment.type().is_date():
        return call("unix_date", moment, "int64").cast("int64") * DAY
    # Ibis does not tell the two types of moments apart, and Spark takes one without a zone for one of its session's.
    parts = ((call("unix_date", moment.date(), "int64"), DAY), (moment.hour(), 3600), (moment.minute(), 60))
    naive = sum((part.cast("int64") * size for part, size in parts), moment.second().cast("int64"))
    zoned = call("unix_seconds", call("to_timestamp_ltz", moment, "timestamp"), "int64")
    return ibis.ifelse(call("typeof", moment, "string") == "timestamp", zoned, naive)


def _elsewhere(moment: Any) -> Any:
    moment = moment.cast("timestamp") if moment.type().is_date() else moment
    return moment.truncate("s").epoch_seconds().cast("int64")
