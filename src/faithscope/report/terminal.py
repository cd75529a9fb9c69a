"""The summary in a terminal: the card that Markdown shows too, as lines and tables of letters."""

from typing import TYPE_CHECKING, Any

from faithscope.card import Table
from faithscope.report.explainer import Summary
from faithscope.report.summary_card import summary_card

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {
    "faithful": "green",
    "consistent": "blue",
    "unknown": "yellow",
    "partly": "cyan",
    "random": "red",
    "chance": "magenta",
    "unfaithful": "red",
}


def show(summary: Summary, console: "Console | None" = None) -> None:
    """Print the summary: all measures, one sentence per explainer, tables of its populations, then remarks."""
    from rich.console import Console
    from rich.text import Text

    console, card = console or Console(), summary_card(summary, short=True)
    overview, *others = card.tables
    _print(overview, console)
    console.print()
    for said in card.sentences:  # names are never read as markup, whatever they hold
        console.print(Text(said.subject, "bold") + Text("  ") + Text(said.text, _STYLES.get(said.look, "")))
    for table in others:
        console.print()
        _print(table, console)
    if card.notes:
        console.print()
    for note in card.notes:
        console.print(Text(note))


def _print(table: Table, console: "Console") -> None:
    """Print a table without columns for which only a page has room; its first column never breaks inside a word."""
    from rich import box
    from rich import table as rich
    from rich.text import Text

    table = table.narrow()
    written = rich.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    written.padding = (0, 1, 0, 0)
    for place, name in enumerate(table.columns):
        justify: Any = "left" if place < table.words else "right"
        written.add_column(Text(name), justify=justify, overflow="ellipsis", no_wrap=place > 0)
    for row in table.rows:
        written.add_row(*map(Text, row))
    for part in (Text(table.title), written, Text(table.caption)):
        if part:
            console.print(part)
