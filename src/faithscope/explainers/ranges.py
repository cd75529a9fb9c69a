"""Ranges of a feature between edges: the quarters of a column of numbers, and the rules that say where a value lies."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import numpy as np

from faithscope.explanations.conditions.condition import Condition, canonical, conjoin, to_condition
from faithscope.explanations.conditions.conjunctions import number_conjunctions
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Codes, Floats, Names


def edges_of(column: Floats, *, whole: bool) -> Floats:
    """The distinct quartiles of the values that are not missing; rounded down if they must be whole.

    Examples
    --------
    >>> edges_of(np.array([1.0, 2.0, np.nan, 3.0, 4.0]), whole=True).tolist()
    [1.0, 2.0, 3.0]
    """
    present = column[~np.isnan(column)]
    cuts = np.unique(np.percentile(present, (25, 50, 75))) if len(present) else present
    return np.unique(np.floor(cuts)) if whole else cuts


def bins_of(column: Floats, edges: Floats | None) -> Codes:
    """The quarter of each value, from 0; the edge belongs to the lower one. Missing values come after the last.

    Categories, which have no edges, are their own bins.
    """
    return column.astype(np.int64) if edges is None else np.searchsorted(edges, column) + np.isnan(column)


def range_condition(
    j: int,
    name: str,
    edges: Floats,
    low: int,
    high: int,
    readable: Callable[[float], Any] = float,
    missing: bool = False,
) -> Condition:
    """That a value lies in the ranges `low` to `high` between edges, or, if `missing`, misses.

    Known in all ranges, and missing beyond the last.
    """
    if low > len(edges) or high < 0:
        return to_condition(j, name, "==", None)
    above = readable(edges[low - 1]) if low else -inf
    upto = readable(edges[high]) if high < len(edges) else inf
    return canonical(Condition(j, name, above, upto, low_open=low > 0, missing=missing))


def rules_of(conjunctions: Iterable[Iterable[Condition]], names: Names) -> Rules:
    """One rule per row."""
    distinct, codes = number_conjunctions(list(map(conjoin, conjunctions)))
    return Rules(np.asarray(codes, np.int64), distinct, names)
