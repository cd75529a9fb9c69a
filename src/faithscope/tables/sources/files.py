"""A log in files: which are meant, and one table of them all, whatever their order; nothing is guessed or rounded."""

import csv
import glob
import gzip
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.arrow.tables import METADATA, Settings, read_settings
from faithscope.inputs.hints import hint
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.engines import engine_at
from faithscope.tables.engine.expressions import Connection, Expression, Table
from faithscope.tables.engine.failures import without_password

_EXACT = 2**53  # beyond it two integers may share one float64
_DIGITS = 19  # of the largest integer
MOST_DIGITS = 38  # of a decimal in an engine


def widened(tables: list[Table]) -> Table:
    """All rows of the tables; a column that a table does not have is missing in its rows."""
    import ibis

    if len(tables) == 1:
        return tables[0]
    names = sorted({name for table in tables for name in table.columns}, key=_order(tables))
    kinds = {name: _common(name, tables) for name in names}
    return ibis.union(*(_as(table, kinds) for table in tables))


def _order(tables: list[Table]) -> Any:
    """Columns in the order of the table with most of them, then by name; the order of files says nothing."""
    longest = max(tables, key=lambda table: (len(table.columns), table.columns)).columns
    place = {name: i for i, name in enumerate(longest)}
    return lambda name: (place.get(name, len(place)), name)


def _as(table: Table, kinds: dict[str, Any]) -> Table:
    return table.select(**{name: _column(table, name, kind) for name, kind in kinds.items()})


def _column(table: Table, name: str, kind: Any) -> Expression:
    import ibis

    if name not in table.columns:
        return ibis.null(kind)
    return table[name] if table[name].type() == kind else table[name].cast(kind)


def _common(name: str, tables: list[Table]) -> Any:
    """A type that holds every value of a column exactly."""
    held = [table for table in tables if name in table.columns]
    kinds = [table.schema()[name](nullable=True) for table in held]
    kind = reduce(lambda a, b: None if a is None else wider(a, b), kinds)
    if kind is None:
        types = " and ".join(dict.fromkeys(map(str, kinds)))
        raise BadInput(
            f"Column {name!r} holds {types} in different files, which no type holds exactly: write it in one type."
        )
    if kind.is_floating():
        whole = [table for table, kind in zip(held, kinds, strict=True) if kind.is_int64() or kind.is_uint64()]
        _refuse_large(name, whole)
    return kind


def wider(a: Any, b: Any) -> Any | None:
    """The narrowest type that holds the values of both, if there is one; whole numbers beyond 2**53 are looked for."""
    import ibis.expr.datatypes as dt

    if a == b or b.is_null():
        return a
    if a.is_null():
        return b
    if a.is_array() and b.is_array():
        inner = wider(a.value_type, b.value_type)
        return None if inner is None or (inner.is_floating() and _wide(a, b)) else dt.Array(inner)
    if a.is_integer() and b.is_integer():
        signed = a.is_signed_integer() or b.is_signed_integer()
        return None if signed and (a.is_uint64() or b.is_uint64()) else dt.uint64 if not signed else dt.int64
    if all(kind.is_floating() or kind.is_integer() for kind in (a, b)):
        return dt.float64
    if all(kind.is_decimal() or kind.is_integer() for kind in (a, b)):
        return _decimal(a, b)
    if all(kind.is_timestamp() or kind.is_date() for kind in (a, b)):
        zones = {kind.timezone for kind in (a, b) if kind.is_timestamp()}
        return dt.Timestamp(timezone=zones.pop()) if len(zones) == 1 else None
    return None


def _wide(a: Any, b: Any) -> bool:
    """Whether lists hold whole numbers that a float64 may not."""
    return any(kind.value_type.is_int64() or kind.value_type.is_uint64() for kind in (a, b))


def _decimal(a: Any, b: Any) -> Any | None:
    import ibis.expr.datatypes as dt

    parts = [(kind.precision - kind.scale, kind.scale) if kind.is_decimal() else (_DIGITS, 0) for kind in (a, b)]
    scale = max(part[1] for part in parts)
    digits = max(part[0] for part in parts) + scale
    return dt.Decimal(digits, scale) if digits <= MOST_DIGITS else None


