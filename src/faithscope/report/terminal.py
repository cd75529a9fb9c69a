"""The summary in a terminal: all measures, the verdicts, the populations, and what a reader should know."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import Level, caption, estimate_table
from faithscope.report.bars import SCALE, bar
from faithscope.report.explainer import Summary, remarks
from faithscope.sinks.card import Sentence, Table

if TYPE_CHECKING:
    from rich.console import Console

_GAP = 2  # between columns
_STYLES: dict[Level, str] = {
    "faithful": "green",
    "consistent": "blue",
    "unknown": "yellow",
    "partly": "cyan",
    "random": "red",
    "chance": "magenta",
    "unfaithful": "red",
}
_BLANK = Sentence("")


def show(summary: Summary, console: "Console | None" = None) -> None:
    """Print the summary: one table, one sentence per explainer, tables of its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console = console or Console()
    for block in _blocks(summary):
        if isinstance(block, Table):
            console.print(_table(block, console))
        else:  # Names are never read as markup, whatever they hold.
            parts = ((block.subject, "bold"), (block.text, block.look))
            console.print(Text("  ").join(Text(text, style=style) for text, style in parts if text))


def render(summary: Summary, width: int = 100) -> str:
    """The same as plain text, without color."""
    from rich.console import Console

    console = Console(file=StringIO(), width=width, no_color=True, force_terminal=False, highlight=False)
    with console.capture() as captured:
        show(summary, console)
    return captured.get()


def _blocks(summary: Summary) -> Iterator[Table | Sentence]:
    lines = [
        ((explainer.name if estimate is explainer.measures[0] else "", estimate.measure), estimate)
        for explainer in summary.explainers
        for estimate in explainer.told
    ]
    yield _with_bars(("explainer", "measure"), lines, caption(summary.estimates[0]))
    yield _BLANK
    for explainer in summary.explainers:
        yield Sentence(explainer.said, explainer.name, _STYLES[explainer.verdict.level])
    for explainer in summary.explainers:
        if explainer.slices is not None:
            yield from (_BLANK, Sentence("", f"{explainer.name}: for whom does it fail?"))
            yield Sentence(str(explainer.slices))
        for groups in explainer.populations:
            if not groups.over_time:
                yield _BLANK
                lines = [((name, f"{estimate.n:,}"), estimate) for name, estimate in groups.groups]
                heads, more = (groups.by or "population", "rows"), f"{groups.more}. " if groups.more else ""
                table = _with_bars(heads, lines, f"{explainer.name}: {groups.title}", f"{more}{groups.lower}")
                # Columns that the main table has too give way first.
                yield replace(table, wide=(SCALE, "chance", "unverifiable"))
    noted = [line for explainer in summary.explainers for line in remarks(explainer, over_time=False)]
    yield from map(Sentence, ["", *noted] if noted else [])


def _with_bars(
    heads: tuple[str, str], lines: Sequence[tuple[tuple[str, str], Estimate]], title: str, below: str = ""
) -> Table:
    table = estimate_table(heads, lines, title, below)
    rows = tuple((*row, bar(estimate)) for row, (_, estimate) in zip(table.rows, lines, strict=True))
    return replace(table, columns=(*table.columns, SCALE), rows=rows, wide=(SCALE,))


def _table(table: Table, console: "Console") -> Any:
    """The table without columns for which there is no room; its first column never breaks inside a word.

    Bars are drawn by terminals that have the letters; never to files, pipes and CI.
    """
    from rich import box
    from rich import table as rich
    from rich.text import Text

    drawn, given_up = console.is_terminal and console.encoding.startswith("utf"), list[str]()
    for name in table.wide:
        if (name == SCALE and not drawn) or _width(table, given_up) > console.width:
            given_up.append(name)
    shown = replace(table, wide=tuple(given_up)).narrow()
    written = rich.Table(
        box=box.SIMPLE_HEAD, title=Text(shown.title), title_justify="left", show_edge=False, pad_edge=False
    )
    written.padding = (0, 1, 0, 0)
    written.caption, written.caption_justify = Text(shown.caption) if shown.caption else None, "left"
    for place, name in enumerate(shown.columns):
        justify: Any = "left" if place < shown.words or name == SCALE else "right"
        written.add_column(Text(name), justify=justify, overflow="ellipsis", no_wrap=place > 0)
    for row in shown.rows:
        written.add_row(*map(Text, row))
    return written


def _width(table: Table, given_up: Sequence[str]) -> int:
    """How many letters the table is wide, if its first column breaks between words."""
    longest = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    longest[0] = max(len(word) for row in table.rows for word in (table.columns[0], *row[0].split()))
    kept = [wide for name, wide in zip(table.columns, longest, strict=True) if name not in given_up]
    return sum(kept) + _GAP * (len(kept) - 1)
