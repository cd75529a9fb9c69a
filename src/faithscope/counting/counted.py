"""What is counted of explanations that cover rows, whoever counted it; and what tests of encoding compare."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.counting.cover import Asked
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.counting.moments import SpreadCounts
from faithscope.counting.pairs import Listed
from faithscope.counting.terms import GapSums
from faithscope.inputs.array_types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of the rows that explanations cover, and what the interval needs in addition.

    Those of necessity are the same of its own terms: of rows with a prediction, whom the explanation of one covers.
    """

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: Bools  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and if no interval was asked for
    block: Ints | None = None  # the block of each row; None if single rows were left out
    sums: Sums | None = None  # the sums of terms; None if they are those of sufficiency, which counts give
    spread: SpreadCounts | None = None  # of `Spread`
    asked: Asked | None = None  # the pairs of which it is known whether one covers the other; None if all are
    necessity: "Coverage | None" = None  # if it was counted in the same pass
    strangers: Floats | None = None  # of clustered rows, (3, n): as `Kinds.met`
    chance: float | None = (
        None  # if it does not follow from counts: of necessity, and of rows that ask beside everybody
    )
    chance_left_out: Floats | None = None  # the same without each row or block
    further: int = 0  # rows that were looked at without their predictions, and that the sample lacks
    others: Floats | None = None  # of numbers and necessity, per row the weight of the others, each by its agreement
    weights: Floats | None = None  # of the rows that ask, if rows are weighted


# Encoding


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
    counts : Counts
    sums : GapSums
    both : (k,) array of bool
        Whether some row with each explanation can be tested.
    tables : LabelCells or NumberTable
    """

    counts: Counts
    sums: GapSums
    both: Bools
    tables: LabelCells | NumberTable


def compare_labels(given: Listed, others: Listed, rank: Ints, start: int) -> LabelCells:
    """The cells of a batch of explanations, of which `start` is the first: of rows given, and of others covered.

    `rank` is the order in which rows of one cluster are preferred; it depends on their content, not on their position.
    """
    rows, names, both = given.rows, len(given.rows.names), (given, others)
    sides = [side.scope * names + side.value for side in both]
    tables = [np.bincount(side, minlength=given.many * names) for side in sides]
    cells = np.flatnonzero(tables[0] + tables[1])
    first = tables
    if rows.clusters is not None:
        units = [side.scope * rows.units + rows.clusters[side.row] for side in both]
        best = np.full(given.many * rows.units, rows.n)
        for unit, side in zip(units, both, strict=True):
            np.minimum.at(best, unit, rank[side.row])
        chosen = (rank[side.row] == best[unit] for unit, side in zip(units, both, strict=True))
        first = [np.bincount(side, kept, len(tables[0])) for side, kept in zip(sides, chosen, strict=True)]
    explanation, label = np.divmod(cells, names)
    return LabelCells(
        explanation + start, label, *(table[cells].astype(np.int64, copy=False) for table in (*tables, *first))
    )


def compare_numbers(cells: LabelCells, start: int, many: int, values: Floats) -> NumberTable:
    """Means of the numbers of a batch of explanations, and the largest difference of their distribution functions."""
    which, number = cells.explanation - start, values[cells.label]
    sizes = [np.bincount(which, side, many).astype(np.int64) for side in cells[2:]]
    # A sum of huge numbers would be infinite; the mean of none is NaN.
    given_mean, others_mean = (
        np.where(size > 0, np.bincount(which, number * (side / np.maximum(size, 1)[which]), many), np.nan)
        for side, size in zip(cells[2:4], sizes, strict=False)
    )
    both = (sizes[2] > 0) & (sizes[3] > 0)
    one, other = (side * (both / np.maximum(size, 1))[which] for side, size in zip(cells[4:], sizes[2:], strict=True))
    apart, distance = np.cumsum(one - other), np.zeros(many)  # 0 at the end of each explanation
    np.maximum.at(distance, which, np.abs(apart))
    return NumberTable(sizes[0], sizes[1], given_mean, others_mean, sizes[2], sizes[3], distance)
