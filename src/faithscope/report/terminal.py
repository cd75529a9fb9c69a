"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from io import StringIO
from typing import TYPE_CHECKING

from faithscope.report.summary import Explainer, Groups, Measure, Summary
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
    """Print the summary: one table, a sentence for each explainer, a table for its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(_table(summary), "")
    for one in summary.explainers:
        line = Text(one.name, style="bold")
        # Names are never read as markup, whatever they hold.
        console.print(line.append("  ").append(Text(one.verdict.sentence, style=_STYLES[one.verdict.level])))
    for one in summary.explainers:
        for groups in one.populations:
            if not groups.over_time:
                console.print("", _populations(one, groups))
    remarks = [remark for one in summary.explainers for remark in _remarks(one)]
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
    title = f"{first.n:,} rows, {100 * first.confidence:g}% intervals"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_edge=False, pad_edge=False)
    table.add_column("explainer", overflow="fold")
    table.add_column("measure", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for one in summary.explainers:
        for measure in one.measures:
            table.add_row(*map(Text, _cells(one, measure)))
    return table


def _populations(one: Explainer, found: Groups) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    by = found.by or "population"
    more = f"{found.left_out:,} more, whose intervals begin higher, are not shown" if found.left_out else ""
    title, caption = Text(f"{one.name}: {found.measure} by {by}"), Text(more)
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_edge=False, pad_edge=False)
    table.caption, table.caption_justify = caption if more else None, "left"
    table.add_column(Text(by), overflow="fold")
    for name in ("rows", *_COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for name, measure in found.groups:
        table.add_row(*map(Text, (name, f"{measure.n:,}", *_numbers(measure))))
    return table


def _remarks(one: Explainer) -> list[str]:
    """What a reader should know, each line with whom and which measure it speaks of."""
    measures = [(f"{one.name}, {found.measure}", found) for found in one.measures]
    measures += [
        (f"{one.name}, {groups.by or 'population'} {name}, {found.measure}", found)
        for groups in one.populations
        if not groups.over_time
        for name, found in groups.groups
    ]
    noted = [f"{who}: {note}" for who, found in measures for note in found.notes]
    missing = [f"{one.name}, {why.sentence}" for why in one.missing]
    return [*(f"{one.name}: {note}" for note in one.notes), *noted, *missing]


def _cells(one: Explainer, found: Measure) -> tuple[str, ...]:
    return (one.name if found is one.measures[0] else "", found.measure, *_numbers(found))


def _numbers(found: Measure) -> tuple[str, ...]:
    interval = f"{found.low:.3f}–{found.high:.3f}"
    shares = (f"{found.value:.3f}", interval, f"{found.unverifiable:.1%}")
    return (*shares, _number(found.verified), _number(found.chance))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
