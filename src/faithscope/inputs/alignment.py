"""Row labels: what pandas calls an index. Inputs that disagree about the order of the rows are refused."""

from itertools import combinations
from typing import Any

import numpy as np

from faithscope.errors import BadInput


def index_of(thing: Any) -> Any:
    """The row labels of a pandas object, or of explanations made from one; None for what has none."""
    found = getattr(thing, "index", None)
    return found if hasattr(found, "equals") and hasattr(found, "isin") else None


def same_rows(**given: Any) -> tuple[str, ...]:
    """Raise where two inputs have the same row labels in another order; notes where their labels differ.

    Rows are matched by position, always. What has no labels (NumPy, lists, polars, Arrow) cannot disagree, and
    repeated labels are fine where their order is the same.

    Parameters
    ----------
    **given
        Inputs by the name that a caller knows them by, all of one length; None for what was not given.

    Returns
    -------
    tuple of str
        At most one note, for `Estimate.notes`.
    """
    labels = {name: index for name, thing in given.items() if (index := index_of(thing)) is not None}
    differ = []
    for first, second in combinations(labels, 2):
        mine, theirs = labels[first], labels[second]
        if len(mine) != len(theirs) or _equal(mine, theirs):
            continue
        if mine.nlevels == theirs.nlevels and mine.isin(theirs).all() and theirs.isin(mine).all():
            raise BadInput(_reordered(first, second, mine, theirs, given[second]))
        differ.append(f"{first} and {second}")
    return (f"row labels of {differ[0]} differ, so rows were matched by position",) if differ else ()


def _equal(mine: Any, theirs: Any) -> bool:
    """Whether two indexes hold the same labels in the same order, of whatever dtype."""
    return mine is theirs or bool(mine.equals(theirs)) or all(map(_same, mine.tolist(), theirs.tolist()))


def _same(mine: Any, theirs: Any) -> bool:
    """Whether two labels are equal; a missing one equals only itself."""
    try:
        return mine is theirs or bool(mine == theirs)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor different
        return False


def _reordered(first: str, second: str, mine: Any, theirs: Any, thing: Any) -> str:
    pairs = enumerate(zip(mine.tolist(), theirs.tolist(), strict=True))
    row, wanted, found = next((row, a, b) for row, (a, b) in pairs if not _same(a, b))
    place = f"at position {row}, {found!r} instead of {wanted!r}"
    seen = f"{second[0].upper()}{second[1:]} have the row labels of {first} in another order: {place}"
    if not hasattr(thing, "loc"):
        return f"{seen}. Make them from a table in the order of {first}, or without labels if that is their order."
    by_position = f"pass {second}.to_numpy() if rows are already matched by position"
    if not (mine.is_unique and theirs.is_unique):
        return f"{seen}. Labels repeat, so they cannot be aligned by label: {by_position}."
    return f"{seen}. Align them, {second}.loc[{first}.index], or {by_position}."


def made_in_order(rows: Any, made: Any, what: str) -> None:
    """Raise where a function gave back the labels of its rows in another order.

    A fresh index, 0 to n - 1, says nothing: what a function makes is one answer per row, in their order.
    """
    if not is_fresh(index_of(made)):
        same_rows(**{"X": rows, what: made})


def is_fresh(index: Any) -> bool:
    """Whether row labels are only positions, as pandas makes them where nobody gives any; or there are none."""
    if index is None:
        return True
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def row_labels(X: Any) -> Any:
    """What the rows of X are called, a tuple where labels have several levels; None where X has no labels."""
    found = index_of(X)
    return found.to_flat_index() if found is not None and found.nlevels > 1 else found


def labels_of(*things: Any) -> Any:
    """The row labels of the first of these that has any; None where none has."""
    return next((index for index in map(index_of, things) if index is not None), None)


def joined(mine: Any, theirs: Any) -> Any:
    """The labels of some rows, then those of others; None where either has none."""
    return None if mine is None or theirs is None else mine.append(theirs)


def taken(index: Any, rows: Any) -> Any:
    """The labels of some rows, by position, by a mask or by a slice."""
    return None if index is None else index[rows if isinstance(rows, slice) else np.asarray(rows)]
