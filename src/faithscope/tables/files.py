"""A log in files: which are meant, and one table of them all, whatever their order; nothing is guessed or rounded."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.connections import as_view, kept
from faithscope.tables.engines import Connection, Table, fetch, fetch_line, without_password

_EXACT = 2**53  # beyond it two integers may share one float64
_BLOCK = 2**24  # bytes of CSV that are parsed at once; no record is longer
MOST_DIGITS = 38  # of a decimal in an engine


def widened(tables: list[Table]) -> Table:
    """All rows of the tables; a column that a table does not have is missing in its rows.

    Every column is of a type that holds all its values exactly. Columns are in the order of the table with most of
    them: the order of files says nothing.
    """
    import ibis
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    tables = sorted(tables, key=lambda table: (-len(table.columns), table.columns))
    try:
        known = pa.unify_schemas([table.schema().to_pyarrow() for table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise BadInput(f"Files of the log hold a column in types that no type holds exactly ({problem}).") from None
    kinds = dict(ibis.Schema.from_pyarrow(known))
    for table in tables:
        for name, was in table.schema().items():
            if was == kinds[name] or not kinds[name].is_floating():
                continue
            kinds[name] = ibis.dtype("float64")
            largest = fetch_line(table.aggregate(end=table[name].abs().max()))["end"] if was.is_integer() else 0
            if was.is_decimal() or (largest or 0) > _EXACT:
                raise BadInput(
                    f"Column {name!r} holds decimals, or whole numbers beyond 2**53, in one file and floats in "
                    "another, which no type holds exactly: write it in one type."
                )

    def widest(table: Table) -> Table:
        held = table.columns
        return table.select(
            **{name: table[name].cast(kind) if name in held else ibis.null(kind) for name, kind in kinds.items()}
        )

    return ibis.union(*map(widest, tables))


_WHOLE = r"^[+-]?[0-9]{1,18}$"
_NUMBER = r"^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[nN][aA][nN]|[iI][nN][fF]([iI][nN][iI][tT][yY])?)$"
_ONE_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # texts of which no two are one number
_ONE_NUMBER = r"^-?(0|[1-9][0-9]{0,14})\.([0-9]{0,14}[1-9]|0)$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?$"
_ZONED = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_SAFE = {"int64": _ONE_WHOLE, "float64": _ONE_NUMBER, "timestamp": _MOMENT, "timestamp('UTC')": _ZONED}
_NUMBERS = {"int64": _WHOLE, "float64": _NUMBER}
_TEXTS = re.compile(r"\b(DATE|TIME\w*( WITH TIME ZONE)?|UUID)\b")  # what DuckDB makes of texts of JSON
_SAMPLE = 100  # records


def read_json(connection: Connection, files: Sequence[str]) -> tuple[Table, dict[str, str]]:
    """Files of JSON lines as one table, whose types all lines decide; objects as maps: a key left out is not null.

    No two texts become one value but moments that are the same, nor two whole numbers one float: such columns are
    texts. Also the types of further columns that can be read as numbers.
    """
    table = connection.read_json(files, sample_size=-1, maximum_sample_files=len(files), union_by_name=True)
    held = connection.con.table(table.get_name())
    every = [re.sub(r"(?s).+\)$", "MAP(VARCHAR, JSON)", str(kind)) for kind in held.types]  # STRUCT(…) or MAP(…)
    kinds = dict(zip(held.columns, every, strict=True))
    floats = [name for name, kind in kinds.items() if kind == "DOUBLE"]
    large = {name: table[name].abs().between(_EXACT, 1e308).any() for name in floats}  # NaN and infinity are none
    large = large and fetch_line(table.aggregate(**large))
    texts = {name: "VARCHAR" if large.get(name) else _TEXTS.sub("VARCHAR", kind) for name, kind in kinds.items()}
    table = connection.read_json(files, columns=texts)
    return _typed(connection, table, [name for name, kind in texts.items() if kind == "VARCHAR" != kinds[name]])


def read_csv(connection: Connection, files: Sequence[str]) -> tuple[Table, dict[str, str]]:
    """The files, copied in batches, as a table of numbers and moments if no two texts become one value, and of texts.

    Also the types of further columns that can be read as numbers.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        if "://" in file:
            raise BadInput(
                f"A CSV log is a local file; got {without_password(file)!r}: copy it, or write it as Parquet."
            )
        groups.setdefault(_head(file)[1], []).append(file)
    batches = [(batch for file in group for batch in _records(file)) for group in groups.values()]
    table = widened([kept(each, connection) for each in batches])
    return _typed(connection, table, table.columns)


