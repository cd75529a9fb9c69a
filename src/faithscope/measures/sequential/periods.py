"""Where a change comes from: explanations whose rows agree less than before, or other explanations than before."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from faithscope.counting.pairing import Arrivals, Waiting, pair

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoPeriods:
    """Rows by explanation and label in two periods, before and after.

    Among rows whose explanations both periods can check, the change of agreement is `within`, the change within
    explanations, plus `mix`, what comes of other shares of the same explanations.

    Parameters
    ----------
    explanations, labels
        Numbers from 0, one of each per cell.
    rows
        Shape (2, n_cells): rows before, rows after.

    Examples
    --------
    >>> periods = TwoPeriods.of([0, 0, 1, 1], [0, 1, 0, 1], before=[900, 0, 10, 90], after=[600, 300, 10, 90])
    >>> periods.agreement.round(2).tolist()
    [[1.0, 0.82], [0.56, 0.82]]
    >>> round(periods.within, 3), round(periods.mix, 3)
    (-0.4, 0.0)
    >>> (periods.probabilities(seed=0) < 0.05).tolist()
    [True, False]
    """

    explanations: Integers
    labels: Integers
    rows: Integers

    @classmethod
    def of(cls, explanations: ArrayLike, labels: ArrayLike, before: ArrayLike, after: ArrayLike) -> Self:
        """Cells from arrays."""
        rows = np.stack([np.asarray(before, np.int64), np.asarray(after, np.int64)])
        return cls(np.asarray(explanations, np.int64), np.asarray(labels, np.int64), rows)

    @cached_property
    def distinct(self) -> int:
        """How many explanations there are."""
        return int(self.explanations.max()) + 1 if len(self.explanations) else 0

    @cached_property
    def given(self) -> Numbers:
        """Rows by explanation, shape (2, distinct)."""
        return np.stack([np.bincount(self.explanations, rows, minlength=self.distinct) for rows in self.rows])

    @cached_property
    def shares(self) -> Numbers:
        """The share of rows that have each explanation, shape (2, distinct)."""
        return np.asarray(self.given / np.maximum(self.given.sum(axis=1, keepdims=True), 1))

    @cached_property
    def agreement(self) -> Numbers:
        """How often two different rows of an explanation agree, shape (2, distinct); NaN with fewer than two rows."""
        pairs = [np.bincount(self.explanations, rows * (rows - 1.0), minlength=self.distinct) for rows in self.rows]
        possible = self.given * (self.given - 1)
        return np.asarray(np.where(possible > 0, np.stack(pairs) / np.where(possible > 0, possible, 1), np.nan))

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """Explanations that both periods can check."""
        return np.asarray((self.given > 1).all(axis=0))

    @cached_property
    def compared_shares(self) -> Numbers:
        """The share of each explanation among the rows whose explanations are compared, shape (2, distinct)."""
        rows = self.given * self.compared
        return np.asarray(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1))

    @cached_property
    def parts(self) -> Numbers:
        """What each explanation adds to `within`: its change of agreement times its share, the mean of both periods."""
        changed = np.where(self.compared, self.agreement[1] - self.agreement[0], 0.0)
        return np.asarray(changed * self.compared_shares.mean(axis=0))

    @property
    def within(self) -> float:
        """The change of agreement within explanations."""
        return float(self.parts.sum())

    @property
    def mix(self) -> float:
        """The change of agreement that comes of other shares of the same explanations."""
        agreement = np.where(self.compared, self.agreement, 0.0).mean(axis=0)
        return float(agreement @ (self.compared_shares[1] - self.compared_shares[0]))

    @property
    def fresh(self) -> float:
        """The share of rows after whose explanations no row before had."""
        return float(self.shares[1][self.given[0] == 0].sum())

    def probabilities(self, seed: int) -> Numbers:
        """How probable so large a change of each explanation's agreement is by chance, times the number compared.

        Fisher's exact test of disjoint pairs of rows, at random; 1 for what cannot be compared. For a single look.
        """
        cells, period = np.tile(self.explanations, 2), np.repeat([0, 1], len(self.explanations))
        groups, words = 2 * cells + period, cells.astype(np.uint64)
        arrivals = Arrivals.of(words, words, np.tile(self.labels, 2), 0, self.rows.ravel(), groups)
        pairs = pair(arrivals, Waiting.empty(), np.random.default_rng(seed), share=0.5)
        matched, agreeing = np.zeros((2, 2 * self.distinct), np.int64)
        matched[pairs.groups], agreeing[pairs.groups] = pairs.matched, pairs.agreeing
        (m0, m1), (a0, a1) = matched.reshape(-1, 2).T, agreeing.reshape(-1, 2).T
        table = (np.maximum(m0 + m1, 1), a0 + a1, m1)
        tails = np.minimum(stats.hypergeom.cdf(a1, *table), stats.hypergeom.sf(a1 - 1, *table))
        known = self.compared & (m0 > 0) & (m1 > 0)
        return np.where(known, np.minimum(1, 2 * tails * self.compared.sum()), 1.0)

    def feature_parts(self, features: Sequence[Sequence[str]]) -> dict[str, float]:
        """For each feature, the sum of the parts of explanations that name it, the largest loss first; sums overlap."""
        sums: dict[str, float] = {}
        for named, part in zip(features, self.parts.tolist(), strict=True):
            for name in dict.fromkeys(named):
                sums[name] = sums.get(name, 0.0) + part
        return dict(sorted(sums.items(), key=lambda item: item[1]))
