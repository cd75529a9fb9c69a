"""What a caller probably meant: the known names closest to one that is not known."""

from collections.abc import Iterable
from difflib import get_close_matches

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