def _refuse_large(name: str, tables: list[Table]) -> None:
    for table in tables:
        largest = fetch_line(table.aggregate(largest=table[name].abs().max()))["largest"]
        if largest is not None and largest > _EXACT:
            raise BadInput(
                f"Column {name!r} holds whole numbers beyond 2**53 in one file and fractions in another, which no type "
                "holds exactly: write it in one type."
            )


_WHOLE = r"^[+-]?[0-9]{1,18}$"
_NUMBER = r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
_ONE_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # texts of which no two are one number
_ONE_NUMBER = r"^-?(0|[1-9][0-9]{0,14})\.([0-9]{0,14}[1-9]|0)$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$"
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_SAFE = {"int64": _ONE_WHOLE, "float64": _ONE_NUMBER, "timestamp": _MOMENT, "timestamp('UTC')": _ZONED}
_NUMBERS = {"int64": _WHOLE, "float64": _NUMBER}
_SAMPLE = 100  # records


@dataclass(frozen=True, eq=False)
class CsvCells:
    """The cells of CSV files as texts.

    Attributes
    ----------
    table : ibis.Table
    safe : dict of types by column
        Columns that are numbers or moments without two texts becoming one value.
    numbers : dict of types by column
        Columns that can be read as numbers at all.
    """

    table: Table
    safe: Mapping[str, str]
    numbers: Mapping[str, str]

    def typed(self, as_numbers: Sequence[str] = ()) -> Table:
        """The table with numbers and moments if that is safe, and these columns as numbers.

        It is a view, so that a question about a few columns is not as long as all of them.
        """
        from ibis.util import gen_name

        kinds = {**self.safe, **{name: self.numbers[name] for name in as_numbers if name in self.numbers}}
        if not kinds:
            return self.table
        typed, name = (
            self.table.mutate(**{name: self.table[name].cast(kind) for name, kind in kinds.items()}),
            gen_name("csv"),
        )
        connection = self.table.get_backend()
        connection.raw_sql(f"CREATE TEMPORARY VIEW {name} AS {connection.compile(typed)}")
        return connection.table(name)

    @property
    def as_numbers(self) -> dict[str, Expression]:
        """The columns that can be read as numbers, as numbers."""
        return {name: self.table[name].cast(kind) for name, kind in self.numbers.items()}

    @property
    def as_typed(self) -> dict[str, Expression]:
        """All columns, as numbers and moments if that is safe."""
        safe = {name: self.table[name].cast(kind) for name, kind in self.safe.items()}
        return {name: safe.get(name, self.table[name]) for name in self.table.columns}


