"""Leaving out: what each row adds to a measure, and the measure without one row."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.chunks import over_chunks, sums_over_chunks

Floats = NDArray[np.float64]

_WIDTH = 4  # numbers worked on per entry


@dataclass(frozen=True, eq=False)
class LeftOut:
    """M̂ and U with each row, or each block of rows, left out in turn.

    Attributes
    ----------
    value, silent : (k,) arrays
        M̂ and U without each row, or each block of rows.
    reach : float
        How much the terms of other rows lean on one row at most: ``max_j Σ_i 1(π_i covers j) / c_i``; 1 for equality.
    weight : (k,) array, optional
        How much each row takes part in the measure: 1 if it has a term of its own, plus how much the terms of other
        rows lean on it. None for equality: there, a row that can be checked has weight 2, and any other row 0.
    rows : (k,) array, optional
        How many rows each value stands for; None if it is one row, or one block, per value.
    heaviest : float
        How many effective rows a row may count for that was not seen: ``n_eff · max w / Σw``, or 1.
    """

    value: Floats
    silent: Floats
    reach: float = 1.0
    weight: Floats | None = None
    rows: NDArray[Any] | None = None
    heaviest: float = 1.0


class RowKinds(NamedTuple):
    """Rows with the same term, for equality: each entry stands for one or more rows.

    If rows are not weighted, `weight` and `square` equal `size`, and `pairs` counts ordered pairs.
    """

    size: NDArray[Any]  # rows that were given the explanation
    weight: NDArray[Any]  # their weight, W
    square: NDArray[Any]  # the sum of their squared weights, V
    pairs: NDArray[Any]  # the weight of their agreeing ordered pairs, P = Σ_y (W_y² - V_y)
    agreeing: NDArray[Any]  # the weight of those other rows that share the row's label
    own: NDArray[Any]  # the weight of the row itself
    rows: NDArray[Any]  # how many rows the entry stands for


class Sums(NamedTuple):
    """Sums over rows, all to be divided by the same total."""

    agreeing: float  # rows, each by its weight and by the share of its others that agree
    silent: float  # rows whose explanation covers nobody else
    total: float


def sum_terms(kinds: RowKinds) -> Sums:
    """The sums of M̂ and U: an explanation adds ``W P / (W² - V)`` to M̂, or W to U if it has a single row."""
    return _sums(kinds, _term(kinds.weight, kinds.square, kinds.pairs, kinds.size))


def _sums(kinds: RowKinds, terms: Floats) -> Sums:
    share = kinds.rows / kinds.size  # of its explanation's rows, the share that an entry stands for
    mass = kinds.rows * kinds.own
    return Sums(float(np.sum(share * terms)), float(np.sum(mass[kinds.size == 1])), float(np.sum(mass)))


def leave_out_rows(kinds: RowKinds) -> LeftOut:
    """M̂ and U with one row of each kind left out."""
    return terms_and_left_out(kinds)[1]


def terms_and_left_out(kinds: RowKinds) -> tuple[Sums, LeftOut]:
    """The sums of M̂ and U, and both with one row of each kind left out.

    Without a row of weight w, an explanation has the weight W - w, the squares V - w², and the agreeing pairs
    P - 2 w A, where A is the weight of its other rows with the same label.
    """
    value, silent = np.empty(len(kinds.size)), np.empty(len(kinds.size))

    def change(start: int, stop: int) -> Sums:
        part = RowKinds(*(column[start:stop] for column in kinds))
        size, weight, square, pairs, agreeing, own, _ = part
        before = _term(weight, square, pairs, size)
        after = _term(weight - own, square - own**2, pairs - 2 * own * agreeing, size - 1)
        np.subtract(after, before, out=value[start:stop])
        silent[start:stop] = np.where(size == 2, weight - own, 0) - np.where(size == 1, own, 0)
        return _sums(part, before)

    whole = Sums(*sums_over_chunks(change, len(value), _WIDTH).tolist())

    def share(start: int, stop: int) -> None:
        inverse = 1 / (whole.total - kinds.own[start:stop])
        for column, total in ((value, whole.agreeing), (silent, whole.silent)):
            column[start:stop] += total
            column[start:stop] *= inverse

    over_chunks(share, len(value), _WIDTH)
    return whole, LeftOut(value, silent, rows=kinds.rows)


def _term(weight: NDArray[Any], square: NDArray[Any], pairs: NDArray[Any], size: NDArray[Any]) -> Floats:
    """What each explanation adds to the sum of M̂, ``W P / (W² - V)``: 0 if it has a single row."""
    all_pairs = weight * weight - square
    share = pairs / np.where((size > 1) & (all_pairs > 0), all_pairs, np.inf)
    return np.asarray(weight * share)


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Elementwise part / whole; 0 if the whole is 0 or the part is not positive."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=(whole > 0) & (part > 0)))
