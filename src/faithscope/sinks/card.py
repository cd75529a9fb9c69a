"""A card: what is shown of a result where there is room for a few lines and tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells of text under a heading.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuple of str
    words : int
        How many columns, from the left, are words; the others are numbers, aligned to the right.
    title, caption : str
        What stands above and below it; empty if there is nothing to say.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and whom it is about if there are several."""

    text: str
    subject: str = ""


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
