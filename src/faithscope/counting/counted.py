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
    alike: bool = True  # whether every other explainer of these rows has the same blocks
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


def independent(given: Listed, others: Listed, rank: Ints) -> list[Bools]:
    """Which of the rows given, and of the others, may be taken for independent: one per cluster and explanation.

    `rank` is the order in which rows of one cluster are preferred; it depends on their content, not on their position.
    """
    sides, rows = (given, others), given.rows
    if rows.clusters is None:
        return [np.ones(len(side.row), bool) for side in sides]
    units = [side.scope * rows.units + rows.clusters[side.row] for side in sides]
    best = np.full(given.many * rows.units, rows.n)
    for unit, side in zip(units, sides, strict=True):
        np.minimum.at(best, unit, rank[side.row])
    return [rank[side.row] == best[unit] for unit, side in zip(units, sides, strict=True)]


def compare_labels(given: Listed, others: Listed, first: list[Bools], start: int) -> LabelCells:
    """The cells of a batch of explanations, of which `start` is the first: of rows given, and of others covered."""
    names = len(given.rows.names)
    sides = [side.scope * names + side.value for side in (given, others)]
    cells = np.unique(np.concatenate(sides))
    sides += [side[kept] for side, kept in zip(sides, first, strict=True)]
    tables = (np.bincount(np.searchsorted(cells, side), minlength=len(cells)) for side in sides)
    explanation, label = np.divmod(cells, names)
    return LabelCells(explanation + start, label, *tables)


def compare_numbers(given: Listed, others: Listed, first: list[Bools], values: Floats) -> NumberTable:
    """Means of the numbers of a batch of explanations, and the largest difference of their distribution functions."""
    many, sizes, means, firsts, keys = given.many, [], [], [], []
    for side, kept in zip((given, others), first, strict=True):
        size, chosen = np.bincount(side.scope, minlength=many), side.scope[kept]
        # A sum of huge numbers would be infinite; the mean of none is NaN.
        mean = np.bincount(side.scope, values[side.value] / np.maximum(size, 1)[side.scope], minlength=many)
        sizes.append(size)
        means.append(np.where(size > 0, mean, np.nan))
        firsts.append(np.bincount(chosen, minlength=many))
        keys.append(chosen * len(values) + side.value[kept])  # ascending
    # The difference is largest at, or just before, a number of the rows given: between, only the other side rises.
    asked, distance = keys[0] // len(values), np.zeros(many)
    for end in ("left", "right"):
        shares = [
            (np.searchsorted(key, keys[0], side=end) - (np.cumsum(size) - size)[asked]) / np.maximum(size, 1)[asked]
            for key, size in zip(keys, firsts, strict=True)
        ]
        np.maximum.at(distance, asked, np.abs(shares[0] - shares[1]))
    distance = np.where((firsts[0] > 0) & (firsts[1] > 0), distance, 0.0)
    return NumberTable(sizes[0], sizes[1], means[0], means[1], firsts[0], firsts[1], distance)
