"""How a command ends: its result is printed, written as a report and a summary, and judged."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from faithscope.cli import options
from faithscope.cli.summary_file import append_summary, check_summary
from faithscope.errors import BadInput
from faithscope.evaluation.assertions import judge
from faithscope.inputs.checks import check_share, check_word
from faithscope.measures.estimate import MEASURES
from faithscope.measures.slices import Slices
from faithscope.report.wording import wording
from faithscope.runtime.printing import print_json
from faithscope.visible import visible


@dataclass(frozen=True)
class Outcome:
    """How the result of a command is told and judged, as the command line says it."""

    report: Path | None = None
    as_json: bool = False
    summary: str | None = None
    at_least: float = 0.9
    fail_under: float | None = None
    measure: str | None = None
    slices: bool = False
    fail_if_slice: bool = False

    def check(self, explainers: list[str] | None = None) -> None:
        """Refuse options that mean nothing, before anything is computed."""
        if self.fail_under is not None:
            check_share(self.fail_under, "--fail-under")
        for option, value in (("--measure", self.measure), ("--gate", explainers)):
            if value and self.fail_under is None:
                raise BadInput(
                    f"{option} says what --fail-under judges: give a threshold too, such as --fail-under 0.9."
                )
        if self.measure is not None:
            check_word(self.measure, "--measure", MEASURES)
        check_share(self.at_least, "--at-least")
        check_summary(self.summary)

    @property
    def cuts(self) -> bool:
        """Whether slices are looked for."""
        return self.slices or self.fail_if_slice

    def judge(self, result: Any, slices: Mapping[str, Slices] | None, explainers: list[str] | None = None) -> None:
        """Exit with 1, and one line per failure, if a lower limit is below the threshold, or a slice stands out."""
        if self.fail_under is not None:
            judgment = judge(result, self.fail_under, self.measure, explainers=explainers)
            refuse(judgment.lines(), bool(judgment.failures))
        if self.fail_if_slice and slices is not None:
            lines = [f"--fail-if-slice: {name}: {each}" for name, found in slices.items() for each in found.found]
            refuse(lines, bool(lines))


judged = options.sharing(
    {
        "report": (options.Report, None),
        "as_json": (options.Json, False),
        "summary": (options.SummaryFile, None),
        "at_least": (options.AtLeast, 0.9),
        "fail_under": (options.FailUnder, None),
        "measure": (options.MeasureName, None),
        "slices": (options.FindSlices, False),
        "fail_if_slice": (options.FailIfSlice, False),
    },
    lambda said: Outcome(**said),
)
# How the rows are measured, by names that `audit` and `compare` take too.
measured = options.sharing(
    {
        "agreement": (options.AgreementWord, None),
        "clusters": (options.Cluster, None),
        "weights": (options.Weights, None),
        "confidence": (options.Confidence, 0.95),
        "interval": (options.IntervalMethod, None),
        "unseen": (options.Unseen, False),
    },
    dict,
)


def refuse(lines: Iterable[str], failed: bool) -> None:
    """Say these lines on standard error, and exit with 1 if something failed."""
    for line in lines:
        typer.echo(wording(line, longest=1000), err=True)
    if failed:
        raise typer.Exit(1)


def tell(
    result: Any,
    title: str,
    outcome: Outcome,
    slices: Mapping[str, Slices] | None = None,
    *,
    at_least: float | None = None,
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
    if outcome.as_json:
        verdicts = {each.name: asdict(each.verdict) | {"doubts": list(each.doubts)} for each in told}
        parts = ("section", "measure", "reason")
        missing = {
            each.name: [{part: getattr(one, part) for part in parts} for one in each.missing]
            for each in told
            if each.missing
        }
        written = {} if slices is None else {"slices": {name: each.to_dict() for name, each in slices.items()}}
        known = {**result.to_dict(), "verdicts": verdicts, "missing": missing, **written}
        print_json(json.dumps(known, allow_nan=False))
    else:
        show(summary)
    if outcome.report is not None:
        write(summary, outcome.report)
        say_where(outcome.report)
    append_summary(outcome.summary, summary_card(summary))


def say_where(report: Path) -> None:
    """Say on standard error where the report is."""
    typer.echo(f"The report is {visible(str(report))}", err=True)
