"""Shares of rows with their intervals, and what leaving out each cluster of rows makes of them."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.measures.intervals.local import clopper_pearson
from faithscope.measures.intervals.margins import Deviations, check_confidence
from faithscope.sample import Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Share(NamedTuple):
    """A share of rows, or a mean over rows, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class CountedRows:
    """How much rows count, and which belong together.

    Attributes
    ----------
    weights : (n,) array
        Above 0; 1 for rows that are not weighted.
    cluster : (n,) array
        By number; each row has its own if rows are not clustered.
    """

    weights: Floats
    cluster: Ints

    @classmethod
    def of(cls, sample: Sample) -> "CountedRows":
        """The rows of a sample, none of which has weight 0."""
        weights = np.ones(sample.n) if sample.weights is None else sample.weights
        return cls(weights, np.arange(sample.n) if sample.clusters is None else sample.clusters)

    @cached_property
    def by_cluster(self) -> Floats:
        """The weight of each cluster."""
        return np.bincount(self.cluster, self.weights).astype(np.float64)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @property
    def alike(self) -> bool:
        """Whether rows are independent and count the same, so that the exact interval of a share holds."""
        return len(self.by_cluster) == len(self.weights) and bool((self.weights == self.weights[0]).all())

    def left_out(self, values: Floats) -> Floats:
        """The weighted mean of these values without each cluster, of which there are at least two."""
        weighted = self.weights * values
        rest = weighted.sum() - np.bincount(self.cluster, weighted)
        return np.asarray(rest / (self.total - self.by_cluster))

    def least(self, wrong: float) -> float:
        """The least margin of a mean of numbers from 0 to 1, ``ln(1/δ)`` times the share of the heaviest cluster.

        A kind of row that no cluster shows has a probability of at most ``ln(1/δ)`` by the number of clusters.
        """
        return min(1.0, math.log(1 / wrong) * float(self.by_cluster.max()) / self.total)

    def share(self, holds: NDArray[np.bool_], confidence: float) -> Share:
        """The share of rows on which something holds: exact (Clopper and Pearson's) if rows count alike."""
        if not self.alike:
            return self.mean(holds.astype(np.float64), confidence)
        count, rows = np.array([np.count_nonzero(holds)]), np.array([len(holds)])
        low, high = clopper_pearson(count, rows, confidence)
        return Share(float(count[0] / rows[0]), float(low[0]), float(high[0]))

    def mean(self, values: Floats, confidence: float) -> Share:
        """The weighted mean of numbers from 0 to 1: Student's t by the jackknife over clusters, and a least margin."""
        wrong = check_confidence(confidence) / 2
        value = min(1.0, float(self.weights @ values) / self.total)
        if len(self.by_cluster) < 2:
            return Share(value, 0.0, 1.0)
        left_out = self.left_out(values)
        margin = max(Deviations.of(left_out, np.ones(len(left_out))).margin(wrong)[0], self.least(wrong))
        return Share(value, max(0.0, value - margin), min(1.0, value + margin))
