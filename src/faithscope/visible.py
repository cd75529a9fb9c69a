"""Text from data, made safe to show: characters that would control a terminal are written as their codes."""

import unicodedata

_HIDDEN = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}  # control, surrogate, private, unassigned, separators of lines
_REORDERING = set("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    r"""The same text with every control character as its code.

    All text that comes from a caller or a table is shown through this function: in messages, terminals, `describe`,
    notes, notebooks and pages.

    Examples
    --------
    >>> print(visible("a\x1b[31mb\n"))
    a\x1b[31mb\n
    """
    return text if text.isprintable() else "".join(map(_character, text))


def _character(character: str) -> str:
    hidden = unicodedata.category(character) in _HIDDEN or character in _REORDERING
    return character.encode("unicode_escape").decode("ascii") if hidden else character


def visible_lines(text: str) -> str:
    """`visible` for text of several lines, which stay lines."""
    return "\n".join(map(visible, text.split("\n")))
