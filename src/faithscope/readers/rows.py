"""One object per row: a list, a tuple, or a column of objects."""

from typing import Any

import numpy as np


def one_per_row(thing: Any) -> list[Any]:
    """The objects of a list, one per row; none if this is no list of objects.

    Examples
    --------
    >>> one_per_row(({"age": 0.3}, {"age": 0.1})), one_per_row("text"), one_per_row(np.zeros(3))
    ([{'age': 0.3}, {'age': 0.1}], [], [])
    """
    if isinstance(thing, list | tuple):
        return list(thing)
    column = getattr(thing, "dtype", None) == np.dtype("O") and np.ndim(thing) == 1
    return list(thing) if column else []
