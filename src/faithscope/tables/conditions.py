"""The rows of a log that are audited: those of a condition of SQL, and those since a moment.

A condition is parsed here, as an Ibis expression, so that no engine sees its text: comparisons, ``and``, ``or``,
``not``, ``in``, ``between``, ``is null`` and ``like``. Anything else, such as a second statement, a subquery or a
function, is refused: what it computes is a column of a view or of a query.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any

from faithscope.errors import BadInput, FaithscopeError
from faithscope.tables.engines import Expression, fetch_line, has_zone, is_moment, literal, nan_as_null
from faithscope.tables.source import LogSource
from faithscope.words import hint, several

_PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "And": and_,
    "Or": or_,
    "EQ": eq,
    "NEQ": ne,
    "LT": lt,
    "LTE": le,
    "GT": gt,
    "GTE": ge,
}
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PAIRS, ("this", "expression")),
    **dict.fromkeys(("Paren", "Not", "Neg", "Boolean"), ("this",)),
    **dict.fromkeys(("Is", "Like", "ILike"), ("this", "expression", "negate")),
    "Column": ("this", "table", "db", "catalog"),
    "Literal": ("this", "is_string"),
    "In": ("this", "expressions", "query", "negate"),
    "Between": ("this", "low", "high", "negate"),
}
_TAKEN = "a condition compares columns with values: =, <, in, between, like, is null, joined by and, or, not"
_WITH = "where compares moments with what must be"
_TOO_FINE = re.compile(r"[.,]\d{7}")  # Python drops what is finer than microseconds


def parse_condition(text: str, source: LogSource) -> Expression:
    """The condition that a text of SQL says of the columns of a log, as an expression that is true, false or null."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    if not isinstance(text, str) or not text.strip():
        raise BadInput(f"where is a condition of SQL, such as \"region = 'EU'\"; got {text!r}.")
    try:
        statements = sqlglot.parse(text, read="duckdb")
    except SqlglotError as problem:
        errors = getattr(problem, "errors", None) or [{}]
        place = f" near character {errors[0]['col']}" if errors[0].get("col") else ""
        raise BadInput(f"where={text!r} cannot be read as a condition of SQL{place}: {_TAKEN}.") from None
    if len(statements) != 1:
        raise BadInput(f"where={text!r} is {len(statements)} statements: pass one condition, without a semicolon.")
    try:
        condition = _translated(source, statements[0])
        held = condition.type()
    except FaithscopeError:
        raise
    except Exception as problem:  # whatever Ibis says of types that cannot be compared
        reason = (str(problem).splitlines() or [""])[0].rstrip(".:")
        raise BadInput(f"where={text!r} cannot be asked of this log ({reason}): compare values of one type.") from None
    if not held.is_boolean():
        raise BadInput(f"where={text!r} is neither true nor false, but {held}: {_TAKEN}.")
    return condition


def _translated(source: LogSource, node: Any) -> Expression:
    """A part of a condition; raises if it, or an argument of it, is none that is asked."""
    kind, told = type(node).__name__, node.sql("duckdb") if node is not None else ""
    known = _ARGUMENTS.get(kind)
    if known is None or any(value for name, value in node.args.items() if name not in known):
        raise BadInput(
            f"where has {told!r}, which is not asked of a log: {_TAKEN}. Write a name with other characters in "
            "double quotes; for more than that, pass a view or a query."
        )
    value: Expression
    if kind in _PAIRS:
        value = _PAIRS[kind](*_sides(source, node.this, node.expression))
    elif kind == "Column":
        value = nan_as_null(source.table[_name(source, node)])
    elif kind == "Boolean":
        value = literal(bool(node.this))
    elif kind == "Literal":
        value = literal(node.this if node.is_string else int(node.this) if node.is_int else float(node.this))
    elif kind == "In":
        if not node.expressions:
            raise BadInput(f"where has {told!r}: list the values in parentheses.")
        sides = [_sides(source, node.this, each) for each in node.expressions]
        value = sides[0][0].isin([side for _, side in sides])
    elif kind == "Between":
        low, high = (_sides(source, node.this, node.args[end]) for end in ("low", "high"))
        value = ge(*low) & le(*high)
    else:
        value = _translated(source, node.this)
        if kind == "Neg":
            value = -value
        elif kind == "Not":
            value = ~value
        elif kind == "Is":
            what = type(node.expression).__name__
            if what not in ("Null", "Boolean"):
                raise BadInput(f"where has {told!r}: after is stands null, true or false.")
            same = value.isnull() if what == "Null" else value == literal(node.expression.this)
            value = same.coalesce(False)
        elif kind != "Paren":
            if not _is_text(node.expression):
                raise BadInput(f"where has {told!r}: after like stands a text.")
            value = (value.ilike if kind == "ILike" else value.like)(node.expression.this)
    return ~value if node.args.get("negate") else value


