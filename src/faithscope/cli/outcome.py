"""How a command ends: its result is printed, written as a report and a summary, and judged."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from faithscope.cli.summary_file import append_summary
from faithscope.errors import BadInput
from faithscope.evaluation.assertions import judge
from faithscope.inputs.checks import check_share, check_word
from faithscope.measures.estimate import MEASURES
from faithscope.measures.slices import Slices
from faithscope.report.wording import wording
from faithscope.runtime.printing import print_json
from faithscope.visible import visible


def refuse_slices(slices: Mapping[str, Slices]) -> None:
    """Exit with 1, and one line per slice that stands out."""
    lines = [f"--fail-if-slice: {name}: {each}" for name, found in slices.items() for each in found.found]
    for line in lines:
        typer.echo(wording(line, longest=1000), err=True)
    if lines:
        raise typer.Exit(1)


def tell(
    result: Any,
    title: str,
    report: Path | None,
    summary_file: str | None,
    *,
    as_json: bool = False,
    at_least: float | None = None,
    slices: Mapping[str, Slices] | None = None,
) -> None:
    """Print the result as a table or as JSON, and write a page and a Markdown file if they are wanted.

    `at_least` is asked of a faithful one; `slices` are by explainer, if they were looked for.
    """
    from faithscope.cli.advice import with_options
    from faithscope.report.html import write
    from faithscope.report.summary import summarize
    from faithscope.report.summary_card import summary_card
    from faithscope.report.terminal import show

    summary = with_options(summarize(result, title=title, wanted=at_least))
    found = {wording(name): each for name, each in (slices or {}).items()}
    told = tuple(replace(explainer, slices=found.get(explainer.name)) for explainer in summary.explainers)
    summary = replace(summary, explainers=told)
    if as_json:
        verdicts = {each.name: asdict(each.verdict) | {"doubts": list(each.doubts)} for each in told}
        missing = {
            explainer.name: [
                {"section": each.section, "measure": each.measure, "reason": each.reason} for each in explainer.missing
            ]
            for explainer in told
            if explainer.missing
        }
        written = {} if slices is None else {"slices": {name: each.to_dict() for name, each in slices.items()}}
        known = {**result.to_dict(), "verdicts": verdicts, "missing": missing, **written}
        print_json(json.dumps(known, allow_nan=False))
    else:
        show(summary)
    if report is not None:
        write(summary, report)
        say_where(report)
    append_summary(summary_file, summary_card(summary))


def say_where(report: Path) -> None:
    """Say on standard error where the report is."""
    typer.echo(f"The report is {visible(str(report))}", err=True)


def check_gate(fail_under: float | None, measure: str | None, explainers: list[str] | None = None) -> None:
    """Refuse options of --fail-under that mean nothing, before anything is computed."""
    if fail_under is not None:
        check_share(fail_under, "--fail-under")
    for option, value in (("--measure", measure), ("--gate", explainers)):
        if value and fail_under is None:
            raise BadInput(f"{option} says what --fail-under judges: give a threshold too, such as --fail-under 0.9.")
    if measure is not None:
        check_word(measure, "--measure", MEASURES)


def gate(result: Any, fail_under: float | None, measure: str | None, explainers: list[str] | None = None) -> None:
    """Exit with 1, and one line per failure, if a lower limit is below the threshold."""
    if fail_under is None:
        return
    judgment = judge(result, fail_under, measure, explainers=explainers)
    for line in judgment.lines():
        typer.echo(wording(line, longest=1000), err=True)
    if judgment.failures:
        raise typer.Exit(1)
