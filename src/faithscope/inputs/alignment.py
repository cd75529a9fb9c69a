"""Row labels, pandas' index: inputs that disagree about the order of the rows are refused."""

from itertools import combinations
from typing import Any

import numpy as np

from faithscope.errors import BadInput


def index_of(thing: Any) -> Any:
    """The row labels of a pandas object, or of explanations made from one; None for what has none."""
    index = getattr(thing, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "isin") else None


def same_rows(**given: Any) -> tuple[str, ...]:
    """Raise if two inputs have the same row labels in another order; a note if their labels differ.

    Rows are always matched by position. What has no labels (NumPy, lists, polars, Arrow) cannot disagree, and
    repeated labels are fine if their order is the same.

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
        left, right = labels[first], labels[second]
        if len(left) != len(right) or left.equals(right):
            continue
        pairs = enumerate(zip(left.tolist(), right.tolist(), strict=True))
        odd = next(((row, *pair) for row, pair in pairs if not _same(*pair)), None)
        if odd is None:  # the same labels, of another dtype
            continue
        if left.nlevels == right.nlevels and left.isin(right).all() and right.isin(left).all():
            row, wanted, label = odd
            raise BadInput(
                f"{second[0].upper()}{second[1:]} have the row labels of {first} in another order: at position {row}, "
                f"{label!r} instead of {wanted!r}. Make them in the order of {first}, such as by "
                f"{second}.loc[{first}.index] of pandas if labels do not repeat; or pass them without labels, such as "
                f"{second}.to_numpy(), if rows are already matched by position."
            )
        differ.append(f"{first} and {second}")
    return (f"row labels of {differ[0]} differ, so rows were matched by position",) if differ else ()


def _same(left: Any, right: Any) -> bool:
    """Whether two labels are equal; a missing one equals only itself."""
    try:
        return left is right or bool(left == right)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor different
        return False


def made_in_order(rows: Any, answers: Any, what: str) -> None:
    """Raise if a function returned the labels of its rows in another order.

    A fresh index, 0 to n - 1, says nothing: a function gives one answer per row, in their order.
    """
    if not is_fresh(index_of(answers)):
        same_rows(**{"X": rows, what: answers})


def is_fresh(index: Any) -> bool:
    """Whether row labels are only positions, as pandas makes them by default; or there are none."""
    if index is None:
        return True
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def row_labels(X: Any) -> Any:
    """The labels of the rows of X, tuples if they have several levels; None if X has no labels."""
    index = index_of(X)
    return index.to_flat_index() if index is not None and index.nlevels > 1 else index


def labels_of(*things: Any) -> Any:
    """The row labels of the first of these inputs that has any; None if none has."""
    return next((index for index in map(index_of, things) if index is not None), None)


def joined(first: Any, second: Any) -> Any:
    """The labels of some rows, then those of others; None if either has none."""
    return None if first is None or second is None else first.append(second)


def taken(index: Any, rows: Any) -> Any:
    """The labels of some rows, by position, by a mask or by a slice."""
    return None if index is None else index[rows if isinstance(rows, slice) else np.asarray(rows)]
