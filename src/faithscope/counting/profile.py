"""Profile: counts without explanations and labels, which is all that most statistics read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from faithscope import agreements
from faithscope.agreements import Agreement
from faithscope.counting.leave_out import ClusterTotals, CountsRows, Parts, Sums
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.grouping import group
from faithscope.relations import Relation, Same

_SMALL = 2**15  # a profile of so few entries is not worth merging
_EXACT = 2**53  # up to which sums in double precision are exact


class LabelPairs(NamedTuple):
    """How much the predictions of any two rows agree, over all ordered pairs of different rows.

    Attributes
    ----------
    agreeing : float
        The sum of the agreements.
    spread : float
        The sum of their squared distances from their mean.
    spread_by_row : float
        The sum over rows of the squared distance of the row's sum from its mean.
    """

    agreeing: float
    spread: float
    spread_by_row: float

    @classmethod
    def of(cls, rows: Array, agreeing: Array, squares: Array) -> "LabelPairs":
        """From labels: their rows, and how much a row of each agrees with all others, plainly and squared."""
        n, total = float(rows.sum()), float(np.sum(rows * agreeing))
        mean = total / (n * (n - 1)) if n > 1 else 0.0
        spread = float(np.sum(rows * squares)) - total * mean
        return cls(total, spread, float(np.sum(rows * (agreeing - mean * (n - 1)) ** 2)))

    @classmethod
    def of_centered(cls, columns: Floats, squares: Floats, rows: Floats) -> "LabelPairs":
        """By ``-½ |y - y'|² / T``, with T the variance, of different predictions and their rows.

        Predictions (d, k) are about their mean, and come with their squared lengths (d,).
        """
        weighed = rows * squares
        n, total, fourth = float(rows.sum()), float(weighed.sum()), float(weighed @ squares)
        variance = total / (n - 1)
        products = (rows * columns.T) @ columns
        spread = n * fourth / 2 + total**2 / 2 + float(np.sum(products**2)) - n * total * variance
        by_row = max(0.0, n * (n * fourth - total**2) / 4)  # the squares of (n |y|² - Σ|y|²) / 2
        return cls(-n * total / variance, spread / variance**2, by_row / variance**2)


@dataclass(frozen=True, eq=False)
class Profile(CountsRows):
    """Counts without explanations and labels: small, and all that estimates and intervals need.

    One entry per kind of row: how many *other* rows its explanation covers (`others`), how many of
    those share its prediction (`agreeing`), how many ordered pairs of rows given its explanation agree
    (`pairs`), and how many rows are of this kind (`rows`).
    """

    others: Ints
    agreeing: Array
    pairs: Array
    rows: Ints
    label_rows: Ints  # rows predicted each label
    distinct: int  # explanations given to at least one row
    modal: int  # rows whose prediction is the commonest one for their explanation
    relation: Relation = field(default_factory=Same)
    labels: Sequence[Any] = ()  # the different predictions, or empty if they are not known

    label_pairs: LabelPairs | None = None  # of numbers; those of labels follow from their rows
    agreement: Agreement = field(default_factory=agreements.Same)
    clusters: ClusterTotals | None = None  # what is known of clusters; None if rows are independent

    weight: None = None  # the rows of a profile are not weighted

    @classmethod
    def of_groups(cls, which: Ints, given: Ints, times: Ints, label_rows: Ints) -> "Profile":
        """A profile from groups of rows with the same explanation, as an engine counts them.

        Parameters
        ----------
        which, given : (m,) arrays
            Per cell, its group (ascending) and its number of rows (at least 1).
        times : (k,) array
            How many explanations have exactly these counts.
        label_rows : array
            Rows predicted each label.
        """
        total, pairs, most = (np.zeros(len(times), np.int64) for _ in range(3))
        np.add.at(total, which, given)
        np.add.at(pairs, which, given * (given - 1))
        np.maximum.at(most, which, given)
        entries = np.stack([total[which] - 1, given - 1, pairs[which], given * times[which]])
        # Sorted, since an engine's order differs from run to run, and rounding of sums with it.
        table = compact(0, *entries[:, np.lexsort(entries)])
        return cls(*table, np.sort(label_rows), int(times.sum()), int((most * times).sum()))

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @cached_property
    def terms(self) -> Sums:
        """The sums behind the paper's estimator."""
        alone = self.others == 0
        agreeing = np.sum(self.rows * (self.agreeing / np.where(alone, np.inf, self.others)))
        return Sums(float(agreeing), float(self.rows[alone].sum()), float(self.n))

    @property
    def masses(self) -> tuple[Array, Array]:
        """Every row weighs 1."""
        rows = self.rows.astype(np.float64)
        return rows, rows

    @property
    def pairs_of_labels(self) -> LabelPairs:
        """How much any two rows agree, whatever their explanations."""
        if self.label_pairs is not None:
            return self.label_pairs
        return LabelPairs.of(self.label_rows, self.label_rows - 1.0, self.label_rows - 1.0)

    @property
    def chance(self) -> float | None:
        """Probability that two rows, whatever their explanations, agree; None for a single row."""
        if self.clusters is not None:
            return self.clusters.chance
        if isinstance(self.agreement, agreements.Spread):
            return 0.0
        return None if self.n < 2 else min(1.0, self.pairs_of_labels.agreeing / (self.n * (self.n - 1)))

    @property
    def covers_once(self) -> bool:
        """Whether every row lies under its own explanation and no other."""
        return self.relation == Same()

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given; for equality only."""
        return float(self.rows[self.others == 0].sum() / self.n)

    def parts(self) -> Parts:
        """Its rows as they are left out; for equality only."""
        size, one = self.others + 1, np.ones(len(self.others), np.int64)
        alike = self.agreeing, self.agreeing
        return Parts(size, size, size, self.pairs, one, one, *alike, self.others, self.others - 1, self.rows)

    def profile(self) -> "Profile":
        """Itself: whoever reads counts through their profile can read either."""
        return self


def sum_by(index: Ints, values: Ints, size: int) -> Ints:
    """``result[i]`` is the sum of the values whose index is i; integers from 0, exactly."""
    most = int(values.max(initial=0))
    if most * len(values) < _EXACT:
        return np.bincount(index, values, size).astype(np.int64)
    total = np.zeros(size, np.int64)
    np.add.at(total, index, values)
    return total


def compact(single: int, others: Ints, agreeing: Ints, pairs: Ints, rows: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Merge equal entries, and add one entry for `single` rows whose explanation covers no other row.

    Of many entries, each different one stands once, with all its rows; in order, where a single number tells them.
    """
    columns = (others, agreeing, pairs, rows)
    if len(rows) > _SMALL:
        spans = [int(column.max()) + 1 for column in columns]
        if math.prod(spans) >= 2**63:
            codes, first = group([np.column_stack(columns[:3])])
            columns = (others[first], agreeing[first], pairs[first], sum_by(codes, rows, len(first)))
        else:
            numbers, times = np.unique(np.ravel_multi_index(columns, spans), return_counts=True)
            others, agreeing, pairs, rows = np.unravel_index(numbers, spans)
            columns = (others, agreeing, pairs, rows * times)
    return with_lone(single, *columns)


def with_lone(single: int, others: Ints, agreeing: Array, pairs: Array, rows: Ints) -> tuple[Ints, Array, Array, Ints]:
    """Entries, and before them one for `single` rows whose explanation covers no other row."""
    if not single:
        return others, agreeing, pairs, rows
    none = np.zeros(1, np.int64)
    others, agreeing, pairs = (np.concatenate([none, column]) for column in (others, agreeing, pairs))
    return others, agreeing, pairs, np.concatenate([none + single, rows])
