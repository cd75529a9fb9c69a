"""Tests per explanation: do the rows that were given it get the predictions of the others that it covers?"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, kolmogorov

from faithscope.counting.encoding.sums import Encoded, LabelCells, NumberTable

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ENTRIES = 2**21  # outcomes of tables looked at at once
_ROUNDING = 1e-7  # outcomes as likely as the one seen, but for rounding, are not more likely


class ChoiceTests(NamedTuple):
    """One entry per explanation that can be tested, strongest first.

    Attributes
    ----------
    explanation : (t,) array
        The number of the explanation.
    given, others : (t,) arrays
        Rows that were given it, and other rows that it covers.
    distance : (t,) array
        How far the two distributions are apart: total variation of labels, Kolmogorov's distance of numbers.
    p, adjusted : (t,) arrays
        The probability of such a difference by chance, alone and among all tests (Benjamini and Hochberg).
    """

    explanation: Ints
    given: Ints
    others: Ints
    distance: Floats
    p: Floats
    adjusted: Floats

    @classmethod
    def of(cls, encoded: Encoded) -> "ChoiceTests":
        """The tests of all explanations that have rows of both kinds."""
        tables, tested = encoded.tables, np.flatnonzero(encoded.both)
        columns = _of_labels(tables, len(encoded.both)) if isinstance(tables, LabelCells) else _of_numbers(tables)
        given, others, distance, p = (column[tested] for column in columns)
        order = np.lexsort((tested, -distance, p))
        return cls(tested[order], given[order], others[order], distance[order], p[order], adjust(p[order]))

    def first(self, k: int | None) -> "ChoiceTests":
        """The first k tests, or all."""
        sizes = (self.explanation[:k], self.given[:k], self.others[:k])
        return ChoiceTests(*sizes, self.distance[:k], self.p[:k], self.adjusted[:k])


def _of_labels(cells: LabelCells, distinct: int) -> tuple[Any, ...]:
    def total(column: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(cells.explanation, column, minlength=distinct)

    which = cells.explanation
    given, others, first_given, first_others = (total(column).astype(np.int64) for column in cells[2:])
    shares = (cells.given / np.maximum(given, 1)[which], cells.others / np.maximum(others, 1)[which])
    seen = cells.first_given + cells.first_others
    p_cell = fisher(cells.first_given, first_given[which], seen, (first_given + first_others)[which])
    labels, p = total(seen > 0), np.ones(distinct)
    np.minimum.at(p, which, p_cell)
    # With two labels both tables are the same one; beyond, the least of several is corrected by Bonferroni.
    return given, others, total(np.abs(shares[0] - shares[1])) / 2, np.minimum(1.0, p * np.where(labels > 2, labels, 1))


def _of_numbers(columns: NumberTable) -> tuple[Any, ...]:
    given, others = columns.first_given.astype(np.float64), columns.first_others.astype(np.float64)
    size = np.sqrt(given * others / np.maximum(given + others, 1))
    return columns.given, columns.others, columns.distance, kolmogorov(size * columns.distance)


def fisher(seen: Ints, drawn: Ints, marked: Ints, rows: Ints) -> Floats:
    """Fisher's exact test, two-sided: the probability of outcomes no more likely than the one seen.

    Parameters
    ----------
    seen, drawn, marked, rows : (m,) arrays
        Of so many rows so many are marked and so many are drawn, of which `seen` are marked.

    Examples
    --------
    >>> fisher(np.array([3]), np.array([3]), np.array([3]), np.array([6])).round(3).tolist()
    [0.1]
    """
    low, high = np.maximum(0, drawn + marked - rows), np.minimum(drawn, marked)
    ends, p, start = np.cumsum(high - low + 1), np.ones(len(seen)), 0
    while start < len(seen):
        reached = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, reached + _ENTRIES)))
        part = slice(start, stop)
        p[part] = _fisher(*(column[part] for column in (seen, drawn, marked, rows, low, high)))
        start = stop
    return p


def _fisher(seen: Ints, drawn: Ints, marked: Ints, rows: Ints, low: Ints, high: Ints) -> Floats:
    sizes = high - low + 1
    table, begins = np.repeat(np.arange(len(seen)), sizes), np.cumsum(sizes) - sizes
    outcome = np.arange(len(table)) - begins[table] + low[table]
    likely = _log_choose(marked[table], outcome) + _log_choose((rows - marked)[table], drawn[table] - outcome)
    likely -= _log_choose(rows, drawn)[table]
    limit = likely[begins + seen - low] + _ROUNDING
    return np.minimum(1.0, np.bincount(table, np.where(likely <= limit[table], np.exp(likely), 0.0)))


def _log_choose(n: Ints, k: Ints) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def adjust(p: Floats) -> Floats:
    """p-values that ascend, adjusted for their number by Benjamini and Hochberg.

    Examples
    --------
    >>> adjust(np.array([0.01, 0.02, 0.9])).tolist()
    [0.03, 0.03, 0.9]
    """
    scaled = p * len(p) / np.arange(1, len(p) + 1)
    return np.minimum.accumulate(scaled[::-1])[::-1]
