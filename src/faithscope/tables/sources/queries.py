"""Logs that are queries: their rows are read once, in batches, into a DuckDB of our own that spills to disk."""

from collections.abc import Iterable, Iterator
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import read_settings
from faithscope.inputs.queries import Query
from faithscope.tables.engine.expressions import Connection, Table
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.sources.connections import embedded

_ROWS = 2**16  # at once


def read_query(query: Any, kind: Query) -> tuple[Table, Any]:
    """The rows of a query as a table, and what the log says about its own explanations."""
    with clear_errors(f"Reading the {kind}"):
        batches = iter(_batches(query, kind))
        first = next(batches, None)
    if first is None:
        raise BadInput("The log has no rows: nothing can be measured.")
    return kept(_after(first, batches, kind), embedded()), read_settings(first.schema.empty_table())


def _batches(query: Any, kind: Query) -> Iterable[Any]:
    """The rows as Arrow tables or record batches, never all at once."""
    if kind == "lazy frame":
        return (frame.to_arrow() for frame in query.collect_batches(chunk_size=_ROWS))
    if kind == "dataset":
        return query.to_batches(batch_size=_ROWS)  # type: ignore[no-any-return]
    if kind == "reader":
        return query  # type: ignore[no-any-return]
    if kind == "cursor":
        raise WrongType("A DuckDB connection or cursor is no log: pass con.table('name') or con.sql('SELECT …').")
    read = getattr(query, "to_arrow_reader", None) or query.fetch_arrow_reader
    return read(_ROWS)  # type: ignore[no-any-return]


def _after(first: Any, batches: Iterator[Any], kind: Query) -> Iterator[Any]:
    """All batches, with one clear line for whatever the query raises on its way."""
    batch = first
    while batch is not None:
        yield batch
        with clear_errors(f"Reading the {kind}"):
            batch = next(batches, None)


def kept(batches: Iterable[Any], connection: Connection) -> Table:
    """All batches as one table of a DuckDB; an error if there is no row."""
    from ibis.util import gen_name

    name, rows = gen_name("faithscope_log"), 0
    for number, batch in enumerate(batches):
        rows += batch.num_rows
        with clear_errors("Copying the log into DuckDB"):
            connection.con.register("batch", batch)
            begin = f"INSERT INTO {name}" if number else f"CREATE TABLE {name} AS"
            connection.con.execute(f"{begin} SELECT * FROM batch")
            connection.con.unregister("batch")
    if not rows:
        raise BadInput("The log has no rows: nothing can be measured.")
    return connection.table(name)
