"""One object per row: a list, a tuple, or a column of objects."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput


def one_per_row(thing: Any) -> list[Any]:
    """The objects of a list, one per row; none if this is no list of objects.

    Examples
    --------
    >>> one_per_row(({"age": 0.3}, {"age": 0.1})), one_per_row("text"), one_per_row(np.zeros(3))
    ([{'age': 0.3}, {'age': 0.1}], [], [])
    """
    return list(thing) if _is_list(thing) else []


def first_of(thing: Any) -> Any:
    """The first object of a list, one per row; None if this is no list of objects, or an empty one."""
    return next(iter(thing), None) if _is_list(thing) else None


def _is_list(thing: Any) -> bool:
    if isinstance(thing, list | tuple):
        return True
    return bool(getattr(thing, "dtype", None) == np.dtype("O") and np.ndim(thing) == 1)


def rows_of_objects(thing: Any, *attributes: str) -> list[Any]:
    """The objects that have all these attributes, one per row, of one object or a list; none if they have not.

    If the first of a list has them, all must.
    """
    first = first_of(thing) if _is_list(thing) else thing
    if not all(hasattr(first, name) for name in attributes):
        return []
    rows = one_per_row(thing) or [thing]
    odd = next((row for row, item in enumerate(rows) if not all(hasattr(item, name) for name in attributes)), None)
    if odd is not None:
        raise BadInput(
            f"Row {odd} is a {type(rows[odd]).__name__}, but row 0 is a {type(rows[0]).__name__}: pass one kind of "
            "explanation for all rows."
        )
    return rows
