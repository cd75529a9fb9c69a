"""Columns that are only shown: whatever they hold, they never fail an audit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.errors import WrongType
from faithscope.tables.engine.expressions import Expression, Table

_LONGEST = 1_000  # characters of a cell; its engine cuts it, so that no long text leaves a database


@dataclass(frozen=True)
class AsText:
    """A column of the log, by name, as the text that its engine writes it as, cut if it is long."""

    name: str


Column = str | AsText


def column(table: Table, wanted: Column) -> Expression:
    """A column of a table, as an expression."""
    if not isinstance(wanted, AsText):
        return table[wanted]
    text = table[wanted.name].cast("string")
    return (text.length() > _LONGEST).ifelse(text.substr(0, _LONGEST).concat("…"), text)


def shown(name: str, kind: Any, *, nan_decimals: bool = False) -> Column | None:
    """How a column of this type is shown; None if no engine writes it as one text.

    Numbers and truth values come as they are. All else comes as text: a driver may have no value for it (a date in the
    year 12000, an infinite one), or no type (uuid, inet, json), and a text may be of any length. So do the decimals of
    an engine in which they may be NaN.
    """
    if kind.is_nested() or kind.is_unknown() or kind.is_binary() or kind.is_geospatial():
        return None
    plain = kind.is_integer() or kind.is_floating() or kind.is_boolean() or (kind.is_decimal() and not nan_decimals)
    return name if plain else AsText(name)


def refuse_nested(schema: Any, columns: Sequence[str], why: str) -> None:
    """Raise if a column holds anything but one value in each row."""
    for name in columns:
        if schema[name].is_nested():
            raise WrongType(f"Column {name!r} holds {schema[name]}, but {why}: name a column of texts or numbers.")
