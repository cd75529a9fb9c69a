"""Quarters of a column of numbers: its quartiles, and the quarter that a value lies in."""

import numpy as np

from faithscope.inputs.array_types import Codes, Floats


def quartiles(present: Floats, *, whole: bool) -> Floats:
    """The distinct quartiles of values of which none is missing; rounded down if they must be whole.

    Examples
    --------
    >>> quartiles(np.array([1.0, 2.0, 3.0, 4.0]), whole=True).tolist()
    [1.0, 2.0, 3.0]
    """
    cuts = np.unique(np.percentile(present, (25, 50, 75))) if len(present) else np.empty(0)
    return np.unique(np.floor(cuts)) if whole else cuts


def quarter_of(column: Floats, borders: Floats) -> Codes:
    """The quarter of each value, from 0; the border belongs to the lower one. Missing values come after the last."""
    return np.searchsorted(borders, column) + np.isnan(column)
