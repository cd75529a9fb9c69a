"""CSV without guesses: every cell is a text first, and a number or a moment only if the whole column is.

No character begins a comment, only double quotes quote, and rows are counted against the records of the files. A column
of numbers stays a column of texts if two texts may be one number (007 and 7, 1.10 and 1.1): as keys, labels and
populations they differ. Importances are numbers whenever they can be read as such.
"""

import csv
import gzip
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.answers import fetch_line
from faithscope.tables.engine.dialects import engine_at
from faithscope.tables.engine.protocol import Connection, Expression, Table
from faithscope.tables.sources.widening import widened

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
    rows, kinds = _matching(table, _sample(files[0]))
    _check_records(rows, files)
    safe = {name: kind for name, (kind, pattern) in kinds.items() if pattern in _SAFE.values()}
    return CsvCells(table, safe, {name: kind for name, (kind, _) in kinds.items() if kind in _NUMBERS})


def _matching(table: Table, samples: Mapping[str, Sequence[str]]) -> tuple[int, dict[str, tuple[str, str]]]:
    """The number of rows, and the first type and pattern that all cells of a column match, if there is one.

    An engine takes long to read a question about many columns, so that only what fits a sample is asked.
    """
    patterns = [*_SAFE.items(), *_NUMBERS.items()]  # what matches the first ones is such a number too
    fitting = {
        name: [each for each in patterns if all(re.search(each[1], cell) for cell in samples.get(name, ()))]
        for name in table.columns
    }
    found: dict[str, tuple[str, str]] = {}
    while True:
        asked = [(name, kinds.pop(0)) for name, kinds in fitting.items() if kinds]
        question = {f"c{j}": table[name].re_search(pattern).all() for j, (name, (_, pattern)) in enumerate(asked)}
        line = fetch_line(table.aggregate(rows=table.count(), **question))
        for j, (name, kind) in enumerate(asked):
            if line[f"c{j}"] is not False:
                found |= {name: kind} if line[f"c{j}"] else {}  # None if all cells are empty
                fitting[name] = []
        if not any(fitting.values()):
            return line["rows"], found


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
