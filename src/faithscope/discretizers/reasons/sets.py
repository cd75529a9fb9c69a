"""Reasons as sets of names: which of several patterns or phrases each has."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers.reasons.texts import keys_of
from faithscope.explanations.keys import Plain
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import group

OTHER = frozenset({"other"})  # of a reason that has none of the names

Matches = Callable[[Sequence[str]], NDArray[np.bool_]]


def set_keys(
    reasons: Reasons,
    texts: NDArray[Any],
    names: Sequence[str],
    matches: Matches,
    notes: Callable[[NDArray[np.int64]], tuple[str, ...]] = lambda rows: (),
) -> Plain:
    """One frozenset of names per row; `OTHER` if no name applies.

    Parameters
    ----------
    texts : (n,) array of str
        The texts that are looked at, each different one once.
    matches : function
        From m different texts to a mask of shape (m, names).
    notes : function, optional
        From the number of rows that have each name to what a reader should know.
    """
    codes, first = group([texts])
    mask = matches(texts[first].tolist()).reshape(len(first), len(names))
    kinds, earliest = group([mask.astype(np.uint8)]) if len(first) else (np.empty(0, np.int64), first)
    which, columns = np.nonzero(mask[earliest])
    ends = np.searchsorted(which, np.arange(len(earliest) + 1)).tolist()
    listed = [names[column] for column in columns.tolist()]
    sets = [frozenset(listed[start:stop]) or OTHER for start, stop in pairwise(ends)]
    rows = mask.T.astype(np.int64) @ np.bincount(codes, minlength=len(first))
    return keys_of(to_objects(sets)[kinds][codes], reasons, notes(rows))
