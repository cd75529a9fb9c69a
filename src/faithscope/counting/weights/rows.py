"""Weighted terms: the sums of M̂ and U for a target population, and both without each row."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from faithscope.counting.counts import Counts, sums
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.weights.thinned import Alike, thin
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING, _APART = 1e-9, 2.5
_SEEMING = 0.005  # probability that weights seem to go with labels, if they do not
_FEW = "weights differ much: the interval is that of about {} rows, kept by chance in proportion to their weight"


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows with weights, counted.

    Attributes
    ----------
    counts : Counts
        Their weighted counts.
    cells : (n,) array
        The cell of each row.
    weights : (n,) array
        The weight of each row, above 0.
    """

    counts: Counts
    cells: Ints
    weights: Floats

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @property
    def kept(self) -> float:
        """How many rows are kept if the heaviest is kept for sure, and others in proportion to their weight."""
        return self.total / float(self.weights.max())

    @cached_property
    def thinning_is_cheap(self) -> bool:
        """Whether at least half the effective sample size is kept."""
        return _keeps(self.weights, 1 / 2)

    @property
    def go_with_labels(self) -> bool:
        """Whether logarithms of weights, or how far they spread, are more alike within a label than across labels.

        Two rows of one explanation have a product of deviations whose mean does not depend on whether they share a
        label, if weights do not. Labels may have equal means of logarithms and yet unequal means of weights, if
        logarithms spread more in one of them.
        """
        counts, logs = self.counts, np.log(self.weights)
        rows = counts.given.astype(np.float64)

        def by_explanation(cells: Floats) -> Floats:
            return sums(counts.explanation, cells, counts.distinct)

        def pairs(cells: Floats, squares: Floats) -> tuple[Floats, Floats]:
            """Sums over ordered pairs of rows of each explanation: of one label, and of different ones."""
            alike = by_explanation(cells**2)
            return alike - by_explanation(squares), by_explanation(cells) ** 2 - alike

        def centered(column: Floats) -> Floats:
            means = by_explanation(sums(self.cells, column, len(rows))) / by_explanation(rows)
            return np.asarray(column - means[counts.explanation[self.cells]])

        n_alike, n_others = pairs(rows, rows)
        location = centered(logs)
        for column in (location, centered(np.abs(location))):
            alike, others = pairs(sums(self.cells, column, len(rows)), sums(self.cells, column**2, len(rows)))
            apart = (alike * n_others - others * n_alike) / np.maximum(n_alike + n_others, 1)
            if apart.sum() > _APART * np.sqrt(np.sum(apart**2)) + 1e-9 * len(logs):
                return True
        return False


@dataclass(frozen=True, eq=False)
class WeightedTerms:
    """What a weighted estimate is made of.

    Attributes
    ----------
    sums : Sums
        Their `silent` holds how much higher the sum of M̂ could be, which is more than the weight of rows alone.
    left_out : LeftOut
    notes : tuple of str
    """

    sums: Sums
    left_out: LeftOut
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: WeightedRows) -> "WeightedTerms | None":
        """Row i is kept with probability ``w_i / max w``: what is kept is a plain sample of the target population.

        None if that would keep few rows, and weights do not seem to depend on predictions.
        """
        few = not rows.thinning_is_cheap
        if few and _even_weights_believed(rows.counts) and not rows.go_with_labels:
            return None
        most, total = float(rows.weights.max()), rows.total
        entries, entry = Alike.of_rows(rows.cells, rows.weights / most)
        thinned = thin(rows.counts, entries)
        explanation = rows.counts.explanation[rows.cells]
        left = np.maximum(total - rows.weights, total * 1e-12)
        (agreeing, value), (silent, alone) = (
            (float(whole.sum()), (whole.sum() - whole[explanation] + most * changed[entry]) / left)
            for whole, changed in (
                (most * thinned.agreeing, thinned.agreeing_without),
                (most * thinned.silent, thinned.silent_without),
            )
        )
        nobody = len(rows.cells) == rows.counts.distinct  # then all of it is silent, to the last digit
        terms = Sums(agreeing, total if nobody else min(silent, total), total)
        left_out = LeftOut(value, alone, heaviest=rows.counts.effective_n / rows.kept)
        return cls(terms, left_out, (_FEW.format(f"{rows.kept:,.0f}"),) if few else ())


def go_with_labels(sample: Sample) -> bool:
    """Whether logarithms of weights, or how far they spread, differ between labels, whatever the explanations.

    Numbers are told apart by whether they are above their mean.
    """
    if sample.weights is None:
        return False
    label = (sample.labels > sample.labels.mean(axis=0)).astype(np.int64) if sample.agreement.of_numbers else None
    label = sample.numbered_labels[1] if label is None or label.ndim > 1 else label
    rows = np.bincount(label)
    column = np.log(sample.weights)
    for _ in range(2):
        column = column - column.mean()
        means = np.bincount(label, column) / np.maximum(rows, 1)
        between, whole = float(rows @ means**2), float(column @ column)
        if len(column) * between > chdtri(max(1, np.sum(rows > 0) - 1), _SEEMING) * whole + _ROUNDING:
            return True
        column = np.abs(column - means[label])
    return False


def _keeps(weights: Floats, share: float) -> bool:
    """Whether rows that are kept in proportion to their weight are at least this share of the effective sample size."""
    return float(weights.max() * weights.sum()) * share <= float(np.sum(weights**2))


def _even_weights_believed(counts: Counts) -> bool:
    """Whether agreement by weights is that of rows that all weigh the same, within a few standard errors.

    If weights do not depend on the prediction, the difference ``W (P / (W² - Σw²) - p / (n² - n))`` is about 0 in the
    mean, whatever the number of rows.
    """
    by_weight, weight = _agreement(counts, *counts.masses)
    by_rows, _ = _agreement(counts, counts.given.astype(np.float64), counts.given.astype(np.float64))
    several = sums(counts.explanation, counts.given, counts.distinct) > 2
    apart = (weight * (by_weight - by_rows))[several]
    error = float(np.sqrt(np.sum(apart**2)))
    return error <= _ROUNDING * weight.sum() or float(abs(apart.sum()) / error) <= _APART


def _agreement(counts: Counts, mass: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The agreement of the pairs of each explanation, 0 if it has none, and its mass."""
    own = counts.agreement.itself * squares
    columns = (mass * counts.sums_by_explanation(mass) - own, mass, squares)
    pairs, whole, square = (sums(counts.explanation, column, counts.distinct) for column in columns)
    all_pairs = whole**2 - square
    return np.divide(pairs, all_pairs, out=np.zeros(len(pairs)), where=all_pairs > 1e-12 * whole**2), whole
