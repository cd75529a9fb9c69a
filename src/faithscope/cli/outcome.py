"""How a command ends: its result is printed, written as a report and a summary, and judged."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from faithscope.cli.summary_file import append_summary, check_summary
from faithscope.errors import BadInput
from faithscope.evaluation.assertions import judge
from faithscope.inputs.checks import check_share, check_word
from faithscope.measures.estimate import MEASURES
from faithscope.report.wording import wording
from faithscope.runtime.printing import print_json
from faithscope.visible import visible


@dataclass(frozen=True)
class Outlets:
    """Where a command tells its result: standard output, as a table or as JSON, a page, a Markdown file."""

    report: Path | None = None
    as_json: bool = False
    summary: str | None = None

    def check(self) -> None:
        """Refuse a file that cannot be written, before anything is computed."""
        check_summary(self.summary)


def tell(result: Any, outlets: Outlets, title: str, at_least: float | None = None) -> None:
    """Print the result, and write a report and a summary if they are wanted; `at_least` is asked of a faithful one."""
    from faithscope.cli.advice import with_options
    from faithscope.report.html import write
    from faithscope.report.summary import summarize
    from faithscope.report.summary_card import summary_card
    from faithscope.report.terminal import show

    summary = with_options(summarize(result, title=title, wanted=at_least))
    if outlets.as_json:
        verdicts = {
            explainer.name: asdict(explainer.verdict) | {"doubts": list(explainer.doubts)}
            for explainer in summary.explainers
        }
        missing = {
            explainer.name: list(map(asdict, explainer.missing))
            for explainer in summary.explainers
            if explainer.missing
        }
        print_json(json.dumps({**result.to_dict(), "verdicts": verdicts, "missing": missing}, allow_nan=False))
    else:
        show(summary)
    if outlets.report is not None:
        write(summary, outlets.report)
        say_where(outlets.report)
    append_summary(outlets.summary, summary_card(summary))


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
