"""faithscope audit: how faithful the explanations in a log are."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from faithscope.cli.logs import DeclaredLog
from faithscope.cli.options import grouped
from faithscope.cli.outcome import Measured, Outcome, refuse, tell, with_options
from faithscope.errors import BadInput
from faithscope.visible import visible_lines


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
    columns = {"clusters": asked.pop("clusters"), "weights": asked.pop("weights"), "time": by_time, "since": since}
    opened, discretizer = log.open(id=row_id, **columns)
    with opened._source().one_state():  # the report is about the rows that were measured
        every = "1d" if every is None and by_time is not None else every
        result = audit_log(opened, discretizer=discretizer, by=by or None, every=every, against=compared, **asked)
        found = {result.name: result.slices()} if outcome.cuts else None
        tell(result, f"How faithful are the explanations in {result.name}?", outcome, found, at_least=outcome.at_least)
    if result.windows is not None and not outcome.as_json:
        heading = f"consistency in windows of {result.windows.every}, compared with {result.windows.against}"
        typer.echo(visible_lines(f"\n{heading}\n{with_options(result.windows)}"))
    outcome.judge(result, found)
    if fail_if_worse:
        other: Any = result.reference
        refuse((f"--fail-if-worse: {line}" for line in other.lower()), bool(other.worse))
