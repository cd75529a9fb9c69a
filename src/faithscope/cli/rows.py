"""The rows that a command measures: a Parquet or CSV file, its columns, which are found by their names."""

from pathlib import Path
from typing import Any

from faithscope.errors import BadInput, UnknownName
from faithscope.inputs.checks import one_sentence
from faithscope.inputs.hints import hint
from faithscope.runtime.files import to_path
from faithscope.runtime.memory import need

_TEXTS = ("string", "large_string", "string_view", "binary", "large_binary")


def read_rows(path: Path) -> Any:
    """A pandas frame from a Parquet or CSV file."""
    import pandas as pd

    path = to_path(path)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{str(path)!r} is neither .parquet nor .csv: convert it first.")
    if not path.exists():
        raise BadInput(f"There is no file {str(path)!r}: check the path.")
    with one_sentence(f"{str(path)!r} cannot be read ({{why}}): is it a complete {path.suffix} file?"):
        need(_bytes_of_rows(path), f"The rows of {str(path)!r}", "sample them, or audit a log of their predictions")
        return read(path)


def without_columns(rows: Any, names: list[str]) -> Any:
    """The rows without these columns, each of which they must have."""
    return rows.drop(columns=[name for name in names if column(rows, name) is not None])


def column(rows: Any, name: str) -> Any:
    """A column by its name; an unknown name is refused with a hint at similar ones."""
    if name in rows.columns:
        return rows[name]
    raise UnknownName(f"The rows have no column {name!r}. {hint(name, rows.columns)}")


def _bytes_of_rows(path: Path) -> int:
    """Bytes of memory that a file's rows take at least, while they are read.

    Parquet stores a long text once, however many rows have it.
    """
    import pyarrow.compute as pc
    from pyarrow import parquet

    if path.suffix.lower() == ".csv":
        return 2 * path.stat().st_size
    with parquet.ParquetFile(path) as known:
        cells = known.metadata.num_rows * known.metadata.num_columns
        texts = [field.name for field in known.schema_arrow if str(field.type) in _TEXTS]
    held = parquet.read_table(path, columns=texts, read_dictionary=texts)
    parts = [chunk for column in held.columns for chunk in column.chunks]
    lengths = [pc.sum(pc.binary_length(part.dictionary).take(part.indices)).as_py() or 0 for part in parts]
    return int(16 * cells + sum(lengths))
