"""What a pass over rows and explanations leaves for encoding: sums, the gap without each row, and tables."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.leaving_out.leave_out import ratio
from faithscope.explanations.base import Explanations

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class GapLeftOut(NamedTuple):
    """The gap without each row, or without each block of rows.

    Attributes
    ----------
    value : (m,) array
        NaN if no row is left that can be tested.
    rows : (m,) array
        How many rows each value stands for.
    reach : float
        How much the terms of other rows lean on one row at most that their explanations cover.
    """

    value: Floats
    rows: Floats
    reach: float


class GapSums(NamedTuple):
    """Sums over rows, each by its weight.

    Attributes
    ----------
    gap : float
        Agreement with the others given the explanation, less that with the other rows covered, over rows with both.
    tested, alone, exclusive, total : float
        The weight of rows with both, of rows whose explanation nobody else was given, of the remaining rows whose
        explanation covers no row that was given another, and of all rows.
    without : GapLeftOut or None
        None for a single row, or for a single cluster.
    """

    gap: float
    tested: float
    alone: float
    exclusive: float
    total: float
    without: GapLeftOut | None = None


def terms_of(rows: NDArray[Any], met: NDArray[Any], alike: NDArray[Any], crossed: NDArray[Any]) -> Floats:
    """What explanations add to the gap, ``P / (G - 1) - X / O``; 0 if they were given to one row, or cover no other.

    G and O are the rows given an explanation and the others that it covers, P the agreement summed over ordered pairs
    of the former, X that over pairs of one of either.
    """
    return np.where((rows > 1) & (met > 0), ratio(alike, rows - 1) - ratio(crossed, met), 0.0)


class LabelCells(NamedTuple):
    """Rows by explanation and label, in that order: those given the explanation, and the others that it covers.

    `first_given` and `first_others` are those of them that a test may take for independent: all rows, or one row per
    cluster and explanation.
    """

    explanation: Ints
    label: Ints
    given: Ints
    others: Ints
    first_given: Ints
    first_others: Ints


class NumberTable(NamedTuple):
    """Per explanation, of numbers: rows given it and other rows covered, their means, and how far they are apart.

    `distance` is Kolmogorov's between the `first_given` and `first_others` rows (see `LabelCells`).
    """

    given: Ints
    others: Ints
    given_mean: Floats
    others_mean: Floats
    first_given: Ints
    first_others: Ints
    distance: Floats


class Encoded(NamedTuple):
    """All that encoding reads of a sample.

    Attributes
    ----------
    sums : GapSums
    explanations : Explanations
        The distinct ones, by number.
    labels : tuple
        The distinct predictions; empty for numbers.
    both : (k,) array of bool
        Whether some row with each explanation can be tested.
    tables : LabelCells or NumberTable
    n, missed : int
        Rows, and those that their own explanation does not cover.
    effective_n : float
        As how many independent rows that count alike they are.
    """

    sums: GapSums
    explanations: Explanations
    labels: tuple[object, ...]
    both: NDArray[np.bool_]
    tables: LabelCells | NumberTable
    n: int
    missed: int
    effective_n: float
