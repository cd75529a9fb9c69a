"""A copy of a log in a DuckDB of our own, for what the engine that holds it cannot do."""

from dataclasses import replace

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import batches
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.engine.shown_columns import column, shown
from faithscope.tables.sources.connections import embedded
from faithscope.tables.sources.source import LogSource

_ROWS = 2**16  # at once
_NAME = "faithscope_copy"


def copied(source: LogSource) -> LogSource:
    """The log in a DuckDB that spills to disk, read once in batches; columns that cannot be shown are left out."""
    table, schema = source.table, source.table.schema()
    how = {name: name if schema[name].is_string() else shown(name, schema[name]) for name in table.columns}
    kept = table.select(**{name: column(table, wanted) for name, wanted in how.items() if wanted is not None})
    connection = embedded()
    rows = 0
    for number, batch in enumerate(batches(kept, _ROWS)):
        rows += batch.num_rows
        with clear_errors("Copying the log into DuckDB"):
            connection.con.register("batch", batch)
            begin = f"INSERT INTO {_NAME}" if number else f"CREATE TABLE {_NAME} AS"
            connection.con.execute(f"{begin} SELECT * FROM batch")
            connection.con.unregister("batch")
    if not rows:
        raise BadInput("The log has no rows: nothing can be measured.")
    return replace(source, table=connection.table(_NAME), cells=None, embedded=True, still=True, files=())