def read_csv(connection: Connection, files: Sequence[str], names: Sequence[str]) -> CsvCells:
    """The files as one table of texts; `names` are the files as the engine takes them."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file, name in zip(files, names, strict=True):
        groups.setdefault(_head(file), []).append(name)
    engine = engine_at(connection)
    table = widened([engine.read_csv(connection, group, *head) for head, group in groups.items()])
    rows, kinds = _types(table, _sample(files[0]))
    _check_records(rows, files)
    safe = {name: kind for name, (kind, pattern) in kinds.items() if pattern in _SAFE.values()}
    return CsvCells(table, safe, {name: kind for name, (kind, _) in kinds.items() if kind in _NUMBERS})


def _types(table: Table, samples: Mapping[str, Sequence[str]]) -> tuple[int, dict[str, tuple[str, str]]]:
    """The number of rows, and the first type and pattern that all cells of a column match, if there is one.

    An engine takes long to read a question about many columns, so that only what fits a sample is asked.
    """
    patterns = [*_SAFE.items(), *_NUMBERS.items()]  # what matches the first ones is such a number too
    fitting = {
        name: [
            each
            for each in patterns
            if all(
                re.search(each[1], cell) or (each[1] == _ONE_NUMBER and _shortest(cell))
                for cell in samples.get(name, ())
            )
        ]
        for name in table.columns
    }
    found: dict[str, tuple[str, str]] = {}
    while True:
        asked = [(name, kinds.pop(0)) for name, kinds in fitting.items() if kinds]
        question = {f"c{j}": _all_match(table[name], pattern) for j, (name, (_, pattern)) in enumerate(asked)}
        line = fetch_line(table.aggregate(rows=table.count(), **question))
        for j, (name, kind) in enumerate(asked):
            if line[f"c{j}"] is not False:
                found |= {name: kind} if line[f"c{j}"] else {}  # None if all cells are empty
                fitting[name] = []
        if not any(fitting.values()):
            return line["rows"], found


def _all_match(cells: Expression, pattern: str) -> Expression:
    """Whether all cells match; numbers also if they are the shortest texts of theirs, as pandas writes them."""
    found = cells.re_search(pattern)
    if pattern == _ONE_NUMBER:
        shortest = (cells.try_cast("float64").cast("string") == cells) & cells.re_search("[0-9]$")
        found = found | shortest.fill_null(False)
    return found.all()


def _shortest(cell: str) -> bool:
    """Whether a text is the shortest of its number, so that no other text of a column like it is that number."""
    try:
        return repr(float(cell)) == cell and cell[-1].isdigit()
    except ValueError:
        return False


def _sample(file: str) -> dict[str, list[str]]:
    """Some cells of each column that are not empty; none of a remote file."""
    separator, names = _head(file)
    if not names:
        return {}
    with _opened(file) as lines:
        records = list(islice(csv.reader(lines, delimiter=separator), 1, _SAMPLE))
    return {name: [cells[j] for cells in records if j < len(cells) and cells[j]] for j, name in enumerate(names)}


def _head(file: str) -> tuple[str, tuple[str, ...]]:
    """What separates cells, and the names of the columns; no names for a remote file."""
    if "://" in file:
        return ",", ()
    with _opened(file) as lines:
        line = next(lines, "")
        separator = max(",;\t|", key=lambda letter: (line.count(letter), letter == ","))
    with _opened(file) as lines:
        cells = next(csv.reader(lines, delimiter=separator), ())
    names = tuple(cell or f"Unnamed: {j}" for j, cell in enumerate(cells))  # as pandas calls an index without a name
    if not names or len(set(map(str.casefold, names))) < len(names):
        raise BadInput(f"The first line of {file!r} must name every column, each once; got {list(names)[:8]}.")
    return separator, names


def _check_records(rows: int, files: Sequence[str]) -> None:
    """Raise if an engine has read more or fewer rows than the files hold."""
    if any("://" in file for file in files):
        return
    records = 0
    for file in files:
        separator, names = _head(file)
        with _opened(file) as lines:
            records += sum(1 for cells in csv.reader(lines, delimiter=separator) if cells or len(names) == 1) - 1
    if rows != records:
        raise BadInput(f"The CSV files hold {records:,} records, but {rows:,} rows were read: write them as Parquet.")


@contextmanager
def _opened(file: str) -> Iterator[Any]:
    try:
        if file.endswith(".zst"):
            import pyarrow as pa

            with pa.input_stream(file, compression="zstd") as stream:
                yield io.TextIOWrapper(stream, "utf-8-sig", newline="")
        elif file.endswith(".gz"):
            with gzip.open(file, "rt", encoding="utf-8-sig", newline="") as lines:
                yield lines
        else:
            with open(file, encoding="utf-8-sig", newline="") as lines:
                yield lines
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{file!r} is not UTF-8 ({error.reason} at byte {error.start:,}): write it as UTF-8, or in Python pass "
            "pandas.read_csv(file, encoding=...) with its own encoding, such as 'latin-1' or 'utf-16'."
        ) from None


READERS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
_REMOTE = ("s3://", "gs://", "az://", "abfss://", "hdfs://", "http://", "https://", "dbfs:")


@dataclass(frozen=True)
class LogFiles:
    """The files of a log, in order, and what kind of files they are: parquet, csv or json."""

    names: tuple[str, ...]
    kind: str

    @classmethod
    def matching(cls, paths: Sequence[str]) -> "LogFiles":
        """The files that paths, folders and globs mean, each once, whatever links lead to it."""
        names = sorted({file for path in paths for file in _matching(path)}, key=lambda name: (len(name), name))
        files = sorted({_identity(name): name for name in reversed(names)}.values())
        kinds = {_kind(file) for file in files}
        if len(kinds) > 1:
            raise BadInput(f"The log mixes kinds of files ({', '.join(files[:3])}): pass files of one kind.")
        return cls(tuple(files), kinds.pop())

    @cached_property
    def schemas(self) -> tuple[Any, ...]:
        """The Arrow schema of each local Parquet file; None for all others."""
        import pyarrow.parquet as pq

        read = self.kind == "parquet"
        return tuple(pq.read_schema(file) if read and not file.startswith(_REMOTE) else None for file in self.names)

    def read(self, connection: Connection) -> tuple[Table, CsvCells | None]:
        """One table of all files; of CSV also the cells that it was made from."""
        engine = engine_at(connection)
        names = [file if file.startswith(_REMOTE) else engine.file_name(file) for file in self.names]
        if self.kind == "csv":
            cells = read_csv(connection, self.names, names)
            return cells.typed(), cells
        if self.kind == "json":
            return engine.read_json(connection, names), None
        return widened([engine.read_parquet(connection, group) for group in self._alike(names)]), None

    def _alike(self, names: Sequence[str]) -> list[list[str]]:
        """The names that an engine takes, in groups of files with the same columns and types."""
        groups: dict[Any, list[str]] = {}
        for schema, name in zip(self.schemas, names, strict=True):
            groups.setdefault(tuple((field.name, str(field.type)) for field in schema or ()), []).append(name)
        return list(groups.values())

    @property
    def settings(self) -> Settings | None:
        """What all files say about their own explanations; None if one of them says nothing, or something else."""
        texts = {None if schema is None else (schema.metadata or {}).get(METADATA) for schema in self.schemas}
        return read_settings(self.schemas[0].empty_table()) if len(texts) == 1 and None not in texts else None

    @property
    def wide(self) -> dict[str, int]:
        """`wide_decimals` of all files together."""
        schemas = [schema for schema in self.schemas if schema is not None]
        return {name: digits for schema in schemas for name, digits in wide_decimals(schema).items()}


def wide_decimals(schema: Any) -> dict[str, int]:
    """Columns of decimals with more digits than engines keep, and how many; DuckDB makes doubles of them."""
    import pyarrow as pa

    decimals = [field for field in schema if pa.types.is_decimal(field.type)]
    return {field.name: field.type.precision for field in decimals if field.type.precision > MOST_DIGITS}


def _matching(path: str) -> list[str]:
    if path.startswith(_REMOTE) or os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        files = [file for file in _inside(path) if suffix(file) in READERS]
    else:
        files = [file for file in glob.glob(path, recursive=True) if os.path.isfile(file) and not _hidden(file, path)]
    if files:
        return files
    folder = Path(path).parent
    beside = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    advice = f" {hint(Path(path).name, beside)}" if beside else ""
    raise BadInput(f"No file matches {without_password(path)!r}: check the path, or quote the glob.{advice}")


def _identity(file: str) -> Any:
    """What two names of one file share, be they links or hard links."""
    if not os.path.isfile(file):
        return file
    status = os.stat(file)
    return os.path.realpath(file) if status.st_nlink == 1 else (status.st_dev, status.st_ino)


def _inside(folder: str) -> Iterator[str]:
    """The files of a folder and of those in it, each folder once, whatever links lead to it; see `_hidden`."""
    seen = {os.path.realpath(folder)}
    for place, folders, files in os.walk(folder, followlinks=True):
        paths = {name: os.path.realpath(os.path.join(place, name)) for name in sorted(folders) if name[0] not in "_."}
        folders[:] = [name for name, path in paths.items() if path not in seen]
        seen.update(paths.values())
        yield from (os.path.join(place, name) for name in files if name[0] not in "_.")


def _hidden(file: str, pattern: str) -> bool:
    """Whether a name that a glob matched begins with _ or a dot, as the names of unfinished writes do."""
    parts = pattern.split(os.sep)
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    wanted = tuple(part[0] for part in parts[fixed:] if part.startswith(("_", ".")))
    return any(part.startswith(("_", ".")) and part[0] not in wanted for part in file.split(os.sep)[fixed:])


def suffix(file: str) -> str:
    """How the name of a file ends, its compression left out.

    Examples
    --------
    >>> suffix("logs/March.CSV.gz")
    '.csv'
    """
    return Path(file.removesuffix(".gz").removesuffix(".zst")).suffix.lower()


def _kind(file: str) -> str:
    if suffix(file) not in READERS:
        raise BadInput(
            f"{without_password(file)!r} is no kind of file that can be read: a log is Parquet, CSV or JSON lines."
        )
    return READERS[suffix(file)]
