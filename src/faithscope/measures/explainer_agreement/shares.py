"""Shares of rows with their intervals, and what leaving out each cluster of rows makes of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.measures.intervals.local import clopper_pearson
from faithscope.measures.intervals.margins import IndependentUnits
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
    def units(self) -> IndependentUnits:
        """The clusters, which vary independently."""
        return IndependentUnits(self.weights, self.cluster)

    @property
    def by_cluster(self) -> Floats:
        """The weight of each cluster."""
        return self.units.mass

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
        sums = self.units.sums(values)
        return np.asarray((sums.sum() - sums) / (self.total - self.by_cluster))

    def share(self, holds: NDArray[np.bool_], confidence: float) -> Share:
        """The share of rows on which something holds: exact (Clopper and Pearson's) if rows count alike."""
        if not self.alike:
            return self.mean(holds.astype(np.float64), confidence)
        count, rows = np.array([np.count_nonzero(holds)]), np.array([len(holds)])
        low, high = clopper_pearson(count, rows, confidence)
        return Share(float(count[0] / rows[0]), float(low[0]), float(high[0]))

    def mean(self, values: Floats, confidence: float) -> Share:
        """The weighted mean of numbers from 0 to 1: Student's t by the jackknife over clusters, and a least margin."""
        value, margins = min(1.0, self.units.mean(values)), self.units.margins(values, confidence)
        return Share(value, max(0.0, value - margins.below), min(1.0, value + margins.above))
