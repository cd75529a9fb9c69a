"""Rows that two tables share: which of the rows that are judged an explainer was fitted on."""

import math
from typing import Any

import numpy as np

from faithscope.inputs.grouping import Words
from faithscope.inputs.repeats import NOTICED, occurrences
from faithscope.inputs.row_hashes import row_blocks, row_hashes


def digests_of(X: Any) -> Words:
    """One number per row, in ascending order; none if the rows cannot be read here.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> bool((digests_of(X) == digests_of(X[::-1].astype(np.float32))).all())
    True
    """
    blocks = row_blocks(X)
    return np.sort(row_hashes(blocks, single=True)) if blocks else np.empty(0, np.uint64)


def shared_share(X: Any, known: Words) -> float:
    """Share of rows that are among those with these digests, if that is more than chance gives; otherwise 0.0.

    Rows of a table of few categories are often equal to rows of another draw. So it is told only if these are the very
    same rows, in any order, or if more of them are known than of the known rows have an equal one among themselves.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> shared_share(X, digests_of(X[:30])), shared_share(X[:30], digests_of(X[30:]))
    (0.75, 0.0)
    """
    blocks = row_blocks(X) if len(known) else None
    if not blocks or not len(blocks[0]):
        return 0.0
    hashes = row_hashes(blocks, single=True)
    shared = float(np.isin(hashes, known).mean())
    odd = np.array_equal(np.sort(hashes), known) or shared > _most_by_chance(len(hashes), known)
    return shared if odd and shared >= NOTICED else 0.0


def _most_by_chance(n: int, known: Words) -> float:
    """The share of n rows of another draw that is known at most, by the known rows that have an equal one."""
    counts, m = occurrences(known)[1], len(known)
    equal = float(counts[counts > 1].sum()) / m
    return equal + 4 * math.sqrt(equal * (1 / m + 1 / n)) + 8 / m + 8 / n
