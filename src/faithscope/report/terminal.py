"""The summary in a terminal: the verdicts, and one table."""

from io import StringIO
from typing import TYPE_CHECKING

from faithscope.report.summary import Explainer, Measure, Summary
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
    """Print the summary: one table, then a sentence for each explainer."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(_table(summary), "")
    for one in summary.explainers:
        line = Text(one.name, style="bold")
        # Names are never read as markup, whatever they hold.
        console.print(line.append("  ").append(Text(one.verdict.sentence, style=_STYLES[one.verdict.level])))


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


def _cells(one: Explainer, found: Measure) -> tuple[str, ...]:
    name = one.name if found is one.measures[0] else ""
    interval = f"{found.low:.3f}–{found.high:.3f}"
    numbers = (_number(found.verified), _number(found.chance))
    return (name, found.measure, f"{found.value:.3f}", interval, f"{found.unverifiable:.1%}", *numbers)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
