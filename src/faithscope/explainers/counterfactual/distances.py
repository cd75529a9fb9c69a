"""Distances between rows of a matrix, by Gower's or by any other metric."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.shared.arrays import Bools, Floats
from faithscope.explainers.shared.counterfactuals import gower, ranges
from faithscope.explainers.shared.table import Table
from faithscope.explanations.distances.metrics import Gower, paired, pairwise, to_metric_name
from faithscope.explanations.distances.points import numbers_only


class RowDistances(Protocol):
    """Distances between rows of a matrix."""

    @property
    def metric(self) -> Any:
        """The metric that gives the same distances for the table's own values."""
        ...

    def check(self, rows: Floats) -> None:
        """Raise if a row has no distance to others."""
        ...

    def between(self, rows: Floats, others: Floats) -> Floats:
        """Distance from each of n rows to each of m others: (n, m)."""
        ...

    def paired(self, rows: Floats, others: Floats) -> Floats:
        """Distance from each row to the other in the same position: (n,)."""
        ...

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        """How much each feature adds to the paired distance, up to a common factor: (n, d)."""
        ...


def row_distances(metric: Any, table: Table, known: Floats) -> RowDistances:
    """The distances of a metric between rows as the table encodes them."""
    metric = to_metric_name(metric)
    if isinstance(metric, str) and metric == "gower":
        return GowerDistances(_coded_gower(table, known), gower(table, known), ~table.categorical, known)
    if table.categorical.any() or table.whole.any():
        raise BadInput(numbers_only(metric, 0))
    distances = NumberDistances(metric)
    distances.check(known)
    pairwise(known[:1], known[:1], metric)  # raises if it is no metric, or cannot measure two rows alone
    return distances


def _coded_gower(table: Table, known: Floats) -> Gower:
    """Gower's distance on a matrix: two different codes are farther apart than the width 1/2, so at distance 1."""
    widths = np.where(table.categorical, 0.5, ranges(known))
    return Gower(tuple(widths.tolist()))


@dataclass(frozen=True, eq=False)
class GowerDistances:
    """Gower's distance: a mean over features, of |a - b| / range for numbers and of 0 or 1 for categories."""

    coded: Gower
    metric: Gower
    numbers: Bools
    known: Floats

    def between(self, rows: Floats, others: Floats) -> Floats:
        from scipy.spatial.distance import cdist

        a, b = rows[:, self.numbers] / self._widths, others[:, self.numbers] / self._widths
        whole = ~(np.isnan(a).any(axis=0) | np.isnan(b).any(axis=0))
        total: Floats = np.zeros((len(rows), len(others)))
        if whole.any():
            total = cdist(a[:, whole], b[:, whole], "cityblock")
        for i, j in np.argwhere(self._outside(rows) & whole):  # only these can be farther away than the range
            total[i] -= np.maximum(np.abs(a[i, j] - b[:, j]) - 1.0, 0.0)
        for j in np.flatnonzero(~whole):
            total += _with_missing(np.abs(a[:, j, None] - b[None, :, j]), a[:, j, None], b[None, :, j])
        if not self.numbers.all():
            total += cdist(rows[:, ~self.numbers], others[:, ~self.numbers], "hamming") * np.sum(~self.numbers)
        total /= rows.shape[1]
        return total

    @cached_property
    def _widths(self) -> Floats:
        widths = ranges(self.known[:, self.numbers])
        return np.where(widths > 0, widths, 1.0)

    def _outside(self, rows: Floats) -> Bools:
        values, known = rows[:, self.numbers], self.known[:, self.numbers]
        lowest, highest = np.fmin.reduce(known, axis=0), np.fmax.reduce(known, axis=0)
        return np.asarray((values < lowest) | (values > highest))

    def paired(self, rows: Floats, others: Floats) -> Floats:
        return self.coded.between(list(rows.T), list(others.T))

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        gaps = np.abs(rows - others)
        gaps[:, self.numbers] /= self._widths
        return _with_missing(gaps, rows, others)

    def check(self, rows: Floats) -> None:
        """Every row has a distance."""


def _with_missing(gaps: Floats, a: Floats, b: Floats) -> Floats:
    """Gaps of at most 1: a missing value is at gap 1 from any known value, and at gap 0 from another missing one."""
    gaps = np.where(np.isnan(gaps), 1.0, np.minimum(gaps, 1.0))
    gaps[np.isnan(a) & np.isnan(b)] = 0.0
    return gaps


@dataclass(frozen=True, eq=False)
class NumberDistances:
    """Any metric of scikit-learn's, between rows of numbers of which none is missing."""

    metric: Any

    def check(self, rows: Floats) -> None:
        """Raise if numbers are missing."""
        missing = int(np.isnan(rows).sum())
        if missing:
            raise BadInput(numbers_only(self.metric, missing))

    def between(self, rows: Floats, others: Floats) -> Floats:
        return pairwise(rows, others, self.metric)

    def paired(self, rows: Floats, others: Floats) -> Floats:
        return paired(rows, others, self.metric)

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        return np.abs(rows - others)
