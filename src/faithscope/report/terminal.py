"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from faithscope.measures.estimate import Estimate
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
    console.print(_measures(summary, console), "")
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


def _measures(summary: Summary, console: "Console") -> "Table":
    lines = [
        ((explainer.name if estimate is explainer.measures[0] else "", estimate.measure), estimate)
        for explainer in summary.explainers
        for estimate in explainer.told
    ]
    width = len("consistency") + max(len(explainer.name) for explainer in summary.explainers)
    return _table(console, caption(summary.estimates[0]), ("explainer", "measure"), lines, width)


def _populations(explainer: Explainer, groups: Groups, console: "Console") -> "Table":
    by = groups.by or "population"
    rows = max(len("rows"), *(len(f"{estimate.n:,}") for _, estimate in groups.groups))
    longest = max(len(word) for name, _ in groups.groups for word in ("", *name.split()))
    width, columns = max(len(by), longest) + _GAP + rows, list(COLUMNS)
    for name in ("chance", "unverifiable"):  # those that the main table has too give way first
        if sum(_GAP + _WIDTHS[column] for column in columns) > console.width - width:
            columns.remove(name)
    lines = [((name, f"{estimate.n:,}"), estimate) for name, estimate in groups.groups]
    table = _table(console, f"{explainer.name}: {groups.title}", (by, "rows"), lines, width, columns)
    more = f"{f'{groups.more}. ' if groups.more else ''}{groups.lower}"
    table.caption, table.caption_justify = _text(more) if more else None, "left"
    return table


def _table(
    console: "Console",
    title: str,
    heads: tuple[str, str],
    lines: Sequence[tuple[tuple[str, str], Estimate]],
    width: int,
    columns: Sequence[str] = COLUMNS,
) -> "Table":
    """Estimates under words, whose first column never breaks inside a word; with bars where there is room for them."""
    from rich import box
    from rich.table import Table

    bars = drawn(console, width + sum(_GAP + _WIDTHS[name] for name in columns))
    table = Table(box=box.SIMPLE_HEAD, title=_text(title), title_justify="left", show_edge=False, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column(_text(heads[0]), overflow="ellipsis")
    for name in (heads[1], *columns):
        table.add_column(name, justify="left" if name == "measure" else "right", no_wrap=True)
    if bars:
        table.add_column(SCALE, no_wrap=True)
    for words, estimate in lines:
        told = dict(zip(COLUMNS, numbers(estimate), strict=True))
        cells = (*words, *(told[column] for column in columns), *((bar(estimate),) if bars else ()))
        table.add_row(*map(_text, cells))
    return table


def _text(words: str) -> "Text":
    """Words that are never read as markup, whatever they hold."""
    from rich.text import Text

    return Text(words)
