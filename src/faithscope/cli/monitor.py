"""faithscope monitor: counts that add up day by day, and alarms that may be looked at as often as one likes."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from faithscope.cli.logs import DeclaredLog
from faithscope.cli.options import Confidence, Json, SummaryFile, grouped
from faithscope.cli.outcome import append_summary, refuse, say_where
from faithscope.errors import BadInput
from faithscope.inputs.checks import check_share
from faithscope.rounding import down
from faithscope.runtime.files import to_path, write_page
from faithscope.runtime.messages import json_alone, print_json

State = Annotated[Path, Option(help="The file that keeps the counts.")]

app = typer.Typer(
    name="monitor",
    help="Watch the explanations in a growing log, day by day, with alarms that stay honest.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@grouped
def add(
    log: DeclaredLog,
    state: State = Path("monitor.duckdb"),
    by: Annotated[str | None, Option(help="A column of groups, settled with the first rows.")] = None,
    cluster: Annotated[
        str | None, Option(help="A column of rows that belong together, such as customer_id: each counts once.")
    ] = None,
    reference: Annotated[
        int | None,
        Option(help="The first so many days, settled with the first rows: later rows are judged beside them."),
    ] = None,
    by_time: Annotated[
        str | None,
        Option(help="A column of moments, or a date for all rows; by default now, unless the log has such a column."),
    ] = None,
    batch: Annotated[
        str | None, Option(help="What this batch is called: a name that was added before is not counted.")
    ] = None,
    since: Annotated[str | None, Option(help="Leave out rows before this date, by --by-time.")] = None,
    as_json: Json = False,
) -> None:
    """Add the new rows of a log to the state; nothing is written to the log, and a batch counts once.

    Example: faithscope monitor add today.parquet --state state.duckdb --prediction yhat --explanation 'phi_*'
    --discretize sign-of-top-5 --by region --by-time logged_at --batch 2026-03-01
    """
    from faithscope.monitor.monitor import Monitor

    opened, discretizer = log.open(clusters=cluster, since=since)
    rows: dict[str, Any] = {"discretizer": discretizer, "when": by_time, "by": by, "batch": batch}
    state, added = to_path(state), None
    if not state.exists():  # begun in memory: if these rows cannot be added, nothing is settled
        first = Monitor(by=by, reference=reference)
        added = first.add_log(opened, **rows)
        if not first._store.save(state):  # another process was faster
            added = None
    if added is None:
        added = Monitor(state, reference=reference).add_log(opened, **rows)
    print_json(added.to_dict()) if as_json else typer.echo(added)


def report(
    state: State = Path("monitor.duckdb"),
    at_least: Annotated[
        float | None,
        Option(help="The promised level of what is watched: exit with 1 if it is shown to be below."),
    ] = None,
    confidence: Confidence = 0.95,
    html: Annotated[Path | None, Option("--report", help="Write a page to this HTML file.")] = None,
    as_json: Json = False,
    metrics: Annotated[
        bool, Option("--metrics", help="Print the text format of Prometheus, and nothing else.")
    ] = False,
    summary: SummaryFile = None,
    fail_under: Annotated[
        float | None, Option(help="Exit with 1 if the lower limit, valid at all looks together, is below this.")
    ] = None,
) -> None:
    """Say what the state shows now; look as often as you like. Exit status 1 on an alarm.

    Example: faithscope monitor report --state state.duckdb --at-least 0.9 --report page.html
    """
    from faithscope.monitor.monitor import Monitor
    from faithscope.monitor.telling import page, prometheus, told_card, told_dict, told_lines

    if fail_under is not None:
        check_share(fail_under, "--fail-under")
    if as_json and metrics:
        raise BadInput("--json and --metrics each print one format and nothing else: choose one of them.")
    append_summary(summary)
    state = to_path(state)
    if not state.exists():
        raise BadInput(f"There is no state at {str(state)!r}: add rows first, with faithscope monitor add.")
    monitor = Monitor(state, at_least=at_least, confidence=confidence)
    with monitor._look() as look:  # what is printed, judged and shown on the page is one state
        if html is not None:
            write_page(html, page(look))
            say_where(html)
        if as_json:
            print_json(told_dict(look))
        elif metrics:
            typer.echo(prometheus(look), nl=False)
        else:
            typer.echo("\n".join(told_lines(look)))
        append_summary(summary, told_card(look))
        _judge(look, fail_under)


_DOUBTED = ", and is doubted, since rows seem to come back: begin another state, with monitor add --cluster"


def _judge(look: Any, fail_under: float | None) -> None:
    """Exit with 1 if there is an alarm, of which all share an error, or if a lower limit is too low or doubted."""
    lines = []
    for name, limits in look.limits.items() if fail_under is not None else ():
        if limits.low < fail_under or limits.doubted:
            doubt = _DOUBTED if limits.doubted else ""
            limit = f"the lower limit of {look.names[name]} is {down(limits.low)}"
            lines.append(f"--fail-under {fail_under:g}: {limit}{doubt}")
    # The verdict on limits has an error of its own: together they would be wrong more often.
    refuse(lines, bool(lines or look.alarms))


for command in (add, report):
    app.command()(json_alone(command))
