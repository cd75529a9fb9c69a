"""Where a log lives: a file or a glob, a frame, an Ibis table, or a table in a database; all of it only read."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings, read_settings
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.hints import hint
from faithscope.inputs.queries import query_kind
from faithscope.runtime.files import expanded
from faithscope.tables.engine.engines import engine_at, engine_of
from faithscope.tables.engine.expressions import Connection, Expression, Table, call
from faithscope.tables.engine.failures import clear_errors, without_password
from faithscope.tables.sources.connections import beside, connect_to, embedded, is_embedded, shared
from faithscope.tables.sources.files import MOST_DIGITS, READERS, CsvCells, LogFiles, suffix, wide_decimals
from faithscope.tables.sources.queries import read_query
from faithscope.tables.sources.snapshot import Stamps, refuse_rewritten, stamps

_NAMED = 8  # tables that an error names


@dataclass(frozen=True)
class LogSource:
    """A log that can be asked questions.

    Attributes
    ----------
    table : ibis.Table
    name : str
        What it is called in reports.
    settings : dict or None
        What the log says about its own explanations, if faithscope wrote it.
    cells : CsvCells or None
        The cells of CSV files, of which the table has made numbers and moments.
    embedded : bool
        Whether it is read by a DuckDB in memory of our own.
    shared : bool
        Whether other logs are read by that DuckDB too.
    still : bool
        Whether it stays as it is for as long as it is open: a copy, or a DuckDB file, which DuckDB locks.
    files : tuple
        Its local files, as they were when it was opened.
    wide : dict of str to int
        The number of digits of each column of decimals with more digits than DuckDB keeps, so that it would round them.
    numeric : tuple of str
        Columns that were asked for as numbers.
    """

    table: Table
    name: str
    settings: Settings | None = None
    cells: CsvCells | None = None
    embedded: bool = False
    shared: bool = False
    still: bool = False
    files: Stamps = ()
    wide: Mapping[str, int] = field(default_factory=dict)
    numeric: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.table.columns)

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All questions inside are about one state of the log, as far as its engine can say."""
        connection = self.table.get_backend()
        with nullcontext() if self.still or self.files else engine_at(connection).one_state(connection):
            yield
        refuse_rewritten(self.files)

    def scratch(self) -> Connection:
        """A DuckDB to keep tables of our own in: the one that reads this log alone, if there is one, else a new one."""
        return beside(self.table.get_backend()) if self.embedded and not self.shared else embedded()

    def refuse_wide(self, columns: Iterable[str]) -> None:
        """Raise if one of these columns cannot be read as it is."""
        name = next((name for name in columns if name in self.wide), None)
        if name is not None:
            raise WrongType(
                f"Column {name!r} holds decimals of {self.wide[name]} digits, of which DuckDB keeps at most "
                f"{MOST_DIGITS}: write it with fewer digits, or as text."
            )

    def only(self, condition: Expression) -> "LogSource":
        """The log without the rows for which a condition on its columns is not true; of CSV, on those of its cells."""
        if self.cells is None:
            return replace(self, table=self.table.filter(condition))
        cells = replace(self.cells, table=self.cells.table.filter(condition))
        return replace(self, table=cells.typed(self.numeric), cells=cells)

    def as_numbers(self, columns: Sequence[str]) -> "LogSource":
        """The log with these columns as numbers, if a CSV file holds them as texts that can be read as such."""
        if self.cells is None or all(self.cells.numbers.get(name) == self.cells.safe.get(name) for name in columns):
            return self
        numeric = (*self.numeric, *columns)
        return replace(self, table=self.cells.typed(numeric), numeric=numeric)


def open_source(log: Any, connect: str | None = None, *, at_once: bool = False) -> LogSource:
    """A log, whatever holds it.

    Parameters
    ----------
    log : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, query, or the name of a database's table
    connect : str, optional
        The database: an Ibis address such as ``postgres://user:password@host/database``, or ``spark`` for the
        current session. Without it DuckDB reads files in place.
    at_once : bool
        Whether a log in files is read and then let go, so that it needs no DuckDB of its own.
    """
    if isinstance(log, LogSource):
        return log
    if type(log).__module__.split(".")[0] == "ibis" and hasattr(log, "columns"):
        with clear_errors("Reading the Ibis table"):
            return LogSource(_with_known_types(engine_of(log).readable(log)), "Ibis table")
    if kind := query_kind(log):
        table, settings = read_query(log, kind)
        return LogSource(_with_known_types(table), kind, settings, embedded=True, still=True)
    if is_frame(log):
        return _from_frame(log)
    paths = _paths(log)
    if connect is not None:
        return _from_database(paths, connect)
    with clear_errors("Starting DuckDB"):
        return replace(_from_files(shared() if at_once else embedded(), paths), embedded=True, shared=at_once)


