"""The file of a monitor: a DuckDB database that one process at a time writes, each change whole or not at all."""

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.runtime.files import to_file
from faithscope.runtime.threads import anew_in_children
from faithscope.tables.connections import private, without_bar

FORMAT = "faithscope monitor"
VERSION = 5
WHOLE = -1  # the group that stands for all rows
TABLES = {
    # What was settled when the store began, or with its first rows, as JSON.
    "settings": "name VARCHAR, value VARCHAR",
    "batches": "number INTEGER, id VARCHAR, rows BIGINT, first_day INTEGER, last_day INTEGER, content VARCHAR",
    # Labels and groups by number: what tells them apart in every process, and how they are shown.
    "names": "what VARCHAR, code INTEGER, canonical VARCHAR, shown VARCHAR",
    # The rows that count, by explanation (128 bits) and label; the rest is made of them.
    "cells": "batch INTEGER, day INTEGER, grp INTEGER, high UBIGINT, low UBIGINT, label INTEGER, given BIGINT,"
    " cluster UBIGINT",
    # Rows that wait for a partner, and what each batch added, per day of openers and group.
    "waiting": "grp BIGINT, high UBIGINT, low UBIGINT, label BIGINT, day BIGINT, closing BOOLEAN",
    "pairs": "batch INTEGER, day INTEGER, grp INTEGER, rows BIGINT, openers BIGINT, matched BIGINT, agreeing BIGINT",
    # Some ids of the rows of each batch, by which it is known who comes back.
    "ids": "name VARCHAR, word UBIGINT, batch INTEGER",
}

_PATIENCE = 120.0  # seconds to wait for another process
_PAUSE = 0.05
_BUSY = ("Could not set lock", "used by another process")  # what DuckDB says on Linux and macOS, and on Windows

_locks: dict[str, threading.RLock] = defaultdict(threading.RLock)  # of this process, by file
anew_in_children(_locks.clear)


