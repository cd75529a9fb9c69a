"""Questions to a DuckDB connection, each answered whole before the next is asked."""

from collections.abc import Iterator, Sequence
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


@contextmanager
def registered(connection: Any, name: str, columns: dict[str, Any]) -> Iterator[None]:
    """Columns under a name that queries may read, for as long as it takes."""
    import duckdb
    import pyarrow as pa

    connection.register(name, pa.table(columns))
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # what went wrong inside is told, not that its transaction is over
            connection.unregister(name)
