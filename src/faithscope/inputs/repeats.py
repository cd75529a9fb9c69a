"""Repeated rows: whether rows repeat as a whole, or come back in another table, more often than chance gives."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import pdtr

from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.grouping import Words, hash_rows
from faithscope.inputs.row_hashes import row_blocks, row_hashes

NOTICED = 0.01  # share of repeated rows below which nothing is said
LARGEST = 250  # occurrences up to which they are compared with what independent draws give
_UNLIKELY = 0.005
_MANY = 200_000  # rows above which a part of them is enough


def repeated_share(X: Any, beside: Callable[[Ints], Sequence[Array]]) -> float:
    """Share of rows that repeat an earlier row as a whole, if independent rows do not repeat so; otherwise 0.0.

    Of many rows a part is asked that holds all of the rows that are equal to one of its own.

    Parameters
    ----------
    X : rows
    beside : callable
        For the rows at some positions, further columns that must be equal too; asked only if rows of X repeat.
    """
    blocks = row_blocks(X)
    hashes = hash_rows(blocks) if blocks else np.empty(0, np.uint64)
    chosen = np.flatnonzero(hashes >> np.uint64(60) == 0) if len(hashes) > _MANY else np.arange(len(hashes))
    if _share(hashes[chosen]) < NOTICED:
        return 0.0
    further = [column[:, None] for column in beside(chosen)]
    first, counts = occurrences(hash_rows([hashes[chosen][:, None], *further]))
    share = 1 - len(first) / len(chosen)
    odd = odd_occurrence(np.bincount(np.minimum(counts, LARGEST + 2), minlength=LARGEST + 3), len(chosen))
    return share if share >= NOTICED and odd is not None else 0.0


def _share(hashes: Words) -> float:
    """Share of rows that repeat an earlier row, by their hashes."""
    ordered = np.sort(hashes)
    return float(np.count_nonzero(ordered[1:] == ordered[:-1]) / max(1, len(ordered)))


def occurrences(hashes: Words) -> tuple[Ints, Ints]:
    """The earliest row of each different row, and how many rows are equal to it."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(hashes) else order
    return order[first], np.diff(first, append=len(hashes))


def odd_occurrence(times: Ints, n: int) -> int | None:
    """The k for which too many things occur k times beside those that occur k - 1 and k + 1 times; None if none is.

    If n draws are independent, whatever they are drawn from, the number F_k of things that occur k times has
    ``E F_k = C(n, k) Σ (1 - p)^n (p / (1 - p))^k``: up to the binomial factor the k-th moment of a measure. So, by
    Cauchy and Schwarz, ``E F_{k+1} >= k / (k + 1) · (n - k) / (n - k + 1) · (E F_k)² / E F_{k-1}``. Rows that were
    logged twice break this: many occur twice, few once or three times.

    Parameters
    ----------
    times : array
        ``times[k]`` is the number of things that occur k times; the last entry holds all that occur more often.
    n : int
        How many draws there were.

    Examples
    --------
    >>> odd_occurrence(np.array([0, 0, 500, 0, 0, 0, 0, 0, 0, 0]), 1000)
    2
    >>> odd_occurrence(np.array([0, 500, 100, 20, 4, 1, 0, 0, 0, 0]), 781) is None
    True
    """
    k = np.arange(2, len(times) - 2)  # the last entry holds all that occur more often
    fewer, here, more = (times[k + step].astype(np.float64) for step in (-1, 0, 1))
    # Two standard errors (of Poisson counts) in favor of independence, since only the expectations obey the law.
    here, fewer = np.maximum(here - 2 * np.sqrt(here), 0.0), fewer + 2 * np.sqrt(fewer) + 4
    least = k / (k + 1) * np.maximum(n - k, 0) / np.maximum(n - k + 1, 1) * here**2 / fewer
    odd = k[pdtr(more, least) < _UNLIKELY]
    return int(odd[0]) if len(odd) else None


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
