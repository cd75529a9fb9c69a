"""A log in files: which are meant, and one table of them all, whatever their order; nothing is guessed or rounded."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.arrow.tables import METADATA, Settings, read_settings
from faithscope.inputs.hints import close, hint
from faithscope.tables.engine.calls import spark_table, without_password
from faithscope.tables.sources.csv_files import Texts, read_csv
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


def matching(paths: Sequence[str]) -> tuple[list[str], str]:
    """The files that paths, folders and globs mean, in order, and what kind of files they are."""
    found = sorted({file for path in paths for file in _matching(path)})
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1:
        raise BadInput(f"The log mixes kinds of files ({', '.join(found[:3])}): pass files of one kind.")
    return found, kinds.pop()


def read(connection: Any, files: Sequence[str], kind: str) -> tuple[Any, Texts | None]:
    """One table of all files; of CSV also the texts that it was made from."""
    plain = [_plain(file, connection.name) for file in files]
    if kind == "csv":
        texts = read_csv(connection, files, plain)
        return texts.typed(), texts
    if kind == "json" and connection.name == "pyspark":
        return spark_table(connection, "json", plain), None
    if kind == "json":
        whole = {"sample_size": -1, "maximum_sample_files": len(files), "union_by_name": True}
        return connection.read_json(plain, **whole), None
    groups = _alike(files, plain)
    if connection.name == "pyspark":
        return widened([spark_table(connection, "parquet", group) for group in groups]), None
    return widened([connection.read_parquet(group) for group in groups]), None


def settings(files: Sequence[str], kind: str) -> Settings | None:
    """What all files say about their own explanations; None where one of them says nothing, or something else."""
    import pyarrow.parquet as pq

    if kind != "parquet" or any(file.startswith(_REMOTE) for file in files):
        return None
    said = {(pq.read_schema(file).metadata or {}).get(METADATA) for file in files}
    return read_settings(pq.read_schema(files[0]).empty_table()) if len(said) == 1 and None not in said else None


def wide_in_files(files: Sequence[str], kind: str) -> dict[str, int]:
    """`wide_decimals` of all local Parquet files together."""
    import pyarrow.parquet as pq

    local = [file for file in files if kind == "parquet" and not file.startswith(_REMOTE)]
    return {name: digits for file in local for name, digits in wide_decimals(pq.read_schema(file)).items()}


def wide_decimals(schema: Any) -> dict[str, int]:
    """Columns of decimals with more digits than engines keep, and how many; DuckDB makes doubles of them."""
    import pyarrow as pa

    decimals = [one for one in schema if pa.types.is_decimal(one.type)]
    return {one.name: one.type.precision for one in decimals if one.type.precision > MOST_DIGITS}


def _alike(files: Sequence[str], plain: Sequence[str]) -> list[list[str]]:
    """The files in groups of the same columns and types."""
    import pyarrow.parquet as pq

    groups: dict[Any, list[str]] = {}
    for file, name in zip(files, plain, strict=True):
        columns = () if file.startswith(_REMOTE) else tuple((one.name, str(one.type)) for one in pq.read_schema(file))
        groups.setdefault(columns, []).append(name)
    return list(groups.values())


def _plain(file: str, engine: str) -> str:
    """A file as an engine takes it that would read its name as a glob."""
    if file.startswith(_REMOTE):
        return file
    if engine != "pyspark":
        return glob.escape(file)
    return "".join("\\" + one if one in "*?[]{}\\" else one for one in os.path.abspath(file))


def _matching(path: str) -> list[str]:
    if path.startswith(_REMOTE):
        return [path]
    if os.path.isfile(path):
        return [path]
    pattern = os.path.join(glob.escape(path), "**", "*") if os.path.isdir(path) else path
    found = [one for one in glob.glob(pattern, recursive=True) if os.path.isfile(one) and not _hidden(one, pattern)]
    if os.path.isdir(path):
        found = [one for one in found if suffix(one) in READERS]
    if found:
        return found
    folder = Path(path).parent
    beside = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    meant = f" {hint(Path(path).name, beside)}" if close(Path(path).name, beside) else ""
    raise BadInput(f"No file matches {without_password(path)!r}: check the path, or quote the glob.{meant}")


def _hidden(file: str, pattern: str) -> bool:
    """Whether a name that a glob found begins with _ or a dot, as what writers have not finished does."""
    asked = pattern.split(os.sep)
    fixed = next((i for i, part in enumerate(asked) if glob.has_magic(part)), len(asked))
    wanted = tuple(part[0] for part in asked[fixed:] if part.startswith(("_", ".")))
    return any(part.startswith(("_", ".")) and part[0] not in wanted for part in file.split(os.sep)[fixed:])


def suffix(file: str) -> str:
    """How the name of a file ends, its compression left out."""
    return Path(file.removesuffix(".gz").removesuffix(".zst")).suffix.lower()


def _kind(file: str) -> str:
    if suffix(file) not in READERS:
        raise BadInput(
            f"{without_password(file)!r} is of no kind that is known here: a log is Parquet, CSV or JSON lines."
        )
    return READERS[suffix(file)]
