"""Asking an engine: results as Arrow tables, values as literals, and failures as one clear line without secrets."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, MissingExtra, TooLarge

_EXTRAS = {"psycopg": "postgres", "pyspark": "spark"}
_OURS = {"ibis", "duckdb", "pyarrow", "pandas"}  # installed with faithscope
_PASSWORD = re.compile(r"(?<=:)(?!//)\S*[^\s/](?=@)|(?<=password=)[^\s&]+", re.IGNORECASE)
_PER_DAY = {"date32[day]": 1, "date64[ms]": 86_400_000, "s": 86_400} | {
    unit: 86_400 * 10**digits for unit, digits in (("ms", 3), ("us", 6), ("ns", 9))
}
_FIRST, _LAST = -719_162, 2_932_897  # days since 1970 of the years 1 to 9999
_MOST = 300  # characters of an engine's own message


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
    except ImportError as problem:
        raise MissingExtra(f"{doing} needs {_needed(problem)}.") from None
    except Exception as problem:  # engines and their drivers share no base class
        said = _one_line(problem, secrets)
        if "out of memory" in said.lower():
            raise TooLarge(f"{doing} failed: {said.rstrip('.')}. Audit a part of the log.") from None
        raise BadInput(f"{doing} failed: {said}") from None


def _needed(problem: ImportError) -> str:
    """The package that could not be imported, and how to get it; Ibis wraps the error that names it."""
    chain: list[BaseException] = [problem]
    while (why := chain[-1].__cause__ or chain[-1].__context__) is not None and why not in chain:
        chain.append(why)
    named = [str(one.name).split(".")[0] for one in chain if isinstance(one, ImportError) and one.name]
    package = next((name for name in named if name in _EXTRAS), named[0] if named else None)
    if package is None:
        return f"a package that cannot be imported ({_one_line(problem, ())})"
    extra = f"'faithscope[{_EXTRAS[package]}]'" if package in _EXTRAS else "faithscope" if package in _OURS else package
    return f"the package {package!r}, which is not installed: pip install {extra}"


def without_password(text: str) -> str:
    """A text in which whatever may be a password of an address is starred out."""
    return _PASSWORD.sub("***", text)


def _one_line(problem: Exception, secrets: Sequence[str]) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    said = lines[0] if lines else type(problem).__name__
    for secret in filter(None, secrets):
        said = said.replace(secret, "***")
    said = without_password(said)
    return said if len(said) <= _MOST else said[:_MOST] + "…"


def fetch(expression: Any) -> Any:
    """The rows of an Ibis expression, as a pyarrow.Table."""
    with clear_errors(f"Reading the log with {backend_of(expression)}"):
        found = expression.to_pyarrow()
    _refuse_far(found)
    return found


def _refuse_far(found: Any) -> None:
    """Raise where an Arrow table holds a moment that Python has no value for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for column in found.columns:
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            size = _PER_DAY[column.type.unit if pa.types.is_timestamp(column.type) else str(column.type)]
            whole = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column.cast(pa.int64())
            seen = pc.min_max(whole)
            low, high = seen["min"].as_py(), seen["max"].as_py()
            if low is not None and not _FIRST * size <= low <= high < _LAST * size:
                raise BadInput(
                    "The log holds a date or moment that is infinite or outside the years 1 to 9999: leave such rows "
                    "out, or write the column as text."
                )


def in_fixed_order(found: Any) -> Any:
    """An Arrow table sorted by all its columns: an engine's own order differs from run to run, and sums with it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = {
        f"s{j}": [repr(one) for one in column.to_pylist()] if pa.types.is_nested(column.type) else column
        for j, column in enumerate(found.columns)
    }
    return found.take(pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys]))


def batches(expression: Any, rows: int) -> Iterator[Any]:
    """The rows of an Ibis expression as pyarrow record batches of about so many rows, never all at once."""
    doing = f"Reading the log with {backend_of(expression)}"
    with clear_errors(doing):
        reader = _reader(expression, rows)
    while True:
        with clear_errors(doing):
            batch = next(reader, None)
        if batch is None:
            return
        yield batch


def _reader(expression: Any, rows: int) -> Iterator[Any]:
    engine = expression.get_backend()
    if engine.name == "duckdb":  # Ibis 12 asks DuckDB 2 for batches by a name it no longer has
        relation = engine.con.sql(engine.compile(expression))
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return iter(read(rows))
    if engine.name == "pyspark":
        return _from_spark(expression, rows)
    return iter(expression.to_pyarrow_batches(chunk_size=rows))


def _from_spark(expression: Any, rows: int) -> Iterator[Any]:
    """A partition at a time; Ibis would collect the whole table on the driver."""
    import pyarrow as pa

    engine = expression.get_backend()
    kind = expression.schema().as_struct().to_pyarrow()
    found = engine.raw_sql(engine.compile(expression)).toLocalIterator()
    while chosen := [tuple(row) for row in islice(found, rows)]:
        yield pa.RecordBatch.from_struct_array(pa.array(chosen, kind))


def spark_table(connection: Any, kind: str, files: Sequence[str], **options: Any) -> Any:
    """Files of one kind as a table of Spark; Ibis would take several Parquet files for one name."""
    from ibis.util import gen_name

    session = connection.raw_sql("SELECT 1").sparkSession
    name = gen_name(f"faithscope_{kind}")
    session.read.format(kind).options(**options).load(list(files)).createOrReplaceTempView(name)
    return connection.table(name)


def backend_of(expression: Any) -> str:
    """The name of the engine that holds the table of an expression."""
    return str(expression.get_backend().name)


def as_number(flag: Any) -> Any:
    """A truth value as 0 or 1, null where it is null; Postgres casts it to no wider integer."""
    return flag.cast("int32")


def literal(value: Any) -> Any:
    """A value as an Ibis literal; floats by their exact text, since an engine may read 0.1 as a decimal first."""
    import ibis

    if isinstance(value, float):
        return ibis.literal(repr(value)).cast("float64")
    if isinstance(value, int) and value >= 2**63:
        return ibis.literal(value, "uint64")
    return ibis.literal(value)


def call(name: str, value: Any, answer: str) -> Any:
    """A function that the engine has and Ibis does not, of one value, as an expression of the type of its answer."""
    import ibis

    def builtin(value: Any) -> Any: ...

    return ibis.udf.scalar.builtin(builtin, name=name, signature=((value.type(),), answer))(value)
