"""A run in the terminal: one table per part, then how many printed numbers are met and which claims hold."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faithscope_reproduction.records import Claim
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.clock import Clock, timing
from faithscope_reproduction.telling.summary import COLUMNS, MATCHES, cells, lines, match_cells, matches, spoken
from faithscope_reproduction.telling.verdicts import in_a_minute

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDTH = 150
_STYLES = {"holds": "green", "fails": "red", "undecided": "yellow"}


def show(parts: Sequence[Part], console: "Console | None" = None, clock: Clock | None = None) -> None:
    """Print every table, the claims, how many printed numbers are met, and the time."""
    from rich.console import Console
    from rich.text import Text

    if console is None:
        console = Console()
        console = console if console.is_terminal else Console(width=_WIDTH)  # a file has no width of its own
    for part in parts:
        title = f"{part.name}  {part.title}  ({spoken(part.outcome.seconds)})"
        console.print(_table(title, COLUMNS, [cells(line) for line in lines(part.outcome.records)]))
        for note in part.outcome.notes:
            console.print(Text(note))
    _claims([claim for part in parts for claim in part.outcome.claims], console)
    console.print(_table("Printed numbers that are met", MATCHES, [match_cells(match) for match in matches(parts)]))
    for heading, told in in_a_minute(parts):
        console.print(Text(f"{heading}: {told}"))
    console.print(Text(timing(parts, clock)))


def _claims(claims: Sequence[Claim], console: "Console") -> None:
    from rich.text import Text

    for claim in claims:
        line = Text(f"{claim.verdict:9} ", style=_STYLES[claim.verdict])
        console.print(
            line.append(Text(f"{claim.table}, {claim.setting.replace('_', ' ')}: {claim.words}", style="default"))
        )


def _table(title: str, names: Sequence[str], rows: Iterable[tuple[str, ...]]) -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, title=Text(title), title_justify="left")
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place < 2 else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
