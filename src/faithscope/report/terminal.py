"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from faithscope.measures.telling import COLUMNS, Level, caption, numbers
from faithscope.report.bars import SCALE, bar, drawn
from faithscope.report.explainer import Explainer, Groups, Summary, remarks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_GAP = 2  # between columns
_WIDTHS = {"checked": 7, "interval": 11, "chance": 6, "unverifiable": 12}  # of `COLUMNS`
_STYLES: dict[Level, str] = {
    "faithful": "green",
    "consistent": "blue",
    "unknown": "yellow",
    "partly": "cyan",
    "random": "red",
    "chance": "magenta",
    "unfaithful": "red",
}


def show(summary: Summary, console: "Console | None" = None) -> None:
    """Print the summary: one table, one sentence per explainer, tables of its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    console.print(_table(summary, console), "")
    for explainer in summary.explainers:
        line = Text(explainer.name, style="bold")
        # Names are never read as markup, whatever they hold.
        console.print(line.append("  ").append(Text(explainer.said, style=_STYLES[explainer.verdict.level])))
    for explainer in summary.explainers:
        if explainer.slices is not None:
            heading = Text(f"{explainer.name}: for whom does it fail?", style="bold")
            console.print("", heading, Text(str(explainer.slices)), sep="\n")
        for groups in explainer.populations:
            if not groups.over_time:
                console.print("", _populations(explainer, groups, console))
    lines = [line for explainer in summary.explainers for line in remarks(explainer, over_time=False)]
    console.print(*map(Text, ["", *lines] if lines else []), sep="\n", end="\n" if lines else "")


def render(summary: Summary, width: int = 100) -> str:
    """The same as plain text, without color."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        show(summary, console)
    return captured.get()


def _table(summary: Summary, console: "Console") -> "Table":
    from rich.text import Text

    first = summary.explainers[0].measures[0]
    names = [explainer.name for explainer in summary.explainers]
    bars = drawn(console, sum(_WIDTHS.values()) + len("consistency") + _longest(names) + _GAP * len(COLUMNS))
    table = _empty(caption(first), "explainer")
    table.add_column("measure", no_wrap=True)
    _add_numbers(table, COLUMNS, bars)
    for explainer in summary.explainers:
        for estimate in explainer.told:
            name = explainer.name if estimate is explainer.measures[0] else ""
            bar_cell = (bar(estimate),) if bars else ()
            table.add_row(*map(Text, (name, estimate.measure, *numbers(estimate), *bar_cell)))
    return table


def _populations(explainer: Explainer, groups: Groups, console: "Console") -> "Table":
    from rich.text import Text

    by = groups.by or "population"
    more = f"{f'{groups.more}. ' if groups.more else ''}{groups.lower}"
    rows = max(len("rows"), *(len(f"{estimate.n:,}") for _, estimate in groups.groups))
    width = max(len(by), *(_longest_word(name) for name, _ in groups.groups)) + _GAP + rows
    columns = _fitting(console.width - width)
    bars = drawn(console, width + sum(_GAP + _WIDTHS[name] for name in columns))
    table = _empty(Text(f"{explainer.name}: {groups.title}"), Text(by))
    table.caption, table.caption_justify = Text(more) if more else None, "left"
    _add_numbers(table, ("rows", *columns), bars)
    for name, estimate in groups.groups:
        told = dict(zip(COLUMNS, numbers(estimate), strict=True))
        bar_cell = (bar(estimate),) if bars else ()
        table.add_row(*map(Text, (name, f"{estimate.n:,}", *(told[column] for column in columns), *bar_cell)))
    return table


def _empty(title: "str | Text", first: "str | Text") -> "Table":
    """A table whose first column, of names, never breaks a name inside a word."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", show_edge=False, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column(first, overflow="ellipsis")
    return table


def _add_numbers(table: "Table", columns: Sequence[str], bars: bool) -> None:
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    if bars:
        table.add_column(SCALE, no_wrap=True)


def _fitting(width: int) -> tuple[str, ...]:
    """The columns of numbers that fit beside the names: those that the main table has too give way first."""
    columns = list(COLUMNS)
    for name in ("chance", "unverifiable"):
        if sum(_GAP + _WIDTHS[column] for column in columns) > width:
            columns.remove(name)
    return tuple(columns)


def _longest(names: Iterable[str]) -> int:
    return max(map(len, names))


def _longest_word(name: str) -> int:
    return max(map(len, name.split() or [""]))
