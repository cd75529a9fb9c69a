"""What a caller probably meant: near names for one that is not there."""

from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 12  # names that are listed where none is near


def hint(name: object, known: Iterable[object]) -> str:
    """A sentence with the names nearest to one that is not known, or with those there are.

    Examples
    --------
    >>> hint("tre", ["tree", "lime"]), hint("x", ["tree", "lime"])
    ("Did you mean 'tree'?", "There are 'tree', 'lime'.")
    """
    names = list(map(str, known))
    folded = {other.casefold(): other for other in reversed(names)}
    near = [folded[other] for other in get_close_matches(str(name).casefold(), list(folded), 3)]
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"There are {', '.join(map(repr, names[:_SHOWN]))}{more}."
