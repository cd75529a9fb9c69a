"""Thinning: what agrees and what is silent among rows that are kept by chance, averaged over all ways of keeping them.

Row i is kept with probability ``a_i``, and each kept row is compared with the other kept rows of its explanation. Over
all ways of keeping, the sums of M̂ and U have the means

    A_π = ∫₀¹ Π_k (1 - a_k u) · Σ_{i≠j} K_ij b_i b_j du,   b_i = a_i / (1 - a_i u),
    S_π = Σ_i a_i Π_{k≠i} (1 - a_k),

because ``1 / (1 + N) = ∫₀¹ (1 - u)^N du``, and ``E (1 - u)^N = Π_k (1 - a_k u)`` if N counts the rows that are kept.
Both are linear in every ``a_i``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import roots_laguerre, roots_legendre

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.counts import Counts, sums
from faithscope.runtime.memory import FEWER_ROWS, need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class _Quadrature(NamedTuple):
    """Nodes and weights on ``[0, span]``, where ``span = min(1, tail / Σa)``."""

    nodes: Floats
    weights: Floats
    tail: float

    @classmethod
    def legendre(cls, many: int, tail: float = np.inf) -> "_Quadrature":
        nodes, weights = roots_legendre(many)
        return cls((1 + nodes) / 2, weights / 2, tail)

    @classmethod
    def laguerre(cls, many: int) -> "_Quadrature":
        nodes, weights = roots_laguerre(many)
        return cls(nodes, weights * np.exp(nodes), 1.0)


# The integrand of N rows is a polynomial of degree N - 2, so k Legendre nodes are exact up to 2k + 1 rows.
_SMALL = {2 * many + 1: _Quadrature.legendre(many) for many in (1, 2, 4, 8, 16)}
# Its m-th derivative is at most (Σa)^m, so 24 nodes on [0, 36 / Σa] are within 1e-13 of the integral, in proportion.
MEDIUM = _Quadrature.legendre(24, 36.0)
# If Σa is large, it is exp(-Σa u) times a factor that is nearly constant: within 1e-13 from Σa = 1,000 on.
_LARGE, _MANY = _Quadrature.laguerre(8), 1000.0


@dataclass(frozen=True, eq=False)
class Alike:
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

    def take(self, chosen: NDArray[np.bool_]) -> "Alike":
        """Some of the entries."""
        return Alike(self.cell[chosen], self.kept[chosen], self.rows[chosen])


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
    agreeing, without = np.zeros(counts.distinct), np.zeros(len(explanation))
    for chosen, quadrature in _quadratures(explanation, entries, counts.distinct):
        part = _Integral.of(counts, entries.take(chosen))
        agreeing[part.explanations], without[chosen] = part.by(quadrature)
    silent, silent_without = _silent(explanation, entries, counts.distinct)
    return Thinned(agreeing, silent, without, silent_without)


def _quadratures(explanation: Ints, entries: Alike, distinct: int) -> Iterator[tuple[NDArray[np.bool_], _Quadrature]]:
    """Which entries to integrate by which quadrature; explanations of a single row agree with nobody."""
    size, kept = (sums(explanation, rows, distinct) for rows in (entries.rows, entries.rows * entries.kept))
    kinds, low = [], 1
    for high, quadrature in _SMALL.items():
        kinds.append(((size > low) & (size <= high), quadrature))
        low = high
    kinds += [((size > low) & (kept < _MANY), MEDIUM), ((size > low) & (kept >= _MANY), _LARGE)]
    for chosen, quadrature in kinds:
        if chosen.any():
            yield chosen[explanation], quadrature


class _Runs(NamedTuple):
    """Runs of equal keys: where each begins, and the run of each element."""

    keys: Ints
    starts: Ints
    of: Ints

    @classmethod
    def over(cls, ascending: Ints) -> "_Runs":
        begins = np.concatenate([[True], ascending[1:] != ascending[:-1]])
        starts = np.flatnonzero(begins)
        return cls(ascending[starts], starts, np.cumsum(begins) - 1)

    def add(self, values: Floats) -> Floats:
        """The sum of each run."""
        return values if len(self.starts) == len(self.of) else np.asarray(np.add.reduceat(values, self.starts))


@dataclass(frozen=True, eq=False)
class _Integral:
    """What the integral A reads of some explanations."""

    entries: Alike
    cells: _Runs  # of entries
    groups: _Runs  # of cells, by explanation
    label: Ints  # of each cell
    itself: float
    agreement: AgreementSums | None  # None for labels, which agree if they are equal

    @classmethod
    def of(cls, counts: Counts, entries: Alike) -> "_Integral":
        cells = _Runs.over(entries.cell)
        groups, numbers = _Runs.over(counts.explanation[cells.keys]), counts.agreement.of_numbers
        agreement = counts.agreement_sums if numbers else None
        return cls(entries, cells, groups, counts.label[cells.keys], counts.agreement.itself, agreement)

    @property
    def explanations(self) -> Ints:
        """The explanations, by number."""
        return self.groups.keys

    def by(self, quadrature: _Quadrature) -> tuple[Floats, Floats]:
        """A of each explanation, and without one row of each entry."""
        kept, rows = self.entries.kept, self.entries.rows
        span = np.minimum(1.0, quadrature.tail / self.groups.add(self.cells.add(rows * kept)))
        group = self.groups.of[self.cells.of]
        whole, without = np.zeros(len(span)), np.zeros(len(kept))
        for place, weight in zip(quadrature.nodes, quadrature.weights, strict=True):
            u = (place * span)[group]
            b = kept / (1 - kept * u)
            product = np.exp(self.groups.add(self.cells.add(rows * np.log1p(-kept * u)))) * (weight * span)
            mass, squares = self.cells.add(rows * b), self.cells.add(rows * b * b)
            same = self._same(mass)
            pairs = self.groups.add(np.maximum(mass * same - self.itself * squares, 0.0))
            whole += product * pairs
            others = np.maximum(same[self.cells.of] - self.itself * b, 0.0)
            without += product[group] * (1 + u * b) * (pairs[group] - 2 * b * others)
        return whole, np.maximum(without, 0.0)

    def _same(self, mass: Floats) -> Floats:
        """Per cell, the mass of its explanation, each part by its agreement with the cell's prediction."""
        if self.agreement is None:
            return mass
        return self.agreement.within(GroupedRows(self.groups.of, self.label, mass))


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