def _typed(connection: Connection, table: Table, texts: Sequence[str]) -> tuple[Table, dict[str, str]]:
    """The table with columns of texts as what all of their cells safely are; and which others can be numbers."""
    kinds = _types(table.select(*texts)) if texts else {}
    safe = {name: table[name].cast(kind) for name, (kind, pattern) in kinds.items() if pattern in _SAFE.values()}
    if safe:  # as a view, so that a question about a few columns is not as long as all of them
        table = as_view(connection, connection.compile(table.mutate(**safe)))
    return table, {name: kind for name, (kind, _) in kinds.items() if kind in _NUMBERS and name not in safe}


def _records(file: str) -> Iterator[Any]:
    """The records of a CSV file as Arrow batches of texts; only double quotes quote, and an empty cell is missing."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    separator, names, lines = _head(file)
    schema = pa.schema([(name, pa.string()) for name in names])
    yield pa.RecordBatch.from_pylist([], schema)  # a file may have no records
    reading = arrow_csv.ReadOptions(column_names=list(names), skip_rows=lines, block_size=_BLOCK)
    parsing = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    nulls: dict[str, Any] = {"null_values": [""], "strings_can_be_null": True}
    converting = arrow_csv.ConvertOptions(column_types=schema, **nulls)
    try:
        with pa.input_stream(file, compression="detect") as stream:
            yield from arrow_csv.open_csv(stream, reading, parsing, converting)
    except pa.ArrowInvalid as problem:
        if "UTF8" in str(problem):
            raise _not_utf8(file, str(problem)) from None
        if "Empty CSV" not in str(problem):
            raise


def _types(table: Table) -> dict[str, tuple[str, str]]:
    """The first type and pattern that all cells of a column match, if there is one.

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
    while any(fitting.values()):
        asked, question = [(name, kinds.pop(0)) for name, kinds in fitting.items() if kinds], {}
        for j, (name, (_, pattern)) in enumerate(asked):
            cells = table[name]
            matches = cells.re_search(pattern)
            if pattern == _ONE_NUMBER:
                shortest = (cells.try_cast("float64").cast("string") == cells) & cells.re_search("[0-9]$")
                matches = matches | shortest.fill_null(False)
            question[f"c{j}"] = matches.all()
        line = fetch_line(table.aggregate(**question))
        for j, (name, kind) in enumerate(asked):
            if line[f"c{j}"] is not False:
                found |= {name: kind} if line[f"c{j}"] else {}  # None if all cells are empty
                fitting[name] = []
    return found


def _head(file: str) -> tuple[str, tuple[str, ...], int]:
    """What separates cells, the names of the columns, and how many lines these take."""
    import pyarrow as pa

    with (
        pa.input_stream(file, compression="detect") as stream,
        io.TextIOWrapper(stream, "utf-8-sig", newline="") as text,
    ):
        try:
            first = next(text, "")
            separator = max(",;\t|", key=first.count)  # the first of several
            reader = csv.reader(chain([first], text), delimiter=separator)
            cells = next(reader, ())
        except UnicodeDecodeError as problem:
            raise _not_utf8(file, problem.reason) from None
    names = tuple(cell or f"Unnamed: {j}" for j, cell in enumerate(cells))  # as pandas calls an index without a name
    if not names or len(set(map(str.casefold, names))) < len(names):
        raise BadInput(f"The first line of {file!r} must name every column, each once; got {list(names)[:8]}.")
    return separator, names, reader.line_num


def _not_utf8(file: str, why: str) -> BadInput:
    return BadInput(
        f"{file!r} is not UTF-8 ({why}): write it as UTF-8, or in Python pass pandas.read_csv(file, encoding=...) with "
        "its own encoding, such as 'latin-1' or 'utf-16'."
    )
