"""Conditions of rules and words of highlights as expressions on the columns of a log; values are literals."""

from collections.abc import Mapping
from functools import reduce
from math import inf
from operator import and_, or_
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.conditions import NOTHING, Condition
from faithscope.explanations.dates import UNITS, Moment
from faithscope.tables.engine import as_number, literal

_WHOLE = 2**63
_MICRO = 6  # digits of a second
_COMPARE = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


def holds(one: Condition, columns: Mapping[str, Any]) -> Any:
    """Whether a condition holds, never null: a missing value satisfies it only where it says so."""
    import ibis

    if one == NOTHING:
        return ibis.literal(False)
    column = columns[one.feature]
    missing = column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()
    tests = _tests(one, column)
    met = reduce(and_, tests) & ~missing if tests else ~missing
    met = ibis.literal(False) if one.among == () else met
    return (met | missing if one.missing else met).coalesce(False)


def _tests(one: Condition, column: Any) -> list[Any]:
    _refuse_stray(one, column)
    if one.among is not None:
        return [reduce(or_, [_compare(column, "==", value) for value in one.among])] if one.among else []
    tests = [_compare(column, "!=", value) for value in one.without]
    if one.low > -inf or one.low_open:
        tests.append(_compare(column, ">" if one.low_open else ">=", one.low))
    if one.high < inf or one.high_open:
        tests.append(_compare(column, "<" if one.high_open else "<=", one.high))
    return tests


def _compare(column: Any, operator: str, value: Any) -> Any:
    """Numbers as integers where both are whole, so that none is rounded; as doubles otherwise."""
    import ibis

    if column.type().is_boolean():
        column = as_number(column)
    if isinstance(value, Moment):
        return _compare_date(column, operator, value)
    if isinstance(value, str):
        other = ibis.literal(value)
    elif column.type().is_integer() and abs(value) < _WHOLE and value == int(value):
        other = ibis.literal(int(value), "int64")
    else:
        column, other = column.cast("float64"), literal(float(value))
    return getattr(column, _COMPARE[operator])(other)


def _compare_date(column: Any, operator: str, value: Moment) -> Any:
    """Dates by the column's own unit: days, nanoseconds, or microseconds, which every engine has."""
    import ibis

    kind = column.type()
    fine = not kind.is_date() and (kind.scale or 0) > _MICRO
    test = value.in_unit(operator, UNITS["ns" if fine else "D" if kind.is_date() else "us"])
    if isinstance(test, bool):
        return ibis.literal(test)
    unit = UNITS["ns" if fine else "D" if kind.is_date() else "us"]
    written = str(Moment(test[1] * unit, value.zoned)).replace("Z", "+00:00")
    return getattr(column, _COMPARE[test[0]])(ibis.literal(written).cast(kind))


def _refuse_stray(one: Condition, column: Any) -> None:
    kind = column.type()
    if one.family is not None and one.family != _family(kind):
        raise WrongType(
            f"Column {one.feature!r} holds {kind}, which {str(one)!r} would compare with "
            f"{'a ' * (one.family != 'text')}{one.family}. Convert the column or the condition."
        )


def _family(kind: Any) -> str | None:
    if kind.is_timestamp():
        return "date with a time zone" if kind.timezone else "date"
    if kind.is_string():
        return "text"
    return "date" if kind.is_date() else "number" if kind.is_numeric() or kind.is_boolean() else None


def contains(word: str, document: Any) -> Any:
    """Whether a document, a list of words or a text to be split at blanks, holds a word."""
    import ibis

    words = document if document.type().is_array() else document.re_split(r"\s+")
    return words.contains(ibis.literal(word)).coalesce(False)
