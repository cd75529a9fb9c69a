"""Where a log lives: a file or a glob, a frame, an Ibis table, or a table in a database; all of it only read."""

import glob
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import METADATA, Settings, read_settings
from faithscope.explanations.inputs import is_frame
from faithscope.files import expanded
from faithscope.memory import available
from faithscope.tables.engine import clear_errors, fetch

_READERS = {
    ".parquet": "read_parquet",
    ".pq": "read_parquet",
    ".csv": "read_csv",
    ".tsv": "read_csv",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
_REMOTE = ("s3://", "gs://", "az://", "abfss://", "hdfs://", "http://", "https://", "dbfs:")
_PATIENCE = 10  # seconds to wait for a database
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
    """

    table: Any
    name: str
    settings: Settings | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.columns)


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


def unpacked(source: Source, column: str) -> tuple[Source, tuple[str, ...]]:
    """The log with the numbers of a list column in columns of their own, and the names of these."""
    table = source.table
    lengths = table[column].length()
    found = fetch(table.aggregate(low=lengths.min(), high=lengths.max())).to_pylist()[0]
    if not found["low"] or found["low"] != found["high"]:
        raise BadInput(
            f"Column {column!r} holds lists of {found['low']} to {found['high']} numbers: importances have one "
            "number for every feature, the same in every row."
        )
    numbers = {f"{column}[{j}]": table[column][j] for j in range(int(found["low"]))}
    return replace(source, table=table.mutate(**numbers)), tuple(numbers)


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
    found = [file for path in paths for file in _matching(path)]
    kinds = {_reader(file) for file in found}
    if len(kinds) > 1:
        raise BadInput(f"The log mixes kinds of files ({', '.join(sorted(found)[:3])}): pass files of one kind.")
    reader = kinds.pop()
    options = {"sample_size": -1} if reader == "read_csv" and connection.name == "duckdb" else {}
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    with clear_errors(f"Reading {name}"):
        settings = _settings(found[0]) if reader == "read_parquet" else None
        given = paths[0] if connection.name == "pyspark" and len(paths) == 1 else found  # Spark reads globs itself
        return Source(_known(getattr(connection, reader)(given, **options)), name, settings)


def _known(table: Any) -> Any:
    """The table with moments that Ibis has no type for, those in nanoseconds with a zone, as ones it has."""
    odd = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMP" in str(kind).upper()]
    return table.mutate(**{name: table[name].cast("timestamp('UTC')") for name in odd}) if odd else table


def _matching(path: str) -> list[str]:
    if path.startswith(_REMOTE):
        return [path]
    if os.path.isdir(path):
        path = os.path.join(glob.escape(path), "**", "*.parquet")
    if os.path.isfile(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if found:
        return found
    folder = Path(path).parent
    beside = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    near = get_close_matches(Path(path).name, beside)
    hint = f" Near it: {', '.join(near)}." if near else ""
    raise BadInput(f"No file matches {path!r}: check the path, or quote the glob.{hint}")


def _reader(file: str) -> str:
    suffixes = Path(file.removesuffix(".gz").removesuffix(".zst")).suffixes
    reader = _READERS.get(suffixes[-1].lower()) if suffixes else None
    if reader is None:
        raise BadInput(f"{file!r} is of no kind that is known here: a log is Parquet, CSV or JSON lines.")
    return reader


def _settings(file: str) -> Settings | None:
    import pyarrow.parquet as pq

    if file.startswith(_REMOTE):
        return None
    schema = pq.read_schema(file)
    return read_settings(schema.empty_table()) if METADATA in (schema.metadata or {}) else None


def _from_database(names: list[str], address: str) -> Source:
    connection = _connect(address)
    if len(names) == 1 and connection.name != "pyspark" and not os.path.exists(names[0]):
        return _table(connection, names[0])
    if connection.name == "pyspark" and len(names) == 1 and Path(names[0]).suffix.lower() not in _READERS:
        return _table(connection, names[0])
    return _from_files(connection, names)


def _table(connection: Any, name: str) -> Source:
    from ibis.common.exceptions import TableNotFound

    *where, table = name.split(".")
    database = ".".join(where) or None
    with clear_errors("Looking for the table"):
        try:
            return Source(connection.table(table, database=database), name)
        except TableNotFound:
            known = connection.list_tables(database=database)
            near = get_close_matches(table, known)
            hint = f"near it: {', '.join(near)}" if near else f"there are {', '.join(sorted(known)[:8]) or 'none'}"
            raise BadInput(f"The database has no table {name!r}; {hint}.") from None


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
