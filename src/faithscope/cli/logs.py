"""faithscope audit and plan, and the log that a command reads: files, or a table of a database, and its columns."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from faithscope.cli.options import AgreementWord, Confidence, Json, SummaryFile, grouped
from faithscope.cli.outcome import Measured, Outcome, append_summary, refuse, tell, with_options
from faithscope.errors import BadInput
from faithscope.inputs.checks import one_sentence
from faithscope.runtime.messages import print_json
from faithscope.visible import visible_lines
from faithscope.words import hint

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
        from faithscope.tables.source import open_source

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


@grouped
def audit(
    log: DeclaredLog,
    how: Measured,
    outcome: Outcome,
    by: Annotated[list[str] | None, Option(help="A column that names populations; repeatable.")] = None,
    since: Annotated[
        str | None,
        Option(help="Leave out rows before this date, by the column of --by-time or the only such one."),
    ] = None,
    by_time: Annotated[str | None, Option(help="A column of moments.")] = None,
    every: Annotated[
        str | None, Option(help="How long a window of time is: 1d, 6h, 30min, 1w, 1mo; 1d with --by-time.")
    ] = None,
    against: Annotated[
        str | None,
        Option(help="Compare with this log; with --by-time also so many first windows, such as 3."),
    ] = None,
    row_id: Annotated[
        list[str] | None,
        Option("--id", help="A column that identifies rows, shown with pairs of rows and never measured; repeatable."),
    ] = None,
    fail_if_worse: Annotated[
        bool, Option("--fail-if-worse", help="Exit with 1 if a measure is shown to be lower than in --against.")
    ] = False,
) -> None:
    """Measure the explanations in a log of predictions; no model is needed, and nothing is written to the log.

    Example: faithscope audit log.parquet --prediction yhat --explanation 'phi_*' --discretize sign-of-top-5
    --by region --report r.html --fail-under 0.9
    """
    from faithscope.tables.audit import audit as audit_log

    outcome.check()
    # A number of windows, unless a file has that name; anything else is a log.
    compared = int(against) if against and against.isdecimal() and not Path(against).exists() else against
    if fail_if_worse and (compared is None or isinstance(compared, int)):
        raise BadInput("--fail-if-worse compares with another log: name it with --against.")
    asked = dict(vars(how))
    clusters, weights = asked.pop("clusters"), asked.pop("weights")
    opened, discretizer = log.open(id=row_id, clusters=clusters, weights=weights, time=by_time, since=since)
    with opened._source().one_state():  # the report is about the rows that were measured
        if every is None and by_time is not None:
            every = "1d"
        result = audit_log(opened, discretizer=discretizer, by=by or None, every=every, against=compared, **asked)
        found = {result.name: result.slices()} if outcome.slices or outcome.fail_if_slice else None
        tell(result, f"How faithful are the explanations in {result.name}?", outcome, found)
    if result.windows is not None and not outcome.as_json:
        heading = f"\nconsistency in windows of {result.windows.every}, compared with {result.windows.against}"
        typer.echo(visible_lines(f"{heading}\n{with_options(result.windows)}"))
    outcome.judge(result, found)
    if fail_if_worse:
        other: Any = result.reference
        refuse((f"--fail-if-worse: {line}" for line in other.lower()), bool(other.worse))


@grouped
def plan(
    log: DeclaredLog,
    agreement: AgreementWord = None,
    unverifiable: Annotated[float, Option(help="The share of rows that may stay unverifiable.")] = 0.05,
    confidence: Confidence = 0.95,
    as_json: Json = False,
    summary: SummaryFile = None,
) -> None:
    """Say how many rows a log needs until only so many of them are unverifiable.

    Example: faithscope plan log.parquet --prediction yhat --explanation 'phi_*' --unverifiable 0.05
    """
    from faithscope.measures.consistency import consistency
    from faithscope.measures.planning import plan as plan_rows

    append_summary(summary)
    opened, discretizer = log.open()
    measured = consistency(opened, discretizer=discretizer, agreement=agreement)
    rows = plan_rows(measured, unverifiable=unverifiable, confidence=confidence)
    print_json(rows.to_dict()) if as_json else typer.echo(str(rows))
    append_summary(summary, rows._card())
