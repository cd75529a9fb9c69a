"""Engines: what of Ibis is used here, and how a database hands over its rows.

A DuckDB of our own counts. Other engines choose rows, and hand them over in one question, equal ones once if need be.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, MissingExtra, TooLarge

Expression = Any  # an Ibis expression of a value, such as a column; Ibis has no static types
Table = Any  # an Ibis table
Connection = Any  # an Ibis connection, of which `con` is the driver's own
DAY = 86400  # seconds


def literal(value: Any) -> Expression:
    """A value as an Ibis literal; floats by their exact text, since an engine may read 0.1 as a decimal first."""
    import ibis

    if isinstance(value, float):
        return ibis.literal(repr(value)).cast("float64")
    if isinstance(value, int) and value >= 2**63:
        return ibis.literal(value, "uint64")
    return ibis.literal(value)


def call(name: str, value: Expression, answer: Any) -> Expression:
    """A function that the engine has and Ibis does not know; `answer` is the type of the result."""
    import ibis

    def builtin(value: Any) -> Any: ...

    return ibis.udf.scalar.builtin(builtin, name=name, signature=((value.type(),), answer))(value)


def floor_to(number: Expression, step: int) -> Expression:
    """Integers divided by a step and floored, negative ones too."""
    inside = (number % step + step) % step
    return ((number - inside) / step).round().cast("int64")


_EXTRAS = {"psycopg": "postgres", "pyspark": "spark"}
_PASSWORD = re.compile(r"(?<=:)(?!//)\S*[^\s/](?=@)|(?<=password=)[^\s&]+", re.IGNORECASE)
_LONGEST = 300  # characters of an engine's own message


@contextmanager
def clear_errors(doing: str, *secrets: str) -> Iterator[None]:
    """Turn whatever an engine or a driver raises into one line; no password is ever part of it."""
    try:
        with warnings.catch_warnings():
            # Engines and drivers warn each other of changes to come; nobody here can act on it.
            warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\..*")
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ibis\..*")
            yield
    except (FaithscopeError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as problem:  # Ibis wraps the error that names the package
        named = [str(getattr(error, "name", None)).split(".")[0] for error in _chain(problem)]
        extra = next((f"'faithscope[{_EXTRAS[name]}]'" for name in named if name in _EXTRAS), "faithscope")
        raise MissingExtra(f"{doing} needs a package ({_one_line(problem, ())}): pip install {extra}.") from None
    except Exception as problem:  # engines and their drivers share no base class
        chain = _chain(problem)
        if any(isinstance(error, KeyboardInterrupt) or is_interruption(error) for error in chain):
            raise KeyboardInterrupt from None
        # To close what an error of Postgres has broken fails too, and hides that error.
        first = next((error for error in reversed(chain) if type(error).__module__.startswith("psycopg")), problem)
        message = _one_line(first, secrets)
        if "out of memory" in message.lower():
            raise TooLarge(f"{doing} failed: {message.rstrip('.')}. Audit a part of the log.") from None
        raise BadInput(f"{doing} failed: {message}") from None


def is_interruption(error: BaseException) -> bool:
    """Whether this is what DuckDB makes of Ctrl-C during a query."""
    return type(error).__name__ == "InterruptException" or str(error) == "Query interrupted"


def _chain(problem: BaseException) -> list[BaseException]:
    """An error and those that it came from, the last one first."""
    chain = [problem]
    while (why := chain[-1].__cause__ or chain[-1].__context__) is not None and why not in chain:
        chain.append(why)
    return chain


def without_password(text: str) -> str:
    """A text in which whatever may be a password of an address is starred out.

    Examples
    --------
    >>> without_password("postgres://reader:secret@host/database")
    'postgres://reader:***@host/database'
    """
    return _PASSWORD.sub("***", text)


def _one_line(problem: BaseException, secrets: Sequence[str]) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    message = lines[0] if lines else type(problem).__name__
    for secret in filter(None, secrets):
        message = message.replace(secret, "***")
    message = without_password(message)
    return message if len(message) <= _LONGEST else message[:_LONGEST] + "…"


_MICROSECONDS, _NANOSECONDS = 10**6, 10**9  # per second


def seconds(moment: Expression) -> Expression:
    """Whole seconds since 1970 of a date or moment in DuckDB, floored: with a zone as UTC, without as it stands."""
    if moment.type().is_timestamp() and moment.type().scale == 9:  # which DuckDB would round to microseconds
        return floor_to(call("epoch_ns", moment, "int64"), _NANOSECONDS)
    return floor_to(call("epoch_us", moment, "int64"), _MICROSECONDS)


def has_zone(moment: Expression) -> bool:
    """Whether a column of moments has a time zone; Spark has two types of them, which Ibis does not tell apart."""
    engine = moment.get_backend()
    if engine.name != "pyspark":
        return moment.type().timezone is not None
    held = engine.raw_sql(engine.compile(moment.as_table())).schema[0].dataType
    return bool(held.typeName() == "timestamp")


def tables_of(connection: Connection) -> list[str]:
    """All tables and views that may be read, those outside the current schema with its name."""
    if connection.name not in ("duckdb", "postgres"):
        return sorted(connection.list_tables())
    # Of all schemas: Ibis lists those of one, and asks DuckDB 2 by a name that it no longer has.
    lines = connection.raw_sql(
        "SELECT table_schema = current_schema(), table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1 DESC, 2, 3"
    ).fetchall()
    return [table if current else f"{schema}.{table}" for current, schema, table in lines]


_GRANTED = (
    "SELECT attname FROM pg_attribute JOIN pg_class c ON attrelid = c.oid JOIN pg_namespace n ON relnamespace = n.oid "
    "WHERE nspname = coalesce(%s, current_schema()) AND relname = %s AND has_column_privilege(c.oid, attnum, 'SELECT')"
)


def readable(table: Table) -> Table:
    """A table of somebody's own connection; of Postgres without the columns that the role was not granted."""
    from ibis.expr.operations import DatabaseTable

    engine, source = table.get_backend(), table.op()
    if engine.name != "postgres" or not isinstance(source, DatabaseTable):
        return table
    lines = engine.con.execute(_GRANTED, (source.namespace.database, source.name)).fetchall()
    granted = [name for name in table.columns if (name,) in lines]
    return table.select(granted) if 0 < len(granted) < len(table.columns) else table


def rows_in_batches(expression: Expression, rows: int) -> Iterator[Any]:
    """The rows of an expression as pyarrow record batches of about so many rows, never all at once."""
    import pyarrow as pa

    engine = expression.get_backend()
    if engine.name == "duckdb":  # Ibis 12 asks DuckDB 2 for batches by a name that it no longer has
        relation = engine.con.sql(engine.compile(expression))
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        yield from read(rows)
    elif engine.name == "pyspark":  # one partition at a time; Ibis would collect the whole table on the driver
        kind = expression.schema().as_struct().to_pyarrow()
        lines = engine.raw_sql(engine.compile(expression)).toLocalIterator()
        while batch := [tuple(line) for line in islice(lines, rows)]:
            yield pa.RecordBatch.from_struct_array(pa.array(batch, kind))
    else:
        yield from expression.to_pyarrow_batches(chunk_size=rows)
