"""A card: what is shown of a result where there is room for a few lines and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd


class Cell(str):
    """The text of a cell of a table, with what it is sorted by, and how it looks on a page."""

    __slots__ = ("look", "value")
    value: Any
    look: str

    def __new__(cls, text: str, value: Any = None, look: str = "") -> Self:
        """The text, the number behind it, and the level of a verdict if it is one."""
        cell = super().__new__(cls, text)
        cell.value, cell.look = value, look
        return cell


@dataclass(frozen=True)
class Table:
    """Cells of text under a heading.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
        A `Cell` is a text that says how it is sorted.
    words : int
        How many columns, from the left, are words; the others are numbers, aligned to the right.
    title, caption : str
        What stands above and below it; empty if there is nothing to say.
    wide : tuple of str
        Columns for which only a page has room.
    anchor : str
        Its name on a page, if something refers to it.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    title: str = ""
    caption: str = ""
    wide: tuple[str, ...] = ()
    anchor: str = ""

    def narrow(self) -> "Table":
        """The table without the columns for which only a page has room."""
        kept = [place for place, name in enumerate(self.columns) if name not in self.wide]
        columns, *rows = (tuple(line[place] for place in kept) for line in (self.columns, *self.rows))
        words = sum(place < self.words for place in kept)
        return Table(columns, tuple(rows), words, self.title, self.caption)


def framed(frame: "pd.DataFrame", columns: Sequence[str], caption: str = "", title: str = "") -> Table:
    """A table of some columns of a frame, words first: shares with three decimals, and a dash for what is missing."""
    shown = frame[list(columns)]
    rows = tuple(tuple(map(_cell, line)) for line in shown.itertuples(index=False))
    return Table(tuple(columns), rows, sum(each.kind == "O" for each in shown.dtypes), title, caption)


def _cell(value: Any) -> Cell:
    if value is None or value != value:
        return Cell("–")
    if isinstance(value, str):
        return Cell(visible(value))
    return Cell(f"{value:.3f}" if isinstance(value, float) else f"{value:,}", value)


@dataclass(frozen=True)
class Sentence:
    """A sentence, and whom it is about if there are several.

    Attributes
    ----------
    look : str
        On a page, "aside" for what is told beside, "nothing" for what is missing.
    """

    text: str
    subject: str = ""
    look: str = ""


@dataclass(frozen=True)
class Card:
    """A title, the verdict in sentences, tables of numbers, and what a reader should know.

    All text is plain: whoever writes a card escapes it.

    Examples
    --------
    >>> from faithscope import consistency
    >>> card = consistency(["old", "old", "young"], [1, 1, 0])._card()
    >>> card.title, card.tables[0].columns[0]
    ('consistency', 'checked')
    """

    title: str
    sentences: tuple[Sentence, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
