"""Units that vary independently: rows, or clusters of rows, with their weights."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from faithscope.counting.layout import sums
from faithscope.inputs.array_types import Floats, Ints
from faithscope.sample import Sample


@dataclass(frozen=True, eq=False)
class Units:
    """Rows with their weights, and the units that vary independently: clusters, or the rows themselves.

    Examples
    --------
    >>> units = Units(np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]))
    >>> units.sums(np.array([1.0, 0.0, 1.0])).tolist(), units.mean(np.array([1.0, 0.0, 1.0]))
    ([1.0, 2.0], 0.75)
    """

    weight: Floats
    clusters: Ints | None = None

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """The rows of a sample."""
        return cls(sample.weight, sample.clusters)

    def sums(self, values: Floats) -> Floats:
        """Per unit, the weighted sum over its rows."""
        weighed = self.weight * values
        return weighed if self.clusters is None else sums(self.clusters, weighed)

    def mean(self, values: Floats) -> float:
        """The weighted mean over all rows."""
        return float(self.weight @ values / self.weight.sum())

    @cached_property
    def mass(self) -> Floats:
        """The weight of each unit."""
        return self.sums(np.ones(len(self.weight)))

    @property
    def effective_n(self) -> float:
        """As how many independent rows that count alike these are: ``(Σw)² / Σ_k W_k²`` over units k."""
        return float(self.mass.sum() ** 2 / (self.mass @ self.mass))

    @property
    def good(self) -> float:
        """As how many rows of the same weight they are if one that was missed may weigh as much as the heaviest."""
        return float(self.mass.sum() / self.mass.max())

    @property
    def heaviest(self) -> float:
        """How many effective rows a row, or cluster, may count for that was not seen: 1 if rows count alike."""
        return self.effective_n / self.good
