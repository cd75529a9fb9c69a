"""Which engine answers: by the name of the Ibis backend that holds a table."""

from faithscope.tables.engine.backend import Backend
from faithscope.tables.engine.duckdb import DuckDB
from faithscope.tables.engine.postgres import Postgres
from faithscope.tables.engine.protocol import Connection, Expression
from faithscope.tables.engine.spark import Spark

ENGINES: tuple[Backend, ...] = (DuckDB(), Postgres(), Spark())
_BY_NAME = {engine.name: engine for engine in ENGINES}


def engine_of(expression: Expression) -> Backend:
    """The engine that holds the table of an expression."""
    return engine_at(expression.get_backend())


def engine_at(connection: Connection) -> Backend:
    """The engine of an Ibis connection; of a backend that has no class of its own, the defaults."""
    return _BY_NAME.get(connection.name, Backend())
