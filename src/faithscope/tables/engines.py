"""Engines: what of Ibis is used here, how a database hands over its rows, and its answers as Arrow tables.

A DuckDB of our own counts. Other engines choose rows, and hand them over in one question, equal ones once if need be.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, MissingExtra, TooLarge, WrongType
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import group
from faithscope.notes import Note
from faithscope.words import several

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


def batches(expression: Expression, rows: int) -> Iterator[Any]:
    """The rows of an Ibis expression as pyarrow record batches of about so many rows, never all at once."""
    return clearly(_in_batches(expression, rows), f"Reading the log with {expression.get_backend().name}")


def relation_batches(relation: Any, rows: int) -> Iterator[Any]:
    """The rows of a DuckDB relation as pyarrow record batches, never all at once; their method has two names."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    yield from read(rows)


def _in_batches(expression: Expression, rows: int) -> Iterator[Any]:
    import pyarrow as pa

    engine = expression.get_backend()
    if engine.name == "duckdb":  # Ibis 12 asks DuckDB 2 for batches by a name that it no longer has
        yield from relation_batches(engine.con.sql(engine.compile(expression)), rows)
    elif engine.name == "pyspark":  # one partition at a time; Ibis would collect the whole table on the driver
        kind = expression.schema().as_struct().to_pyarrow()
        lines = engine.raw_sql(engine.compile(expression)).toLocalIterator()
        while batch := [tuple(line) for line in islice(lines, rows)]:
            yield pa.RecordBatch.from_struct_array(pa.array(batch, kind))
    else:
        yield from expression.to_pyarrow_batches(chunk_size=rows)


def fetch(expression: Expression) -> Any:
    """The rows of an Ibis expression, as a pyarrow.Table; a moment that Python has no value for is an error."""
    import pyarrow as pa
    import pyarrow.compute as pc

    with clear_errors(f"Reading the log with {expression.get_backend().name}"):
        table = expression.to_pyarrow()
    for column in table.columns:
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            try:
                pc.min_max(column).as_py()
            except OverflowError:
                raise BadInput(
                    "The log holds a date or moment that is infinite or outside the years 1 to 9999: leave such rows "
                    "out, or write the column as text."
                ) from None
    return table


def fetch_line(expression: Expression) -> dict[str, Any]:
    """The only row of an Ibis expression, such as an aggregate of a whole table, by column."""
    return dict(fetch(expression).to_pylist()[0])


def clearly(items: Iterator[Any], doing: str) -> Iterator[Any]:
    """What is iterated over, with one clear line for whatever is raised on its way."""
    while True:
        with clear_errors(doing):
            item = next(items, None)
        if item is None:
            return
        yield item


