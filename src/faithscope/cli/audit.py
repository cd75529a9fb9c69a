"""faithscope audit: how faithful the explanations in a log are."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from faithscope.cli.advice import typed_windows
from faithscope.cli.logs import reads_log
from faithscope.cli.options import (
    AgreementWord,
    AtLeast,
    Cluster,
    Confidence,
    FailIfSlice,
    FailUnder,
    FindSlices,
    IntervalMethod,
    Json,
    MeasureName,
    Report,
    SummaryFile,
    Unseen,
    Weights,
)
from faithscope.cli.outcome import check_gate, gate, refuse_slices, tell
from faithscope.cli.summary_file import check_summary
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_share
from faithscope.report.wording import wording
from faithscope.visible import visible_lines

By = Annotated[list[str] | None, typer.Option("--by", help="A column that names populations; repeatable.")]
ByTime = Annotated[str | None, typer.Option("--by-time", help="A column of moments.")]
WindowLength = Annotated[
    str | None,
    typer.Option("--every", help="How long a window of time is: 1d, 6h, 30min, 1w, 1mo; 1d with --by-time."),
]
Against = Annotated[
    str | None,
    typer.Option("--against", help="Compare with this log; with --by-time also so many first windows, such as 3."),
]
Reference = Annotated[str | None, typer.Option("--reference", hidden=True)]
Since = Annotated[
    str | None,
    typer.Option("--since", help="Leave out rows before this date, by the column of --by-time or the only such one."),
]
FailIfWorse = Annotated[
    bool, typer.Option("--fail-if-worse", help="Exit with 1 if a measure is shown to be lower than in --against.")
]
RowId = Annotated[
    list[str] | None,
    typer.Option(
        "--id", help="A column that identifies rows, shown with pairs of rows and never measured; repeatable."
    ),
]


@reads_log
def audit(
    declared: Callable[..., Any],
    agreement: AgreementWord = None,
    by: By = None,
    since: Since = None,
    by_time: ByTime = None,
    every: WindowLength = None,
    against: Against = None,
    reference: Reference = None,
    row_id: RowId = None,
    cluster: Cluster = None,
    weights: Weights = None,
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
    check_summary(summary)
    compared = _reference(reference if against is None else against)
    if fail_if_worse and (compared is None or isinstance(compared, int)):
        raise BadInput("--fail-if-worse compares with another log: name it with --against.")
    log, discretizer = declared(id=row_id, clusters=cluster, weights=weights, time=by_time, since=since)
    with log._source().one_state():  # the report is about the rows that were measured
        result = audit_log(
            log,
            discretizer=discretizer,
            by=by or None,
            every="1d" if every is None and by_time is not None else every,
            against=compared,
            confidence=confidence,
            interval=cast(Any, interval),  # `audit` refuses words that it does not know
            unseen=unseen,
            agreement=agreement,
        )
        found = {result.name: result.slices()} if slices or fail_if_slice else None
        title = f"How faithful are the explanations in {result.name}?"
        tell(result, title, report, summary, as_json=as_json, at_least=at_least, slices=found)
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
