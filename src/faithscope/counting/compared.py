"""Predictions of the rows given an explanation beside those of the others that it covers, as tests compare them."""

from typing import NamedTuple

import numpy as np

from faithscope.counting.counts import Counts
from faithscope.counting.rows import Rows
from faithscope.inputs.array_types import Bools, Floats, Ints

Sides = tuple[Ints, Ints]  # of rows given an explanation, and of the others that it covers


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


def cells_of(counts: Counts) -> LabelCells:
    """The cells of independent rows with labels."""
    others = counts.covered - (counts.given - counts.missed)
    return LabelCells(counts.explanation, counts.label, counts.given, others, counts.given, others)


def independent(rows: Rows, rank: Ints, scopes: Sides, members: Sides, many: int) -> tuple[Bools, Bools]:
    """Which of the rows given, and of the others, may be taken for independent: one per cluster and explanation.

    `rank` is the order in which rows of one cluster are preferred; it depends on their content, not on their position.
    """
    if rows.clusters is None:
        return np.ones(len(members[0]), bool), np.ones(len(members[1]), bool)
    units = [scope * rows.units + rows.clusters[row] for scope, row in zip(scopes, members, strict=True)]
    best = np.full(many * rows.units, rows.n)
    for unit, row in zip(units, members, strict=True):
        np.minimum.at(best, unit, rank[row])
    return rank[members[0]] == best[units[0]], rank[members[1]] == best[units[1]]


def compare_labels(names: int, start: int, scopes: Sides, labels: Sides, first: tuple[Bools, Bools]) -> LabelCells:
    """The cells of a batch of explanations, of which `start` is the first: of rows given, and of others covered."""
    given, others = (scope * names + label for scope, label in zip(scopes, labels, strict=True))
    cells = np.unique(np.concatenate([given, others]))
    sides = (given, others, given[first[0]], others[first[1]])
    tables = (np.bincount(np.searchsorted(cells, side), minlength=len(cells)) for side in sides)
    explanation, label = np.divmod(cells, names)
    return LabelCells(explanation + start, label, *tables)


def compare_numbers(values: Floats, many: int, scopes: Sides, labels: Sides, first: tuple[Bools, Bools]) -> NumberTable:
    """Means of the numbers of a batch of explanations, and the largest difference of their distribution functions."""
    sizes = [np.bincount(scope, minlength=many) for scope in scopes]
    # A sum of huge numbers would be infinite; the mean of none is NaN.
    means = [
        np.where(size > 0, np.bincount(scope, values[label] / np.maximum(size, 1)[scope], minlength=many), np.nan)
        for size, scope, label in zip(sizes, scopes, labels, strict=True)
    ]
    chosen = [scope[kept] for scope, kept in zip(scopes, first, strict=True)]
    firsts = [np.bincount(scope, minlength=many) for scope in chosen]
    # The difference is largest at, or just before, a number of the rows given: between, only the other side rises.
    keys = [
        scope * len(values) + label[kept] for scope, label, kept in zip(chosen, labels, first, strict=True)
    ]  # ascending
    starts, asked, distance = [np.cumsum(size) - size for size in firsts], chosen[0], np.zeros(many)
    for side in ("left", "right"):
        shares = [
            (np.searchsorted(key, keys[0], side=side) - start[asked]) / np.maximum(size, 1)[asked]
            for key, start, size in zip(keys, starts, firsts, strict=True)
        ]
        np.maximum.at(distance, asked, np.abs(shares[0] - shares[1]))
    distance = np.where((firsts[0] > 0) & (firsts[1] > 0), distance, 0.0)
    return NumberTable(sizes[0], sizes[1], means[0], means[1], firsts[0], firsts[1], distance)
