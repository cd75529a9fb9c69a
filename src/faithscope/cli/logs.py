"""The log that a command reads: files, or a table of a database, and what its columns mean."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from faithscope.errors import BadInput
from faithscope.inputs.checks import one_sentence
from faithscope.inputs.hints import hint

if TYPE_CHECKING:
    from faithscope.tables.logs import Log

_LISTS = ("prediction", "explanation", "inputs", "id")
_KEYS = (*_LISTS, "kind", "clusters", "weights", "time", "nulls", "where", "discretize", "connect", "table")


@dataclass(frozen=True)
class DeclaredLog:
    """The options that say which log is read, and what its columns mean."""

    log: Annotated[
        list[str] | None, Argument(help="Parquet, CSV or JSON lines: files, a folder or a glob.", show_default=False)
    ] = None
    log_options: Annotated[
        Path | None,
        Option("--log", help="A TOML file that says prediction, explanation, time, clusters, …, once for all."),
    ] = None
    prediction: Annotated[
        list[str] | None,
        Option(help="The column of predicted labels or numbers; repeatable for --agreement spread."),
    ] = None
    explanation: Annotated[list[str] | None, Option(help="Columns by name or glob, such as 'phi_*'; repeatable.")] = (
        None
    )
    kind: Annotated[
        str | None, Option(help="importances, keys, reasons, codes, rules, words, prototypes or counterfactuals.")
    ] = None
    discretize: Annotated[
        str | None,
        Option(help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, codebook:FILE.json, template, …"),
    ] = None
    inputs: Annotated[
        list[str] | None,
        Option("--input", help="The column of texts that reasons are about, which template blanks; repeatable."),
    ] = None
    where: Annotated[
        str | None, Option(help="A condition of SQL: other rows are left out, such as \"region = 'EU'\".")
    ] = None
    nulls: Annotated[str | None, Option(help="Missing values: error, drop or key.", show_default="error")] = None
    connect: Annotated[str | None, Option(help="postgres://user@host/database, spark, duckdb://file.")] = None
    table: Annotated[str | None, Option(help="A table of the database, as schema.table or table.")] = None

    def open(self, **further: Any) -> "tuple[Log, str | None]":
        """The log, and its discretizer; what was not typed is as the file of --log says.

        `further` is said of the log too, by names of `faithscope.Log`.
        """
        from faithscope.tables.logs import Log
        from faithscope.tables.sources.source import open_source

        typed = {**vars(self), **further}
        files, file = typed.pop("log"), typed.pop("log_options")
        kept = {} if file is None else _kept(file)
        if files:
            kept.pop("table", None)
        said = kept | {name: value for name, value in typed.items() if value is not None and value != []}
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
    with one_sentence(f"--log {str(file)!r} cannot be read ({{why}}): write lines such as prediction = 'yhat'."):
        said = tomllib.loads(file.read_text("utf-8"))
    for name, value in said.items():
        if name not in _KEYS:
            raise BadInput(f"--log {str(file)!r} says {name!r}, which is nothing that a log has. {hint(name, _KEYS)}")
        if not isinstance(value, (str, list) if name in _LISTS else str):
            raise BadInput(f"--log {str(file)!r} says {name} = {value!r}: write a text, such as {name} = 'yhat'.")
    return said
