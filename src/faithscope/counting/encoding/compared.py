"""Predictions of the rows given an explanation beside those of the others that it covers, as tests compare them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.encoding.rows import Listed
from faithscope.counting.encoding.sums import LabelCells, NumberTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def cells_of(counts: Counts) -> LabelCells:
    """The cells of independent rows with labels."""
    others = counts.covered - (counts.given - counts.missed)
    return LabelCells(counts.explanation, counts.label, counts.given, others, counts.given, others)


@dataclass(frozen=True, eq=False)
class Independent:
    """Which of the listed rows may be taken for independent: one per cluster and explanation.

    Attributes
    ----------
    clusters : (n,) array, or None
    rank : (n,) array
        The order in which rows of one cluster are preferred; it depends on their content, and not on their position.
    """

    clusters: Ints | None
    rank: Ints

    def chosen(self, batch: Listed) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each of the given rows, and each of the others, is chosen."""
        if self.clusters is None:
            return np.ones(len(batch.given), bool), np.ones(len(batch.row), bool)
        size = int(self.clusters.max()) + 1
        units = batch.asked * size + self.clusters[batch.given], batch.which * size + self.clusters[batch.row]
        ranks = self.rank[batch.given], self.rank[batch.row]
        best = np.full(batch.many * size, len(self.rank))
        for unit, rank in zip(units, ranks, strict=True):
            np.minimum.at(best, unit, rank)
        return ranks[0] == best[units[0]], ranks[1] == best[units[1]]


@dataclass(frozen=True, eq=False)
class LabelsCompared:
    """Cells of clustered rows, over batches of explanations."""

    labels: Ints
    names: int
    independent: Independent
    parts: list[LabelCells] = field(default_factory=list)

    def add(self, batch: Listed) -> None:
        """Add a batch of explanations."""
        first_given, first_others = self.independent.chosen(batch)
        given = batch.asked * self.names + self.labels[batch.given]
        others = batch.which * self.names + self.labels[batch.row]
        cells = np.unique(np.concatenate([given, others]))
        sides = (given, others, given[first_given], others[first_others])
        tables = (np.bincount(np.searchsorted(cells, side), minlength=len(cells)) for side in sides)
        explanation, label = np.divmod(cells, self.names)
        self.parts.append(LabelCells(explanation + batch.start, label, *tables))

    def result(self) -> LabelCells:
        """The cells of all explanations that were added."""
        return LabelCells(*map(np.concatenate, zip(*self.parts, strict=True)))


@dataclass(frozen=True, eq=False)
class NumbersCompared:
    """Means and distances of numbers, over batches of explanations."""

    labels: Ints
    values: Floats
    independent: Independent
    parts: list[NumberTable] = field(default_factory=list)

    def add(self, batch: Listed) -> None:
        """Add a batch of explanations."""
        first_given, first_others = self.independent.chosen(batch)
        given, others = (np.bincount(which, minlength=batch.many) for which in (batch.asked, batch.which))
        means = [
            _means(which, self.values[self.labels[row]], batch.many)
            for which, row in ((batch.asked, batch.given), (batch.which, batch.row))
        ]
        asked, which = batch.asked[first_given], batch.which[first_others]
        sizes = [np.bincount(part, minlength=batch.many) for part in (asked, which)]
        ranks = self.labels[batch.given[first_given]], self.labels[batch.row[first_others]]
        distance = _distances((asked, which), ranks, (sizes[0], sizes[1]))
        self.parts.append(NumberTable(given, others, means[0], means[1], sizes[0], sizes[1], distance))

    def result(self) -> NumberTable:
        """The columns of all explanations that were added."""
        return NumberTable(*map(np.concatenate, zip(*self.parts, strict=True)))


def _means(which: Ints, values: Floats, many: int) -> Floats:
    """The mean of the numbers of each explanation; NaN if there are none."""
    rows = np.bincount(which, minlength=many)
    shares = values / np.maximum(rows, 1)[which]  # a sum of huge numbers would be infinite
    return np.where(rows > 0, np.bincount(which, shares, minlength=many), np.nan)


def _distances(which: tuple[Ints, Ints], ranks: tuple[Ints, Ints], sizes: tuple[Ints, Ints]) -> Floats:
    """The largest difference of the two distribution functions of each explanation; 0 if one side is empty.

    It is reached at, or just before, a number of the rows given, since between these only the other side rises.
    """
    labels = 1 + max(int(rank.max(initial=0)) for rank in ranks)
    keys = [explanation * labels + rank for explanation, rank in zip(which, ranks, strict=True)]  # ascending
    starts = [np.cumsum(size) - size for size in sizes]
    asked, distance = which[0], np.zeros(len(sizes[0]))
    for side in ("left", "right"):
        below = [np.searchsorted(key, keys[0], side=side) for key in keys]
        shares = [
            (rows - start[asked]) / np.maximum(size, 1)[asked]
            for rows, start, size in zip(below, starts, sizes, strict=True)
        ]
        np.maximum.at(distance, asked, np.abs(shares[0] - shares[1]))
    return np.where((sizes[0] > 0) & (sizes[1] > 0), distance, 0.0)
