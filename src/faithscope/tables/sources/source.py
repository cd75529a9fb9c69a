"""Where a log lives: a file or a glob, a frame, an Ibis table, or a table in a database; all of it only read."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings, read_settings
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.hints import close
from faithscope.runtime.files import expanded
from faithscope.tables.engine.calls import call, clear_errors, fetch, without_password
from faithscope.tables.sources.connecting import connect_to, embedded, scratch_settings
from faithscope.tables.sources.csv_files import Texts
from faithscope.tables.sources.files import (
    MOST_DIGITS,
    READERS,
    matching,
    read,
    settings,
    suffix,
    wide_decimals,
    wide_in_files,
)
from faithscope.tables.sources.snapshot import Stamps, one_state, refuse_rewritten, stamps

_NAMED = 8  # tables that are named where another was not found


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
    still : bool
        Whether it stays as it is for as long as it is open: a copy, or a DuckDB file, which DuckDB locks.
    files : tuple
        Its local files, as they were when it was opened.
    wide : dict of str to int
        Columns of decimals that have more digits than DuckDB keeps, so that it would round them; and how many.
    """

    table: Any
    name: str
    settings: Settings | None = None
    texts: Texts | None = None
    scratch: Mapping[str, str] = field(default_factory=dict)
    still: bool = False
    files: Stamps = ()
    wide: Mapping[str, int] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.columns)

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All that is asked inside is about one state of the log, as far as its engine can say."""
        with nullcontext() if self.still or self.files else one_state(self.table.get_backend()):
            yield
        refuse_rewritten(self.files)

    def refuse_wide(self, columns: Iterable[str]) -> None:
        """Raise where one of these columns cannot be read as it is."""
        name = next((name for name in columns if name in self.wide), None)
        if name is not None:
            raise WrongType(
                f"Column {name!r} holds decimals of {self.wide[name]} digits, of which DuckDB keeps at most "
                f"{MOST_DIGITS}: write it with fewer digits, or as text."
            )

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
        return Source(_known(log), "Ibis table")
    if is_frame(log):
        return _from_frame(log)
    paths = _paths(log)
    if connect is not None:
        return _from_database(paths, connect)
    with clear_errors("Starting DuckDB"):
        return _from_files(embedded(), paths)


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


def _from_frame(frame: Any) -> Source:
    import pyarrow as pa

    with clear_errors("Reading the frame"):
        if isinstance(frame, pa.Table | pa.RecordBatch):
            table = pa.table(frame) if isinstance(frame, pa.RecordBatch) else frame
        elif hasattr(frame, "to_arrow"):
            table = frame.to_arrow()
        else:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        connection = embedded()
        wide = wide_decimals(table.schema)
        for name in wide:  # DuckDB reads no such table at all
            place = table.column_names.index(name)
            table = table.set_column(place, name, pa.nulls(table.num_rows, pa.float64()))
        connection.con.register("log", table)
        return Source(_known(connection.table("log")), "frame", read_settings(table), still=True, wide=wide)


def _from_files(connection: Any, paths: list[str]) -> Source:
    found, kind = matching(paths)
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    with clear_errors(f"Reading {name}"):
        opened = stamps(found)
        table, texts = read(connection, found, kind)
        wide = wide_in_files(found, kind)
        return Source(_known(table), name, settings(found, kind), texts, files=opened, wide=wide)


def _known(table: Any) -> Any:
    """The table with moments in nanoseconds with a zone, for which Ibis has no type, as exact ones of UTC."""
    odd = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind)]
    exact = {name: call("make_timestamp_ns", call("epoch_ns", table[name], "int64"), "timestamp(9)") for name in odd}
    return table.mutate(**exact) if odd else table


def _from_database(names: list[str], address: str) -> Source:
    connection = connect_to(address)
    if len(names) == 1 and connection.name != "pyspark" and not os.path.exists(names[0]):
        return _table(connection, names[0])
    known = os.path.isdir(names[0]) or suffix(names[0]) in READERS
    if connection.name == "pyspark" and len(names) == 1 and not known:
        return _table(connection, names[0])
    return replace(_from_files(connection, names), scratch=scratch_settings(address))


def _table(connection: Any, name: str) -> Source:
    from ibis.common.exceptions import TableNotFound

    *where, table = name.split(".")
    database = ".".join(where) or None
    with clear_errors("Looking for the table"):
        try:
            return Source(_known(connection.table(table, database=database)), name, still=connection.name == "duckdb")
        except TableNotFound:
            raise BadInput(f"The database has no table {without_password(name)!r}{_there(connection, name)}") from None


def _there(connection: Any, name: str) -> str:
    """Which tables there are: those of the same name elsewhere, those of a near name, else the first few."""
    known = _tables(connection)
    last = name.split(".")[-1].casefold()
    same = [one for one in known if one.split(".")[-1].casefold() == last]
    if same:
        return f"; it has {', '.join(same[:_NAMED])}: write the whole name."
    lower = {one.split(".")[-1].casefold(): one for one in reversed(known)}
    near = [lower[name] for name in close(last, lower)]
    if near:
        return f"; did you mean {' or '.join(near)}?"
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
