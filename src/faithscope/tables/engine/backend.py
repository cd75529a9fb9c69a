"""Any Ibis backend, as its common interface goes: what engines do unless their own class says otherwise."""

import glob
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from faithscope.tables.engine.protocol import Connection, Expression, Table


class Backend:
    """The defaults of every engine; `faithscope.tables.engine.protocol.Engine` says what each method must give."""

    name = ""
    locked = False
    nan_decimals = False

    def batches(self, expression: Expression, rows: int) -> Iterator[Any]:
        """By Ibis's own reader."""
        return iter(expression.to_pyarrow_batches(chunk_size=rows))

    def one_state(self, connection: Connection) -> AbstractContextManager[None]:
        """No transaction."""
        return nullcontext()

    def readable(self, table: Table) -> Table:
        """All of it."""
        return table

    def tables(self, connection: Connection) -> list[str]:
        """Those of the current schema."""
        return sorted(connection.list_tables())

    def seconds(self, moment: Expression) -> Expression:
        """Truncated first: a cast alone would round."""
        moment = moment.cast("timestamp") if moment.type().is_date() else moment
        return moment.truncate("s").epoch_seconds().cast("int64")

    def has_zone(self, moment: Expression) -> bool:
        """By the type that Ibis reports."""
        return moment.type().timezone is not None

    def file_name(self, file: str) -> str:
        """With the characters of a glob escaped."""
        return glob.escape(file)

    def read_parquet(self, connection: Any, files: Sequence[str]) -> Table:
        """By Ibis's own reader."""
        return connection.read_parquet(files)

    def read_json(self, connection: Any, files: Sequence[str]) -> Table:
        """Types from all lines of all files."""
        return connection.read_json(files, sample_size=-1, maximum_sample_files=len(files), union_by_name=True)

    def read_csv(self, connection: Any, files: Sequence[str], separator: str, names: Sequence[str]) -> Table:
        """With nothing left to guess, except for remote files."""
        fixed: dict[str, Any] = {"all_varchar": True, "header": True, "quote": '"', "escape": '"'}
        fixed |= {"comment": "", "skip": 0}
        if not names:
            return connection.read_csv(files, **fixed, sample_size=-1)
        columns = dict.fromkeys(names, "VARCHAR")
        return connection.read_csv(files, **fixed, delim=separator, auto_detect=False, columns=columns)


def schema_tables(connection: Connection) -> list[str]:
    """The tables of all schemas: Ibis lists those of one, and asks DuckDB 2 by a name that it no longer has."""
    lines = connection.raw_sql(
        "SELECT table_schema = current_schema(), table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1 DESC, 2, 3"
    ).fetchall()
    return [table if current else f"{schema}.{table}" for current, schema, table in lines]
