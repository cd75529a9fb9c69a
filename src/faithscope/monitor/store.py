"""The file of a monitor: a DuckDB database that one process at a time writes, each change whole or not at all."""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from faithscope.errors import BadInput, FaithscopeError
from faithscope.monitor.queries import create, fetch_lines, fetch_table, fetch_value, held_settings, registered
from faithscope.monitor.schema import FORMAT, TABLES, VERSION, tables_of
from faithscope.runtime.files import to_path
from faithscope.runtime.forks import anew_in_children
from faithscope.tables.sources.connections import private

_PATIENCE = 120.0  # seconds to wait for another process
_PAUSE = 0.05
_BUSY = ("Could not set lock", "used by another process")  # what DuckDB says on Linux and macOS, and on Windows
_NOT_WRITTEN = ("Could not write", "Could not truncate", "No space left", "failed to commit", "Failed to commit")

_OPTIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

_locks: dict[str, threading.RLock] = defaultdict(threading.RLock)  # of this process, by file
anew_in_children(_locks.clear)


class Store:
    """Where a monitor keeps its counts: a file, or memory if `path` is None.

    The file is open only while it is read or written, so several processes may use it in turn.

    Attributes
    ----------
    began : dict of str
        What was settled when this store was opened.

    Examples
    --------
    >>> store = Store(None)
    >>> with store.transaction() as connection:
    ...     connection.execute("SELECT count(*) FROM batches").fetchall()
    [(0,)]
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: dict[str, str] | None = None) -> None:
        self.path = None if path is None else _real(to_path(path))
        self._memory = connected(None) if path is None else None
        self._connection: Any = None  # to the file, while it is open
        self._held: Any = None  # the connection of the transaction that is under way
        self.began = self._begin(settings or {})

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return "memory" if self.path is None else str(self.path)

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[Any]:
        """A connection whose changes are kept together, or not at all if anything fails.

        What happens inside belongs to it, also transactions that are begun meanwhile: all of them see one state.
        """
        with self.opened(write=write) as connection:
            if self._held is not None:
                yield connection
                return
            connection.begin()
            self._held = connection
            try:
                yield connection
            except BaseException:
                with suppress(Exception):
                    connection.rollback()
                raise
            finally:
                self._held = None
            connection.commit()

    @contextmanager
    def opened(self, *, write: bool = False) -> Iterator[Any]:
        """A connection for as long as it takes, shared by all transactions inside: opening a file takes a while.

        Without `write` the file is only read, which other processes may do at the same time.
        What DuckDB says of a file that is damaged, or of a disk that is full, is said in a sentence of ours.
        """
        import duckdb

        with _locks[self.name if self.path is not None else f"memory {id(self)}"]:
            if self.path is None or self._connection is not None:
                yield self._connection or self._memory
                return
            self._connection = connection = _patiently(self.path, write=write)
            try:
                yield connection
            except duckdb.Error as error:
                raise _failed(self.path, error) from error
            finally:
                self._connection = None
                connection.close()  # should that fail, committed changes are kept in a file beside it

    def _begin(self, settings: dict[str, str]) -> dict[str, str]:
        """Make the tables if there are none, and refuse a file of something else; what is settled."""
        if self._memory is not None:
            _create(self._memory, settings)
        elif self.path is not None and not self.path.exists():
            _create_file(self.path, partial(_create, settings=settings))
        with self.opened() as connection, readable_state(self.name):
            return _checked(connection, self.name)

    def settings(self) -> dict[str, str]:
        """What was settled when the monitor began, or with its first rows."""
        with self.opened() as connection:
            return held_settings(connection)

    def copy(self) -> "Store":
        """A store in memory that holds the same."""
        other = Store(None)
        with other.opened() as target:
            self._copy_to(target)
        return other

    def save(self, path: str | os.PathLike[str]) -> bool:
        """Write everything to a new file, wholly or not at all; False if there is a file already."""
        return _create_file(_real(to_path(path)), self._copy_to)

    def _copy_to(self, target: Any) -> None:
        """Copy everything to where nothing is, or a store that has just begun."""
        with self.opened() as source:
            target.begin()
            for table in tables_of(self.settings()):
                with registered(target, "held", fetch_table(source, f"SELECT * FROM {table}")):
                    target.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM held")
            target.commit()
            target.execute("CHECKPOINT")


def connected(path: Path | None, *, write: bool = True) -> Any:
    """A connection to a DuckDB of its own, in memory or of a file; it can open no other file.

    Without `write` any number of processes may read at once, also on a disk that they may not write to.
    """
    import duckdb

    connection = duckdb.connect(path or ":memory:", read_only=not write, config={**private(), **_OPTIONS})
    # A view or a macro in a state that somebody made up may name any other file.
    connection.execute("SET enable_external_access = false")
    # A slow query would print a bar. In a notebook without ipywidgets it is off, and setting it is an error.
    if fetch_value(connection, "SELECT current_setting('enable_progress_bar')"):
        connection.execute("SET enable_progress_bar = false")
    return connection


def _real(path: Path) -> Path:
    """The file behind links, whether it exists or not; raises if it can never exist."""
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:  # too long, or with a NUL in it
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"{str(path)!r} cannot be the file of a state ({why}): choose another name.") from None


def _create(connection: Any, settings: dict[str, str]) -> None:
    connection.begin()
    create(connection, tables_of(settings))
    told = {"format": FORMAT, "version": str(VERSION), **settings}
    connection.executemany("INSERT INTO settings VALUES (?, ?)", list(told.items()))
    connection.commit()
    connection.execute("CHECKPOINT")


def _create_file(path: Path, fill: Callable[[Any], None]) -> bool:
    """A new file under another name, then its own: whoever is killed here leaves no half of one, and the first wins.

    Returns
    -------
    bool
        Whether this process was the first.
    """
    import duckdb

    temporary = path.with_name(f".{uuid4().hex}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(connected(temporary)) as connection:
            fill(connection)
        return _moved(temporary, path)
    except (OSError, duckdb.Error) as error:
        why = getattr(error, "strerror", None) or " ".join(str(error).split()).rpartition('": ')[2]
        raise BadInput(
            f"{str(path)!r} cannot be written ({why}): make space, or choose another folder for the state."
        ) from None
    finally:
        for left in (temporary, temporary.with_name(f"{temporary.name}.wal")):
            with suppress(OSError):
                left.unlink()


def _moved(temporary: Path, path: Path) -> bool:
    """Give a file its own name, unless there is one of that name, which another process may have added to."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without links: whoever makes the name first may fill it
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        os.replace(temporary, path)
    return True


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
    """What DuckDB could not do with a file, in a sentence."""
    if isinstance(error, MemoryError):
        raise error
    why = " ".join(str(error).split())
    if not any(words in why for words in _NOT_WRITTEN):
        advice = "restore a copy of it, or name another file"
        return BadInput(f"{str(path)!r} cannot be read as the state of a monitor ({why[:160]}): {advice}.")
    why = why.rpartition('": ')[2][:160]  # after the name of the file
    beside = path.with_name(f"{path.name}.wal")  # in which committed changes wait until they are in the file
    keep = f"keep {beside.name}, which belongs to it, " if beside.exists() else ""
    return BadInput(
        f"{str(path)!r} cannot be written ({why}): {keep}make space, then do this again; nothing counts twice."
    )


