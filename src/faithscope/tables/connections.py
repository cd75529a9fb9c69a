"""Engines by their address; all of them are only read from."""

import atexit
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from faithscope.errors import BadInput
from faithscope.runtime.files import expanded
from faithscope.runtime.memory import available
from faithscope.runtime.threads import anew_in_children
from faithscope.tables.engines import Connection, Table, clear_errors

_LIKE = "it looks like postgres://user@host/database or duckdb://file.duckdb."
_PATIENCE = 10  # seconds to wait for a database
_SETTLED = ("access_mode", "read_only", "enable_external_access", "lock_configuration")
_LEAST = 256  # MiB that DuckDB is given to work in

_lock = threading.Lock()
anew_in_children(_lock._at_fork_reinit)  # type: ignore[attr-defined]
_folders: list[tuple[int, str]] = []  # for what spills, with the process that made them
_kept: dict[int, Connection] = {}  # the shared DuckDB, by process: one that was forked begins its own


def embedded(**settings: str) -> Connection:
    """A DuckDB in memory that spills to the folder for temporary files; settings such as memory_limit are its own."""
    import ibis

    usual = {
        "preserve_insertion_order": "false",
        # DuckDB 2.0 takes Parquet's statistics, which leave NaN out, as proof that there is none.
        "disabled_optimizers": "statistics_propagation,filter_pushdown",
    }
    return beside(ibis.duckdb.connect(**{**usual, **private(**settings)}))


def private(**settings: str) -> dict[str, str]:
    """These settings of a DuckDB, with a folder for what spills that nobody else can read, and a limit of memory.

    The limit is by the memory that is free; by itself DuckDB would take 80% of all, whoever else holds some of it.
    """
    room = available()
    limit = {"memory_limit": f"{max(_LEAST, int(0.8 * room / 2**20))}MiB"} if room < inf else {}
    return {**limit, **settings, "temp_directory": _scratch(os.getpid(), settings.get("temp_directory"))}


def shared() -> Connection:
    """A connection to a DuckDB in memory that this process keeps: to begin one takes longer than to read many a log.

    Temporary views and tables are this connection's alone, and go with it.
    """
    import duckdb

    with _lock:
        kept = _kept.get(os.getpid())
        try:
            if kept is not None:
                kept.raw_sql("SELECT true")
        except duckdb.Error:  # after some errors a DuckDB never works again
            kept = None
        if kept is None:
            kept = _kept[os.getpid()] = embedded()
            # Since 1.3 DuckDB remembers what files held, here for as long as the process lives.
            if kept.raw_sql("FROM duckdb_settings() WHERE name = 'enable_external_file_cache'").fetchall():
                kept.raw_sql("SET enable_external_file_cache = false")
        with suppress(duckdb.OutOfMemoryException):  # another log is being read, and holds more than that
            if limit := private().get("memory_limit"):
                kept.raw_sql(f"SET memory_limit = '{limit}'")
        return beside(kept)


def beside(connection: Connection) -> Connection:
    """Another connection to the DuckDB of this one, which costs no time to start, and shares its memory limit."""
    import ibis

    second: Connection = ibis.duckdb.from_connection(without_bar(connection.con.cursor()))
    return second


def without_bar(connection: Any) -> Any:
    """A connection of DuckDB's own that shows no bar, which would go to standard output when a query is slow.

    In a notebook without ipywidgets there is none, and setting it is an error.
    """
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
        connection.execute("SET enable_progress_bar = false")
    return connection


def kept(batches: Iterable[Any], connection: Connection, columns: str = "*") -> Table:
    """All batches as one table of a DuckDB; `columns` are those that it has, as SQL on those of a batch."""
    from ibis.util import gen_name

    name, number = gen_name("faithscope_log"), -1
    for number, batch in enumerate(batches):
        with clear_errors("Copying the log into DuckDB"):
            connection.con.register("batch", batch)
            begin = f"INSERT INTO {name}" if number else f"CREATE TEMP TABLE {name} AS"
            connection.con.execute(f"{begin} SELECT {columns} FROM batch")
            connection.con.unregister("batch")
    if number < 0:
        raise BadInput("The log has no rows: nothing can be measured.")
    return connection.table(name, database=("temp", "main"))


