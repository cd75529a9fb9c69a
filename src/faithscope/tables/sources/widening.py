"""Tables with the same columns in other types, as one: types are widened if no value changes, or refused."""

from functools import reduce
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.protocol import Expression, Table

_EXACT = 2**53  # beyond it two integers may share one float64
_DIGITS = 19  # of the largest integer
_MOST_DIGITS = 38  # of a decimal


def widened(tables: list[Table]) -> Table:
    """All rows of the tables; a column that a table does not have is missing in its rows."""
    import ibis

    if len(tables) == 1:
        return tables[0]
    names = sorted({name for table in tables for name in table.columns}, key=_order(tables))
    kinds = {name: _common(name, tables) for name in names}
    return ibis.union(*(_as(table, kinds) for table in tables))


def _order(tables: list[Table]) -> Any:
    """Columns in the order of the table with most of them, then by name; the order of files says nothing."""
    longest = max(tables, key=lambda table: (len(table.columns), table.columns)).columns
    place = {name: i for i, name in enumerate(longest)}
    return lambda name: (place.get(name, len(place)), name)


def _as(table: Table, kinds: dict[str, Any]) -> Table:
    return table.select(**{name: _column(table, name, kind) for name, kind in kinds.items()})


def _column(table: Table, name: str, kind: Any) -> Expression:
    import ibis

    if name not in table.columns:
        return ibis.null(kind)
    return table[name] if table[name].type() == kind else table[name].cast(kind)


def _common(name: str, tables: list[Table]) -> Any:
    """A type that holds every value of a column exactly."""
    held = [table for table in tables if name in table.columns]
    kinds = [table.schema()[name](nullable=True) for table in held]
    kind = reduce(lambda a, b: None if a is None else wider(a, b), kinds)
    if kind is None:
        types = " and ".join(dict.fromkeys(map(str, kinds)))
        raise BadInput(
            f"Column {name!r} holds {types} in different files, which no type holds exactly: write it in one type."
        )
    if kind.is_floating():
        whole = [table for table, kind in zip(held, kinds, strict=True) if kind.is_int64() or kind.is_uint64()]
        _refuse_large(name, whole)
    return kind


def wider(a: Any, b: Any) -> Any | None:
    """The narrowest type that holds the values of both, if there is one; whole numbers beyond 2**53 are looked for."""
    import ibis.expr.datatypes as dt

    if a == b or b.is_null():
        return a
    if a.is_null():
        return b
    if a.is_array() and b.is_array():
        inner = wider(a.value_type, b.value_type)
        return None if inner is None or (inner.is_floating() and _wide(a, b)) else dt.Array(inner)
    if a.is_integer() and b.is_integer():
        signed = a.is_signed_integer() or b.is_signed_integer()
        return None if signed and (a.is_uint64() or b.is_uint64()) else dt.uint64 if not signed else dt.int64
    if all(kind.is_floating() or kind.is_integer() for kind in (a, b)):
        return dt.float64
    if all(kind.is_decimal() or kind.is_integer() for kind in (a, b)):
        return _decimal(a, b)
    if all(kind.is_timestamp() or kind.is_date() for kind in (a, b)):
        zones = {kind.timezone for kind in (a, b) if kind.is_timestamp()}
        return dt.Timestamp(timezone=zones.pop()) if len(zones) == 1 else None
    return None


def _wide(a: Any, b: Any) -> bool:
    """Whether lists hold whole numbers that a float64 may not."""
    return any(kind.value_type.is_int64() or kind.value_type.is_uint64() for kind in (a, b))


def _decimal(a: Any, b: Any) -> Any | None:
    import ibis.expr.datatypes as dt

    parts = [(kind.precision - kind.scale, kind.scale) if kind.is_decimal() else (_DIGITS, 0) for kind in (a, b)]
    scale = max(part[1] for part in parts)
    digits = max(part[0] for part in parts) + scale
    return dt.Decimal(digits, scale) if digits <= _MOST_DIGITS else None


def _refuse_large(name: str, tables: list[Table]) -> None:
    for table in tables:
        largest = fetch_line(table.aggregate(largest=table[name].abs().max()))["largest"]
        if largest is not None and largest > _EXACT:
            raise BadInput(
                f"Column {name!r} holds whole numbers beyond 2**53 in one file and fractions in another, which no type "
                "holds exactly: write it in one type."
            )
