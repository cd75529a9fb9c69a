"""Predictions that are numbers, by explanation: their means, how far they vary, and how much they disagree."""

import numpy as np

from faithscope.agreements import Agreement, GroupedRows, Spread, scaled
from faithscope.counting.counts import Counts
from faithscope.counting.layout import divided, sums
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.arrays import to_objects
from faithscope.sample import number_labels

_ROUNDING = 1e-12  # of the pairs of an explanation, below which disagreement is rounding


def means(counts: Counts) -> Floats:
    """The mean prediction of the rows given each explanation, (distinct,) or (distinct, k)."""
    values, share = counts.values[counts.label], counts.given / counts.rows_given[counts.explanation]
    columns = values.reshape(len(values), -1).T
    total = np.stack([sums(counts.explanation, share * column, counts.distinct) for column in columns], axis=1)
    return total.reshape(-1, *values.shape[1:])


def variance(values: Array, rows: Array | None = None) -> float:
    """The variance of numbers, each of so many rows, in the units in which `Spread` adds up their distances."""
    columns = scaled(values)[0]
    rows = np.ones(len(columns)) if rows is None else rows
    apart = columns - rows @ columns / rows.sum()
    return float(divided(rows @ (apart**2).sum(axis=1), rows.sum() - 1, np.nan))


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


def agreement_of_scopes(counts: Counts, asked: Ints | None = None) -> dict[str, Array]:
    """How much the rows given each explanation agree with the other rows that it covers, of all or of those asked.

    ``disagreement`` is ``1 - K`` summed over pairs of such rows; for `Spread`, their squared distances.
    """
    covered, same = counts.per_explanation[counts.explanation], agreeing_by_cell(counts)
    inside = counts.given - counts.missed  # rows that are covered by their own explanation, and no others of themselves
    agreeing = counts.given * same - inside * counts.agreement.itself
    others = counts.given * covered - inside
    agreeing, pairs = (sums(counts.explanation, column, counts.distinct) for column in (agreeing, others))
    share = mean_agreement(counts, agreeing, pairs)
    apart = 2 * agreeing if isinstance(counts.agreement, Spread) else pairs - agreeing
    apart = np.where(apart > _ROUNDING * np.maximum(pairs, 1), apart, 0.0)
    if isinstance(counts.agreement, Spread):
        with np.errstate(over="ignore"):  # infinite if it is too large
            apart = apart * scaled(counts.values)[1] ** 2
    reached = divided(counts.per_explanation, counts.n if asked is None else asked, np.nan)
    columns = {"n": counts.rows_given, "sufficiency": share, "coverage": reached, "disagreement": apart}
    return columns if asked is None else columns | {"asked": asked}


def mean_agreement(counts: Counts, agreeing: Array, others: Array) -> Floats:
    """The mean agreement from its sum over `others` rows; for `Spread`, ``1 - mean d / T``. NaN for no others."""
    mean = divided(agreeing, others, np.nan)
    return 1 - mean / variance(counts.values, counts.per_label) if isinstance(counts.agreement, Spread) else mean


def agreement_between(agreement: Agreement, a: Array, b: Array) -> Floats:
    """How much ``a[i]`` and ``b[i]`` agree, for every i; for `Spread`, a multiple of their squared distance."""
    values, place = number_labels(np.concatenate([a, b]))
    pair, (one, other) = np.arange(len(a)), place.reshape(2, -1)
    return agreement.over(np.array(values, np.float64)).at(GroupedRows(pair, other, np.ones(len(a))), pair, one)


def distance(a: Array, b: Array) -> Floats:
    """How far ``a[i]`` and ``b[i]`` are apart; of vectors, the euclidean distance."""
    apart = np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64))
    return apart if apart.ndim == 1 else np.asarray(np.hypot.reduce(apart, axis=1))
