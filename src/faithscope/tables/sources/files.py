"""A log in files: which are meant, and one table of them all, whatever their order; nothing is guessed or rounded."""

import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch, fetch_line
from faithscope.tables.engine.engines import Connection, Table

_EXACT = 2**53  # beyond it two integers may share one float64
_DIGITS = 19  # of the largest integer
_LONGEST = 2**31 - 1  # characters of a cell
MOST_DIGITS = 38  # of a decimal in an engine


def widened(tables: list[Table]) -> Table:
    """All rows of the tables; a column that a table does not have is missing in its rows.

    Every column is of a type that holds all its values exactly. Columns are in the order of the table with most of
    them, then by name: the order of files says nothing.
    """
    import ibis

    if len(tables) == 1:
        return tables[0]
    longest = max(tables, key=lambda table: (len(table.columns), table.columns)).columns
    others = {name for table in tables for name in table.columns}.difference(longest)
    types: dict[str, Any] = {}
    for name in (*longest, *sorted(others)):
        held = [table for table in tables if name in table.columns]
        kinds = list(dict.fromkeys(table.schema()[name](nullable=True) for table in held))
        kinds = [kind for kind in kinds if not kind.is_null()] or kinds
        types[name] = kind = kinds[0] if len(kinds) == 1 else _wider(kinds)
        if kind is None:
            told = " and ".join(map(str, kinds))
            raise BadInput(
                f"Column {name!r} holds {told} in different files, which no type holds exactly: write it in one type."
            )
        for table in held if kind.is_floating() else ():
            whole = table[name].type().is_int64() or table[name].type().is_uint64()
            largest = fetch_line(table.aggregate(end=table[name].abs().max()))["end"] if whole else None
            if largest is not None and largest > _EXACT:
                raise BadInput(
                    f"Column {name!r} holds whole numbers beyond 2**53 in one file and fractions in another, which no "
                    "type holds exactly: write it in one type."
                )
    columns = [
        {name: table[name].cast(kind) if name in table.columns else ibis.null(kind) for name, kind in types.items()}
        for table in tables
    ]
    return ibis.union(*(table.select(**each) for table, each in zip(tables, columns, strict=True)))


def _wider(kinds: Sequence[Any]) -> Any | None:
    """A type that holds the values of all, if there is one; whole numbers beyond 2**53 are looked for elsewhere."""
    import ibis.expr.datatypes as dt

    if all(kind.is_integer() for kind in kinds):
        signed = any(kind.is_signed_integer() for kind in kinds)
        return dt.uint64 if not signed else None if any(kind.is_uint64() for kind in kinds) else dt.int64
    if all(kind.is_floating() or kind.is_integer() for kind in kinds):
        return dt.float64
    if all(kind.is_decimal() or kind.is_integer() for kind in kinds):
        parts = [(kind.precision - kind.scale, kind.scale) if kind.is_decimal() else (_DIGITS, 0) for kind in kinds]
        scale = max(part[1] for part in parts)
        digits = max(part[0] for part in parts) + scale
        return dt.Decimal(digits, scale) if digits <= MOST_DIGITS else None
    if all(kind.is_timestamp() or kind.is_date() for kind in kinds):
        zones = {kind.timezone for kind in kinds if kind.is_timestamp()}
        return dt.Timestamp(timezone=zones.pop()) if len(zones) == 1 else None
    return None


_WHOLE = r"^[+-]?[0-9]{1,18}$"
_NUMBER = r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
_ONE_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # texts of which no two are one number
_ONE_NUMBER = r"^-?(0|[1-9][0-9]{0,14})\.([0-9]{0,14}[1-9]|0)$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$"
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_SAFE = {"int64": _ONE_WHOLE, "float64": _ONE_NUMBER, "timestamp": _MOMENT, "timestamp('UTC')": _ZONED}
_NUMBERS = {"int64": _WHOLE, "float64": _NUMBER}
_SAMPLE = 100  # records


def read_json(connection: Connection, files: Sequence[str]) -> Table:
    """Files of JSON lines as one table, whose types all lines decide; objects as JSON: a key left out is not null."""
    how: dict[str, Any] = {"sample_size": -1, "maximum_sample_files": len(files), "union_by_name": True}
    table = connection.read_json(files, **how)
    objects = [name for name, kind in table.schema().items() if kind.is_struct() or kind.is_map()]
    if not objects:
        return table
    held = connection.con.table(table.get_name())
    kinds = {name: str(kind) for name, kind in zip(held.columns, held.types, strict=True)}
    return connection.read_json(files, columns=kinds | dict.fromkeys(objects, "JSON"))


