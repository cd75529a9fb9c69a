"""Clusters: rows that belong together, such as those of one customer, are no witnesses for each other."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from faithscope.agreements import GroupedRows, Same
from faithscope.agreements.base import AgreementSums
from faithscope.counting.layout import numbered_pairs, sums
from faithscope.counting.leave_out import Parts, Units, ratio
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.sample import Sample


class ClusterTotals(NamedTuple):
    """Of clusters: how many there are, as how many rows they count, and chance among rows of different ones."""

    clusters: int
    effective_n: float  # (Σw)² / Σ_k (Σ of the weights of cluster k)²
    chance: float | None  # None if all rows are of one cluster

    @classmethod
    def of(cls, units: Units, chance: float | None = None) -> "ClusterTotals | None":
        """Those of units of which some have a weight; None if rows have no clusters."""
        return None if units.clusters is None else cls(int(np.sum(units.mass > 0)), units.effective_n, chance)


class Cells(NamedTuple):
    """Rows of one group and prediction as one cell: its group and prediction, by number, and the cell of each row."""

    group: Ints
    value: Ints
    cell: Ints

    def agreeing(self, kernel: AgreementSums, mass: Floats) -> Floats:
        """Per row, the mass of the rows of its group, itself among them, each by its agreement with the row."""
        rows = GroupedRows(self.group, self.value, sums(self.cell, mass, len(self.group)))
        return np.asarray(kernel.within(rows)[self.cell])


def in_quarters(sample: Sample) -> Sample:
    """The same rows with labels: numbers go by the quarter of all numbers in which they lie."""
    if not sample.agreement.of_numbers:
        return sample
    column = sample.labels if sample.labels.ndim == 1 else sample.labels[:, 0]
    place = np.unique(column, return_inverse=True)[1]
    mass = np.bincount(place, sample.weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return replace(sample, labels=np.floor(4 * middle).astype(np.int64)[place], agreement=Same())


@dataclass(frozen=True, eq=False)
class Strangers:
    """Rows with the same explanation, each compared with rows of other clusters only.

    With W the weight of an explanation's rows, ``W_k`` that of its rows in cluster k, P the weight of its agreeing
    ordered pairs of rows from different clusters, and ``D = W² - Σ_k W_k²`` that of all such pairs, it adds
    ``W P / D`` to the sum of M̂, or W to that of U if all its rows are of one cluster. Clusters of one row give what
    rows without clusters give.
    """

    sample: Sample

    @cached_property
    def cluster(self) -> Ints:
        """The cluster of each row; every row is one if there are none."""
        return np.arange(self.sample.n) if self.sample.clusters is None else self.sample.clusters

    @cached_property
    def part(self) -> tuple[Ints, Ints]:
        """The explanation and the cluster of each row together, by number: the parts of explanations, in order."""
        codes = self.sample.explanations.group()[0]
        if self.sample.clusters is None:
            return codes, self.cluster
        explanation, _, part = numbered_pairs(codes, self.cluster)
        return explanation, part

    @cached_property
    def parts(self) -> Parts:
        """The rows of each explanation, by cluster: in order of the rows, if every row is a cluster."""
        explanation, part = self.part
        weight, unit = self.sample.weight, None
        if self.sample.clusters is not None:
            unit = np.empty(len(explanation), np.int64)
            unit[part] = self.cluster
        own, agreed = (np.bincount(part, column) for column in (weight, weight * self.agreeing))
        columns = (None, own, own**2, agreed)
        size, total, squares, pairs = (np.bincount(explanation, column)[explanation] for column in columns)
        return Parts(size, total, squares, pairs, agreed / own, own, np.ones(len(own), np.int64), unit)

    @cached_property
    def agreeing(self) -> Floats:
        """Per row, the weight of the rows of other clusters with its explanation, each by its agreement."""
        explanation, part = self.part
        alone = self.sample.clusters is None
        itself = self.sample.agreement.itself * self.sample.weight if alone else self.within(part)
        return np.maximum(self.within(explanation[part]) - itself, 0.0)  # not below 0 by rounding

    def shares(self) -> tuple[Floats, Bools]:
        """Per row, the share of the other rows with its explanation that agree, and whether there are any.

        Rows of one cluster have the mean of theirs.
        """
        parts, part = self.parts, self.part[1]
        checked = parts.size > 1
        return ratio(parts.agreeing, np.where(checked, parts.weight - parts.own, 0))[part], checked[part]

    def within(self, group: Ints) -> Floats:
        """Per row, the weight of its group's rows, the row among them, each by its agreement with the row."""
        cells = Cells(*numbered_pairs(group, self.sample.numbered_labels[1]))
        return cells.agreeing(self.sample.agreement.over(self.sample.values), self.sample.weight)

    @property
    def met(self) -> tuple[Floats, Floats, Floats]:
        """Per row, the rows of other clusters with its explanation, each by its agreement, and the largest part of it.

        All by weight.
        """
        explanation, part = self.part
        parts, largest = self.parts, np.zeros(len(explanation))
        np.maximum.at(largest, explanation, parts.own)
        return (parts.weight - parts.own)[part], self.agreeing, largest[explanation][part]

    def sizes_apart(self) -> float:
        """How many standard errors agreement by rows is from agreement by clusters, each of which counts once.

        The two are equal in the mean if the size of a cluster says nothing of its predictions, given the explanation.
        Explanations of two clusters have one pair, whose weight says nothing.
        """
        parts = self.parts
        alike = replace(self.sample, weights=self.sample.weight / parts.own[self.part[1]])
        shares = [ratio(each.pairs, each.weight**2 - each.square) for each in (parts, Strangers(alike).parts)]
        apart = np.where(parts.size > 2, parts.weight * (shares[0] - shares[1]), 0.0)  # of the part's explanation
        error = float(np.sqrt(np.sum(apart**2 / parts.size)))
        return 0.0 if error <= 1e-9 * parts.own.sum() else float(np.sum(apart / parts.size)) / error

    @property
    def told_apart(self) -> int:
        """Number of rows whose explanation is of more than two clusters."""
        return int((self.parts.size > 2)[self.part[1]].sum())

    def sizes_by_label(self) -> Floats:
        """How many standard errors each label's share of a cluster goes with the size of the cluster."""
        size = sums(self.cluster, self.sample.weight)
        cluster, label, cell = numbered_pairs(self.cluster, self.sample.numbered_labels[1])
        share, more = sums(cell, self.sample.weight) / size[cluster], size - size.mean()
        mean = np.bincount(label, share) / len(size)
        squares = np.bincount(label, more[cluster] ** 2 * share * (share - 2 * mean[label])) + mean**2 * (more @ more)
        error = np.sqrt(np.maximum(squares, 0.0))
        return ratio(np.abs(np.bincount(label, more[cluster] * share)), error)

    def totals(self) -> ClusterTotals | None:
        """Of all rows, whatever their explanations."""
        everybody, units, chance = np.zeros(self.sample.n, np.int64), Units.of(self.sample), None
        if len(units.mass) > 1:
            agreeing = np.maximum(self.within(everybody) - self.within(self.cluster), 0.0)
            chance = min(1.0, float(self.sample.weight @ agreeing / (units.mass.sum() ** 2 - units.mass @ units.mass)))
        return ClusterTotals.of(units, chance)
