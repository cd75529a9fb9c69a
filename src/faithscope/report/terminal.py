"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from io import StringIO
from typing import TYPE_CHECKING

from faithscope.measures.telling.cards import COLUMNS, caption, numbers
from faithscope.measures.telling.verdict import Level
from faithscope.report.summary import Explainer, Groups, Summary, remarks

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


def show(summary: Summary, console: "Console | None" = None) -> None:
    """Print the summary: one table, one sentence per explainer, tables of its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(_table(summary), "")
    for explainer in summary.explainers:
        line = Text(explainer.name, style="bold")
        # Names are never read as markup, whatever they hold.
        console.print(line.append("  ").append(Text(explainer.said, style=_STYLES[explainer.verdict.level])))
    for explainer in summary.explainers:
        for groups in explainer.populations:
            if not groups.over_time:
                console.print("", _populations(explainer, groups))
    lines = [line for explainer in summary.explainers for line in remarks(explainer, over_time=False)]
    console.print(*map(Text, ["", *lines] if lines else []), sep="\n", end="\n" if lines else "")


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
    table = Table(box=box.SIMPLE_HEAD, title=caption(first), title_justify="left", show_edge=False, pad_edge=False)
    table.add_column("explainer", overflow="fold")
    table.add_column("measure", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for explainer in summary.explainers:
        for estimate in explainer.told:
            name = explainer.name if estimate is explainer.measures[0] else ""
            table.add_row(*map(Text, (name, estimate.measure, *numbers(estimate))))
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
    for name in ("rows", *COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for name, estimate in groups.groups:
        table.add_row(*map(Text, (name, f"{estimate.n:,}", *numbers(estimate))))
    return table
