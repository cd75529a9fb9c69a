"""Thinning: what agrees and what is silent among rows that are kept by chance, averaged over all ways of keeping them.

Row i is kept with probability ``a_i``, and each kept row is compared with the other kept rows of its explanation. Over
all ways of keeping, the sums of M̂ and U have the means

    A_π = ∫₀¹ Π_k (1 - a_k u) · Σ_{i≠j} K_ij b_i b_j du,   b_i = a_i / (1 - a_i u),
    S_π = Σ_i a_i Π_{k≠i} (1 - a_k),

because ``1 / (1 + N) = ∫₀¹ (1 - u)^N du``, and ``E (1 - u)^N = Π_k (1 - a_k u)`` if N counts the rows that are kept.
Both are linear in every ``a_i``.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, roots_laguerre, roots_legendre

from faithscope.agreements import GroupedRows
from faithscope.counting.counts import Counts, sums
from faithscope.counting.layout import run_starts
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING, _APART = 1e-9, 2.5
_SEEMING = 0.005  # probability that weights seem to go with labels, if they do not
_FEW = "weights differ much: the interval is that of about {} rows, kept by chance in proportion to their weight"


class _Quadrature(NamedTuple):
    """Nodes and weights on ``[0, span]``, where ``span = min(1, tail / Σa)``."""

    nodes: Floats
    weights: Floats
    tail: float


def _legendre(many: int, tail: float = np.inf) -> _Quadrature:
    nodes, weights = roots_legendre(many)
    return _Quadrature((1 + nodes) / 2, weights / 2, tail)


def _laguerre(many: int) -> _Quadrature:
    nodes, weights = roots_laguerre(many)
    return _Quadrature(nodes, weights * np.exp(nodes), 1.0)


# The integrand of N rows is a polynomial of degree N - 2, so k Legendre nodes are exact up to 2k + 1 rows.
_NODES = (1, 2, 4, 8, 16)
_SIZES = np.array([1, *(2 * many + 1 for many in _NODES)])
# Its m-th derivative is at most (Σa)^m, so 24 nodes on [0, 36 / Σa] are within 1e-13 of the integral, in proportion.
# If Σa is large, it is exp(-Σa u) times a factor that is nearly constant: within 1e-13 from Σa = 1,000 on.
_QUADRATURES = (*map(_legendre, _NODES), _legendre(24, 36.0), _laguerre(8))
_MANY = 1000.0


class Alike(NamedTuple):
    """Rows of one cell that are kept with the same probability: each entry stands for one or more rows.

    Attributes
    ----------
    cell : (m,) array
        The cell of each entry among those of the counts; ascending.
    kept : (m,) array
        The probability with which each of its rows is kept: above 0, and at most 1.
    rows : (m,) array
        How many rows the entry stands for.
    """

    cell: Ints
    kept: Floats
    rows: Ints

    @classmethod
    def of_rows(cls, cells: Ints, kept: Floats) -> "tuple[Alike, Ints]":
        """Rows by their cells and probabilities, and the entry of each row."""
        values, place = np.unique(kept, return_inverse=True)
        keys, entry, rows = np.unique(cells * len(values) + place, return_inverse=True, return_counts=True)
        cell, value = np.divmod(keys, len(values))
        return cls(cell, values[value], rows), entry


class Thinned(NamedTuple):
    """Sums over the rows that are kept, per explanation, and without one row of each entry.

    Attributes
    ----------
    agreeing, silent : (explanations,) arrays
        A and S of each explanation.
    agreeing_without, silent_without : (m,) arrays
        A and S of the entry's explanation without one of the entry's rows.
    """

    agreeing: Floats
    silent: Floats
    agreeing_without: Floats
    silent_without: Floats


def thin(counts: Counts, entries: Alike) -> Thinned:
    """The means of A and S over all ways of keeping rows, per explanation."""
    need(160 * len(entries.cell), f"Sums over {len(entries.cell):,} kinds of rows", FEWER_ROWS)
    explanation = counts.explanation[entries.cell]
    size, mass = (sums(explanation, each, counts.distinct) for each in (entries.rows, entries.rows * entries.kept))
    quadrature = np.searchsorted(_SIZES, size) + ((size > _SIZES[-1]) & (mass >= _MANY))
    agreeing, without = np.zeros(counts.distinct), np.zeros(len(explanation))
    for number in np.unique(quadrature[quadrature > 0]):  # explanations of a single row agree with nobody
        these = quadrature == number
        chosen = these[explanation]
        part = Alike(*(column[chosen] for column in entries))
        agreeing[these], without[chosen] = _integral(counts, part, _QUADRATURES[number - 1])
    silent, silent_without = _silent(explanation, entries, counts.distinct)
    return Thinned(agreeing, silent, without, silent_without)


def _integral(counts: Counts, entries: Alike, quadrature: _Quadrature) -> tuple[Floats, Floats]:
    """A of each explanation of some entries, and without one row of each entry."""
    kept, rows, itself = entries.kept, entries.rows, counts.agreement.itself
    cells = run_starts(entries.cell)  # of entries
    keys = entries.cell[cells]
    groups = run_starts(counts.explanation[keys])  # of cells, by explanation
    cell, group_of_cell = _run_of(cells, len(kept)), _run_of(groups, len(cells))
    group, label = group_of_cell[cell], counts.label[keys]

    def product(values: Floats) -> Floats:
        return np.exp(_added(_added(rows * np.log1p(-values), cells), groups))

    span = np.minimum(1.0, quadrature.tail / _added(_added(rows * kept, cells), groups))
    whole, without = np.zeros(len(span)), np.zeros(len(kept))
    for place, weight in zip(quadrature.nodes, quadrature.weights, strict=True):
        u = (place * span)[group]
        b = kept / (1 - kept * u)
        factor = product(kept * u) * (weight * span)
        mass, squares = _added(rows * b, cells), _added(rows * b * b, cells)
        same = counts.agreement_sums.within(GroupedRows(group_of_cell, label, mass))
        pairs = _added(np.maximum(mass * same - itself * squares, 0.0), groups)
        whole += factor * pairs
        others = np.maximum(same[cell] - itself * b, 0.0)
        without += factor[group] * (1 + u * b) * (pairs[group] - 2 * b * others)
    return whole, np.maximum(without, 0.0)


def _run_of(starts: Ints, many: int) -> Ints:
    """The run of each element."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=many))


