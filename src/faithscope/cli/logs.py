"""The log that a command reads: files, or a table of a database."""

from typing import Any

from faithscope.errors import BadInput


def open_log_source(log: list[str] | None, table: str | None, connect: str | None) -> Any:
    """The source that the command line names, by files or by --table with --connect."""
    from faithscope.tables.sources.source import open_source

    if bool(log) == (table is not None):
        raise BadInput("Say which log to read: a file, or --table with --connect.")
    if table is not None and connect is None:
        raise BadInput(f"--table {table} is a table of a database: say which with --connect.")
    return open_source(log or table, connect)