def unpacked(source: LogSource, column: str, width: int) -> tuple[LogSource, tuple[str, ...]]:
    """The log with the numbers of a list column in columns of their own, and the names of these."""
    numbers = {f"{column}[{j}]": source.table[column][j] for j in range(width)}
    return replace(source, table=source.table.mutate(**numbers)), tuple(numbers)


def _paths(log: Any) -> list[str]:
    paths = [log] if isinstance(log, str | os.PathLike) else log
    if not isinstance(paths, Sequence) or not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise WrongType(
            f"A log is a file, a glob, a frame or an Ibis table; got {type(log).__name__}: pass one of these."
        )
    return [expanded(path) for path in paths]


def _from_frame(frame: Any) -> LogSource:
    import pyarrow as pa

    with clear_errors("Reading the frame"):
        if isinstance(frame, pa.Table | pa.RecordBatch):
            table = pa.table(frame) if isinstance(frame, pa.RecordBatch) else frame
        elif hasattr(frame, "to_arrow"):
            table = frame.to_arrow()
        else:
            table = _with_maps(pa.Table.from_pandas(frame, preserve_index=False), frame)
        connection = embedded()
        wide = wide_decimals(table.schema)
        for name in wide:  # DuckDB reads no such table at all
            position = table.column_names.index(name)
            table = table.set_column(position, name, pa.nulls(table.num_rows, pa.float64()))
        connection.con.register("log", table)
        rows = _with_known_types(connection.table("log"))
        return LogSource(rows, "frame", read_settings(table), embedded=True, still=True, wide=wide)


def _with_maps(table: Any, frame: Any) -> Any:
    """An Arrow table with dictionaries of numbers as maps: structs have all fields, dictionaries may leave keys out."""
    import pyarrow as pa

    for position, column in enumerate(table.schema):
        if pa.types.is_struct(column.type):
            held = frame.iloc[:, position].tolist()
            names = list(dict.fromkeys(name for row in held if isinstance(row, dict) for name in row))
            with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # other values than numbers
                rows = [_items(row, names) if isinstance(row, dict) else None for row in held]
                maps = pa.array(rows, pa.map_(pa.string(), pa.float64()))
                table = table.set_column(position, column.name, maps)
    return table


def _items(row: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    """The items of a dictionary in the order of these names, so that all rows have one order."""
    return [(name, row[name]) for name in names if name in row]


def _from_files(connection: Connection, paths: list[str]) -> LogSource:
    files = LogFiles.matching(paths)
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    with clear_errors(f"Reading {name}"):
        opened = stamps(files.names)
        table, cells = files.read(connection)
        return LogSource(_with_known_types(table), name, files.settings, cells, files=opened, wide=files.wide)


def _with_known_types(table: Table) -> Table:
    """The table with moments in nanoseconds with a zone, for which Ibis has no type, as exact moments of UTC."""
    unknown = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind)]
    since = {name: call("epoch_ns", table[name], "int64") for name in unknown}
    exact = {name: call("make_timestamp_ns", number, "timestamp(9)") for name, number in since.items()}
    return table.mutate(**exact) if unknown else table


def _from_database(names: list[str], address: str) -> LogSource:
    connection = connect_to(address)
    if len(names) == 1 and connection.name != "pyspark" and not os.path.exists(names[0]):
        return _from_table(connection, names[0])
    is_file = os.path.isdir(names[0]) or suffix(names[0]) in READERS
    if connection.name == "pyspark" and len(names) == 1 and not is_file:
        return _from_table(connection, names[0])
    return replace(_from_files(connection, names), embedded=is_embedded(address))


def _from_table(connection: Connection, name: str) -> LogSource:
    from ibis.common.exceptions import TableNotFound

    *schema, last = name.split(".")
    with clear_errors("Looking for the table"):
        try:
            table = connection.table(last, database=".".join(schema) or None)
        except TableNotFound:
            tables = engine_at(connection).tables(connection)
            raise BadInput(f"The database has no table {without_password(name)!r}{_there(name, tables)}") from None
        except Exception as problem:
            if "disabled by configuration" not in str(problem):
                raise
            raise BadInput(
                f"{name!r} is a view of other files, which a DuckDB file that is handed over may not read: pass the "
                f"files themselves, or in Python duckdb.connect(file, read_only=True).table({name!r})."
            ) from None
        engine = engine_at(connection)
        return LogSource(_with_known_types(engine.readable(table)), name, still=engine.locked)


def _there(name: str, tables: list[str]) -> str:
    """Which tables there are: those of the same name in another schema, those of a similar name, else the first few."""
    last = name.split(".")[-1].casefold()
    same = [table for table in tables if table.split(".")[-1].casefold() == last]
    if same:
        return f"; it has {', '.join(same[:_NAMED])}: write the whole name."
    return f". {hint(name, tables)}" if tables else ", nor any other that may be read."
