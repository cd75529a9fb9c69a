"""How a command ends: its result is printed, written as a report and a summary, and judged."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from faithscope.card import Card
from faithscope.cli.options import AgreementWord, Confidence, Json, SummaryFile
from faithscope.errors import BadInput
from faithscope.evaluation.assertions import judge
from faithscope.inputs.checks import check_share, check_word, one_sentence
from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.slices import Slices
from faithscope.notes import Note
from faithscope.report.explainer import Explainer, Summary
from faithscope.report.result import Breakdown
from faithscope.report.wording import wording
from faithscope.runtime.files import to_path, write_page
from faithscope.runtime.messages import print_json
from faithscope.shareable import markdown
from faithscope.tables.windows import Windows
from faithscope.visible import visible


@dataclass(frozen=True)
class Measured:
    """How the rows are measured, by names that `audit` and `compare` take too."""

    agreement: AgreementWord = None
    clusters: Annotated[
        str | None,
        Option("--cluster", help="A column of rows that belong together, such as customer_id: only others vouch."),
    ] = None
    weights: Annotated[
        str | None, Option(help="A column that says how much each row counts in the population that is meant.")
    ] = None
    confidence: Confidence = 0.95
    interval: Annotated[
        str | None,
        Option(help="proven: holds for every model, explainer and population, and is wider than the default."),
    ] = None
    unseen: Annotated[
        bool, Option("--unseen", help="Sufficiency: allow for rows that nobody has seen, which may meet many rules.")
    ] = False


@dataclass(frozen=True)
class Outcome:
    """How the result of a command is told and judged, as the command line says it."""

    report: Annotated[Path | None, Option(help="Write a report to this HTML file.")] = None
    as_json: Json = False
    summary: SummaryFile = None
    at_least: Annotated[float, Option(help="What a faithful explainer is asked to reach, beside the verdict.")] = 0.9
    fail_under: Annotated[
        float | None, Option(help="Exit with 1 if a lower limit, of all rows or a population, is below this.")
    ] = None
    measure: Annotated[
        str | None,
        Option(
            help="What --fail-under judges: consistency, sufficiency or necessity; by default the first two, but of "
            "the sufficiency of importances only that they name better features than random ones.",
        ),
    ] = None
    slices: Annotated[
        bool, Option("--slices", help="Look for rows on which explanations fail: by columns, pairs of them, time.")
    ] = False
    fail_if_slice: Annotated[
        bool, Option("--fail-if-slice", help="Look for slices, and exit with 1 if one stands out.")
    ] = False

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
        append_summary(self.summary)

    def judge(self, result: Any, slices: Mapping[str, Slices] | None, explainers: list[str] | None = None) -> None:
        """Exit with 1, and one line per failure, if a lower limit is below the threshold, or a slice stands out."""
        if self.fail_under is not None:
            judged = [result[name] for name in explainers] if explainers else [result]
            told = [judge(each, self.fail_under, self.measure) for each in judged]
            lines: list[str] = [failed.line(self.fail_under) for failures, _ in told for failed in failures]
            refuse(with_options((*lines, *(remark for _, remarks in told for remark in remarks))), bool(lines))
        if self.fail_if_slice and slices is not None:
            lines = [f"--fail-if-slice: {name}: {each}" for name, found in slices.items() for each in found.found]
            refuse(lines, bool(lines))


def refuse(lines: Iterable[str], failed: bool) -> None:
    """Say these lines on standard error, and exit with 1 if something failed."""
    for line in lines:
        typer.echo(wording(line, longest=1000), err=True)
    if failed:
        raise typer.Exit(1)


def tell(result: Any, title: str, outcome: Outcome, slices: Mapping[str, Slices] | None = None) -> None:
    """Print the result as a table or as JSON, and write a page and a Markdown file if they are wanted.

    `slices` are by explainer, if they were looked for.
    """
    from faithscope.report.html import render
    from faithscope.report.summary import summarize
    from faithscope.report.summary_card import summary_card
    from faithscope.report.terminal import show

    summary = with_options(summarize(result, title=title, wanted=outcome.at_least, slices=slices))
    told = summary.explainers
    if outcome.as_json:
        verdicts = {each.name: asdict(each.verdict) | {"doubts": list(each.doubts)} for each in told}
        missing = {each.name: [*map(asdict, each.missing)] for each in told if each.missing}
        written = {} if slices is None else {"slices": {name: each.to_dict() for name, each in slices.items()}}
        print_json({**result.to_dict(), "verdicts": verdicts, "missing": missing, **written})
    else:
        show(summary)
    if outcome.report is not None:
        write_page(outcome.report, render(summary))
        say_where(outcome.report)
    append_summary(outcome.summary, summary_card(summary))


def say_where(report: Path) -> None:
    """Say on standard error where the report is."""
    typer.echo(f"The report is {visible(str(report))}", err=True)


def append_summary(path: str | None, card: Card | None = None) -> None:
    """Append the card as Markdown, if a file is named; what the file holds already stays.

    Without a card only raise, in one sentence, if nothing can be appended.
    """
    if path is None:
        return
    if not path.strip():
        raise BadInput(
            "--summary names no file: only GitHub Actions sets $GITHUB_STEP_SUMMARY. Pass a path, such as summary.md."
        )
    with (
        one_sentence(f"--summary {path!r} cannot be written ({{why}}): name a file in a folder that exists."),
        to_path(path).open("a", encoding="utf-8", errors="replace") as file,
    ):
        if card is not None:
            file.write("\n" * bool(file.tell()) + f"{markdown(card)}\n")  # a heading begins a line


_HELD: dict[type, tuple[str, ...]] = {  # where notes are
    Summary: ("explainers",),
    Explainer: ("measures", "populations", "notes"),
    Breakdown: ("estimates",),
    Windows: ("estimates",),
    Estimate: ("notes",),
}


def with_options(told: Any) -> Any:
    """The same summary, or windows, with advice that can be typed."""
    if isinstance(told, Note):
        return told.typed()
    if isinstance(told, tuple):
        return tuple(map(with_options, told))
    if isinstance(told, dict):
        return {name: with_options(each) for name, each in told.items()}
    held = _HELD.get(type(told), ())
    return replace(told, **{name: with_options(getattr(told, name)) for name in held}) if held else told
