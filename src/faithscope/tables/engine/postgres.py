"""Postgres: a session that only reads, in one transaction per audit."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from faithscope.tables.engine.backend import Backend, schema_tables
from faithscope.tables.engine.expressions import call
from faithscope.tables.engine.failures import clear_errors
from faithscope.tables.engine.protocol import Connection, Expression, Table

_GRANTED = (
    "SELECT attname FROM pg_attribute JOIN pg_class c ON attrelid = c.oid JOIN pg_namespace n ON relnamespace = n.oid "
    "WHERE nspname = coalesce(%s, current_schema()) AND relname = %s AND has_column_privilege(c.oid, attnum, 'SELECT')"
)
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Postgres(Backend):
    """Postgres has infinite moments, and decimals that are NaN, infinite, and of any length."""

    name = "postgres"
    nan_decimals = True

    @contextmanager
    def one_state(self, connection: Connection) -> Iterator[None]:
        """A repeatable read; Ibis's own transactions are savepoints in it."""
        from psycopg import Error
        from psycopg.pq import TransactionStatus

        session = connection.con
        if session.info.transaction_status != TransactionStatus.IDLE:
            yield
            return
        with clear_errors("Reading the log with postgres"):
            session.execute(_BEGIN)
        try:
            yield
        finally:
            with suppress(Error):  # the connection is lost, and the transaction with it
                session.rollback()

    def readable(self, table: Table) -> Table:
        """Without the columns that the role was not granted."""
        from ibis.expr.operations import DatabaseTable

        source = table.op()
        if not isinstance(source, DatabaseTable):
            return table
        lines = table.get_backend().con.execute(_GRANTED, (source.namespace.database, source.name)).fetchall()
        granted = [name for name in table.columns if (name,) in lines]
        return table.select(granted) if 0 < len(granted) < len(table.columns) else table

    def tables(self, connection: Connection) -> list[str]:
        """Those of all schemas."""
        return schema_tables(connection)

    def seconds(self, moment: Expression) -> Expression:
        """Null for the infinite moments, which have no seconds."""
        import ibis

        return super().seconds(ibis.ifelse(call("isfinite", moment, "boolean"), moment, ibis.null(moment.type())))
