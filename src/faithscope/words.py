"""How values, names and counts read in a sentence."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches

import numpy as np

from faithscope.visible import visible

_SHOWN = 12  # names that are listed if none is close


def hint(name: object, known: Iterable[object]) -> str:
    """A sentence with the known names closest to this one, whatever its case; if none is close, with those there are.

    Examples
    --------
    >>> hint("Tre", ["tree", "lime"]), hint("x", ["tree", "lime"])
    ("Did you mean 'tree'?", "There are 'tree', 'lime'.")
    """
    names = list(map(str, known))
    by_letters = {candidate.casefold(): candidate for candidate in names}
    candidates = [by_letters[each] for each in get_close_matches(str(name).casefold(), by_letters, 3)]
    if candidates:
        return f"Did you mean {' or '.join(map(repr, candidates))}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"There are {', '.join(map(repr, names[:_SHOWN]))}{more}."


def shorten(parts: Sequence[str], most: int = 12) -> str:
    """The parts in one line; only the first few if there are many."""
    return ", ".join(parts) if len(parts) <= most else ", ".join(parts[:most]) + f", … ({len(parts) - most} more)"


def readable(value: object) -> str:
    """The text of one value, the same in every process: sets sorted, whole numbers without a point, midnight a day."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(readable, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(readable, value)) + ")"
    if isinstance(value, float | np.floating):
        value = float(value) + 0.0
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else str(value)
    if isinstance(value, datetime) and value.tzinfo is None and value == datetime(value.year, value.month, value.day):
        return str(value.date())
    return str(value)


def told_apart(values: Iterable[object], *taken: str) -> list[str]:
    """How different values read, no two of them alike and none as a text that is taken: if need be as Python has them.

    Examples
    --------
    >>> told_apart(["north", None]), told_apart(["None", None]), told_apart(["all rows"], "all rows")
    (['north', 'None'], ["'None'", 'None'], ["'all rows'"])
    """
    values = list(values)
    texts = [visible(readable(value)) for value in values]
    alike = len({*texts, *taken}) < len(texts) + len(taken)
    return [visible(repr(value)) for value in values] if alike else texts


def numbered(names: Iterable[str], sign: str) -> list[str]:
    """Names of which no two are alike whatever their case: a sign and a number follow those that would be.

    Examples
    --------
    >>> numbered(["a", "A", "b", "a"], "_")
    ['a', 'A_2', 'b', 'a_3']
    """
    taken: dict[str, str] = {}
    for name in names:
        candidate, number = name, 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{name}{sign}{number}"
        taken[candidate.casefold()] = candidate
    return list(taken.values())


def several(count: int, singular: str, plural: str) -> str:
    """A count with its words.

    Examples
    --------
    >>> several(1, "row misses", "rows miss"), several(2000, "row misses", "rows miss")
    ('1 row misses', '2,000 rows miss')
    """
    return f"{count:,} {singular if count == 1 else plural}"
