"""Spark: tables of a session, or files that its executors read."""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from faithscope.tables.engine.backend import Backend
from faithscope.tables.engine.expressions import DAY, call
from faithscope.tables.engine.protocol import Connection, Expression, Table

_GLOB = "*?[]{}\\"  # characters that Spark reads as a part of a glob


class Spark(Backend):
    """Spark has two types of moments, with a zone and without one, which Ibis does not tell apart."""

    name = "pyspark"

    def batches(self, expression: Expression, rows: int) -> Iterator[Any]:
        """One partition at a time; Ibis would collect the whole table on the driver."""
        import pyarrow as pa

        engine = expression.get_backend()
        kind = expression.schema().as_struct().to_pyarrow()
        lines = engine.raw_sql(engine.compile(expression)).toLocalIterator()
        while batch := [tuple(line) for line in islice(lines, rows)]:
            yield pa.RecordBatch.from_struct_array(pa.array(batch, kind))

    def seconds(self, moment: Expression) -> Expression:
        """By Spark's name of the type: Spark takes a moment without a zone for one of its session's."""
        import ibis

        if moment.type().is_date():
            return call("unix_date", moment, "int64").cast("int64") * DAY
        parts = ((call("unix_date", moment.date(), "int64"), DAY), (moment.hour(), 3600), (moment.minute(), 60))
        naive = sum((part.cast("int64") * size for part, size in parts), moment.second().cast("int64"))
        zoned = call("unix_seconds", call("to_timestamp_ltz", moment, "timestamp"), "int64")
        return ibis.ifelse(call("typeof", moment, "string") == "timestamp", zoned, naive)

    def has_zone(self, moment: Expression) -> bool:
        """By Spark's name of the type: a "timestamp" is kept in UTC, a "timestamp_ntz" has no zone."""
        return _type_name(moment.op()) == "timestamp"

    def file_name(self, file: str) -> str:
        """The whole path, since executors may have another working directory."""
        return "".join("\\" + letter if letter in _GLOB else letter for letter in os.path.abspath(file))

    def read_parquet(self, connection: Connection, files: Sequence[str]) -> Table:
        """By Spark: Ibis would take several Parquet files for one name."""
        return _view(connection, "parquet", files)

    def read_json(self, connection: Connection, files: Sequence[str]) -> Table:
        """By Spark, which looks at all lines."""
        return _view(connection, "json", files)

    def read_csv(self, connection: Connection, files: Sequence[str], separator: str, names: Sequence[str]) -> Table:
        """By Spark, with the same rules of quoting as DuckDB."""
        manners = {"header": True, "sep": separator, "escape": '"', "multiLine": True, "mode": "FAILFAST"}
        if not names:
            return _view(connection, "csv", files, **manners, enforceSchema=False)
        table = _view(connection, "csv", files, **manners)  # an empty name has another one in Spark
        return table.rename({name: held for name, held in zip(names, table.columns, strict=True) if name != held})


@lru_cache(maxsize=256)
def _type_name(operation: Any) -> str:
    """What Spark calls the type of a column."""
    from faithscope.tables.engine.answers import fetch

    question = call("typeof", operation.to_expr(), "string").as_table().limit(1)
    return next(iter(fetch(question).column(0).to_pylist()), "")


def _view(connection: Connection, kind: str, files: Sequence[str], **options: Any) -> Table:
    """Files of one kind as a view of the session."""
    from ibis.util import gen_name

    session = connection.raw_sql("SELECT 1").sparkSession
    name = gen_name(f"faithscope_{kind}")
    session.read.format(kind).options(**options).load(list(files)).createOrReplaceTempView(name)
    return connection.table(name)
