"""A card: what is shown of a result where there is room for a few lines and tables; its lines, its JSON values."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from faithscope.rounding import down, up
from faithscope.visible import visible
from faithscope.words import readable, several

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
_INDENT = "  "


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
    """A table of some columns of a frame, words first: shares with three decimals, and a dash for what is missing.

    Columns whose names end in "low" or "high" are ends of intervals, which are rounded outward.
    """
    shown = frame[list(columns)]
    rows = tuple(tuple(map(_cell, columns, line)) for line in shown.itertuples(index=False))
    heads = tuple(name.replace("_", " ") for name in columns)
    return Table(heads, rows, sum(each.kind == "O" for each in shown.dtypes), title, caption)


def _cell(name: str, value: Any) -> Cell:
    if value is None or value != value:
        return Cell("–")
    if isinstance(value, str):
        return Cell(visible(value))
    if not isinstance(value, float):
        return Cell(f"{value:,}", value)
    end = down if name.endswith("low") else up if name.endswith("high") else "{:.3f}".format
    return Cell(end(value), value)


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


def in_lines(line: str, notes: Iterable[str] = ()) -> str:
    """A line broken after semicolons where it is too wide, and below it the notes.

    Examples
    --------
    >>> print(in_lines("consistency 0.5; n=4", ["a few rows decide this interval"]))
    consistency 0.5; n=4
      note: a few rows decide this interval
    """
    return several_in_lines([("", line, tuple(notes))])


def several_in_lines(lines: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """Several results, each with its name and its notes: their lines first, then every note once, with whom it is on.

    Examples
    --------
    >>> print(several_in_lines([("consistency", "consistency 0.5", ["few rows"]), ("necessity", "necessity 0.1", [])]))
    consistency 0.5
    necessity 0.1
      note on consistency: few rows
    """
    on: dict[str, list[str]] = {}
    for name, _, notes in lines:
        for note in dict.fromkeys(notes):
            on.setdefault(note, []).append(name)
    told = [part for _, line, _ in lines for part in _broken(line)]
    for note, names in on.items():
        others = f" and {several(len(names) - 3, 'other', 'others')}" if len(names) > 3 else ""
        word = "note" if len(names) == len(lines) else f"note on {', '.join(names[:3])}{others}"
        told += _wrapped(f"{word}: {visible(note)}", _INDENT, 2 * _INDENT)
    return "\n".join(told)


def _broken(line: str) -> list[str]:
    """The line, broken after semicolons, and between words if that is not enough; all but the first are indented."""
    clauses = [f"{clause};" for clause in line.split("; ")]
    clauses[-1] = clauses[-1][:-1]
    if max(map(len, clauses)) > WIDTH - len(_INDENT):
        return _wrapped(line, "", _INDENT)
    lines = [clauses[0]]
    for clause in clauses[1:]:
        if len(lines[-1]) + len(clause) < WIDTH:
            lines[-1] += f" {clause}"
        else:
            lines.append(_INDENT + clause)
    return lines


def _wrapped(text: str, first: str, later: str) -> list[str]:
    if len(first) + len(text) <= WIDTH:
        return [first + text]
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False)


def for_json(value: Any) -> Any:
    """A value as JSON has it: text, a finite number, true, false, null, or lists and objects of these.

    What has a ``to_dict`` is what that returns; anything else is told as text.

    Examples
    --------
    >>> import datetime
    >>> for_json((1, np.float64(0.5), datetime.date(2026, 3, 1))), for_json(float("inf"))
    ([1, 0.5, '2026-03-01'], 'inf')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, list | tuple):
        return [for_json(item) for item in value]
    if isinstance(value, dict):
        return {str(name): for_json(item) for name, item in value.items()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, str):
        return str(value)  # a note is text
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else readable(value)
