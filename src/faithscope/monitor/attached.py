"""Files of states, attached to one DuckDB of this process: to begin a DuckDB takes longer than to attach a file."""

import os
import tempfile
import threading
from itertools import count
from pathlib import Path
from typing import Any

from faithscope.monitor.queries import fetch_value
from faithscope.runtime.forks import anew_in_children

_OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

_lock = threading.Lock()
anew_in_children(_lock._at_fork_reinit)  # type: ignore[attr-defined]
_begun: dict[int, Any] = {}  # the DuckDB of this process, by its number: a process that was forked begins its own
_numbers = count()


def in_memory() -> Any:
    """A connection to a DuckDB of its own."""
    import duckdb

    folder = Path(tempfile.gettempdir()) / f"faithscope-{os.getpid()}.tmp"  # made only if memory does not suffice
    return _without_bars(duckdb.connect(config={**_OPTIONS, "temp_directory": str(folder)}))


def attach(path: Path) -> Any:
    """A connection whose tables are those of a file, until `detach`."""
    connection = _without_bars(_duckdb().cursor())
    quoted, name = str(path).replace("'", "''"), f"state_{next(_numbers)}"
    try:
        connection.execute(f"ATTACH '{quoted}' AS {name} (TYPE duckdb)")
        connection.execute(f"USE {name}")
    except BaseException:
        connection.close()
        raise
    return connection


def detach(connection: Any) -> None:
    """Write what is still to be written, and close the file, so that other processes may open it.

    Should that fail, committed changes are kept in a file beside it, and the next file gets another DuckDB.
    """
    import duckdb

    try:
        name = fetch_value(connection, "SELECT current_database()")
        connection.execute("USE memory")
        connection.execute(f"DETACH {name}")
    except duckdb.Error:
        with _lock:
            _begun.clear()
    finally:
        connection.close()


def _duckdb() -> Any:
    with _lock:
        if os.getpid() not in _begun:
            _begun[os.getpid()] = in_memory()
        return _begun[os.getpid()]


def _without_bars(connection: Any) -> Any:
    """A slow query would print a bar. In a notebook without ipywidgets it is off, and setting it is an error."""
    if fetch_value(connection, "SELECT current_setting('enable_progress_bar')"):
        connection.execute("SET enable_progress_bar = false")
    return connection
