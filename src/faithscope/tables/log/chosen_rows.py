"""The rows of a log that are audited: those of a condition, and those since a moment."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.moments import seconds
from faithscope.tables.engine.protocol import Expression
from faithscope.tables.log.columns import one_column
from faithscope.tables.log.conditions import LogColumns, parse_condition
from faithscope.tables.sources.source import LogSource


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
        chosen = self._only(lambda columns: seconds(columns.typed[name]) >= first, f"where {name} is {moment} or later")
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
