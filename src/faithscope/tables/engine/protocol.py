"""What an engine must give: everything in which DuckDB, Postgres, Spark and other Ibis backends differ.

All else is asked of every engine in the same Ibis expressions: group-by, conditional counts, windows, ``md5`` and
``to_json``. To add an engine, write a class like `faithscope.tables.engine.postgres.Postgres` that overrides what is
special about it, add it to `faithscope.tables.engine.dialects.ENGINES`, and to ``tests/tables/engines.py``, whose
contract tests then hold it to the numbers of NumPy.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Expression = Any  # an Ibis expression of a value, such as a column; Ibis has no static types
Table = Any  # an Ibis table


class Connection(Protocol):
    """The part of an Ibis connection that is used here."""

    name: str

    @property
    def con(self) -> Any:
        """The driver's own connection."""

    def table(self, name: str, *, database: str | None = None) -> Table:
        """A table by its name; `ibis.common.exceptions.TableNotFound` if there is none."""

    def compile(self, expression: Expression) -> str:
        """The SQL of an expression."""

    def raw_sql(self, query: str) -> Any:
        """The driver's own answer to a query."""

    def list_tables(self) -> list[str]:
        """The names of the tables of the current schema."""


class Engine(Protocol):
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

    name: str
    locked: bool
    nan_decimals: bool

    def batches(self, expression: Expression, rows: int) -> Iterator[Any]:
        """The rows of an expression as pyarrow record batches of about so many rows, never all at once."""

    def one_state(self, connection: Connection) -> AbstractContextManager[None]:
        """A transaction in which all questions see one state of the tables; nothing if the engine has none.

        A transaction that is open already is left as it is: its owner ends it.
        """

    def readable(self, table: Table) -> Table:
        """A table of somebody's own connection, with the columns that may be read, each as what it is."""

    def tables(self, connection: Connection) -> list[str]:
        """All tables and views that may be read, those outside the current schema with its name."""

    def seconds(self, moment: Expression) -> Expression:
        """Whole seconds since 1970 of a date or moment, floored: with a zone as UTC, without as it stands.

        Null if the moment is infinite or missing. The time zone of the session must not matter.
        """

    def has_zone(self, moment: Expression) -> bool:
        """Whether a column of moments has a time zone."""

    def file_name(self, file: str) -> str:
        """A local file as the engine takes it, which would otherwise read its name as a glob."""

    def read_parquet(self, connection: Connection, files: Sequence[str]) -> Table:
        """Parquet files with the same columns and types, as one table."""

    def read_json(self, connection: Connection, files: Sequence[str]) -> Table:
        """Files of JSON lines as one table, whose types all lines decide."""

    def read_csv(self, connection: Connection, files: Sequence[str], separator: str, names: Sequence[str]) -> Table:
        """CSV files as one table of texts; no names for remote files, whose first line only the engine reads."""
