"""Rows that two tables share: which of the rows that are judged an explainer was fitted on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.grouping import Words
from faithscope.inputs.repeats import NOTICED, occurrences, stand_out
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
    same rows in any order, or resemble no other rows, or are shared more often than these rows repeat among themselves.

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
    shared = np.isin(hashes, known)
    if shared.mean() < NOTICED:
        return 0.0
    same = np.array_equal(np.sort(hashes), known)
    odd = same or _more_than_repeats(hashes, shared, len(known)) or stand_out(blocks, hashes, np.flatnonzero(shared))
    return float(shared.mean()) if odd else 0.0


def _more_than_repeats(hashes: Words, shared: NDArray[np.bool_], others: int) -> bool:
    """Whether more rows are shared with so many others than chance gives, by the rows that repeat among these."""
    counts = occurrences(hashes)[1]
    repeated, both = float(counts[counts > 1].sum()), float(shared.sum())
    most = max(1.0, others / len(hashes)) * (repeated + 3 * np.sqrt(repeated) + 9)
    return bool(both - 3 * np.sqrt(both) > most)
