"""CSV without guesses: every cell is a text first, and a number or a moment only where the whole column is.

No character begins a comment, only double quotes quote, and rows are counted against the records of the files. A column
of numbers is one of texts still where two texts may be one number (007 and 7, 1.10 and 1.1): as keys, labels and
populations they differ, and importances are numbers wherever they can be.
"""

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from faithscope.errors import BadInput
from faithscope.tables.engine.calls import fetch, spark_table
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
class Texts:
    """The cells of CSV files as texts.

    Attributes
    ----------
    table : ibis.Table
    safe : dict of types by column
        Columns that are numbers or moments without two texts becoming one.
    numbers : dict of types by column
        Columns that can be read as numbers at all.
    """

    table: Any
    safe: Mapping[str, str]
    numbers: Mapping[str, str]

    def typed(self, as_numbers: Sequence[str] = ()) -> Any:
        """The table with numbers and moments where that is safe, and where numbers are asked for."""
        kinds = {**self.safe, **{name: self.numbers[name] for name in as_numbers if name in self.numbers}}
        return self.table.mutate(**{name: self.table[name].cast(kind) for name, kind in kinds.items()})


def read_csv(connection: Any, files: Sequence[str], plain: Sequence[str]) -> Texts:
    """The files as one table of texts; `plain` are the files as the engine takes them."""
    groups: dict[Any, list[str]] = {}
    for file, name in zip(files, plain, strict=True):
        groups.setdefault(_head(file), []).append(name)
    table = widened([_texts(connection, head, chosen) for head, chosen in groups.items()])
    named = list(table.columns)
    asked = {f"n{j}": table[name].count() for j, name in enumerate(named)}
    for group, patterns in (("s", _SAFE), ("n", _NUMBERS)):
        for i, pattern in enumerate(patterns.values()):
            asked |= {f"{group}{i}_{j}": table[name].re_search(pattern).sum() for j, name in enumerate(named)}
    found = fetch(table.aggregate(rows=table.count(), **asked)).to_pylist()[0]
    _check_records(found["rows"], files)

    def fitting(group: str, patterns: Mapping[str, str]) -> dict[str, str]:
        kinds: dict[str, str] = {}
        for j, name in enumerate(named):
            fits = [k for i, k in enumerate(patterns) if 0 < found[f"n{j}"] == found[f"{group}{i}_{j}"]]
            kinds |= {name: fits[0]} if fits else {}
        return kinds

    return Texts(table, fitting("s", _SAFE), fitting("n", _NUMBERS))


def _texts(connection: Any, head: tuple[str, tuple[str, ...]], files: list[str]) -> Any:
    between, names = head
    if connection.name == "pyspark":
        how: dict[str, Any] = {"header": True, "sep": between, "escape": '"', "multiLine": True, "mode": "FAILFAST"}
        return spark_table(connection, "csv", files, **how, enforceSchema=False)
    fixed: dict[str, Any] = {"all_varchar": True, "header": True, "quote": '"', "escape": '"', "comment": "", "skip": 0}
    if not names:  # a remote file, whose first line only the engine reads
        return connection.read_csv(files, **fixed, sample_size=-1)
    return connection.read_csv(
        files, **fixed, delim=between, auto_detect=False, columns=dict.fromkeys(names, "VARCHAR")
    )


def _head(file: str) -> tuple[str, tuple[str, ...]]:
    """What separates cells, and the names of the columns; no names for a remote file."""
    if "://" in file:
        return ",", ()
    with _opened(file) as lines:
        line = next(lines, "")
        between = max(",;\t|", key=lambda one: (line.count(one), one == ","))
    with _opened(file) as lines:
        names = tuple(next(csv.reader(lines, delimiter=between), ()))
    if not names or len(set(map(str.casefold, names))) < len(names):
        raise BadInput(f"The first line of {file!r} must name every column, each once; got {list(names)[:8]}.")
    return between, names


def _check_records(rows: int, files: Sequence[str]) -> None:
    """Raise where an engine has read more or fewer rows than the files hold."""
    if any("://" in file for file in files):
        return
    records = 0
    for file in files:
        between, names = _head(file)
        with _opened(file) as lines:
            records += sum(1 for one in csv.reader(lines, delimiter=between) if one or len(names) == 1) - 1
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
