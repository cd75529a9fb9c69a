"""Predictions that are numbers, by group of rows: their mean, spread and extremes, and how much they disagree."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from faithscope.agreements import Agreement, GroupedRows, Spread, scaled
from faithscope.counting.counts import Counts
from faithscope.counting.layout import divided, run_starts, sums
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import group as group_rows


@dataclass(frozen=True, eq=False)
class NumberGroups:
    """Numbers, or vectors, by group.

    Attributes
    ----------
    group : (m,) array
        The group of each entry, ascending.
    values : (m, k) array
        The prediction of each entry.
    rows : (m,) array
        How many rows each entry stands for.
    size : int
        Number of groups; some may be empty.
    """

    group: Ints
    values: Floats
    rows: Floats
    size: int

    @cached_property
    def unit(self) -> float:
        """A power of two near the range of the values: in this unit no square is too large or too small."""
        return scaled(self.values)[1]

    @classmethod
    def of(cls, group: Ints, values: Array, rows: Array, size: int) -> "NumberGroups":
        """The groups of numbers (m,) or vectors (m, k)."""
        columns = values.reshape(len(values), math.prod(values.shape[1:])).astype(np.float64)  # also of no rows
        return cls(group, columns, np.asarray(rows, np.float64), size)

    @classmethod
    def of_counts(cls, counts: Counts) -> "NumberGroups":
        """The predictions of the rows that were given each explanation."""
        values = counts.values[counts.label]
        return cls.of(counts.explanation, values, counts.given, counts.distinct)

    @cached_property
    def n(self) -> Floats:
        """Rows of each group."""
        return sums(self.group, self.rows, self.size)

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """The lowest and the highest value of each group, per column; NaN if it is empty."""
        low, high = np.full((2, self.size, self.values.shape[1]), np.nan)
        if len(first := run_starts(self.group)):
            low[self.group[first]] = np.minimum.reduceat(self.values, first)
            high[self.group[first]] = np.maximum.reduceat(self.values, first)
        return low, high

    @cached_property
    def mean(self) -> Floats:
        """The mean of each group, (size, k); NaN if it is empty."""
        base = self.extremes[0]  # equal values have exactly this mean
        apart = (self.values - base[self.group]) / self.unit
        total = np.stack([sums(self.group, self.rows * column, self.size) for column in apart.T], axis=1)
        return base + self.unit * divided(total, self.n[:, None], np.nan)

    @cached_property
    def squares(self) -> Floats:
        """The sum over the rows of each group of their squared distance from its mean, by the square of `unit`."""
        apart = (self.values - self.mean[self.group]) / self.unit
        return sums(self.group, self.rows * (apart**2).sum(axis=1), self.size)

    @property
    def spread(self) -> Floats:
        """The standard deviation of each group, of all columns together; NaN for fewer than two rows."""
        return self.unit * np.sqrt(divided(self.squares, self.n - 1, np.nan))

    @property
    def mean_of_others(self) -> Floats:
        """The mean of the other rows of each entry's group, (m, k); NaN if there are none."""
        n = self.n[self.group]
        return np.asarray(self.values - (self.values - self.mean[self.group]) * divided(n, n - 1, np.nan)[:, None])


def shown(values: Array) -> Array:
    """Predictions as one column: numbers as they are, vectors as tuples."""
    if values.ndim == 1 or values.shape[1] == 1:
        return values.reshape(-1)
    return to_objects([tuple(vector) for vector in values.tolist()])


def agreeing_by_cell(counts: Counts) -> Array:
    """For each cell, the rows that its explanation covers, each by its agreement with the cell's prediction."""
    if counts.agreeing is not None:
        return counts.agreeing
    if not counts.agreement.of_numbers:
        return counts.covered
    return counts.agreement_sums.within(GroupedRows(counts.explanation, counts.label, counts.given.astype(np.float64)))


def disagreement(counts: Counts) -> Floats:
    """For each explanation, ``1 - K`` summed over pairs of its rows; for `Spread`, their squared distances."""
    groups = NumberGroups.of_counts(counts)
    if isinstance(counts.agreement, Spread):
        return squared(groups.n * groups.squares, groups.unit)
    pairs = groups.n**2 - sums(counts.explanation, counts.given * agreeing_by_cell(counts), counts.distinct)
    low, high = groups.extremes
    return np.where((low == high).all(axis=1), 0.0, np.maximum(pairs, 0.0) / 2)  # 0 whatever the rounding of sums


def squared(numbers: Array, unit: float) -> Floats:
    """Numbers in squared units as plain ones; infinite if they are too large."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers) * unit * unit


def mean_agreement(agreement: Agreement, agreeing: Array, others: Array, variance: float) -> Floats:
    """The mean agreement from its sum over `others` rows; for `Spread`, ``1 - mean d / T``. NaN for no others."""
    mean = divided(agreeing, others, np.nan)
    return np.asarray(1 - mean / variance if isinstance(agreement, Spread) else mean)


def deviation(counts: Counts) -> float:
    """The standard deviation of all predictions, of all columns together; NaN for a single row."""
    rows = counts.per_label
    everybody = NumberGroups.of(np.zeros(len(rows), np.int64), counts.values, rows, 1)
    return float(everybody.spread[0])


def variance(counts: Counts) -> float:
    """The variance of all predictions, in the units in which `Spread` adds up the distances of these counts."""
    if not isinstance(counts.agreement, Spread):
        return 1.0  # not used
    return (deviation(counts) / scaled(counts.values)[1]) ** 2


def agreement_between(agreement: Agreement, a: Array, b: Array) -> Floats:
    """How much ``a[i]`` and ``b[i]`` agree, for every i; for `Spread`, a multiple of their squared distance."""
    both, pair = np.concatenate([a, b]), np.arange(len(a))
    if both.ndim == 1:
        values, place = np.unique(both, return_inverse=True)  # ascending
    else:
        place, first = group_rows([both])
        values = both[first]
    one, other = place.reshape(2, -1)
    return agreement.over(values).at(GroupedRows(pair, other, np.ones(len(a))), pair, one)


def disagree(agreement: Agreement, a: Array, b: Array) -> Bools:
    """Whether ``a[i]`` and ``b[i]`` do not agree wholly, for every i."""
    between = agreement_between(agreement, a, b)
    return between > 0 if isinstance(agreement, Spread) else between < 1


def distance(a: Array, b: Array) -> Floats:
    """How far ``a[i]`` and ``b[i]`` are apart; of vectors, the euclidean distance."""
    apart = np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))
    return apart if apart.ndim == 1 else np.asarray(np.hypot.reduce(apart, axis=1))
