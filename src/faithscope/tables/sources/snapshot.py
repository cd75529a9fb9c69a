"""One state of a log for all questions of an audit, though others write to it meanwhile.

Postgres and DuckDB are asked in one transaction. Where an engine has none, or a log is files, what the questions
counted must add up to the same rows; what does not is an error, never an answer.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from faithscope.errors import BadInput

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

Stamps = tuple[tuple[str, int, int, int], ...]


def changed(seen: str) -> BadInput:
    """The error where a log was written to between two questions."""
    return BadInput(f"The log was written to while it was audited ({seen}): audit it again, or a copy of it.")


def refuse_change(before: int, now: int) -> None:
    """Raise where two questions counted different numbers of rows."""
    if before != now:
        raise changed(f"{before:,} rows at first, {now:,} later")


@contextmanager
def one_state(connection: Any) -> Iterator[None]:
    """All questions inside see one state of the tables, where the engine of an Ibis connection can do that.

    A transaction that is open already is left as it is: its owner ends it.
    """
    begin, end = {"duckdb": _in_duckdb, "postgres": _in_postgres}.get(connection.name, _nowhere)(connection)
    if not begin():
        yield
        return
    try:
        yield
    finally:
        end()


def _nowhere(connection: Any) -> Any:
    return (lambda: False), None


def _in_duckdb(connection: Any) -> Any:
    import duckdb

    def begin() -> bool:
        if _state(connection) == _state(connection):  # a transaction is open: to begin another would end it
            return False
        connection.con.begin()
        return True

    def end() -> None:
        try:
            connection.con.commit()  # what others write through the same connection meanwhile is theirs to keep
        except duckdb.Error:
            connection.con.rollback()

    return begin, end


def _state(connection: Any) -> Any:
    """The number of the transaction, another one for each question that is asked outside of one."""
    return connection.con.execute("SELECT txid_current()").fetchall()


def _in_postgres(connection: Any) -> Any:
    from psycopg.pq import TransactionStatus

    inside = connection.con

    def begin() -> bool:
        if inside.info.transaction_status != TransactionStatus.IDLE:
            return False
        inside.execute(_BEGIN)  # Ibis's own transactions are savepoints in it
        return True

    return begin, inside.rollback


def stamps(files: Sequence[str]) -> Stamps:
    """What tells that local files are still those that were opened."""
    return tuple(_stamp(file) for file in files if os.path.exists(file))


def _stamp(file: str) -> tuple[str, int, int, int]:
    found = os.stat(file)
    return file, found.st_ino, found.st_size, found.st_mtime_ns


def refuse_rewritten(before: Stamps) -> None:
    """Raise where a file is no longer the one that was opened."""
    for file, *stamp in before:
        if not os.path.exists(file) or list(_stamp(file)[1:]) != stamp:
            raise changed(f"{file!r} is no longer the file that was opened")