def as_view(connection: Connection, query: str) -> Table:
    """A query of SQL as a table of a DuckDB."""
    from ibis.util import gen_name

    name = gen_name("faithscope_log")
    connection.raw_sql(f"CREATE TEMPORARY VIEW {name} AS {query}")
    return connection.table(name)


def connect_to(address: str) -> Connection:
    """An engine by its address: Spark, or a database that refuses to write."""
    if address in ("spark", "pyspark", "spark://", "pyspark://"):
        with clear_errors("Connecting to Spark"):
            import ibis
            from pyspark.sql import SparkSession

            active = SparkSession.getActiveSession() or SparkSession.builder.appName("faithscope").getOrCreate()
            session: Connection = ibis.pyspark.connect(active)
            return session
    parts = _parts(address)
    if parts.scheme == "duckdb":
        return _duckdb(parts)
    return _postgres(parts, address)


def is_embedded(address: str) -> bool:
    """Whether an address means a DuckDB in memory, such as ``duckdb://?memory_limit=6GB``, and no database."""
    return address.partition("?")[0] == "duckdb://"


def _parts(address: str) -> SplitResult:
    """The parts of an address; no error repeats any of them, since a password may stand anywhere in it."""
    try:
        parts = urlsplit(address)
        parts.port, parts.hostname  # noqa: B018  # which are read when they are asked for
    except ValueError:
        raise BadInput(f"The address of the database cannot be read: {_LIKE}") from None
    if parts.scheme not in ("postgres", "postgresql", "duckdb"):
        raise BadInput(
            f"An address begins with postgres:// or duckdb://, or is the word spark: {_LIKE} Open any other database "
            "with Ibis, and pass its table."
        )
    if parts.scheme != "duckdb":
        if parts.netloc.count("@") > 1 or "@" in parts.path:
            raise BadInput("The address of the database cannot be read: write @ and / of a password as %40 and %2F.")
        if not (parts.netloc or parts.path.strip("/")):
            raise BadInput(f"The address names no database: {_LIKE}")
    return parts


def _duckdb(parts: SplitResult) -> Connection:
    settings = dict(parse_qsl(parts.query))
    for name in settings:
        if name.lower() in _SETTLED:
            raise BadInput(
                f"An audit opens DuckDB files to read them and nothing else: leave {name} out of the address."
            )
    if not parts.netloc and not parts.path:
        with clear_errors("Starting DuckDB"):
            return embedded(**settings)
    file = expanded(unquote(parts.netloc + parts.path))
    with clear_errors(f"Opening the DuckDB file {file!r}"):
        if not os.path.exists(file):
            raise BadInput(f"There is no DuckDB file {file!r}: check the path.")
        connection, path = embedded(**settings), file.replace("'", "''")
        stem = Path(file).stem.replace('"', '""')  # the name by which its views may call it
        name = f'"{stem}"' if stem.lower() not in ("memory", "system", "temp") else "log"
        connection.raw_sql(f"ATTACH '{path}' AS {name} (TYPE duckdb, READ_ONLY)")
        connection.raw_sql(f"USE {name}")
        # Views and macros of a file are its author's, who could have any other file copied into a report.
        connection.raw_sql("SET enable_external_access = false")
        return connection


def _postgres(parts: SplitResult, address: str) -> Connection:
    import ibis

    secrets = (parts.password or "", unquote(parts.password or ""), dict(parse_qsl(parts.query)).get("password", ""))
    with clear_errors(f"Connecting to postgres://{parts.hostname or ''}", *secrets):
        read_only = "-c default_transaction_read_only=on -c datestyle=iso -c timezone=utc"
        connection: Connection = ibis.connect(address, connect_timeout=_PATIENCE, options=read_only)
        return connection


@cache
def _scratch(process: int, parent: str | None) -> str:
    """A folder for what does not fit in memory that nobody else can read, removed when the process ends."""
    if parent is not None:
        os.makedirs(parent, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="faithscope-", dir=parent)
    _folders.append((process, folder))
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)  # which would end the process with its files left
    return folder


@atexit.register
def _remove_folders() -> None:
    for process, folder in _folders:
        for _ in range(3 if os.getpid() == process else 0):  # DuckDB may still write; not in a process that was forked
            shutil.rmtree(folder, ignore_errors=True)


def _end(number: int, frame: Any) -> None:
    _remove_folders()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
