"""The rows that a command measures: a Parquet or CSV file, its columns, which are found by their names."""

from pathlib import Path
from typing import Any

from faithscope.errors import BadInput, UnknownName
from faithscope.inputs.checks import one_sentence
from faithscope.inputs.hints import hint
from faithscope.runtime.files import to_path
from faithscope.runtime.memory import need


def read_rows(path: Path) -> Any:
    """A pandas frame from a Parquet or CSV file."""
    import pandas as pd
    from pyarrow import parquet

    path = to_path(path)
    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{str(path)!r} is neither .parquet nor .csv: convert it first.")
    with one_sentence(f"{str(path)!r} cannot be read ({{why}}): is it a complete {path.suffix} file?"):
        size = 2 * path.stat().st_size
        if path.suffix.lower() == ".parquet":
            shape = parquet.read_metadata(path)
            size = 16 * shape.num_rows * shape.num_columns
        need(size, f"The rows of {str(path)!r}", "sample them, or audit a log of their predictions")
        return read(path)


def without_columns(rows: Any, names: list[str]) -> Any:
    """The rows without these columns, each of which they must have."""
    return rows.drop(columns=[name for name in names if column(rows, name) is not None])


def column(rows: Any, name: str) -> Any:
    """A column by its name; an unknown name is refused with a hint at similar ones."""
    if name in rows.columns:
        return rows[name]
    raise UnknownName(f"The rows have no column {name!r}. {hint(name, rows.columns)}")
