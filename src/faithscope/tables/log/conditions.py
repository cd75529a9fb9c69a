"""The rows of a log that are audited: those of a condition of SQL, and those since a moment.

A condition is parsed here, as an Ibis expression, so that no engine sees its text: comparisons, ``and``, ``or``,
``not``, ``in``, ``between``, ``is null``, ``like``, sums, products and a few functions. Anything else, such as a second
statement, a subquery or another function, is refused.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import pairwise
from operator import add, and_, eq, ge, gt, invert, le, lt, mul, ne, neg, or_, sub
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.explanations.base import several
from faithscope.inputs.hints import hint
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.engines import engine_of
from faithscope.tables.engine.expressions import Expression, literal
from faithscope.tables.engine.missing import nan_as_null
from faithscope.tables.log.columns import one_column
from faithscope.tables.sources.source import LogSource


@dataclass(frozen=True)
class LogColumns:
    """The columns of a log by name; `numbers` are those texts of CSV files that can be read as numbers, as numbers."""

    typed: Mapping[str, Expression]
    numbers: Mapping[str, Expression] = field(default_factory=dict)


_PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "And": and_,
    "Or": or_,
    "EQ": eq,
    "NEQ": ne,
    "LT": lt,
    "LTE": le,
    "GT": gt,
    "GTE": ge,
    "Add": add,
    "Sub": sub,
    "Mul": mul,
}
_SINGLES: dict[str, Callable[[Any], Any]] = {
    "Paren": lambda value: value,
    "Not": invert,
    "Neg": neg,
    "Lower": lambda value: value.lower(),
    "Upper": lambda value: value.upper(),
    "Trim": lambda value: value.strip(),
    "Abs": lambda value: value.abs(),
    "Length": lambda value: value.length(),
    "Year": lambda value: value.year(),
    "Month": lambda value: value.month(),
}
_TYPES = {"DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMPTZ": "timestamp('UTC')", "DOUBLE": "float64"}
_TYPES |= {"INT": "int64", "BIGINT": "int64", "VARCHAR": "string", "TEXT": "string", "BOOLEAN": "boolean"}
_LENGTHS = ("VARCHAR", "CHAR", "TEXT", "NVARCHAR", "NCHAR", "BPCHAR")  # types of texts that may be cut to a length
_TAKEN = "a condition compares columns with values: =, <, in, between, like, is null, joined by and, or, not"


def parse_condition(text: str, columns: LogColumns) -> Expression:
    """The condition that a text of SQL says of these columns, as an expression that is true, false or null."""
    try:
        condition = _expression(_parsed(text), columns)
        kind = condition.type()
    except FaithscopeError:
        raise
    except Exception as problem:  # whatever Ibis says of types that cannot be compared
        reason = (str(problem).splitlines() or [""])[0].rstrip(".:")
        raise BadInput(f"where={text!r} cannot be asked of this log ({reason}): compare values of one type.") from None
    if not kind.is_boolean():
        raise BadInput(f"where={text!r} is neither true nor false, but {kind}: {_TAKEN}.")
    return condition


def _parsed(text: str) -> Any:
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
    _refuse_lengths(text)
    return statements[0]


def _refuse_lengths(text: str) -> None:
    """Raise if a cast would cut texts: the parser drops the length without a word."""
    import sqlglot

    tokens = sqlglot.tokenize(text, read="duckdb")
    for kind, following in pairwise(tokens):
        if kind.token_type.name in _LENGTHS and following.token_type.name == "L_PAREN":
            raise BadInput(f"where={text!r} casts to texts of a length, which is not asked of a log: cast to VARCHAR.")


def _expression(node: Any, columns: LogColumns) -> Expression:
    _refuse_further(node)
    value = _translated(node, columns)
    return ~value if node.args.get("negate") else value


def _translated(node: Any, columns: LogColumns) -> Expression:
    kind = type(node).__name__
    if kind in _PAIRS:
        return _PAIRS[kind](*_sides(node.this, node.expression, columns))
    if kind in _SINGLES:
        return _SINGLES[kind](_expression(node.this, columns))
    return _OTHERS[kind](node, columns)


def _refuse_further(node: Any) -> None:
    """Raise if a part of the condition, or an argument of it, is none that is translated."""
    known = _ARGUMENTS.get(type(node).__name__)
    if known is None or any(value for name, value in node.args.items() if name not in known):
        raise BadInput(f"where has {node.sql('duckdb')!r}, which is not asked of a log: {_TAKEN}.")


def _sides(left: Any, right: Any, columns: LogColumns) -> tuple[Expression, Expression]:
    """Both sides of an operator; a text of a CSV file is a number beside a number, if all texts of its column are."""
    a, b = _expression(left, columns), _expression(right, columns)
    if is_moment(a) and _is_text(right):
        return beside_moment(a, right.this)
    if is_moment(b) and _is_text(left):
        return beside_moment(b, left.this)[::-1]
    if a.type().is_string() and b.type().is_numeric():
        return _as_number(left, a, columns), b
    if b.type().is_string() and a.type().is_numeric():
        return a, _as_number(right, b, columns)
    return a, b


def _is_text(node: Any) -> bool:
    return type(node).__name__ == "Literal" and bool(node.is_string)


def _as_number(node: Any, text: Expression, columns: LogColumns) -> Expression:
    number = columns.numbers.get(_column_name(node, columns)) if type(node).__name__ == "Column" else None
    return text if number is None else nan_as_null(number)


def _column(node: Any, columns: LogColumns) -> Expression:
    return nan_as_null(columns.typed[_column_name(node, columns)])


def _column_name(node: Any, columns: LogColumns) -> str:
    """The column that is meant; its case does not matter, unless the name is quoted or others differ in case alone."""
    name, there = node.name, columns.typed
    if type(node.this).__name__ != "Identifier" or len(node.parts) > 1:
        raise BadInput(
            f"where has {node.sql('duckdb')!r}: name a column of the log alone, in double quotes if need be."
        )
    if name in there:
        return str(name)
    alike = [column for column in there if column.casefold() == name.casefold()]
    renamed = [column for column in there if _without_number(column).casefold() == name.casefold()]
    if len(alike) == 1 and not renamed and not node.this.quoted:
        return alike[0]
    quoted = "" if node.this.quoted else " Write a name with other characters in double quotes, a text in single ones."
    raise BadInput(f"The log has no column {name!r} for where. {hint(name, (*alike, *renamed) or there)}{quoted}")


def _without_number(column: str) -> str:
    """The name that a column had, if an engine numbered it because another differs from it in case alone."""
    start, line, number = column.rpartition("_")
    return start if line and number.isdecimal() else ""


def _literal(node: Any, columns: LogColumns) -> Expression:
    if node.is_string:
        return literal(node.this)
    return literal(int(node.this) if node.is_int else float(node.this))


def _is(node: Any, columns: LogColumns) -> Expression:
    value, what = _expression(node.this, columns), node.expression
    if type(what).__name__ == "Null":
        return value.isnull()
    if type(what).__name__ == "Boolean":
        return (value == literal(what.this)).coalesce(False)
    raise BadInput(f"where has {node.sql('duckdb')!r}: after is stands null, true or false.")


def _in(node: Any, columns: LogColumns) -> Expression:
    if not node.expressions:
        raise BadInput(f"where has {node.sql('duckdb')!r}: list the values in parentheses.")
    sides = [_sides(node.this, each, columns) for each in node.expressions]
    return sides[0][0].isin([value for _, value in sides])


def _between(node: Any, columns: LogColumns) -> Expression:
    low, high = (_sides(node.this, node.args[end], columns) for end in ("low", "high"))
    return ge(*low) & le(*high)


def _like(node: Any, columns: LogColumns) -> Expression:
    value = _expression(node.this, columns)
    if not _is_text(node.expression):
        raise BadInput(f"where has {node.sql('duckdb')!r}: after like stands a text.")
    pattern = node.expression.this
    return value.ilike(pattern) if type(node).__name__ == "ILike" else value.like(pattern)


def _cast(node: Any, columns: LogColumns) -> Expression:
    kind = node.args["to"].sql("duckdb")
    if kind not in _TYPES:
        raise BadInput(
            f"where casts to {kind}, which is not asked of a log: cast to one of {', '.join(sorted(_TYPES))}."
        )
    if _is_text(node.this) and kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ"):
        return cast_moment(node.this.this, _TYPES[kind])
    return _expression(node.this, columns).cast(_TYPES[kind])


def _coalesce(node: Any, columns: LogColumns) -> Expression:
    first, *others = (_expression(each, columns) for each in (node.this, *node.expressions))
    return first.coalesce(*others)


_OTHERS: dict[str, Callable[[Any, LogColumns], Expression]] = {
    "Column": _column,
    "Literal": _literal,
    "Boolean": lambda node, columns: literal(bool(node.this)),
    "Is": _is,
    "In": _in,
    "Between": _between,
    "Like": _like,
    "ILike": _like,
    "Cast": _cast,
    "Coalesce": _coalesce,
}
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PAIRS, ("this", "expression")),
    **dict.fromkeys(_SINGLES, ("this",)),
    "Column": ("this", "table", "db", "catalog"),
    "Literal": ("this", "is_string"),
    "Boolean": ("this",),
    "Is": ("this", "expression", "negate"),
    "In": ("this", "expressions", "query", "negate"),
    "Between": ("this", "low", "high", "negate"),
    "Like": ("this", "expression", "negate"),
    "ILike": ("this", "expression", "negate"),
    "Cast": ("this", "to"),
    "Coalesce": ("this", "expressions"),
}

_TOO_FINE = re.compile(r"[.,]\d{7}")  # Python drops what is finer than microseconds


def is_moment(value: Expression) -> bool:
    """Whether an expression is a date or moment."""
    return bool(value.type().is_timestamp() or value.type().is_date())


def beside_moment(moment: Expression, text: str) -> tuple[Expression, Expression]:
    """A date or moment and a text that says another, so that engines compare them as they stand in UTC."""
    written = _read(text)
    if moment.type().is_date():
        if written.time() == written.min.time():
            return moment, _as_kind(written.date(), "date")
        return moment.cast("timestamp"), _as_kind(written, "timestamp")
    zone = "+00:00" if engine_of(moment).has_zone(moment) else ""
    return moment, _as_kind(f"{written}{zone}", moment.type())


def cast_moment(text: str, kind: str) -> Expression:
    """A text that is cast to a date or moment."""
    written = _read(text)
    if kind == "date":
        if len(text.strip()) > len("2026-03-01"):
            raise BadInput(f"where casts {text!r} to a date: write the date alone, such as {str(written.date())!r}.")
        return _as_kind(written.date(), kind)
    return _as_kind(written if kind == "timestamp" else f"{written}+00:00", kind)


def _read(text: str) -> datetime:
    """In UTC; without an offset it is taken as it stands."""
    try:
        written = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"where compares moments with {text!r}: write one such as '2026-03-01T12:30'.") from None
    if _TOO_FINE.search(text):
        raise BadInput(f"where compares moments with {text!r}, finer than microseconds: write at most six decimals.")
    return written.astimezone(UTC).replace(tzinfo=None) if written.tzinfo else written


def _as_kind(value: Any, kind: Any) -> Expression:
    import ibis

    return ibis.literal(str(value)).cast(kind)


@dataclass(frozen=True)
class ChosenRows:
    """A log without the rows that were left out, and a note that says how many there are; no note if all are chosen."""

    source: LogSource
    notes: tuple[str, ...] = ()

    def where(self, text: str | None) -> "ChosenRows":
        """The rows for which a condition of SQL is true; not those for which it is null."""
        return self if text is None else self._only(lambda columns: parse_condition(text, columns), f"where {text}")

    def since(self, moment: Any, column: str | None) -> "ChosenRows":
        """The rows of a moment and later, by a column of dates or moments."""
        if moment is None:
            return self
        start = to_moment(moment)
        name = _moments(self.source, column)
        first = int(start.replace(tzinfo=start.tzinfo or UTC).timestamp())
        chosen = self._only(
            lambda columns: engine_of(columns.typed[name]).seconds(columns.typed[name]) >= first,
            f"where {name} is {moment} or later",
        )
        table = self.source.table
        unknown = fetch_line(table.aggregate(n=table[name].isnull().sum()))["n"] or 0
        without = f"{several(int(unknown), 'row without', 'rows without')} a value of {name} left out"
        return replace(chosen, notes=(*chosen.notes, without)) if unknown else chosen

    def _only(self, condition: Callable[[LogColumns], Expression], words: str) -> "ChosenRows":
        all_rows = fetch_line(self.source.table.aggregate(n=self.source.table.count()))["n"]
        source = self.source.only(condition(_columns(self.source)))
        kept = fetch_line(source.table.aggregate(n=source.table.count()))["n"]
        if not kept:
            raise BadInput(f"None of {all_rows:,} rows is left {words}: nothing can be measured.")
        return ChosenRows(source, (*self.notes, f"{kept:,} of {all_rows:,} rows, {words}"))


def _columns(source: LogSource) -> LogColumns:
    """The columns that a condition speaks of."""
    if source.cells is not None:
        return LogColumns(source.cells.as_typed, source.cells.as_numbers)
    return LogColumns({name: source.table[name] for name in source.columns})


def to_moment(moment: Any) -> datetime:
    """A date or moment in whole seconds; without a zone it is taken as it stands."""
    if isinstance(moment, date) and not isinstance(moment, datetime):
        return datetime(moment.year, moment.month, moment.day)
    try:
        start = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    except ValueError:
        raise BadInput(f"since is a date or moment such as 2026-03-01 or 2026-03-01T12:30; got {moment!r}.") from None
    if not isinstance(start, datetime):
        raise WrongType(f"since is a date or moment such as 2026-03-01; got {moment!r}.")
    if start.microsecond:
        raise BadInput(f"since is a moment in whole seconds; got {moment!r}.")
    return start


def _moments(source: LogSource, column: str | None) -> str:
    """The column of moments: the one that was named, or the only one."""
    schema = source.table.schema()
    known: list[str] = [name for name, kind in schema.items() if kind.is_timestamp() or kind.is_date()]
    if column is not None:
        one_column(source.columns, column, "time")
        if column not in known:
            raise BadInput(
                f"Column {column!r} holds {schema[column]}, not dates or moments: convert it to a timestamp."
            )
        return column
    if len(known) != 1:
        there = f"has several: {', '.join(known[:8])}" if known else "has none"
        raise BadInput(f"since needs a column of dates or moments; the log {there}: name one with time= or --by-time.")
    return known[0]
