"""What a caller probably meant: the known names closest to one that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 12  # names that are listed if none is close


def hint(name: object, known: Iterable[object]) -> str:
    """A sentence with the known names closest to this one, or, if none is close, with those there are.

    Examples
    --------
    >>> hint("Tre", ["tree", "lime"]), hint("x", ["tree", "lime"])
    ("Did you mean 'tree'?", "There are 'tree', 'lime'.")
    """
    names = list(map(str, known))
    candidates = close(name, names)
    if candidates:
        return f"Did you mean {' or '.join(map(repr, candidates))}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"There are {', '.join(map(repr, names[:_SHOWN]))}{more}."


def close(name: object, known: Iterable[str]) -> list[str]:
    """The known names that are spelled almost like this one, in whatever case, the closest first.

    Examples
    --------
    >>> close("custmer", ["Customer", "when"])
    ['Customer']
    """
    by_letters = {candidate.casefold(): candidate for candidate in known}
    return [by_letters[letters] for letters in get_close_matches(str(name).casefold(), list(by_letters), 3)]
