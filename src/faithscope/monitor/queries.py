"""Questions to a DuckDB connection, each answered whole before the next is asked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any


def fetch_table(connection: Any, query: str) -> Any:
    """The answer as an Arrow table."""
    return connection.sql(query).to_arrow_table()


def fetch_lines(connection: Any, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The answer as tuples."""
    lines: list[tuple[Any, ...]] = connection.execute(query, list(values)).fetchall()
    return lines


def fetch_value(connection: Any, query: str, values: Sequence[Any] = ()) -> Any:
    """The first value of the first line; None if there is no line."""
    lines = fetch_lines(connection, query, values)
    return lines[0][0] if lines else None


def held_settings(connection: Any) -> dict[str, str]:
    """What was settled when a store began, or with its first rows."""
    return dict(fetch_lines(connection, "SELECT name, value FROM settings"))


def setting(connection: Any, name: str) -> str | None:
    """One of them; None if it was not settled."""
    value: str | None = fetch_value(connection, "SELECT value FROM settings WHERE name = ?", [name])
    return value


def settle(connection: Any, name: str, value: str) -> None:
    """Keep a setting in place of what it was."""
    connection.execute("DELETE FROM settings WHERE name = ?", [name])
    connection.execute("INSERT INTO settings VALUES (?, ?)", [name, value])


def create(connection: Any, tables: Mapping[str, str]) -> None:
    """Tables with these columns, unless there are such."""
    for name, columns in tables.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")


def insert(connection: Any, query: str, columns: dict[str, Any], values: Sequence[Any] = ()) -> None:
    """Run a query that inserts what it reads from `telling`, which has these columns."""
    with registered(connection, "telling", columns):
        connection.execute(query, list(values))


@contextmanager
def registered(connection: Any, name: str, columns: Any) -> Iterator[None]:
    """Columns, or an Arrow table, under a name that queries may read, for as long as it takes."""
    import duckdb
    import pyarrow as pa

    connection.register(name, pa.table(columns))
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # what went wrong inside is told, not that its transaction is over
            connection.unregister(name)
