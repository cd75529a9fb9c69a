"""faithscope audit: how faithful the explanations in a log are."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.cli.advice import with_options
from faithscope.cli.logs import reads_log
from faithscope.cli.outcome import Outcome, judged, measured, refuse, tell
from faithscope.errors import BadInput
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
@measured
@judged
def audit(
    outcome: Outcome,
    how: dict[str, Any],
    declared: Callable[..., Any],
    by: By = None,
    since: Since = None,
    by_time: ByTime = None,
    every: WindowLength = None,
    against: Against = None,
    reference: Reference = None,
    row_id: RowId = None,
    fail_if_worse: FailIfWorse = False,
) -> None:
    """Measure the explanations in a log of predictions; no model is needed, and nothing is written to the log.

    Example: faithscope audit log.parquet --prediction yhat --explanation 'phi_*' --discretize sign-of-top-5
    --by region --report r.html --fail-under 0.9
    """
    from faithscope.tables.audit import audit as audit_log

    outcome.check()
    compared = _reference(reference if against is None else against)
    if fail_if_worse and (compared is None or isinstance(compared, int)):
        raise BadInput("--fail-if-worse compares with another log: name it with --against.")
    columns = {"clusters": how.pop("clusters"), "weights": how.pop("weights"), "time": by_time, "since": since}
    log, discretizer = declared(id=row_id, **columns)
    with log._source().one_state():  # the report is about the rows that were measured
        every = "1d" if every is None and by_time is not None else every
        result = audit_log(log, discretizer=discretizer, by=by or None, every=every, against=compared, **how)
        found = {result.name: result.slices()} if outcome.cuts else None
        tell(result, f"How faithful are the explanations in {result.name}?", outcome, found, at_least=outcome.at_least)
    if result.windows is not None and not outcome.as_json:
        heading = f"consistency in windows of {result.windows.every}, compared with {result.windows.against}"
        typer.echo(visible_lines(f"\n{heading}\n{with_options(result.windows)}"))
    outcome.judge(result, found)
    if fail_if_worse:
        other: Any = result.reference
        refuse((f"--fail-if-worse: {line}" for line in other.lower()), bool(other.worse))


def _reference(word: str | None) -> str | int | None:
    """A number of windows, unless a file has that name; anything else is a log."""
    return int(word) if word is not None and word.isdecimal() and not Path(word).exists() else word
