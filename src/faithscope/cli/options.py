"""What commands share: their options, how results are told, and how they are judged."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.explanations.inputs import check_share

Report = Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON, and nothing else.")]
FailUnder = Annotated[
    float | None, typer.Option("--fail-under", help="Exit with 1 where the lower limit of the interval is below this.")
]
Discretize = Annotated[
    str | None,
    typer.Option("--discretize", help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, …; best chooses."),
]
Confidence = Annotated[float, typer.Option(help="Of the intervals.")]
CacheFolder = Annotated[Path | None, typer.Option("--cache", help="Keep what was computed in this folder; resume.")]


def tell(found: Any, report: Path | None, as_json: bool, title: str) -> None:
    """Print what was found, and write a report where one is wanted."""
    from faithscope.report import summarize
    from faithscope.report.html import write
    from faithscope.report.terminal import show

    summary = summarize(found, title=title)
    if as_json:
        verdicts = {one.name: asdict(one.verdict) for one in summary.explainers}
        typer.echo(json.dumps({**found.to_dict(), "verdicts": verdicts}, default=str))
    else:
        show(summary)
    if report is not None:
        write(summary, report)
        typer.echo(f"The report is {report}", err=True)


def threshold(fail_under: float | None) -> None:
    """Refuse a threshold that means nothing before anything is computed."""
    if fail_under is not None:
        check_share(fail_under, "--fail-under")


def judge(lows: list[float], fail_under: float | None) -> None:
    """Exit with 1 where a lower limit is below the threshold."""
    if fail_under is not None and min(lows) < fail_under:
        typer.echo(f"The lower limit {min(lows):.3f} is below {fail_under:g}.", err=True)
        raise typer.Exit(1)
