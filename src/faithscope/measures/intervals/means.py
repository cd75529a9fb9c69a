"""Intervals of means over rows, or over clusters of rows, that are independent draws."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faithscope.measures.intervals.margins import Deviations, Margins, check_confidence
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IndependentUnits:
    """Rows with their weights, and the units that vary independently: clusters, or the rows themselves.

    Examples
    --------
    >>> units = IndependentUnits(np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]))
    >>> units.sums(np.array([1.0, 0.0, 1.0])).tolist(), units.mean(np.array([1.0, 0.0, 1.0]))
    ([1.0, 2.0], 0.75)
    """

    weight: Floats
    clusters: Ints | None = None

    @classmethod
    def of(cls, sample: Sample) -> "IndependentUnits":
        """The rows of a sample."""
        return cls(np.ones(sample.n) if sample.weights is None else sample.weights, sample.clusters)

    def sums(self, values: Floats) -> Floats:
        """Per unit, the weighted sum over its rows."""
        weighed = self.weight * values
        return weighed if self.clusters is None else np.bincount(self.clusters, weighed).astype(np.float64, copy=False)

    def mean(self, values: Floats) -> float:
        """The weighted mean over all rows."""
        return float(self.weight @ values / self.weight.sum())

    @cached_property
    def mass(self) -> Floats:
        """The weight of each unit."""
        return self.sums(np.ones(len(self.weight)))

    def without_each(self, part: Floats, whole: Floats) -> Deviations | None:
        """What ``Σ part / Σ whole`` becomes without each unit, about its mean; None if nothing is left of the whole."""
        rest = whole.sum() - whole
        if len(whole) < 2 or not (rest > 1e-12 * whole.sum()).all():
            return None
        return Deviations.of((part.sum() - part) / rest, np.ones(len(whole)))

    def least(self, wrong: float) -> float:
        """The least margin of a mean of numbers from 0 to 1, ``ln(1/wrong) max w / Σ w``; `wrong` is that of one side.

        A kind of unit that the sample missed has a probability of at most ``ln(1/wrong) / n``, weighs as much as the
        heaviest and differs from the mean by at most 1.
        """
        return math.log(1 / wrong) * float(self.mass.max() / self.mass.sum())

    def margins(self, values: Floats, confidence: float, span: float = 1.0) -> Margins:
        """How far the mean of values that are at most `span` apart may be off, by Student's t of the jackknife.

        Never less than the span times `least`.
        """
        wrong = check_confidence(confidence) / 2
        known = self.without_each(self.sums(values), self.mass)
        if known is None:
            return Margins(span, span)
        margin, freedom = known.margin(wrong)
        least = span * self.least(wrong)
        widest = max(margin, least)
        return Margins(widest, widest, freedom if margin > least else math.inf)
