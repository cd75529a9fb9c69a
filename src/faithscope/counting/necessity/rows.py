"""Leaving out every row in turn, if rows are labeled, independent and count alike: in closed form."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.leaving_out.leave_out import LeftOut, Sums
from faithscope.counting.necessity.counted import NecessityTerms, mean_or_none, share_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class LabeledRows(NamedTuple):
    """Rows, or kinds of rows that are alike, and whom they cover and are covered by; a row itself never counts.

    Attributes
    ----------
    label : (m,) array
        The number of each row's label.
    same, covered : (m,) arrays
        How many other rows the row's explanation covers: with its label, and with any.
    same_reaching, reaching : (m,) arrays
        How many other rows have an explanation that covers the row: of those with its label, and of those that can be
        checked.
    rows : (m,) array
        How many rows the entry stands for.
    per_label : (labels,) array
        Rows with each label.
    """

    label: Ints
    same: NDArray[Any]
    covered: NDArray[Any]
    same_reaching: NDArray[Any]
    reaching: NDArray[Any]
    rows: NDArray[Any]
    per_label: Ints


def label_terms(rows: LabeledRows) -> NecessityTerms:
    """The terms of labeled rows, and the same without each.

    With ``P_y`` the ordered pairs of rows with label y of which the explanation of the first covers the second, and
    ``n_y`` rows, label y adds ``P_y / (n_y - 1)``. Without row j of this label, all have one other row fewer, and
    ``P_y`` loses the pairs with j on either side.
    """
    label, sizes, times = rows.label, rows.per_label, np.asarray(rows.rows, np.float64)
    columns = (times * rows.same, times * rows.covered)
    pairs, reached = (np.bincount(label, column, minlength=len(sizes)).astype(np.float64) for column in columns)
    checked, n = sizes > 1, int(sizes.sum())
    by_label = np.where(checked, pairs / np.maximum(sizes - 1, 1), 0.0)
    whole = Sums(float(by_label.sum()), float(np.sum(sizes == 1)), float(n))
    everyone, sure = float(reached[checked].sum()), float(sizes[checked].sum())
    chance = mean_or_none(everyone, sure * (n - 1))
    if n < 2:
        return NecessityTerms(whole, chance, None, None)
    size = sizes[label]
    left = (pairs[label] - rows.same - rows.same_reaching) / np.maximum(size - 2, 1)
    value = whole.agreeing - by_label[label] + np.where(size > 2, left, 0.0)
    silent = whole.silent - (size == 1) + (size == 2)
    # If a label has two rows, the other one can no longer be checked: all pairs of both are lost, once.
    lost = np.where(size == 2, reached[label] - rows.same_reaching, np.where(size > 2, rows.covered, 0))
    pairs_left = (sure - np.where(size > 2, 1, np.where(size == 2, 2, 0))) * (n - 2)
    by_chance = share_of(everyone - rows.reaching - lost, pairs_left, pairs_left > 0)
    left_out = LeftOut(value / (n - 1), silent / (n - 1), rows=rows.rows)
    return NecessityTerms(whole, chance, left_out, by_chance)