def _sides(source: LogSource, left: Any, right: Any) -> tuple[Expression, Expression]:
    """Both sides of an operator, each as it is compared with the other."""
    a, b = _translated(source, left), _translated(source, right)
    return _beside(source, left, a, right, b), _beside(source, right, b, left, a)


def _beside(source: LogSource, node: Any, value: Expression, other: Any, against: Expression) -> Expression:
    """One side: moments if one of them is; a text of CSV files beside a number is one, if all of its column are."""
    if _is_text(other) and is_moment(value.type()):
        return _beside_moment(value, to_moment(other.this, _WITH))[0]
    if _is_text(node) and is_moment(against.type()):
        return _beside_moment(against, to_moment(node.this, _WITH))[1]
    if value.type().is_string() and against.type().is_numeric() and type(node).__name__ == "Column":
        name = _name(source, node)
        return nan_as_null(source.table[name].cast(source.numbers[name])) if name in source.numbers else value
    return value


def _name(source: LogSource, node: Any) -> str:
    """The column that is meant."""
    if type(node.this).__name__ != "Identifier" or len(node.parts) > 1:
        raise BadInput(
            f"where has {node.sql('duckdb')!r}: name a column of the log alone, in double quotes if need be."
        )
    known = source.table.columns
    if node.name not in known:
        raise BadInput(
            f"The log has no column {node.name!r} for where. {hint(node.name, known)} Write a name with other "
            "characters in double quotes, a text in single ones."
        )
    return str(node.name)


def _is_text(node: Any) -> bool:
    return type(node).__name__ == "Literal" and bool(node.is_string)


def _beside_moment(moment: Expression, written: datetime) -> tuple[Expression, Expression]:
    """A date or moment and another one, so that engines compare them as they stand in UTC."""
    if not moment.type().is_date():
        zone = "+00:00" if has_zone(moment) else ""
        return moment, literal(f"{written}{zone}").cast(moment.type())
    if written.time() == written.min.time():
        return moment, literal(str(written.date())).cast("date")
    return moment.cast("timestamp"), literal(str(written)).cast("timestamp")


def only_rows(source: LogSource, where: str | None, since: Any, time: str | None) -> LogSource:
    """The log without the rows that a condition or a moment leaves out, and notes that say how many there are.

    Left out are rows for which the condition is false or null, and those before the moment `since`, by the column
    `time` or by the only one of dates or moments.
    """
    if where is not None:
        source = _only(source, parse_condition(where, source), f"where {where}")
    if since is None:
        return source
    start, schema = to_moment(since), source.table.schema()
    known: list[str] = [name for name, kind in schema.items() if is_moment(kind)]
    if time is not None:
        source.named([time], "time")
        if time not in known:
            raise BadInput(f"Column {time!r} holds {schema[time]}, not dates or moments: convert it to a timestamp.")
    elif len(known) != 1:
        there = f"has several: {', '.join(known[:8])}" if known else "has none"
        raise BadInput(f"since needs a column of dates or moments; the log {there}: name one with time= or --by-time.")
    name, table = time or known[0], source.table
    chosen = _only(source, ge(*_beside_moment(table[name], start)), f"where {name} is {since} or later")
    unknown = fetch_line(table.aggregate(n=table[name].isnull().sum()))["n"] or 0
    without = f"{several(int(unknown), 'row without', 'rows without')} a value of {name} left out"
    return replace(chosen, notes=(*chosen.notes, without)) if unknown else chosen


def _only(source: LogSource, condition: Expression, words: str) -> LogSource:
    table = source.table
    line = fetch_line(table.aggregate(n=table.count(), kept=table.count(where=condition)))
    if not line["kept"]:
        raise BadInput(f"None of {line['n']:,} rows is left {words}: nothing can be measured.")
    note = f"{line['kept']:,} of {line['n']:,} rows, {words}"
    return replace(source, table=table.filter(condition), notes=(*source.notes, note))


def to_moment(moment: Any, what: str = "since is") -> datetime:
    """A date or moment in UTC; without a zone it is taken as it stands."""
    try:
        text = moment.strip() if isinstance(moment, str) else moment.isoformat()
        start = datetime.fromisoformat(text)
    except (AttributeError, ValueError):
        raise BadInput(f"{what} a date or moment such as 2026-03-01 or 2026-03-01T12:30; got {moment!r}.") from None
    if _TOO_FINE.search(text):
        raise BadInput(f"{what} a moment finer than microseconds, {moment!r}: write at most six decimals.")
    return start.astimezone(UTC).replace(tzinfo=None) if start.tzinfo else start
