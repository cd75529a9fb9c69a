"""DuckDB: files on this machine, and DuckDB's own database files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from faithscope.tables.engine.backend import Backend, schema_tables
from faithscope.tables.engine.expressions import call, floor_to
from faithscope.tables.engine.protocol import Connection, Expression, Table

_MICROSECONDS, _NANOSECONDS = 10**6, 10**9  # per second


class DuckDB(Backend):
    """DuckDB locks the file of a database for as long as it is open."""

    name = "duckdb"
    locked = True

    def batches(self, expression: Expression, rows: int) -> Iterator[Any]:
        """By the driver: Ibis 12 asks DuckDB 2 for batches by a name that it no longer has."""
        engine = expression.get_backend()
        relation = engine.con.sql(engine.compile(expression))
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return iter(read(rows))

    @contextmanager
    def one_state(self, connection: Connection) -> Iterator[None]:
        """A transaction, unless one is open: to begin another would end it."""
        import duckdb

        if _transaction(connection) == _transaction(connection):
            yield
            return
        connection.con.begin()
        try:
            yield
        finally:
            try:
                connection.con.commit()  # keeps what others write through the same connection meanwhile
            except duckdb.Error:
                connection.con.rollback()

    def readable(self, table: Table) -> Table:
        """With floats by a detour: DuckDB 2.0 takes Parquet's statistics, which leave NaN out, as proof of none."""
        import ibis

        floats = [table[name] for name, kind in table.schema().items() if kind.is_floating()]
        detours = {value.get_name(): ibis.ifelse(value.isnull(), ibis.null(value.type()), value) for value in floats}
        return table.mutate(**detours) if floats else table

    def tables(self, connection: Connection) -> list[str]:
        """Those of all schemas."""
        return schema_tables(connection)

    def seconds(self, moment: Expression) -> Expression:
        """From nanoseconds if the column has them, which DuckDB would round to microseconds."""
        if moment.type().is_timestamp() and moment.type().scale == 9:
            return floor_to(call("epoch_ns", moment, "int64"), _NANOSECONDS)
        return floor_to(call("epoch_us", moment, "int64"), _MICROSECONDS)

    def read_json(self, connection: Any, files: Sequence[str]) -> Table:
        """Objects as maps of JSON, in which a key that is left out is not null; types from all lines of all files."""
        table = super().read_json(connection, files)
        objects = [name for name, kind in table.schema().items() if kind.is_struct() or kind.is_map()]
        if not objects:
            return table
        held = connection.con.table(table.get_name())
        kinds = {name: str(kind) for name, kind in zip(held.columns, held.types, strict=True)}
        return connection.read_json(files, columns=kinds | dict.fromkeys(objects, "MAP(VARCHAR, JSON)"))


def _transaction(connection: Connection) -> Any:
    """The number of the transaction, another one for each question that is asked outside of one."""
    return connection.con.execute("SELECT txid_current()").fetchall()