@contextmanager
def readable_state(name: str) -> Iterator[None]:
    """What a store holds is read inside: if it is not what a store writes, it is damaged."""
    try:
        yield
    except FaithscopeError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"{name!r} is a damaged state of a monitor ({type(error).__name__}: {error}): restore a copy of it, or "
            "begin another state."
        ) from error


def _checked(connection: Any, name: str) -> dict[str, str]:
    """The settings of a store, if this is one that can be read."""
    import duckdb

    try:
        held = dict(fetch_lines(connection, "SELECT name::VARCHAR, value::VARCHAR FROM settings"))
    except (duckdb.CatalogException, duckdb.BinderException):  # no such table, or other columns
        held = {}
    if held.get("format") != FORMAT:
        raise BadInput(f"{name!r} is a database of something else, not the state of a monitor: name another file.")
    version = int(held["version"])
    if version < VERSION:
        raise BadInput(
            f"{name!r} was written by an older faithscope (state version {version}; this one reads {VERSION}), which "
            "knew explanations by other digests: begin another state."
        )
    if version > VERSION:
        raise BadInput(
            f"{name!r} was written by a newer faithscope (state version {version}; this one reads up to {VERSION}): "
            "upgrade faithscope."
        )
    connection.execute(" UNION ALL ".join(f"SELECT 1 FROM {table} WHERE false" for table in TABLES))
    return held
