"""What leaving out one row changes, from counts of whom explanations cover."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bitmaps import Bits, Layout
from faithscope.counting.counts import Counts, sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CELLS = 2**17  # of masks multiplied at once, so that they stay in cache


@dataclass(frozen=True, eq=False)
class LeftOut:
    """M̂ and U with each row, or each block of rows, left out in turn.

    Attributes
    ----------
    value, silent : (k,) arrays
        M̂ and U without each row, or each block of rows.
    reach : float
        How much the terms of other rows lean on one row at most: ``max_j Σ_i 1(π_i covers j) / c_i``; 1 for equality.
    weight : (k,) array, optional
        How much a row takes part in the answer: 1 for its own term where it has one, and how much the terms of other
        rows lean on it. None for equality, where a row that can be checked has 2 and any other none.
    rows : (k,) array, optional
        How many rows each value stands for; None where it is one row, or one block, per value.
    """

    value: Floats
    silent: Floats
    reach: float = 1.0
    weight: Floats | None = None
    rows: NDArray[Any] | None = None


def weight_of_blocks(leaning: Floats, rows: Floats) -> Floats:
    """`LeftOut.weight` where blocks of rows were left out: the same for each block.

    Blocks are dealt at random, so the spread of their sums tells the spread among single rows.

    Parameters
    ----------
    leaning, rows : (blocks,) arrays
        How much other rows lean on the rows of each block, and how many these are.
    """
    n = float(rows.sum())
    mean, size = float(leaning.sum()) / n, n / len(rows)
    among = float(np.var(leaning, ddof=1)) / size if len(rows) > 1 else 0.0
    return np.full(len(rows), math.sqrt(n * ((1 + mean) ** 2 + among) / len(rows)))


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Part over whole, 0 where the whole is none or the part is negative."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=(whole > 0) & (part > 0)))


def _added(tables: Iterable[NDArray[Any]]) -> Floats:
    return np.asarray(np.sum(list(tables), axis=0, dtype=np.float64))


class Change:
    """What leaving out a row that explanations cover changes, by the cells in which rows were given them.

    Attributes
    ----------
    explanation, label : (m,) arrays
        The cells with rows that were given the explanation: only these have terms.
    weights : (4, m) array
        What becomes of a cell's terms, of its silent rows and of how much they lean on a row, when one row fewer is
        covered; and how much less the first is where that row has the cell's label.
    agreeing, silent : float
        The sums of all terms, and of all silent rows.
    """

    def __init__(self, counts: Counts) -> None:
        here = np.flatnonzero(counts.given)
        self.labels, self.distinct = len(counts.labels), counts.distinct
        self.explanation, self.label = counts.explanation[here], counts.label[here]
        given, covered, missed = (column[here] for column in (counts.given, counts.covered, counts.missed))
        total = counts.per_explanation[self.explanation]
        # Rows that their explanation covers do not count themselves; rows that it misses have nothing to leave out.
        self.kinds = [(given - missed, covered - 1, total - 1), (missed, covered, total)]
        self.agreeing = float(_added(g * ratio(s, c) for g, s, c in self.kinds).sum())
        self.silent = float(_added(g * (c == 0) for g, _, c in self.kinds).sum())
        # One other row fewer: s / (c - 1) instead of s / c, and s - 1 where that row had the same label.
        base = _added(g * (ratio(s, c - 1) - ratio(s, c)) for g, s, c in self.kinds)
        hush = _added(g * (c == 1) for g, _, c in self.kinds)
        pull = _added(ratio(g, c) for g, _, c in self.kinds)
        same = _added(ratio(g * (s > 0), c - 1) for g, s, c in self.kinds)
        self.weights = np.stack([base, hush, pull, same])

    @cached_property
    def _by_explanation(self) -> tuple[Floats, Floats]:
        """The first three weights by explanation, and the last by explanation and label."""
        same = np.zeros((self.distinct, self.labels))
        same[self.explanation, self.label] = self.weights[3]
        return np.stack([sums(self.explanation, one, self.distinct) for one in self.weights[:3]]), same

    def felt_by(self, start: int, bits: Bits, layout: Layout, felt: Floats) -> None:
        """Add to each place the changes of those explanations from `start` on that cover it."""
        which, place, label = layout.ones(bits)
        which += start
        (base, hush, pull), same = self._by_explanation
        for row, change in zip(felt, (base[which] - same[which, label], hush[which], pull[which]), strict=True):
            row += np.bincount(place, change, minlength=len(row))

    def felt_densely(self, start: int, bits: Bits, layout: Layout, felt: Floats) -> None:
        """The same by matrix products, one a label: faster where many places are covered."""
        own = slice(start, start + len(bits))
        (base, hush, pull), same = self._by_explanation
        for label, (first, last) in enumerate(zip(layout.words[:-1].tolist(), layout.words[1:].tolist(), strict=True)):
            weights = np.vstack([base[own] - same[own, label], hush[own], pull[own]])
            step = max(1, _CELLS // (64 * len(bits)))
            for a in range(first, last, step):
                b = min(a + step, last)
                seen = np.unpackbits(np.ascontiguousarray(bits[:, a:b]).view(np.uint8), axis=1, bitorder="little")
                felt[:, 64 * a : 64 * b] += weights @ seen.astype(np.float64)

    def left_out(self, felt: Floats, codes: Ints, labels: Ints, own: NDArray[np.bool_]) -> LeftOut:
        """The answers without each row in turn: less its own term, and what the explanations that cover it feel.

        Parameters
        ----------
        felt : (3, n) array
            For each row, sums over the explanations that cover it, its own among them.
        codes, labels : (n,) arrays
            Of the rows.
        own : (n,) array
            Whether each row is covered by its own explanation.
        """
        n = len(codes)
        term, alone, mine = self._of_own(codes, labels, own)
        value = (self.agreeing - term + felt[0] - mine[0]) / (n - 1)
        silent = (self.silent - alone + felt[1] - mine[1]) / (n - 1)
        leaning = felt[2] - mine[2]
        return LeftOut(value, silent, float(leaning.max()), leaning + 1 - alone)

    def _of_own(self, codes: Ints, labels: Ints, own: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """For each row, its own term, whether it is silent, and what it must not feel from its own explanation."""
        cell = np.searchsorted(self.explanation * self.labels + self.label, codes * self.labels + labels)
        (_, s_in, c_in), (_, s_out, c_out) = self.kinds
        s, c = np.where(own, s_in[cell], s_out[cell]), np.where(own, c_in[cell], c_out[cell])
        term, alone = ratio(s, c), (c == 0).astype(np.float64)
        fewer = ratio(s - 1, c - 1) - term
        felt = np.where(own & (c > 0), [fewer, c == 1, ratio(np.ones(len(c)), c)], 0.0)
        return term, alone, felt
