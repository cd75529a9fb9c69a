"""Any Ibis backend: everything in which DuckDB, Postgres, Spark and others differ, and what all do unless they say so.

All else is asked of every engine in the same Ibis expressions: group-by, conditional counts, windows. To add an engine,
write a class like `faithscope.tables.engine.postgres.Postgres` that overrides what is special about it, add it to
`faithscope.tables.engine.dialects.ENGINES`, and to ``tests/tables/engines.py``, whose contract tests then hold it to
the numbers of NumPy.
"""

import glob
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from faithscope.tables.engine.protocol import Connection, Expression, Table


class Backend:
    """A dialect of SQL and the manners of its driver.

    Attributes
    ----------
    name : str
        What Ibis calls the backend.
    locked : bool
        Whether a table cannot change while its connection is open.
    nan_decimals : bool
        Whether a decimal may be NaN.
    """

    name = ""
    locked = False
    nan_decimals = False

    def batches(self, expression: Expression, rows: int) -> Iterator[Any]:
        """The rows of an expression as pyarrow record batches of about so many rows, never all at once."""
        return iter(expression.to_pyarrow_batches(chunk_size=rows))

    def one_state(self, connection: Connection) -> AbstractContextManager[None]:
        """A transaction in which all questions see one state of the tables; nothing if the engine has none.

        A transaction that is open already is left as it is: its owner ends it.
        """
        return nullcontext()

    def readable(self, table: Table) -> Table:
        """A table of somebody's own connection, with the columns that may be read, each as what it is."""
        return table

    def tables(self, connection: Connection) -> list[str]:
        """All tables and views that may be read, those outside the current schema with its name."""
        return sorted(connection.list_tables())

    def seconds(self, moment: Expression) -> Expression:
        """Whole seconds since 1970 of a date or moment, floored: with a zone as UTC, without as it stands.

        Null if the moment is infinite or missing. The time zone of the session must not matter.
        """
        # Truncated first: a cast alone would round.
        moment = moment.cast("timestamp") if moment.type().is_date() else moment
        return moment.truncate("s").epoch_seconds().cast("int64")

    def has_zone(self, moment: Expression) -> bool:
        """Whether a column of moments has a time zone."""
        return moment.type().timezone is not None

    def file_name(self, file: str) -> str:
        """A local file as the engine takes it, which would otherwise read its name as a glob."""
        return glob.escape(file)

    def read_parquet(self, connection: Any, files: Sequence[str]) -> Table:
        """Parquet files with the same columns and types, as one table."""
        return connection.read_parquet(files)

    def read_json(self, connection: Any, files: Sequence[str]) -> Table:
        """Files of JSON lines as one table, whose types all lines decide."""
        return connection.read_json(files, sample_size=-1, maximum_sample_files=len(files), union_by_name=True)

    def read_csv(self, connection: Any, files: Sequence[str], separator: str, names: Sequence[str]) -> Table:
        """CSV files as one table of texts; no names for remote files, whose first line only the engine reads."""
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
