"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from io import StringIO
from typing import TYPE_CHECKING

from faithscope.measures.estimate import Estimate
from faithscope.measures.numbers.words import named
from faithscope.report.summary import Explainer, Groups, Summary, notes
from faithscope.report.verdict import Level

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES: dict[Level, str] = {
    "faithful": "green",
    "unknown": "yellow",
    "partly": "cyan",
    "chance": "magenta",
    "unfaithful": "red",
}
_COLUMNS = ("value", "interval", "unverifiable", "checked", "chance")


def show(summary: Summary, console: "Console | None" = None) -> None:
    """Print the summary: one table, one sentence per explainer, tables of its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(_table(summary), "")
    for explainer in summary.explainers:
        line = Text(explainer.name, style="bold")
        # Names are never read as markup, whatever they hold.
        console.print(
            line.append("  ").append(Text(explainer.verdict.sentence, style=_STYLES[explainer.verdict.level]))
        )
    for explainer in summary.explainers:
        for groups in explainer.populations:
            if not groups.over_time:
                console.print("", _populations(explainer, groups))
    remarks = [remark for explainer in summary.explainers for remark in _remarks(explainer)]
    console.print(*map(Text, ["", *remarks] if remarks else []), sep="\n", end="\n" if remarks else "")


def render(summary: Summary, width: int = 100) -> str:
    """The same as plain text, without color."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        show(summary, console)
    return captured.get()


def _table(summary: Summary) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    first = summary.explainers[0].measures[0]
    by = f", by {named(first.agreement)}" if first.agreement.of_numbers else ""
    title = f"{first.n:,} rows, {100 * first.confidence:g}% intervals{by}"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_edge=False, pad_edge=False)
    table.add_column("explainer", overflow="fold")
    table.add_column("measure", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for explainer in summary.explainers:
        for estimate in explainer.measures:
            name = explainer.name if estimate is explainer.measures[0] else ""
            table.add_row(*map(Text, (name, estimate.measure, *_numbers(estimate))))
    return table


def _populations(explainer: Explainer, groups: Groups) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    by = groups.by or "population"
    more = f"{groups.left_out:,} more, whose intervals begin higher, are not shown" if groups.left_out else ""
    title, caption = Text(f"{explainer.name}: {groups.measure} by {by}"), Text(more)
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_edge=False, pad_edge=False)
    table.caption, table.caption_justify = caption if more else None, "left"
    table.add_column(Text(by), overflow="fold")
    for name in ("rows", *_COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for name, estimate in groups.groups:
        table.add_row(*map(Text, (name, f"{estimate.n:,}", *_numbers(estimate))))
    return table


def _remarks(explainer: Explainer) -> list[str]:
    """What a reader should know, each line with the explainer, population and measure that it is about."""
    estimates = [
        (f"{explainer.name}, {groups.by or 'population'} {name}, {estimate.measure}", estimate)
        for groups in explainer.populations
        if not groups.over_time
        for name, estimate in groups.groups
    ]
    noted = [f"{subject}: {note}" for subject, estimate in estimates for note in notes(estimate)]
    missing = [f"{explainer.name}, {missing.sentence}" for missing in explainer.missing]
    named = [f"{explainer.name}{f', {measure}' if measure else ''}: {note}" for measure, note in explainer.remarks]
    return [*named, *noted, *missing]


def _numbers(estimate: Estimate) -> tuple[str, ...]:
    interval = f"{estimate.low:.3f}–{estimate.high:.3f}"
    shares = (f"{estimate.value:.3f}", interval, f"{estimate.unverifiable:.1%}")
    return (*shares, _number(estimate.verified), _number(estimate.chance))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
