"""Where a log lives: a file or a glob, a frame, an Ibis table, or a table in a database; all of it only read."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from math import inf
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import Settings, read_settings
from faithscope.explanations.inputs import is_frame
from faithscope.files import expanded
from faithscope.memory import available
from faithscope.tables.csv_files import Texts
from faithscope.tables.engine import clear_errors, fetch
from faithscope.tables.files import READERS, matching, read, settings, suffix

_PATIENCE = 10  # seconds to wait for a database
_NAMED = 8  # tables that are named where another was not found
_LEAST = 256  # MiB that DuckDB is given to work in


@dataclass(frozen=True)
class Source:
    """A log that can be asked questions.

    Attributes
    ----------
    table : ibis.Table
    name : str
        What it is called in reports.
    settings : dict or None
        What the log says about its own explanations, where faithscope wrote it.
    texts : Texts or None
        The cells of CSV files, of which the table has made numbers and moments.
    scratch : dict
        Settings of the DuckDB that works here, such as memory_limit, where the caller gave any.
    """

    table: Any
    name: str
    settings: Settings | None = None
    texts: Texts | None = None
    scratch: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.columns)

    def as_numbers(self, columns: Sequence[str]) -> "Source":
        """The log with these columns as numbers, where a CSV file holds them as texts that can be read as such."""
        return self if self.texts is None else replace(self, table=self.texts.typed(columns))


def open_source(log: Any, connect: str | None = None) -> Source:
    """A log, whatever holds it.

    Parameters
    ----------
    log : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, or the name of a table in a database
    connect : str, optional
        The database: an Ibis address such as ``postgres://user:password@host/database``, or ``spark`` for the
        session at hand. Without it DuckDB reads files in place.
    """
    if isinstance(log, Source):
        return log
    if type(log).__module__.split(".")[0] == "ibis" and hasattr(log, "columns"):
        return Source(log, "Ibis table")
    if is_frame(log):
        return _from_frame(log)
    paths = _paths(log)
    if connect is not None:
        return _from_database(paths, connect)
    with clear_errors("Starting DuckDB"):
        return _from_files(_embedded(), paths)


def list_width(source: Source, column: str) -> int:
    """How many numbers every list of a column holds."""
    lengths = source.table[column].length()
    found = fetch(source.table.aggregate(low=lengths.min(), high=lengths.max())).to_pylist()[0]
    if not found["low"] or found["low"] != found["high"]:
        raise BadInput(
            f"Column {column!r} holds lists of {found['low']} to {found['high']} numbers: importances have one "
            "number for every feature, the same in every row."
        )
    return int(found["low"])


def unpacked(source: Source, column: str, width: int) -> tuple[Source, tuple[str, ...]]:
    """The log with the numbers of a list column in columns of their own, and the names of these."""
    numbers = {f"{column}[{j}]": source.table[column][j] for j in range(width)}
    return replace(source, table=source.table.mutate(**numbers)), tuple(numbers)


def _paths(log: Any) -> list[str]:
    given = [log] if isinstance(log, str | os.PathLike) else log
    if not isinstance(given, Sequence) or not given or not all(isinstance(one, str | os.PathLike) for one in given):
        raise WrongType(
            f"A log is a file, a glob, a frame or an Ibis table; got {type(log).__name__}: pass one of these."
        )
    return [expanded(one) for one in given]


def _embedded(**settings: str) -> Any:
    """A DuckDB in memory that spills to the folder for temporary files; settings such as memory_limit are its own."""
    import ibis

    usual = {
        "temp_directory": os.path.join(tempfile.gettempdir(), "faithscope-duckdb"),
        "preserve_insertion_order": "false",
        # DuckDB 2.0 takes Parquet's statistics, which leave NaN out, as proof that there is none.
        "disabled_optimizers": "statistics_propagation,filter_pushdown",
    }
    if (room := available()) < inf:  # by itself it would take 80% of all memory, whoever else holds some of it
        usual["memory_limit"] = f"{max(_LEAST, int(0.8 * room / 2**20))}MiB"
    connection = ibis.duckdb.connect(**{**usual, **settings})
    # The bar would go to standard output. In a notebook without ipywidgets it is off, and setting it is an error.
    if connection.raw_sql("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
        connection.raw_sql("SET enable_progress_bar = false")
    return connection


def _from_frame(frame: Any) -> Source:
    import pyarrow as pa

    with clear_errors("Reading the frame"):
        if isinstance(frame, pa.Table | pa.RecordBatch):
            table = pa.table(frame) if isinstance(frame, pa.RecordBatch) else frame
        elif hasattr(frame, "to_arrow"):
            table = frame.to_arrow()
        else:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        connection = _embedded()
        connection.con.register("log", table)
        return Source(_known(connection.table("log")), "frame", read_settings(table))


def _from_files(connection: Any, paths: list[str]) -> Source:
    found, kind = matching(paths)
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    with clear_errors(f"Reading {name}"):
        table, texts = read(connection, found, kind)
        return Source(_known(table), name, settings(found, kind), texts)


def _known(table: Any) -> Any:
    """The table with moments that Ibis has no type for, those in nanoseconds with a zone, as ones it has."""
    odd = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMP" in str(kind).upper()]
    return table.mutate(**{name: table[name].cast("timestamp('UTC')") for name in odd}) if odd else table


def _from_database(names: list[str], address: str) -> Source:
    connection = _connect(address)
    if len(names) == 1 and connection.name != "pyspark" and not os.path.exists(names[0]):
        return _table(connection, names[0])
    known = os.path.isdir(names[0]) or suffix(names[0]) in READERS
    if connection.name == "pyspark" and len(names) == 1 and not known:
        return _table(connection, names[0])
    parts = urlsplit(address)
    scratch = dict(parse_qsl(parts.query)) if parts.scheme == "duckdb" and not parts.netloc and not parts.path else {}
    return replace(_from_files(connection, names), scratch=scratch)


def _table(connection: Any, name: str) -> Source:
    from ibis.common.exceptions import TableNotFound

    *where, table = name.split(".")
    database = ".".join(where) or None
    with clear_errors("Looking for the table"):
        try:
            return Source(connection.table(table, database=database), name)
        except TableNotFound:
            raise BadInput(f"The database has no table {name!r}{_there(connection, name)}") from None


def _there(connection: Any, name: str) -> str:
    """Which tables there are: those of the same name elsewhere, those of a near name, else the first few."""
    known = _tables(connection)
    last = name.split(".")[-1].casefold()
    same = [one for one in known if one.split(".")[-1].casefold() == last]
    if same:
        return f"; it has {', '.join(same[:_NAMED])}: write the whole name."
    lower = {one.split(".")[-1].casefold(): one for one in reversed(known)}
    near = [lower[one] for one in get_close_matches(last, list(lower))]
    if near:
        return f"; near it: {', '.join(near)}."
    more = ", …" if len(known) > _NAMED else ""
    return f"; it has {', '.join(known[:_NAMED])}{more}." if known else ", nor any other that may be read."


def _tables(connection: Any) -> list[str]:
    """All tables and views that may be read, those outside the current schema with its name."""
    if connection.name not in ("duckdb", "postgres"):
        return sorted(connection.list_tables())
    # Ibis lists those of one schema only, and asks DuckDB 2 by a name that it no longer has.
    found = connection.raw_sql(
        "SELECT table_schema = current_schema(), table_schema, table_name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1 DESC, 2, 3"
    ).fetchall()
    return [table if here else f"{schema}.{table}" for here, schema, table in found]


def _connect(address: str) -> Any:
    """An engine by its address; where it can be told to, it refuses to write."""
    import ibis

    if address in ("spark", "pyspark", "spark://", "pyspark://"):
        with clear_errors("Connecting to Spark"):
            return ibis.pyspark.connect(_spark_session())
    parts = urlsplit(address)
    if not parts.scheme or not (parts.netloc or parts.path or parts.scheme == "duckdb"):
        raise BadInput("The address of a database looks like postgres://user@host/database, or is the word spark.")
    options: dict[str, Any] = {}
    if parts.scheme in ("postgres", "postgresql"):
        options = {"connect_timeout": _PATIENCE, "options": "-c default_transaction_read_only=on"}
    elif parts.scheme == "duckdb":
        if not parts.netloc and not parts.path:
            with clear_errors("Starting DuckDB"):
                return _embedded(**dict(parse_qsl(parts.query)))
        options, address = {"read_only": True}, address.replace("duckdb://~/", f"duckdb://{expanded('~/')}", 1)
    with clear_errors(f"Connecting to {parts.scheme}://{parts.hostname or parts.path}", unquote(parts.password or "")):
        return ibis.connect(address, **options)


def _spark_session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or SparkSession.builder.appName("faithscope").getOrCreate()