class Store:
    """Where a monitor keeps its counts: a file, or memory if `path` is None.

    The file is open only while it is read or written, so several processes may use it in turn.

    Examples
    --------
    >>> store = Store(None, {"by": [], "seed": 0})
    >>> with store.transaction() as connection:
    ...     connection.execute("SELECT count(*) FROM batches").fetchall()
    [(0,)]
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.path = None if path is None else to_file(path)
        self.name = "memory" if self.path is None else str(self.path)  # in messages

        def begin(connection: Any) -> None:
            for name, columns in TABLES.items():
                connection.execute(f"CREATE TABLE {name} ({columns})")
            settle(connection, {"format": FORMAT, "version": VERSION, **settings})

        if self.path is None:
            self._memory = connected(None)
            begin(self._memory)
        else:
            _create_file(self.path, begin)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Any]:
        """A connection that sees one state, and whose changes are kept together, or not at all if anything fails.

        Without `write` the file is only read, which other processes may do at the same time. What DuckDB says of a file
        that is damaged, or of a disk that is full, is said in a sentence of ours.
        """
        import duckdb

        with _locks[self.name if self.path is not None else f"memory {id(self)}"]:
            if self.path is None:
                with _whole(self._memory):
                    yield self._memory
                return
            connection = _patiently(self.path, write=write)
            try:
                with _whole(connection):
                    yield connection
                if write:
                    _checkpoint(connection)
            except duckdb.Error as error:
                raise _failed(self.path, error) from error
            finally:
                connection.close()  # should that fail, committed changes are kept in a file beside it

    def settings(self) -> dict[str, Any]:
        """What was settled; raises if this is no store that can be read."""
        with self.transaction() as connection:
            return settings_of(connection, self.name)

    def save(self, path: str | os.PathLike[str]) -> bool:
        """Write everything to a new file, wholly or not at all; False if there is a file already."""

        def copy(target: Any) -> None:
            for table in TABLES:
                with registered(target, "held", source.sql(f"SELECT * FROM {table}").to_arrow_table()):
                    target.execute(f"CREATE TABLE {table} AS SELECT * FROM held")

        with self.transaction() as source:
            return _create_file(to_file(path), copy)


@contextmanager
def _whole(connection: Any) -> Iterator[None]:
    connection.begin()
    try:
        yield
    except BaseException:
        with suppress(Exception):
            connection.rollback()
        raise
    connection.commit()


def _checkpoint(connection: Any) -> None:
    """Write what was committed into the file itself: until then it is in a second one."""
    connection.execute("CHECKPOINT")


def connected(path: Path | None, *, write: bool = True) -> Any:
    """A connection to a DuckDB of its own, in memory or of a file; it can open no other file.

    Without `write` any number of processes may read at once, also on a disk that they may not write to.
    """
    import duckdb

    options = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(path or ":memory:", read_only=not write, config={**private(), **options})
    # A view or a macro in a state that somebody made up may name any other file.
    connection.execute("SET enable_external_access = false")
    return without_bar(connection)


def fetched(connection: Any, query: str) -> dict[str, Array]:
    """The columns of the answer to a query, by name."""
    answer: dict[str, Array] = connection.execute(query).fetchnumpy()
    return answer


@contextmanager
def registered(connection: Any, name: str, columns: Any) -> Iterator[None]:
    """Columns under a name that queries may read, for as long as it takes."""
    import duckdb
    import pyarrow as pa

    connection.register(name, pa.table(columns))
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # what went wrong inside is told, not that its transaction is over
            connection.unregister(name)


def insert(connection: Any, table: str, columns: Any) -> None:
    """Add lines to a table, whose columns these are in its order."""
    with registered(connection, "coming", columns):
        connection.execute(f"INSERT INTO {table} SELECT * FROM coming")


def settle(connection: Any, told: Mapping[str, Any]) -> None:
    """Keep settings."""
    for name, value in told.items():
        connection.execute("INSERT INTO settings VALUES (?, ?)", [name, json.dumps(value)])


def settings_of(connection: Any, name: str) -> dict[str, Any]:
    """What was settled in a store; raises if this is none that can be read."""
    import duckdb

    try:
        held = dict(connection.execute("SELECT name::VARCHAR, value::VARCHAR FROM settings").fetchall())
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or other columns
        held = {}
    if FORMAT not in held.pop("format", ""):
        raise BadInput(f"{name!r} is a database of something else, not the state of a monitor: name another file.")
    try:
        if (version := int(held["version"])) == VERSION:
            told = {setting: json.loads(value) for setting, value in held.items()}
            return {**told, "by": list(told["by"]), "seed": int(told["seed"])}
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{name!r} is a damaged state of a monitor ({type(error).__name__}: {error}): restore a copy of it, or "
            "begin another state."
        ) from error
    other = "an older" if version < VERSION else "a newer"
    raise BadInput(
        f"{name!r} was written by {other} faithscope (state version {version}; this one reads {VERSION}): use that "
        "one, or begin another state and add its logs once more."
    )


def _create_file(path: Path, fill: Callable[[Any], None]) -> bool:
    """A new file under another name, then its own: whoever is killed here leaves no half of one.

    Returns
    -------
    bool
        Whether this process was the first.
    """
    import duckdb

    temporary = path.with_name(f".{uuid4().hex}.part")
    try:
        if path.exists():
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(connected(temporary)) as connection:
            with _whole(connection):
                fill(connection)
            _checkpoint(connection)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:  # a file system without links: whoever makes the name first may fill it
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            os.replace(temporary, path)
        return True
    except (OSError, duckdb.Error) as error:
        raise _failed(path, error) from None
    finally:
        for left in (temporary, temporary.with_name(f"{temporary.name}.wal")):
            with suppress(OSError):
                left.unlink()


def _patiently(path: Path, *, write: bool) -> Any:
    """A connection to the file, as soon as no other process has it open."""
    import duckdb

    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return connected(path, write=write)
        except duckdb.Error as error:
            if "different configuration" in str(error):
                raise BadInput(
                    f"{str(path)!r} is open in a DuckDB connection of this process: close it first."
                ) from None
            if not any(words in str(error) for words in _BUSY):
                raise _failed(path, error) from None
            if time.monotonic() > until:
                raise BadInput(
                    f"{str(path)!r} has been open in another process for {_PATIENCE:.0f} seconds, and nothing was "
                    "added: end that process, then try again."
                ) from None
            time.sleep(_PAUSE)


def _failed(path: Path, error: Exception) -> BadInput:
    """What could not be done with a file, in a sentence; committed changes may be in a second one."""
    if isinstance(error, MemoryError):
        raise error
    why = getattr(error, "strerror", None) or " ".join(str(error).split()).rpartition('": ')[2][:160]
    return BadInput(
        f"{str(path)!r} cannot be read or written as the state of a monitor ({why}): make space if the disk is full, "
        f"keeping {path.name}.wal if there is one, else restore a copy or name another file; nothing counts twice."
    )
