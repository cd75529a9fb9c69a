"""Conditions of rules as expressions on the columns of a log; values are literals."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import reduce
from math import inf
from operator import and_, or_
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.conditions.condition import NOTHING, Condition
from faithscope.inputs.dates import UNITS, Moment
from faithscope.tables.engine.dialects import engine_of
from faithscope.tables.engine.expressions import as_number, literal
from faithscope.tables.engine.missing import is_missing
from faithscope.tables.engine.number_bounds import DIGITS, among_decimals, among_doubles, among_integers
from faithscope.tables.engine.protocol import Expression

_WHOLE = 2**63
_MICRO = 6  # digits of a second
_COMPARE = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


def holds(condition: Condition, columns: Mapping[str, Any]) -> Expression:
    """Whether a condition holds, never null: a missing value satisfies it only if the condition says so."""
    import ibis

    if condition == NOTHING:
        return ibis.literal(False)
    column = columns[condition.feature]
    missing = is_missing(column)
    tests = _tests(condition, column)
    met = reduce(and_, tests) & ~missing if tests else ~missing
    met = ibis.literal(False) if condition.among == () else met
    return (met | missing if condition.missing else met).coalesce(False)


def _tests(condition: Condition, column: Expression) -> list[Any]:
    _refuse_stray(condition, column)
    if condition.among is not None:
        return [reduce(or_, [_compare(column, "==", value) for value in condition.among])] if condition.among else []
    tests = [_compare(column, "!=", value) for value in condition.without]
    if condition.low > -inf or condition.low_open:
        tests.append(_compare(column, ">" if condition.low_open else ">=", condition.low))
    if condition.high < inf or condition.high_open:
        tests.append(_compare(column, "<" if condition.high_open else "<=", condition.high))
    return tests


def _compare(column: Expression, operator: str, value: Any) -> Expression:
    if column.type().is_boolean():
        column = as_number(column)
    if isinstance(value, Moment):
        return _compare_date(column, operator, value)
    if isinstance(value, str):
        return _ask(column, operator, literal(value))
    return _compare_number(column, operator, value)


def _compare_number(column: Expression, operator: str, value: float) -> Expression:
    """Compare with the bounds of what counts as equal among the column's numbers, so that no engine rounds any."""
    kind = column.type()
    if -inf < value < inf and (kind.is_integer() or (kind.is_decimal() and kind.scale is not None)):
        low, high = among_integers(value) if kind.is_integer() else among_decimals(value, kind.scale)
        return _between(operator, low, high, lambda test, bound: _within(column, test, bound))
    column = column.cast("float64")  # Postgres rounds a decimal of any length to the nearest double
    return _between(operator, *among_doubles(value), lambda test, bound: _ask(column, test, literal(bound)))


def _between(operator: str, low: Any, high: Any, ask: Callable[[str, Any], Any]) -> Expression:
    """A comparison with a number, given the smallest and the largest that count as equal to it."""
    if operator in ("==", "!=") and low != high:
        inside = ask(">=", low) & ask("<=", high)
        return inside if operator == "==" else ~inside
    return ask(operator, high if operator in ("<=", ">") else low)


def _within(column: Expression, operator: str, bound: int | Decimal) -> Expression:
    """Compare with a bound of the column's own type; a bound that this type cannot hold lies beyond all its values."""
    import ibis

    kind = column.type()
    if kind.is_integer():
        wide = "uint64" if kind.is_unsigned_integer() else "int64"
        least, most = (0, 2**64 - 1) if wide == "uint64" else (-_WHOLE, _WHOLE - 1)
    else:
        wide = f"decimal({kind.precision}, {kind.scale})"
        most = (Decimal(10) ** kind.precision - 1).scaleb(-kind.scale, DIGITS)
        least = -most
    if least <= bound <= most:
        return _ask(column, operator, ibis.literal(bound, wide))
    return ibis.literal(operator in ("<=", "<", "!=") if bound > most else operator in (">=", ">", "!="))


def _ask(column: Expression, operator: str, other: Any) -> Expression:
    return getattr(column, _COMPARE[operator])(other)


def _compare_date(column: Expression, operator: str, value: Moment) -> Expression:
    """Dates by the column's own unit: days, nanoseconds, or microseconds, which every engine has."""
    import ibis

    kind = column.type()
    unit = UNITS["D" if kind.is_date() else "ns" if (kind.scale or 0) > _MICRO else "us"]
    test = value.in_unit(operator, unit)
    if isinstance(test, bool):
        return ibis.literal(test)
    written = str(Moment(test[1] * unit, value.zoned)).replace("Z", "+00:00")
    return getattr(column, _COMPARE[test[0]])(ibis.literal(written).cast(kind))


def _refuse_stray(condition: Condition, column: Expression) -> None:
    if condition.family is not None and condition.family != _family(column):
        raise WrongType(
            f"Column {condition.feature!r} holds {column.type()}, which {str(condition)!r} would compare with "
            f"{'a ' * (condition.family != 'text')}{condition.family}. Convert the column or the condition."
        )


def _family(column: Expression) -> str | None:
    kind = column.type()
    if kind.is_timestamp():
        return "date with a time zone" if engine_of(column).has_zone(column) else "date"
    if kind.is_string():
        return "text"
    return "date" if kind.is_date() else "number" if kind.is_numeric() or kind.is_boolean() else None
