"""Postgres: a session that only reads, in one transaction per audit."""

from collections.abc import Iterator
from contextlib import contextmanager

from faithscope.tables.engine.backend import Backend, schema_tables
from faithscope.tables.engine.expressions import call
from faithscope.tables.engine.protocol import Connection, Expression

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class Postgres(Backend):
    """Postgres has infinite moments, and decimals that are NaN, infinite, and of any length."""

    name = "postgres"
    nan_decimals = True

    @contextmanager
    def one_state(self, connection: Connection) -> Iterator[None]:
        """A repeatable read; Ibis's own transactions are savepoints in it."""
        from psycopg.pq import TransactionStatus

        session = connection.con
        if session.info.transaction_status != TransactionStatus.IDLE:
            yield
            return
        session.execute(_BEGIN)
        try:
            yield
        finally:
            session.rollback()

    def tables(self, connection: Connection) -> list[str]:
        """Those of all schemas."""
        return schema_tables(connection)

    def seconds(self, moment: Expression) -> Expression:
        """Null for the infinite moments, which have no seconds."""
        import ibis

        return super().seconds(ibis.ifelse(call("isfinite", moment, "boolean"), moment, ibis.null(moment.type())))
