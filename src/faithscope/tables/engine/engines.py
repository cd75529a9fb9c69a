"""Engines: what of Ibis is used here, the dialect of each backend, and the manners of its driver."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from inspect import Parameter, Signature
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


def call(name: str, value: Expression, answer: Any, *others: Expression) -> Expression:
    """A function that the engine has and Ibis does not know; `answer` is the type of the result."""
    import ibis

    def builtin(value: Any) -> Any: ...

    values = (value, *others)
    parameters = [Parameter(f"value{j}", Parameter.POSITIONAL_OR_KEYWORD) for j in range(len(values))]
    builtin.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    signature = (tuple(each.type() for each in values), answer)
    return ibis.udf.scalar.builtin(builtin, name=name, signature=signature)(*values)


def as_number(flag: Expression) -> Expression:
    """A truth value as 0 or 1, null if it is null; Postgres casts it to no wider integer."""
    return flag.cast("int32")


def floor_to(number: Expression, step: int) -> Expression:
    """Integers divided by a step and floored; engines disagree on how to divide negative ones."""
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

    def fetch(self, expression: Expression) -> Any:
        """All rows of an expression, as a pyarrow table."""
        return expression.to_pyarrow()

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


def schema_tables(connection: Connection) -> list[str]:
    """The tables of all schemas: Ibis lists those of one, and asks DuckDB 2 by a name that it no longer has."""
    lines = connection.raw_sql(
        "SELECT table_schema = current_schema(), table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1 DESC, 2, 3"
    ).fetchall()
    return [table if current else f"{schema}.{table}" for current, schema, table in lines]


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


def _transaction(connection: Connection) -> Any:
    """The number of the transaction, another one for each question that is asked outside of one."""
    return connection.con.execute("SELECT txid_current()").fetchall()


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


class Spark(Backend):
    """Spark has two types of moments, with a zone and without one, which Ibis does not tell apart."""

    name = "pyspark"

    def fetch(self, expression: Expression) -> Any:
        """As Spark hands it over: Ibis would pass whole numbers beside missing ones through floats."""
        engine = expression.get_backend()
        return engine.raw_sql(engine.compile(expression)).toArrow()

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


@lru_cache(maxsize=256)
def _type_name(operation: Any) -> str:
    """What Spark calls the type of a column."""
    question = call("typeof", operation.to_expr(), "string").as_table().limit(1)
    with clear_errors("Reading the log with pyspark"):
        return next(iter(Spark().fetch(question).column(0).to_pylist()), "")


_BY_NAME: dict[str, Backend] = {engine.name: engine for engine in (DuckDB(), Postgres(), Spark())}


def engine_of(asked: Expression | Connection) -> Backend:
    """The engine of an expression or an Ibis connection; of a backend that has no class of its own, the defaults."""
    return _BY_NAME.get((asked.get_backend() if hasattr(asked, "get_backend") else asked).name, Backend())
