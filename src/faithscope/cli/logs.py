"""The log that a command reads: files, or a table of a database, and what its columns mean."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithscope.errors import BadInput
from faithscope.inputs.hints import hint

if TYPE_CHECKING:
    from faithscope.tables.logs import Log

_COLUMNS = ("prediction", "explanation", "kind", "inputs", "id", "clusters", "time", "nulls", "where")
_KEYS = (*_COLUMNS, "discretize", "connect", "table")


def declared(
    file: Path | None, files: list[str] | None, table: str | None, connect: str | None, **typed: Any
) -> "tuple[Log, str | None]":
    """The log that the command line names, and its discretizer; what was not typed is as the file of --log says.

    Parameters
    ----------
    file : Path, optional
        A TOML file with names of `faithscope.Log`, and discretize, connect and table.
    files, table, connect
        The log: files, or a table of a database.
    typed
        What `faithscope.Log` takes, and discretize; None or empty if it was not typed.
    """
    from faithscope.tables.logs import Log
    from faithscope.tables.sources.source import open_source

    kept = {} if file is None else _kept(file)
    said = kept | {name: value for name, value in typed.items() if value is not None and value != []}
    connect = said.pop("connect", None) if connect is None else connect
    table = said.pop("table", None) if table is None and not files else table
    said.pop("table", None)
    if bool(files) == (table is not None):
        raise BadInput("Say which log to read: a file, or --table with --connect.")
    if table is not None and connect is None:
        raise BadInput(f"--table {table} is a table of a database: say which with --connect.")
    discretizer = said.pop("discretize", None)
    predicted = said.get("prediction")
    if isinstance(predicted, list) and len(predicted) == 1:  # the option may be repeated
        said["prediction"] = predicted[0]
    source = open_source(files or table, connect)
    return Log(source, connect=connect, **said), discretizer


def _kept(file: Path) -> dict[str, Any]:
    """What a file of --log says; every value is a text, or a list of texts where columns may be several."""
    try:
        said = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or f"it is no TOML: {error}"
        raise BadInput(
            f"--log {str(file)!r} cannot be read ({why}): name a file with lines such as prediction = 'yhat'."
        ) from None
    for name, value in said.items():
        if name not in _KEYS:
            raise BadInput(f"--log {str(file)!r} says {name!r}, which is nothing that a log has. {hint(name, _KEYS)}")
        several = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not isinstance(value, str) and not (several and name in ("prediction", "explanation", "inputs", "id")):
            raise BadInput(f"--log {str(file)!r} says {name} = {value!r}: write a text, such as {name} = 'yhat'.")
    return said
