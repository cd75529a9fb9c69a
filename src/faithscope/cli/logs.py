"""The log that a command reads: files, or a table of a database, and what its columns mean."""

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faithscope.cli import options
from faithscope.errors import BadInput
from faithscope.inputs.hints import hint

if TYPE_CHECKING:
    from faithscope.tables.logs import Log

_COLUMNS = ("prediction", "explanation", "kind", "inputs", "id", "clusters", "weights", "time", "nulls", "where")
_KEYS = (*_COLUMNS, "discretize", "connect", "table")


_SHARED = {
    "log": options.LogFiles,
    "log_options": options.LogOptions,
    "prediction": options.Prediction,
    "explanation": options.Explanation,
    "kind": options.Kind,
    "discretize": options.Discretize,
    "inputs": options.InputTexts,
    "where": options.Where,
    "nulls": options.NullsPolicy,
    "connect": options.Connect,
    "table": options.TableName,
}


def _declared(typed: dict[str, Any], **further: Any) -> "tuple[Log, str | None]":
    """The log that the command line names, and its discretizer; what was not typed is as the file of --log says."""
    from faithscope.tables.logs import Log
    from faithscope.tables.sources.source import open_source

    files, file = typed.pop("log"), typed.pop("log_options")
    kept = {} if file is None else _kept(file)
    if files:
        kept.pop("table", None)
    said = kept | {name: value for name, value in {**typed, **further}.items() if value is not None and value != []}
    connect, table, discretizer = (said.pop(name, None) for name in ("connect", "table", "discretize"))
    if bool(files) == (table is not None):
        raise BadInput("Say which log to read: a file, or --table with --connect.")
    if table is not None and connect is None:
        raise BadInput(f"--table {table} is a table of a database: say which with --connect.")
    predicted = said.get("prediction")
    if isinstance(predicted, list) and len(predicted) == 1:  # the option may be repeated
        said["prediction"] = predicted[0]
    return Log(open_source(files or table, connect), connect=connect, **said), discretizer


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


# A command's first argument is then a function that gives the log and its discretizer; what it is called with is said
# of the log too, by names of `faithscope.Log`.
reads_log = options.sharing(
    {name: (kind, None) for name, kind in _SHARED.items()}, lambda said: partial(_declared, said)
)
