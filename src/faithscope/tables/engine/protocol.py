"""What of Ibis is used here: expressions, tables and connections."""

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
