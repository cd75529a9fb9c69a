"""Where a log lives: a file or a glob, a frame, a query, an Ibis table, or a table in a database; all of it only read.

All questions of an audit are asked of a DuckDB of our own, about one state of the log, though others write to it
meanwhile: rows of another engine are copied there by one question. Files are read in place; if one of them was written
anew between two questions, that is an error, never an answer.
"""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import METADATA, Settings, read_settings
from faithscope.inputs.arrays import Query, is_frame, query_kind, to_items
from faithscope.runtime.files import expanded
from faithscope.tables.connections import as_view, connect_to, is_embedded, kept, shared
from faithscope.tables.engines import (
    Connection,
    Table,
    batches,
    call,
    clear_errors,
    clearly,
    fetch_line,
    has_zone,
    literal,
    readable,
    relation_batches,
    tables_of,
    without_password,
)
from faithscope.tables.files import MOST_DIGITS, read_csv, read_json, widened
from faithscope.words import hint

Names = str | Sequence[str]

_NAMED = 8  # tables that an error names
_LISTED = 12  # columns
_ROWS = 2**16  # of a query at once
_COUNTING = ("postgres", "pyspark")  # engines that count equal lines
_OF_MICROSECONDS = "TRY_CAST(make_timestamp({})::VARCHAR || '+00' AS TIMESTAMPTZ)"
_TIMES = "rows, counted"  # the column of how many rows a line stands for
_REMOTE = ("s3://", "gs://", "az://", "abfss://", "hdfs://", "http://", "https://", "dbfs:")
READERS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
READERS |= dict.fromkeys((".json", ".jsonl", ".ndjson"), "json")


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
    numbers : dict of str to str
        Columns of CSV files that are texts and can be read as numbers, and of which type.
    embedded : bool
        Whether it is read by a DuckDB of our own.
    files : dict of str to os.stat_result
        Its local files, as they were when it was opened.
    notes : tuple of str
        Which rows were left out, and how the explanation was read, if that is not plain.
    """

    table: Table
    name: str
    settings: Settings | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    embedded: bool = False
    files: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """All questions inside are about one state of the log: raises if its files were written anew meanwhile."""
        try:
            yield
        finally:
            for file, stamp in self.files.items():
                if _stamps([file]) != {file: stamp}:
                    raise BadInput(
                        f"The log was written to while it was audited ({file!r} is no longer the file that was opened)"
                        ": audit it again, or a copy of it."
                    )

    def copied(self, columns: Mapping[str, bool] | None = None) -> "LogSource":
        """The log in a DuckDB of our own, which spills to disk.

        Only `columns` travel if these are said, and floats as their signs if that is enough. Lines that the engine may
        well hold often are counted there and travel once: those without moments, and without floats as they are, of
        which a million took Postgres 25 s to group and 15 s to hand over. Dates, moments and decimals travel as texts,
        since drivers have no values for some of them.
        """
        import ibis

        md5: Any = ibis.udf.scalar.builtin(_md5, name="md5")
        engine, numbers, travels, apart, arrives = self.table.get_backend().name, dict(self.numbers), {}, {}, []
        counts = columns is not None and engine in _COUNTING
        for j, (name, of_sign) in enumerate((columns or dict.fromkeys(self.table.columns, False)).items()):
            value, said = self.table[name], "{}"
            kind = value.type()
            if kind.is_decimal() and kind.precision is None:  # of Postgres, of any length
                text = value.cast("string")
                same = (value.cast("float64").cast("string").cast(kind) == value).all()
                value, said = text, "TRY_CAST({} AS DOUBLE)"
                if fetch_line(self.table.aggregate(same=same))["same"] is False:
                    said, numbers[name] = "{}", "float64"
            elif kind.is_decimal():
                exact = f"DECIMAL({kind.precision}, {kind.scale})" if kind.scale else "HUGEINT"
                value, said = value.cast("string"), f"TRY_CAST({{}} AS {exact})"
            elif kind.is_date() and engine != "duckdb":
                value, said = value.cast("string"), "TRY_CAST({} AS DATE)"
            elif kind.is_timestamp() and engine != "duckdb":
                counts, zoned = False, has_zone(value)
                if zoned and engine == "pyspark":
                    value, said = call("unix_micros", value, "int64"), _OF_MICROSECONDS
                else:
                    value, said = value.cast("string"), f"TRY_CAST({{}} AS {'TIMESTAMPTZ' if zoned else 'TIMESTAMP'})"
            elif not _travels(kind):
                value = value.cast("string")
            elif of_sign:  # infinite numbers and NaN stay, and are seen later
                value = ibis.ifelse(value.abs() < literal(inf), value.sign(), value)
            elif kind.is_floating():
                counts = False
            travels[f"c{j}"] = value
            if value.type().is_string():  # a collation may take texts for equal that are not
                apart[f"h{j}"] = md5(value)
            quoted = name.replace('"', '""')
            arrives.append(f'{said.format(f"c{j}")} AS "{quoted}"')
        rows = self.table.select(**travels)
        if counts:
            rows = self.table.select(**travels, **apart).group_by([*travels, *apart]).aggregate(n=ibis._.count())
            arrives.append(f'n AS "{_TIMES}"')
        copy = kept(batches(rows, _ROWS), shared(), ", ".join(arrives))
        if counts:
            each = f'{copy.get_name()} AS counted, range(counted."{_TIMES}")'
            copy = as_view(copy.get_backend(), f'SELECT counted.* EXCLUDE ("{_TIMES}") FROM {each}')
        return replace(self, table=copy, numbers=numbers, embedded=True)

    def as_numbers(self, columns: Iterable[str]) -> "LogSource":
        """The log with these columns as numbers, if a CSV file holds them as texts that can be read as such."""
        cast = {name: self.table[name].cast(self.numbers[name]) for name in columns if name in self.numbers}
        others = {name: kind for name, kind in self.numbers.items() if name not in cast}
        return replace(self, table=self.table.mutate(**cast), numbers=others) if cast else self

    def named(self, names: Names, role: str, *, hidden: Iterable[str] | None = None) -> tuple[str, ...]:
        """The columns that one name or several mean; with `hidden`, globs mean all columns but these.

        Columns that a glob means are in the order of the log; a column's own name is no glob.
        """
        listed = [names] if isinstance(names, str) else to_items(names, f"{role}, the names of columns,")
        known = [each for each in self.table.columns if each not in (hidden or ())]
        chosen: dict[str, None] = {}
        for name in listed:
            if not isinstance(name, str):
                takes = "is the name of a column" if hidden is None else "takes names of columns or globs"
                raise WrongType(f"{role} {takes}; got {name!r}.")
            like = [each for each in known if hidden is not None and fnmatchcase(each, name)]
            if name not in self.table.columns and not like:
                close = hint(name if hidden is None else name.strip("*"), known)
                raise BadInput(f"The log has no column {name!r} for {role}. {close}")
            chosen.update(dict.fromkeys([name] if name in self.table.columns else like))
        if not chosen and hidden is not None:
            raise BadInput(f"No column was named for {role}. The log has: {self.listed}.")
        return tuple(chosen)

    @property
    def listed(self) -> str:
        """The names of the first columns, for a sentence."""
        more = len(self.table.columns) - _LISTED
        return ", ".join(self.table.columns[:_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def open_source(log: Any, connect: str | None = None) -> LogSource:
    """A log, whatever holds it.

    Parameters
    ----------
    log : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, query, or the name of a database's table
    connect : str, optional
        The database: an Ibis address such as ``postgres://user:password@host/database``, or ``spark`` for the
        current session. Without it DuckDB reads files in place.
    """
    if isinstance(log, LogSource):
        return log
    if type(log).__module__.split(".")[0] == "ibis" and hasattr(log, "columns"):
        with clear_errors("Reading the Ibis table"):
            found = LogSource(_with_known_types(readable(log)), "Ibis table")
            # DuckDB 2.0 takes Parquet's statistics, which leave NaN out, as proof of none: conditions come later.
            return found.copied() if log.get_backend().name == "duckdb" else found
    if kind := query_kind(log):
        return _from_query(log, kind)
    if is_frame(log):
        return _from_frame(log)
    given = [log] if isinstance(log, str | os.PathLike) else log
    if not isinstance(given, Sequence) or not given or not all(isinstance(path, str | os.PathLike) for path in given):
        raise WrongType(
            f"A log is a file, a glob, a frame or an Ibis table; got {type(log).__name__}: pass one of these."
        )
    paths: list[str] = [expanded(path) for path in given]
    if connect is None:
        with clear_errors("Starting DuckDB"):
            return _from_files(shared(), paths)
    connection = connect_to(connect)
    if is_embedded(connect):
        return _from_files(connection, paths)
    return _from_table(connection, paths[0])


def _from_files(connection: Connection, paths: list[str]) -> LogSource:
    """The files that paths, folders and globs mean, each once, whatever links lead to it, as one log."""
    import pyarrow.parquet as pq

    matching = ([path] if path.startswith(_REMOTE) or os.path.isfile(path) else _matching(path) for path in paths)
    found = sorted(set(chain.from_iterable(matching)), key=lambda name: (len(name), name))
    once: dict[Any, str] = {}
    for file in found:  # two names of one file may be links, or hard links
        status = os.stat(file) if os.path.isfile(file) else None
        once.setdefault(file if status is None else (status.st_dev, status.st_ino), file)
    files = sorted(once.values())
    for file in (file for file in files if suffix(file) not in READERS):
        raise BadInput(
            f"{without_password(file)!r} is no kind of file that can be read: a log is Parquet, CSV or JSON lines."
        )
    kind, *others = {READERS[suffix(file)] for file in files}
    if others:
        raise BadInput(f"The log mixes kinds of files ({', '.join(files[:3])}): pass files of one kind.")
    name = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    with clear_errors(f"Reading {name}"):
        opened, numbers, schemas = _stamps(files), dict[str, str](), list[Any]()
        taken = [file if file.startswith(_REMOTE) else glob.escape(file) for file in files]
        if kind == "csv":
            table, numbers = read_csv(connection, files)
        elif kind == "json":
            table, numbers = read_json(connection, taken)
        else:  # files with the same columns and types together
            groups: dict[Any, list[str]] = {}
            schemas = [() if file.startswith(_REMOTE) else pq.read_schema(file) for file in files]
            for schema, file in zip(schemas, taken, strict=True):
                _refuse_wide(schema)
                groups.setdefault(tuple((each.name, str(each.type)) for each in schema), []).append(file)
            table = widened([connection.read_parquet(group) for group in groups.values()])
        said = {(getattr(schema, "metadata", None) or {}).get(METADATA) for schema in schemas}
        settings = read_settings(schemas[0].empty_table()) if len(said) == 1 and None not in said else None
        # What is not here is read once, as that of another engine is: nothing says whether it was written anew.
        here = not any(file.startswith(_REMOTE) for file in files)
        return LogSource(_with_known_types(table), name, settings, numbers, embedded=here, files=opened)


def _matching(path: str) -> list[str]:
    """The files that a folder or a glob means, but for those whose names say that they are not finished."""
    if os.path.isdir(path):
        files = []
        for place, folders, held in os.walk(path):
            folders[:] = [name for name in folders if name[0] not in "_."]
            files += [os.path.join(place, name) for name in held if name[0] not in "_." and suffix(name) in READERS]
    else:
        parts = path.split(os.sep)
        fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
        # A name that begins with _ or a dot is that of an unfinished write, unless the glob says it.
        wanted = {part[0] for part in parts[fixed:] if part.startswith(("_", "."))}
        files = [
            file
            for file in glob.glob(path, recursive=True)
            if os.path.isfile(file) and not any(part[:1] in {"_", "."} - wanted for part in file.split(os.sep)[fixed:])
        ]
    if files:
        return files
    folder = Path(path).parent
    beside = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    advice = f" {hint(Path(path).name, beside)}" if beside else ""
    raise BadInput(f"No file matches {without_password(path)!r}: check the path, or quote the glob.{advice}")


def suffix(file: str) -> str:
    """How the name of a file ends, its compression left out.

    Examples
    --------
    >>> suffix("logs/March.CSV.gz")
    '.csv'
    """
    return Path(file.removesuffix(".gz").removesuffix(".zst")).suffix.lower()


def _stamps(files: Sequence[str]) -> dict[str, tuple[int, int, int]]:
    """What tells that local files are still those that were opened."""
    known = {file: os.stat(file) for file in files if os.path.exists(file)}
    return {file: (status.st_ino, status.st_size, status.st_mtime_ns) for file, status in known.items()}


def _refuse_wide(schema: Any) -> None:
    """Raise if a column is of decimals with more digits than engines keep: DuckDB would make doubles of them."""
    import pyarrow as pa

    for name, kind in ((each.name, each.type) for each in schema):
        if pa.types.is_decimal(kind) and kind.precision > MOST_DIGITS:
            raise WrongType(
                f"Column {name!r} holds decimals of {kind.precision} digits, of which DuckDB keeps at most "
                f"{MOST_DIGITS}: write it with fewer digits, or as text, or leave it out."
            )


def _with_known_types(table: Table) -> Table:
    """The table with moments in nanoseconds with a zone, for which Ibis has no type, as exact moments of UTC."""
    unknown = [name for name, kind in table.schema().items() if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind)]
    since = {name: call("epoch_ns", table[name], "int64") for name in unknown}
    exact = {name: call("make_timestamp_ns", number, "timestamp(9)") for name, number in since.items()}
    return table.mutate(**exact) if unknown else table


def _from_frame(frame: Any) -> LogSource:
    import pyarrow as pa

    with clear_errors("Reading the frame"):
        if isinstance(frame, pa.Table | pa.RecordBatch):
            table = pa.table(frame)
            if len(set(table.column_names)) < table.num_columns:
                raise BadInput(f"Two columns have one name, of {table.column_names}: rename or drop one of them.")
        elif hasattr(frame, "to_arrow"):
            table = frame.to_arrow()
        else:
            table = pa.Table.from_pandas(frame, preserve_index=False)
            for position, held in enumerate(table.schema):
                if not pa.types.is_struct(held.type):
                    continue
                # As maps: structs have all fields, and dictionaries may leave keys out.
                rows = [list(row.items()) if isinstance(row, dict) else None for row in frame.iloc[:, position]]
                with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # other values than numbers
                    maps = pa.array(rows, pa.map_(pa.string(), pa.float64()))
                    table = table.set_column(position, held.name, maps)
        connection = shared()
        _refuse_wide(table.schema)
        connection.con.register("log", table)
        return LogSource(_with_known_types(connection.table("log")), "frame", read_settings(table), embedded=True)


def _from_table(connection: Connection, name: str) -> LogSource:
    from ibis.common.exceptions import TableNotFound

    *schema, last = name.split(".")
    with clear_errors("Looking for the table"):
        try:
            table = connection.table(last, database=".".join(schema) or None)
        except TableNotFound:
            tables = tables_of(connection)
            same = [table for table in tables if table.split(".")[-1].casefold() == last.casefold()]
            there = f". {hint(name, tables)}" if tables else ", nor any other that may be read."
            if same:
                there = f"; it has {', '.join(same[:_NAMED])}: write the whole name."
            raise BadInput(f"The database has no table {without_password(name)!r}{there}") from None
        return LogSource(_with_known_types(readable(table)), name, embedded=connection.name == "duckdb")


def _from_query(query: Any, kind: Query) -> LogSource:
    """The rows of a query, read once, in batches, into a DuckDB of our own that spills to disk."""
    rows = (batch for batch in clearly(_batches(query, kind), f"Reading the {kind}") if batch.num_rows)
    first: Any = next(rows, None)
    table = kept(() if first is None else chain([first], rows), shared())
    settings = read_settings(first.schema.empty_table())
    return LogSource(_with_known_types(table), kind, settings, embedded=True)


def _batches(query: Any, kind: Query) -> Iterator[Any]:
    """The rows of a query, never all at once."""
    if kind == "cursor":
        raise WrongType("A DuckDB connection or cursor is no log: pass con.table('name') or con.sql('SELECT …').")
    if kind == "lazy frame":
        yield from (frame.to_arrow() for frame in query.collect_batches(chunk_size=_ROWS))
    elif kind == "dataset":
        yield from query.to_batches(batch_size=_ROWS)
    elif kind == "reader":
        yield from query
    else:
        yield from relation_batches(query, _ROWS)


def _travels(kind: Any) -> bool:
    """Whether values of a type travel between engines as they are."""
    if kind.is_array():
        return _travels(kind.value_type)
    plain = kind.is_string() or kind.is_numeric() or kind.is_boolean() or kind.is_binary()
    return bool(plain or kind.is_date() or kind.is_timestamp() or kind.is_struct() or kind.is_map())


def _md5(text: str) -> str:
    """Of the bytes of a text, as engines know it."""
    raise NotImplementedError
