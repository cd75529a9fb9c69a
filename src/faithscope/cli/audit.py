"""faithscope audit: how faithful the explanations in a log are."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from faithscope.cli.advice import typed_windows
from faithscope.cli.logs import open_log_source
from faithscope.cli.options import (
    AgreementWord,
    AtLeast,
    Cluster,
    Confidence,
    Connect,
    Discretize,
    Explanation,
    FailIfSlice,
    FailUnder,
    FindSlices,
    InputTexts,
    IntervalMethod,
    Json,
    Kind,
    LogFiles,
    MeasureName,
    NullsPolicy,
    Prediction,
    Report,
    SummaryFile,
    TableName,
    Unseen,
    Where,
    one_or_several,
)
from faithscope.cli.outcome import Outlets, check_gate, gate, refuse_slices, tell
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_share
from faithscope.report.wording import wording
from faithscope.visible import visible_lines

By = Annotated[list[str] | None, typer.Option("--by", help="A column that names populations; repeatable.")]
ByTime = Annotated[str | None, typer.Option("--by-time", help="A column of moments.")]
WindowLength = Annotated[str, typer.Option("--every", help="How long a window of time is: 1d, 6h, 30min, 1w, 1mo.")]
Reference = Annotated[
    str | None,
    typer.Option("--reference", help="Compare with this log; with --by-time also so many first windows, such as 3."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", help="Leave out rows before this date, by the column of --by-time or the only such one."),
]
FailIfWorse = Annotated[
    bool, typer.Option("--fail-if-worse", help="Exit with 1 if a measure is shown to be lower than in --reference.")
]
RowId = Annotated[
    list[str] | None,
    typer.Option(
        "--id", help="A column that identifies rows, shown with pairs of rows and never measured; repeatable."
    ),
]


def audit(
    log: LogFiles = None,
    prediction: Prediction = None,
    explanation: Explanation = None,
    kind: Kind = None,
    discretize: Discretize = None,
    inputs: InputTexts = None,
    agreement: AgreementWord = None,
    by: By = None,
    where: Where = None,
    since: Since = None,
    by_time: ByTime = None,
    every: WindowLength = "1d",
    reference: Reference = None,
    nulls: NullsPolicy = "error",
    row_id: RowId = None,
    cluster: Cluster = None,
    connect: Connect = None,
    table: TableName = None,
    confidence: Confidence = 0.95,
    interval: IntervalMethod = None,
    unseen: Unseen = False,
    report: Report = None,
    as_json: Json = False,
    summary: SummaryFile = None,
    at_least: AtLeast = 0.9,
    fail_under: FailUnder = None,
    measure: MeasureName = None,
    fail_if_worse: FailIfWorse = False,
    slices: FindSlices = False,
    fail_if_slice: FailIfSlice = False,
) -> None:
    """Measure the explanations in a log of predictions; no model is needed, and nothing is written to the log.

    Example: faithscope audit log.parquet --prediction yhat --explanation 'phi_*' --discretize sign-of-top-5
    --by region --report r.html --fail-under 0.9
    """
    from faithscope.tables.audit import audit as audit_log

    check_gate(fail_under, measure)
    check_share(at_least, "--at-least")
    outlets = Outlets(report, as_json, summary)
    outlets.check()
    if fail_if_worse and (reference is None or isinstance(_reference(reference), int)):
        raise BadInput("--fail-if-worse compares with another log: name it with --reference.")
    source = open_log_source(log, table, connect)
    with source.one_state():  # the report is about the rows that were measured
        result = audit_log(
            source,
            prediction=one_or_several(prediction),
            explanation=explanation or None,
            kind=kind,
            discretizer=discretize,
            inputs=inputs or None,
            by=by or None,
            where=where,
            since=since,
            time=by_time,
            every=every,
            reference=_reference(reference),
            nulls=cast(Any, nulls),  # `audit` refuses words that it does not know
            confidence=confidence,
            interval=cast(Any, interval),
            unseen=unseen,
            connect=connect,  # a reference is in the same database
            id=row_id or None,
            agreement=agreement,
            clusters=cluster,
        )
        found = {result.name: result.slices()} if slices or fail_if_slice else None
        tell(result, outlets, f"How faithful are the explanations in {result.name}?", at_least, found)
    if result.windows is not None and not as_json:
        heading = f"consistency in windows of {result.windows.every}, compared with {result.windows.against}"
        typer.echo(visible_lines(f"\n{heading}\n{typed_windows(result.windows)}"))
    gate(result, fail_under, measure)
    if fail_if_worse:
        _refuse_worse(result.reference)
    if fail_if_slice and found is not None:
        refuse_slices(found)


def _refuse_worse(reference: Any) -> None:
    """Exit with 1, and one line per measure that is lower than in the reference."""
    for line in reference.lower():
        typer.echo(wording(f"--fail-if-worse: {line}", longest=1000), err=True)
    if reference.worse:
        raise typer.Exit(1)


def _reference(word: str | None) -> str | int | None:
    """A number of windows, unless a file has that name; anything else is a log."""
    return int(word) if word is not None and word.isdecimal() and not Path(word).exists() else word
