"""Leaving out blocks of rows: for many rows, weighted ones, clusters and numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.leaving_out.block_sums import without_each
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums
from faithscope.counting.necessity.counted import NecessityTerms, mean_or_none, share_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-11  # of the weight of rows alike: below it, nobody is left
_RUNNING = 1e-13  # of all weight: differences of running sums are no more exact
_TABLE = 2**18  # entries of tables worked on at once, so that they stay in cache


class ReachedRows(NamedTuple):
    """Rows, or rows that are alike, and by block whom their explanation covers and who shares their prediction.

    Attributes
    ----------
    weight : (m, blocks) array
        The weight of these rows in each block.
    same, covered : (m, blocks) arrays
        The weight of the rows that the explanation covers: each by its agreement with the row, and as it is.
    alike : (m, blocks) array
        The weight of all rows, each by its agreement with the row.
    own_same, own_covered, own_alike, own : (m,) arrays
        What these hold of the row itself, or of its own cluster; `own` is that weight.
    """

    weight: NDArray[Any]
    same: NDArray[Any]
    covered: NDArray[Any]
    alike: NDArray[Any]
    own_same: NDArray[Any]
    own_covered: NDArray[Any]
    own_alike: NDArray[Any]
    own: NDArray[Any]

    def chunks(self) -> "list[ReachedRows]":
        """The same rows in parts that stay in cache."""
        step = max(1, _TABLE // (1 + self.weight.shape[1]))
        return [ReachedRows(*(c[a : a + step] for c in self)) for a in range(0, len(self.own), step)]


class ReachedSums:
    """Sums over rows, with all blocks (the first entry) and without each.

    A row that is left out has no weight there; the rows of its own cluster are in its own block, and in no other.

    Parameters
    ----------
    per_block : (blocks,) array
        The weight of all rows in each block.
    """

    def __init__(self, per_block: Floats) -> None:
        self.left = without_each(per_block[None])[0]
        # The weight of rows that can be checked, that of silent rows, and weights by share covered: of rows with the
        # same prediction, and of all.
        self.checked, self.silent, self.agreeing, self.reached = np.zeros((4, len(self.left)))

    def terms(self, rows: ReachedRows) -> Floats:
        """What rows add to the sums: (4, 1 + blocks); in any thread."""
        return sum((self._terms(part) for part in rows.chunks()), np.zeros((4, len(self.left))))

    def _terms(self, rows: ReachedRows) -> Floats:
        weight, alike = without_each(rows.weight), without_each(rows.alike)
        checked = alike - rows.own_alike[:, None] > np.maximum(_ROUNDING * alike[:, :1], _RUNNING * self.left[0])
        same = share_of(without_each(rows.same) - rows.own_same[:, None], alike - rows.own_alike[:, None], checked)
        others = self.left - rows.own[:, None]
        covered = share_of(without_each(rows.covered) - rows.own_covered[:, None], others, checked & (others > 0))
        sure = weight * checked
        return np.stack([sure.sum(0), (weight * ~checked).sum(0), (sure * same).sum(0), (sure * covered).sum(0)])

    def add(self, terms: Floats) -> None:
        """Add what `terms` gave; to be called for one batch after the other."""
        self.checked += terms[0]
        self.silent += terms[1]
        self.agreeing += terms[2]
        self.reached += terms[3]

    def result(self, reach: float = 1.0, heaviest: float = 1.0) -> NecessityTerms:
        """The terms of all rows that were added."""
        total = self.checked + self.silent  # all silent is exactly all
        whole = Sums(float(self.agreeing[0]), float(self.silent[0]), float(total[0]))
        chance = mean_or_none(float(self.reached[0]), float(self.checked[0]))
        if len(self.left) < 3:
            return NecessityTerms(whole, chance, None, None)
        value, silent = (share_of(sums[1:], total[1:], total[1:] > 0) for sums in (self.agreeing, self.silent))
        by_chance = share_of(self.reached[1:], self.checked[1:], self.checked[1:] > 0)
        return NecessityTerms(whole, chance, LeftOut(value, silent, reach, heaviest=heaviest), by_chance)