def in_fixed_order(table: Any) -> Any:
    """An Arrow table sorted by all its columns: an engine's own order differs from run to run, and sums with it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {
        f"s{j}": list(map(repr, column.to_pylist())) if pa.types.is_nested(column.type) else column
        for j, column in enumerate(table.columns)
    }
    return table.take(pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys]))


def numbers_of(answer: Any, name: str) -> Ints:
    """A column of integers of an Arrow table."""
    return np.asarray(answer.column(name).to_numpy().astype(np.int64))


def coded(answer: Any, names: Sequence[str]) -> tuple[list[Any], Ints]:
    """The different values of a column of an Arrow table, or tuples of several, and which of them each line has."""
    if not names:
        return [None], np.zeros(answer.num_rows, np.int64)
    columns = [answer.column(name).combine_chunks().dictionary_encode("encode") for name in names]
    numbers = [column.indices.to_numpy(zero_copy_only=False).astype(np.int64) for column in columns]
    if len(names) == 1:
        return columns[0].dictionary.to_pylist(), numbers[0]
    place, first = group([np.column_stack(numbers)])
    values = (answer.column(name).take(first).to_pylist() for name in names)
    return list(zip(*values, strict=True)), place


def as_array(values: Sequence[Any]) -> Array:
    """Values of a column as an array: as objects if they are not all of one type."""
    return np.array(values) if len({type(value) for value in values}) == 1 else to_objects(list(values))


def predictions_of(answer: Any, names: Sequence[str]) -> Array:
    """The predictions of an answer in these columns, (n,) or (n, k)."""
    columns = [_with_missing(answer.column(name)) for name in names]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _with_missing(column: Any) -> Array:
    """Values of an Arrow column as they are; if some are missing, which is a value then, all of them as texts."""
    if not column.null_count:
        return np.asarray(column.to_numpy())
    texts, word = [None if value is None else str(value) for value in column.to_pylist()], "missing"
    while word in texts:
        word = f"{word} "
    return to_objects([word if text is None else text for text in texts])


Nulls = Literal["error", "drop", "key"]
NO_ROW = "No row is left after those with missing values were dropped: nothing can be measured."
NULLS = ("error", "drop", "key")
_NAMED = 5  # columns that an error names
_EXACT = 2**53  # beyond it two integers may share one float64


def scan(
    table: Table,
    columns: Sequence[str],
    nulls: Nulls,
    *,
    numbers: Sequence[str] = (),
    features: Sequence[str] = (),
    holes: Mapping[str, int] = MappingProxyType({}),
    infinite: Mapping[str, int] = MappingProxyType({}),
    advice: str = "",
) -> int:
    """How many rows a table has; raises if values are missing and nobody said what to do with them, or no row is left.

    Parameters
    ----------
    numbers : sequence of str
        Those of the columns that hold numbers, of which missing cannot be a value.
    features : sequence of str
        Further columns of numbers.
    holes, infinite : dict of str to int
        How many values are missing, or infinite, elsewhere.
    """
    names, schema = list(dict.fromkeys((*columns, *features))), table.schema()
    question: dict[str, Any] = {"rows": table.count()}
    for j, name in enumerate(names):
        question[f"c{j}"] = nan_as_null(table[name]).isnull().sum()
        if schema[name].is_floating():
            question[f"i{j}"] = table[name].isinf().sum()
        elif schema[name].is_integer() and name in (*numbers, *features):
            question[f"m{j}"] = table[name].abs().max()
    line = fetch_line(table.aggregate(**question))
    infinite = {**infinite, **{name: line.get(f"i{j}") or 0 for j, name in enumerate(names)}}
    for name in (name for name, count in infinite.items() if count):
        raise BadInput(
            f"Column {name!r} holds an infinite number in {infinite[name]:,} rows: every value must be finite. "
            "Leave such rows out of the log."
        )
    for j, name in enumerate(names):
        if (line.get(f"m{j}") or 0) > _EXACT:
            raise BadInput(f"Column {name!r} holds integers beyond 2**53, which float64 cannot tell apart: scale them.")
    rows, missing = line["rows"], {name: count for j, name in enumerate(names) if (count := line[f"c{j}"])}
    missing |= holes
    if rows == 0:
        raise BadInput("The log has no rows: nothing can be measured.")
    for name, count in missing.items():
        if count == rows:
            raise BadInput(f"Column {name!r} is null in all {count:,} rows: name another column.{advice}")
        if nulls == "key" and name in numbers:
            raise BadInput(
                f"Column {name!r} is missing in {count:,} rows, and predicted numbers and weights are numbers: say "
                'nulls="drop" (--nulls drop) to leave such rows out.'
            )
    if nulls == "error" and missing:
        listed = ", ".join(f"{name!r} in {count:,}" for name, count in list(missing.items())[:_NAMED])
        keyed = ', or nulls="key" (--nulls key) to let missing be a value'
        raise BadInput(
            f"Values are missing (null or NaN) in {len(missing)} of the used columns: {listed} of {rows:,} rows. Say "
            f'nulls="drop" (--nulls drop) to leave such rows out{"" if missing.keys() & {*numbers} else keyed}.{advice}'
        )
    return int(rows)


def refuse_no_moments(table: Table, column: str) -> None:
    """Raise if a column holds no dates or moments, or one that no date of Python is."""
    kind = table.schema()[column]
    if not is_moment(kind):
        raise BadInput(f"Column {column!r} holds {kind}, not dates or moments: convert it to a timestamp.")
    fetch(table.aggregate(low=table[column].min(), high=table[column].max()))


def is_moment(kind: Any) -> bool:
    """Whether a type is of dates or moments."""
    return bool(kind.is_timestamp() or kind.is_date())


def dropped_note(rows: int) -> tuple[str, ...]:
    """How many rows were dropped since values are missing."""
    return (Note(f"{several(rows, 'row was', 'rows were')} dropped: values missing", "dropped"),) if rows else ()


def nan_as_null(value: Expression) -> Expression:
    """The value, null if it is a NaN, which engines order and compare in ways of their own."""
    import ibis

    kind = value.type()
    if not (kind.is_floating() or (kind.is_decimal() and value.get_backend().name == "postgres")):
        return value
    return ibis.ifelse(value.cast("float64").isnan(), ibis.null(kind), value)


_WIDEST = 1_000  # characters of a cell


def shown(value: Expression) -> Expression | None:
    """A column as it is shown; None if it cannot be written as one text.

    Numbers and truth values are shown as they are. All else is a text, cut if it is long: Python may have no value for
    it (a date in the year 12000, an infinite one).
    """
    kind = value.type()
    if kind.is_nested() or kind.is_unknown() or kind.is_binary():
        return None
    if kind.is_numeric() or kind.is_boolean():
        return value
    text = value.cast("string")
    return (text.length() > _WIDEST).ifelse(text.substr(0, _WIDEST).concat("…"), text)


def refuse_nested(schema: Any, columns: Sequence[str], why: str) -> None:
    """Raise if a column holds anything but one value in each row; or if explanations that were read here were in it."""
    for name in columns:
        held = schema[name] if name in schema.names else "the explanation, or what cannot be shown"
        if name not in schema.names or schema[name].is_nested():
            raise WrongType(f"Column {name!r} holds {held}, but {why}: name a column of texts or numbers.")
