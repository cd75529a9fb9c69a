"""Results as lines of a terminal: at most 100 columns wide, every note on a line of its own."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from faithscope.visible import visible

WIDTH = 100
_INDENT = "  "


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
        others = f" and {len(names) - 3:,} others" if len(names) > 3 else ""
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
