"""A log in files: which are meant, and one table of them all, whatever their order; nothing is guessed or rounded."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.arrow.tables import METADATA, Settings, read_settings
from faithscope.inputs.hints import hint
from faithscope.tables.engine.dialects import engine_at
from faithscope.tables.engine.failures import without_password
from faithscope.tables.engine.protocol import Connection, Table
from faithscope.tables.sources.csv_files import CsvCells, read_csv
from faithscope.tables.sources.widening import widened

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
MOST_DIGITS = 38  # of a decimal in an engine


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
