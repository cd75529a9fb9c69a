"""A card as GitHub-flavored Markdown: for model cards, pull requests and job summaries."""

import re

from faithscope.sinks.card import Card, Sentence, Table
from faithscope.visible import visible

_MARKUP = re.compile(r"[\\`*_\[\]<>|~$&]")
_LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=\bGH)(?=-\d)")  # GitHub would notify @somebody, and link #12
_ADDRESS = re.compile(r"(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)  # GitHub would link these
_OPENING = re.compile(r"^\d+(?=[.)](\s|$))|^(?=[#+=-])")  # would begin a heading, a rule or a list
_NOTHING = "&#8203;"  # a space without width


def render(card: Card) -> str:
    r"""The card as Markdown, ending in a line break.

    Examples
    --------
    >>> print(render(Card("Who?", (Sentence("Cannot tell yet."),), (Table(("group", "n"), (("a|b", "3"),)),))), end="")
    ### Who?
    <BLANKLINE>
    Cannot tell yet.
    <BLANKLINE>
    | group | n |
    | :--- | ---: |
    | a\|b | 3 |
    """
    parts = [f"### {_line(card.title)}", *map(_sentence, card.sentences), *map(_table, card.tables)]
    notes = "\n".join(f"- {_line(note)}" for note in card.notes)
    return "\n\n".join([*parts, notes] if notes else parts) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown shows letter by letter, whatever it holds: no markup, no links, nobody notified.

    Examples
    --------
    >>> escape("a_b | <b>"), escape("@team #12"), escape("www.x.org")
    ('a\\_b \\| \\<b\\>', '@&#8203;team #&#8203;12', 'www\\.x.org')
    """
    return _ADDRESS.sub(r"\\", _LINKED.sub(_NOTHING, _MARKUP.sub(r"\\\g<0>", visible(text))))


def _line(text: str) -> str:
    """Escaped text that begins a line."""
    return _OPENING.sub(r"\g<0>\\", escape(text.strip()))


def _sentence(sentence: Sentence) -> str:
    return f"**{escape(sentence.subject)}**: {escape(sentence.text)}" if sentence.subject else _line(sentence.text)


def _table(table: Table) -> str:
    table = table.narrow()
    rules = [":---" if place < table.words else "---:" for place in range(len(table.columns))]
    cells = [map(escape, table.columns), rules, *(map(escape, row) for row in table.rows)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    title, caption = (f"**{escape(table.title)}**\n\n" if table.title else ""), f"\n\n{_line(table.caption)}"
    return f"{title}{lines}{caption if table.caption else ''}"