def _added(values: NDArray[Any], starts: Ints) -> Floats:
    """The sum of each run."""
    return values if len(starts) == len(values) else np.asarray(np.add.reduceat(values, starts))


def _silent(explanation: Ints, entries: Alike, distinct: int) -> tuple[Floats, Floats]:
    """S of each explanation, and without one row of each entry; rows that are surely kept silence no other row."""
    kept, rows = entries.kept, entries.rows
    sure = kept == 1.0
    odds = np.where(sure, 0.0, kept / np.where(sure, 1.0, 1 - kept))
    logs = np.where(sure, 0.0, np.log1p(-np.where(sure, 0.0, kept)))
    certain, ratio, log = (sums(explanation, rows * column, distinct) for column in (sure, odds, logs))

    def alone(certain: Floats, ratio: Floats, log: Floats) -> Floats:
        return np.exp(log) * np.where(certain == 0, np.maximum(ratio, 0.0), certain == 1)

    others = (column[explanation] for column in (certain, ratio, log))
    without = alone(*(total - own for total, own in zip(others, (sure, odds, logs), strict=True)))
    left = sums(explanation, rows, distinct)[explanation] > 1
    return alone(certain, ratio, log), np.where(left, without, 0.0)


class Kept(NamedTuple):
    """What an estimate of weighted rows is made of.

    Attributes
    ----------
    sums : Sums
        Their `silent` holds how much higher the sum of M̂ could be, which is more than the weight of rows alone.
    left_out : LeftOut
    notes : tuple of str
    """

    sums: Sums
    left_out: LeftOut
    notes: tuple[str, ...]


def keep(counts: Counts, sample: Sample) -> Kept | None:
    """Row i is kept with probability ``w_i / max w``: what is kept is a plain sample of the target population.

    None if that would keep less than half the effective sample size, and weights do not seem to depend on predictions.
    """
    cells, weights = counts.locate(sample.explanations, sample.labels)[1], sample.weight
    most, total = float(weights.max()), float(weights.sum())
    few = most * total / 2 > float(np.sum(weights**2))
    if few and _even_weights_believed(counts) and not _alike_within_labels(counts, cells, np.log(weights)):
        return None
    entries, entry = Alike.of_rows(cells, weights / most)
    thinned = thin(counts, entries)
    explanation = counts.explanation[cells]
    left = np.maximum(total - weights, total * 1e-12)
    (agreeing, value), (silent, alone) = (
        (most * float(whole.sum()), most * (whole.sum() - whole[explanation] + changed[entry]) / left)
        for whole, changed in (
            (thinned.agreeing, thinned.agreeing_without),
            (thinned.silent, thinned.silent_without),
        )
    )
    nobody = len(cells) == counts.distinct  # then all of it is silent, to the last digit
    terms = Sums(agreeing, total if nobody else min(silent, total), total)
    left_out = LeftOut(value, alone, heaviest=counts.effective_n * most / total)
    return Kept(terms, left_out, (_FEW.format(f"{total / most:,.0f}"),) if few else ())


def _alike_within_labels(counts: Counts, cells: Ints, logs: Floats) -> bool:
    """Whether logarithms of weights, or how far they spread, are more alike within a label than across labels.

    Two rows of one explanation have a product of deviations whose mean does not depend on whether they share a label,
    if weights do not. Labels may have equal means of logarithms and yet unequal means of weights, if logarithms spread
    more in one of them.
    """
    rows = counts.given.astype(np.float64)

    def by_explanation(values: Floats) -> Floats:
        return sums(counts.explanation, values, counts.distinct)

    def pairs(values: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Sums over ordered pairs of rows of each explanation: of one label, and of different ones."""
        alike = by_explanation(values**2)
        return alike - by_explanation(squares), by_explanation(values) ** 2 - alike

    n_alike, n_others = pairs(rows, rows)
    column = logs
    for _ in range(2):
        means = by_explanation(sums(cells, column, len(rows))) / by_explanation(rows)
        column = column - means[counts.explanation[cells]]
        alike, others = pairs(sums(cells, column, len(rows)), sums(cells, column**2, len(rows)))
        apart = (alike * n_others - others * n_alike) / np.maximum(n_alike + n_others, 1)
        if apart.sum() > _APART * np.sqrt(np.sum(apart**2)) + _ROUNDING * len(logs):
            return True
        column = np.abs(column)
    return False


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
        column = np.abs(column)  # from the mean of all: rows of a label of few would lie too near to their own
    return False


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
    same = counts.agreement_sums.within(GroupedRows(counts.explanation, counts.label, mass))
    columns = (mass * same - own, mass, squares)
    pairs, whole, square = (sums(counts.explanation, column, counts.distinct) for column in columns)
    all_pairs = whole**2 - square
    return np.divide(pairs, all_pairs, out=np.zeros(len(pairs)), where=all_pairs > 1e-12 * whole**2), whole
