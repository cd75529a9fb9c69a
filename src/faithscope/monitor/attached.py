"""Files of states, each attached to a DuckDB of its own that this process keeps: to begin one takes longer."""

import os
import threading
from itertools import count
from pathlib import Path
from typing import Any

from faithscope.monitor.queries import fetch_value
from faithscope.runtime.forks import anew_in_children
from faithscope.tables.sources.connections import private

_OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_KEPT = 4  # DuckDBs of files that were open before

_lock = threading.Lock()
anew_in_children(_lock._at_fork_reinit)  # type: ignore[attr-defined]
_begun: dict[tuple[int, Path | None], Any] = {}  # by process and file: a process that was forked begins its own
_numbers = count()


def in_memory() -> Any:
    """A connection to a DuckDB of its own."""
    import duckdb

    return _without_bars(duckdb.connect(config={**_OPTIONS, **private()}))


def attach(path: Path, *, new: bool = False, write: bool = True) -> Any:
    """A connection whose tables are those of a file, until `detach`.

    Its DuckDB can open no other file: a view or a macro in a state that somebody made up may name any. `new` is for
    a file that this process begins, whose DuckDB then serves for the next one too. Without `write` any number of
    processes may read at once, also on a disk that they may not write to.
    """
    connection = _without_bars(_duckdb(None if new else path).cursor())
    quoted, name = str(path).replace("'", "''"), f"state_{next(_numbers)}"
    try:
        connection.execute(f"ATTACH '{quoted}' AS {name} (TYPE duckdb{', READ_ONLY' * (not write)})")
        if not new:
            connection.execute("SET enable_external_access = false")  # but the files that are attached already
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
            _forget(0)
    finally:
        connection.close()


def _duckdb(path: Path | None) -> Any:
    with _lock:
        place = os.getpid(), path
        if place not in _begun:
            _forget(_KEPT - 1)
            _begun[place] = in_memory()
        return _begun[place]


def _forget(kept: int) -> None:
    """All but the latest of this process: to end one of a parent process crashes or waits."""
    own = [place for place in _begun if place[0] == os.getpid()]
    for place in own[: max(0, len(own) - kept)]:
        del _begun[place]


def _without_bars(connection: Any) -> Any:
    """A slow query would print a bar. In a notebook without ipywidgets it is off, and setting it is an error."""
    if fetch_value(connection, "SELECT current_setting('enable_progress_bar')"):
        connection.execute("SET enable_progress_bar = false")
    return connection
