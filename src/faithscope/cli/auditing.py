"""faithscope audit and faithscope plan: a log of predictions and explanations."""

import json
from typing import Annotated, Any

import typer

from faithscope.cli.options import Confidence, FailUnder, Json, MeasureName, Report, check_gate, gate, tell
from faithscope.errors import BadInput
from faithscope.runtime.printing import print_json
from faithscope.visible import visible_lines

LogFiles = Annotated[
    list[str] | None, typer.Argument(help="Parquet, CSV or JSON lines: files, a folder or a glob.", show_default=False)
]
Table = Annotated[str | None, typer.Option("--table", help="A table of the database, as schema.table or table.")]
Connect = Annotated[str | None, typer.Option("--connect", help="postgres://user@host/database, spark, duckdb://file.")]
Prediction = Annotated[str | None, typer.Option("--prediction", help="The column of predicted labels.")]
Explanation = Annotated[
    list[str] | None, typer.Option("--explanation", help="Columns by name or glob, such as 'phi_*'; repeatable.")
]
Kind = Annotated[
    str | None, typer.Option("--kind", help="importances, keys, rules, words, prototypes or counterfactuals.")
]
Discretize = Annotated[
    str | None, typer.Option("--discretize", help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, …")
]
Nulls = Annotated[str, typer.Option("--nulls", help="Missing values: error, drop or key.")]
By = Annotated[list[str] | None, typer.Option("--by", help="A column that names populations; repeatable.")]
ByTime = Annotated[str | None, typer.Option("--by-time", help="A column of moments.")]
Every = Annotated[str, typer.Option("--every", help="How long a window of time is: 1d, 6h, 30min, 1w, 1mo.")]
Reference = Annotated[str | None, typer.Option("--reference", help="A baseline log for --by-time.")]
Id = Annotated[
    list[str] | None,
    typer.Option(
        "--id", help="A column that identifies rows, shown with pairs of rows and never measured; repeatable."
    ),
]
Interval = Annotated[str, typer.Option("--interval", help="jackknife, or mcdiarmid, which is proven and wide.")]


def audit(
    log: LogFiles = None,
    prediction: Prediction = None,
    explanation: Explanation = None,
    kind: Kind = None,
    discretize: Discretize = None,
    by: By = None,
    by_time: ByTime = None,
    every: Every = "1d",
    reference: Reference = None,
    nulls: Nulls = "error",
    row_id: Id = None,
    connect: Connect = None,
    table: Table = None,
    confidence: Confidence = 0.95,
    interval: Interval = "jackknife",
    report: Report = None,
    as_json: Json = False,
    fail_under: FailUnder = None,
    measure: MeasureName = None,
) -> None:
    """Measure the explanations in a log of predictions; no model is needed, and nothing is written to the log.

    Example: faithscope audit log.parquet --prediction yhat --explanation 'phi_*' --discretize sign-of-top-5
    --by region --report r.html --fail-under 0.9
    """
    check_gate(fail_under, measure=measure)
    words = _words(prediction, explanation, kind, discretize, nulls)
    more = {"by": by or None, "time": by_time, "every": every, "id": row_id or None}
    more |= {"reference": reference, "connect": connect}  # a reference is in the same database
    source = _opened(log, table, connect)
    with source.one_state():  # the report is about the rows that were measured
        found = _audit(source, words | more | {"confidence": confidence, "interval": interval})
        tell(found, report, as_json, f"How faithful are the explanations in {found.name}?")
    if found.windows is not None and not as_json:
        typer.echo(visible_lines(f"\nconsistency in windows of {found.windows.every}\n{found.windows}"))
    gate(found, fail_under, measure)


def plan(
    log: LogFiles = None,
    prediction: Prediction = None,
    explanation: Explanation = None,
    kind: Kind = None,
    discretize: Discretize = None,
    nulls: Nulls = "error",
    connect: Connect = None,
    table: Table = None,
    unverifiable: Annotated[float, typer.Option(help="The share of rows that may stay unverifiable.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Say how many rows a log needs until only so many of them are unverifiable.

    Example: faithscope plan log.parquet --prediction yhat --explanation 'phi_*' --unverifiable 0.05
    """
    from faithscope.measures.planning import plan as planned

    found = _audit(_opened(log, table, connect), _words(prediction, explanation, kind, discretize, nulls))
    made = planned(found.consistency, unverifiable=unverifiable)
    print_json(json.dumps(made.to_dict())) if as_json else typer.echo(str(made))


def _words(
    prediction: str | None,
    explanation: list[str] | None,
    kind: str | None,
    discretize: str | None,
    nulls: str,
) -> dict[str, Any]:
    """What was said on the command line, as `audit` takes it."""
    from faithscope.discretizers import from_word

    return {
        "prediction": prediction,
        "explanation": explanation or None,
        "kind": kind,
        "discretizer": None if discretize is None else from_word(discretize),
        "nulls": nulls,
    }


def _opened(log: list[str] | None, table: str | None, connect: str | None) -> Any:
    from faithscope.tables.sources.source import open_source

    if bool(log) == (table is not None):
        raise BadInput("Say which log to read: a file, or --table with --connect.")
    if table is not None and connect is None:
        raise BadInput(f"--table {table} is a table of a database: say which with --connect.")
    return open_source(log or table, connect)


def _audit(source: Any, words: dict[str, Any]) -> Any:
    from faithscope.tables.audit import audit

    return audit(source, **words)
