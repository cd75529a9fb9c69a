"""A copy of a log in a DuckDB of our own, for what the engine that holds it cannot do."""

from dataclasses import replace

from faithscope.tables.engine.answers import batches
from faithscope.tables.engine.expressions import Table
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.engine.shown_columns import column, shown
from faithscope.tables.sources.connections import embedded
from faithscope.tables.sources.queries import kept
from faithscope.tables.sources.source import LogSource

_ROWS = 2**16  # at once


def copied(source: LogSource) -> LogSource:
    """The log in a DuckDB that spills to disk, read once in batches; columns that cannot be shown are left out."""
    table, schema = source.table, source.table.schema()
    how = {name: name if schema[name].is_string() else shown(name, schema[name]) for name in table.columns}
    wanted = table.select(**{name: column(table, form) for name, form in how.items() if form is not None})
    copy = kept(batches(wanted, _ROWS), embedded())
    return replace(source, table=copy, cells=None, embedded=True, still=True, files=())


def worked_out(source: LogSource, table: Table) -> LogSource:
    """The log as this table of the DuckDB of our own that reads it, worked out once: each question would anew."""
    from ibis.util import gen_name

    with clear_errors("Unpacking the explanations with duckdb"):
        backend, name = table.get_backend(), gen_name("faithscope_log")
        backend.raw_sql(f'CREATE TEMP TABLE "{name}" AS {backend.compile(table)}')
        return replace(source, table=backend.table(name, database=("temp", "main")))