def read_csv(connection: Connection, files: Sequence[str], names: Sequence[str]) -> tuple[Table, dict[str, str]]:
    """The files as one table of numbers and moments where no two texts become one value, and of texts.

    Also the types of further columns that can be read as numbers. `names` are the files as the engine takes them.
    """
    from ibis.util import gen_name

    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for file, name in zip(files, names, strict=True):
        groups.setdefault(_head(file), []).append(name)
    fixed: dict[str, Any] = {"all_varchar": True, "header": True, "quote": '"', "escape": '"', "comment": "", "skip": 0}
    tables = []
    for (separator, columns), group in groups.items():
        how = {"delim": separator, "auto_detect": False, "columns": dict.fromkeys(columns, "VARCHAR")}
        tables.append(connection.read_csv(group, **fixed, **(how if columns else {"sample_size": -1})))
    table = widened(tables)
    rows, kinds = _types(table)
    if not any("://" in file for file in files):
        records = 0
        for file in files:
            separator, columns = _head(file)
            with _opened(file) as lines:
                records += sum(1 for cells in csv.reader(lines, delimiter=separator) if cells or len(columns) == 1) - 1
        if rows != records:
            raise BadInput(
                f"The CSV files hold {records:,} records, but {rows:,} rows were read: write them as Parquet."
            )
    safe = {name: table[name].cast(kind) for name, (kind, pattern) in kinds.items() if pattern in _SAFE.values()}
    if safe:  # as a view, so that a question about a few columns is not as long as all of them
        view = gen_name("csv")
        connection.raw_sql(f"CREATE TEMPORARY VIEW {view} AS {connection.compile(table.mutate(**safe))}")
        table = connection.table(view)
    return table, {name: kind for name, (kind, _) in kinds.items() if kind in _NUMBERS and name not in safe}


def _types(table: Table) -> tuple[int, dict[str, tuple[str, str]]]:
    """The number of rows, and the first type and pattern that all cells of a column match, if there is one.

    An engine takes long to read a question about many columns, so that only what fits a sample is asked. Numbers also
    match if they are the shortest texts of theirs, as pandas writes them: no other such text is that number.
    """
    sample = fetch(table.limit(_SAMPLE)).to_pydict()
    patterns = [*_SAFE.items(), *_NUMBERS.items()]  # what matches the first ones is such a number too

    def fits(cell: str, pattern: str) -> bool:
        number = re.search(_NUMBER, cell) and cell[-1].isdigit() and pattern == _ONE_NUMBER
        return bool(re.search(pattern, cell) or (number and repr(float(cell)) == cell))

    fitting = {
        name: [each for each in patterns if all(fits(cell, each[1]) for cell in cells if cell)]
        for name, cells in sample.items()
    }
    found: dict[str, tuple[str, str]] = {}
    while True:
        asked, question = [(name, kinds.pop(0)) for name, kinds in fitting.items() if kinds], {}
        for j, (name, (_, pattern)) in enumerate(asked):
            cells = table[name]
            matches = cells.re_search(pattern)
            if pattern == _ONE_NUMBER:
                shortest = (cells.try_cast("float64").cast("string") == cells) & cells.re_search("[0-9]$")
                matches = matches | shortest.fill_null(False)
            question[f"c{j}"] = matches.all()
        line = fetch_line(table.aggregate(rows=table.count(), **question))
        for j, (name, kind) in enumerate(asked):
            if line[f"c{j}"] is not False:
                found |= {name: kind} if line[f"c{j}"] else {}  # None if all cells are empty
                fitting[name] = []
        if not any(fitting.values()):
            return line["rows"], found


def _head(file: str) -> tuple[str, tuple[str, ...]]:
    """What separates cells, and the names of the columns; no names for a remote file."""
    if "://" in file:
        return ",", ()
    with _opened(file) as lines:
        first = next(lines, "")
        separator = max(",;\t|", key=lambda letter: (first.count(letter), letter == ","))
        cells = next(csv.reader(chain([first], lines), delimiter=separator), ())
    names = tuple(cell or f"Unnamed: {j}" for j, cell in enumerate(cells))  # as pandas calls an index without a name
    if not names or len(set(map(str.casefold, names))) < len(names):
        raise BadInput(f"The first line of {file!r} must name every column, each once; got {list(names)[:8]}.")
    return separator, names


@contextmanager
def _opened(file: str) -> Iterator[Any]:
    """The lines of a file; cells may be of any length."""
    limit = csv.field_size_limit(_LONGEST)
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
    finally:
        csv.field_size_limit(limit)
