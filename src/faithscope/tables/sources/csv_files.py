"""CSV without guesses: every cell is a text first, and a number or a moment only if the whole column is.

No character begins a comment, only double quotes quote, and rows are counted against the records of the files. A column
of numbers stays a column of texts if two texts may be one number (007 and 7, 1.10 and 1.1): as keys, labels and
populations they differ. Importances are numbers whenever they can be read as such.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
        """The table with numbers and moments if that is safe, and these columns as numbers."""
        kinds = {**self.safe, **{name: self.numbers[name] for name in as_numbers if name in self.numbers}}
        return self.table.mutate(**{name: self.table[name].cast(kind) for name, kind in kinds.items()})

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
    columns = list(table.columns)
    question = {f"n{j}": table[name].count() for j, name in enumerate(columns)}
    for group, patterns in (("s", _SAFE), ("n", _NUMBERS)):
        for i, pattern in enumerate(patterns.values()):
            question |= {f"{group}{i}_{j}": table[name].re_search(pattern).sum() for j, name in enumerate(columns)}
    matches = fetch_line(table.aggregate(rows=table.count(), **question))
    _check_records(matches["rows"], files)

    def fitting(group: str, patterns: Mapping[str, str]) -> dict[str, str]:
        kinds: dict[str, str] = {}
        for j, name in enumerate(columns):
            fits = [kind for i, kind in enumerate(patterns) if 0 < matches[f"n{j}"] == matches[f"{group}{i}_{j}"]]
            kinds |= {name: fits[0]} if fits else {}
        return kinds

    return CsvCells(table, fitting("s", _SAFE), fitting("n", _NUMBERS))


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
