"""What commands share: their options, how results are told, and how they are judged."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.errors import BadInput
from faithscope.evaluation.assertions import MEASURES, judge
from faithscope.inputs.checks import check_share
from faithscope.report.wording import wording
from faithscope.runtime.printing import print_json
from faithscope.visible import visible

Report = Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON, and nothing else.")]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", help="Exit with 1 where a lower limit, of all rows or a population, is below this."),
]
MeasureName = Annotated[
    str | None, typer.Option("--measure", help="What --fail-under judges: consistency or sufficiency; by default both.")
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
        missing = {one.name: list(map(asdict, one.missing)) for one in summary.explainers if one.missing}
        print_json(json.dumps({**found.to_dict(), "verdicts": verdicts, "missing": missing}, default=str))
    else:
        show(summary)
    if report is not None:
        write(summary, report)
        typer.echo(f"The report is {visible(str(report))}", err=True)


def check_gate(fail_under: float | None, **chosen: Any) -> None:
    """Refuse a gate that means nothing before anything is computed."""
    if fail_under is not None:
        check_share(fail_under, "--fail-under")
    for option, given in chosen.items():
        if given and fail_under is None:
            raise BadInput(f"--{option} says what --fail-under judges: give a threshold too, such as --fail-under 0.9.")
    if chosen.get("measure") and chosen["measure"] not in MEASURES:
        raise BadInput(f"--measure must be consistency or sufficiency; got {chosen['measure']!r}.")


def gate(found: Any, fail_under: float | None, measure: str | None, explainers: list[str] | None = None) -> None:
    """Exit with 1, and a line for everyone who failed, where a lower limit is below the threshold."""
    if fail_under is None:
        return
    judgment = judge(found, fail_under, measure, explainers=explainers)
    for line in judgment.lines():
        typer.echo(wording(line, longest=1000), err=True)
    if judgment.failures:
        raise typer.Exit(1)
