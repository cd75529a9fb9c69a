"""Clusters: rows that belong together, such as those of one customer, are no witnesses for each other."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.leave_out import LeftOut, Sums, ratio
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class ClusterTotals(NamedTuple):
    """Of clusters: how many there are, as how many rows they count, and chance among rows of different ones."""

    clusters: int
    effective_n: float  # (Σw)² / Σ_k (Σ of the weights of cluster k)²
    chance: float | None  # None if all rows are of one cluster


@dataclass(frozen=True, eq=False)
class Strangers:
    """Rows with the same explanation, each compared with rows of other clusters only.

    With W the weight of an explanation's rows, ``W_k`` that of its rows in cluster k, P the weight of its agreeing
    ordered pairs of rows from different clusters, and ``D = W² - Σ_k W_k²`` that of all such pairs, it adds
    ``W P / D`` to the sum of M̂, or W to that of U if all its rows are of one cluster. Clusters of one row give what
    rows without clusters give.
    """

    sample: Sample
    cluster: Ints

    @classmethod
    def of(cls, sample: Sample) -> "Strangers":
        """The strangers of a sample; every row is a cluster if it has none."""
        return cls(sample, np.arange(sample.n) if sample.clusters is None else sample.clusters)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each row."""
        return np.ones(self.sample.n) if self.sample.weights is None else self.sample.weights

    @cached_property
    def sums(self) -> AgreementSums:
        """Sums of the agreement of predictions."""
        return self.sample.agreement.over(self.sample.values)

    @cached_property
    def codes(self) -> Ints:
        """The explanation of each row, by number."""
        return self.sample.explanations.group()[0]

    @cached_property
    def _part(self) -> tuple[Ints, Ints]:
        """The pairs of an explanation and a cluster that occur, as one number each, and the place of each row's."""
        pairs, part = np.unique(self.codes * (int(self.cluster.max()) + 1) + self.cluster, return_inverse=True)
        return pairs, part.reshape(-1)

    @cached_property
    def parts(self) -> "Parts":
        """The rows of each explanation, by cluster."""
        pairs, part = self._part
        explanation, cluster = np.divmod(pairs, int(self.cluster.max()) + 1)
        agreeing = np.maximum(self.within(self.codes) - self.within(part), 0.0)
        columns = (self.weights, self.weights * agreeing)
        weight, agreed = (np.bincount(part, column).astype(np.float64) for column in columns)
        return Parts(explanation, cluster, weight, agreed)

    def within(self, group: Ints) -> Floats:
        """Per row, the weight of its group's rows, the row among them, each by its agreement with the row."""
        numbers, size = self.sample.numbered_labels[1], int(self.sample.numbered_labels[1].max()) + 1
        cells, cell = np.unique(group * size + numbers, return_inverse=True)
        cell, (groups, values) = cell.reshape(-1), np.divmod(cells, size)
        rows = GroupedRows(groups, values, np.bincount(cell, self.weights).astype(np.float64))
        return np.asarray(self.sums.within(rows)[cell])

    def sizes_apart(self) -> float:
        """How many standard errors agreement by rows is from agreement by clusters, each of which counts once.

        The two are equal in the mean if the size of a cluster says nothing of its predictions, given the explanation.
        Explanations of two clusters have one pair, whose weight says nothing.
        """
        alike = replace(self.sample, weights=self.weights / self.parts.weight[self._part[1]])
        (weight, agreeing, pairs), (_, again, even) = (
            parts.by_explanation() for parts in (self.parts, Strangers(alike, self.cluster).parts)
        )
        apart = (weight * (ratio(agreeing, pairs) - ratio(again, even)))[self._several]
        error = float(np.sqrt(np.sum(apart**2)))
        return 0.0 if error <= 1e-9 * weight.sum() else float(apart.sum()) / error

    @property
    def _several(self) -> NDArray[np.bool_]:
        """Which explanations are of more than two clusters."""
        return np.asarray(np.bincount(self.parts.explanation) > 2)

    @property
    def told_apart(self) -> int:
        """Number of rows whose explanation is of more than two clusters."""
        return int(self._several[self.codes].sum())

    def sizes_by_label(self) -> Floats:
        """How many standard errors each label's share of a cluster goes with the size of the cluster."""
        names, numbers = self.sample.numbered_labels
        size = np.bincount(self.cluster, self.weights)
        cells, cell = np.unique(self.cluster * len(names) + numbers, return_inverse=True)
        cluster, label = np.divmod(cells, len(names))
        share, more = np.bincount(cell.reshape(-1), self.weights) / size[cluster], size - size.mean()
        mean = np.bincount(label, share) / len(size)
        squares = np.bincount(label, more[cluster] ** 2 * share * (share - 2 * mean[label])) + mean**2 * (more @ more)
        error = np.sqrt(np.maximum(squares, 0.0))
        return np.asarray(ratio(np.abs(np.bincount(label, more[cluster] * share)), error))

    def totals(self) -> ClusterTotals:
        """Of all rows, whatever their explanations."""
        everybody = np.zeros(self.sample.n, np.int64)
        by_cluster = np.bincount(self.cluster, self.weights)
        agreeing = float(self.weights @ np.maximum(self.within(everybody) - self.within(self.cluster), 0.0))
        whole, within = float(self.weights.sum()), float((by_cluster**2).sum())
        chance = None if len(by_cluster) < 2 else min(1.0, agreeing / (whole**2 - within))
        return ClusterTotals(len(by_cluster), whole**2 / within, chance)


class Parts(NamedTuple):
    """The rows that have one explanation and are of one cluster, for every such pair that occurs.

    Attributes
    ----------
    explanation, cluster : (m,) arrays
    weight : (m,) array
        The weight of its rows.
    agreeing : (m,) array
        The weight of the agreeing ordered pairs of one of its rows and a row of another cluster, with the explanation.
    """

    explanation: Ints
    cluster: Ints
    weight: Floats
    agreeing: Floats

    def by_explanation(self) -> tuple[Floats, Floats, Floats]:
        """W, P and D of each explanation."""
        columns = (self.weight, self.agreeing, self.weight**2)
        weight, pairs, own = (np.bincount(self.explanation, column).astype(np.float64) for column in columns)
        return weight, pairs, weight**2 - own

    def terms(self) -> tuple[Sums, LeftOut | None]:
        """The sums of M̂ and U, and both without each cluster; None if all rows are of one cluster."""
        several = np.bincount(self.explanation) > 1
        weight, pairs, strangers = self.by_explanation()
        before, silent = np.where(several, weight * ratio(pairs, strangers), 0.0), np.where(several, 0.0, weight)
        whole = Sums(float(before.sum()), float(silent.sum()), float(weight.sum()))
        if self.cluster.max() == 0:
            return whole, None
        # Without a cluster: less its own rows, and less the pairs of its rows with those of other clusters, both ways.
        which, left = self.explanation, weight[self.explanation] - self.weight
        fewer = strangers[which] - 2 * self.weight * left
        more = np.bincount(which)[which] > 2
        after = np.where(more, left * ratio(pairs[which] - 2 * self.agreeing, fewer), 0.0)
        alone = np.where(np.bincount(which)[which] == 2, left, 0.0)
        rest = whole.total - np.bincount(self.cluster, self.weight)
        value = whole.agreeing + np.bincount(self.cluster, after - before[which])
        unverifiable = whole.silent + np.bincount(self.cluster, alone - silent[which])
        return whole, LeftOut(value / rest, unverifiable / rest)
