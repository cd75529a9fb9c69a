"""What is counted for necessity, whoever counted it: sums over rows, and both measures without each row or block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.leave_out import LeftOut, Sums

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NecessityTerms:
    """Necessity and its chance level as sums over rows, and without each row, or each block of rows.

    Attributes
    ----------
    sums : Sums
        Rows, each by the share of the others with its prediction that its explanation covers (`agreeing`), and rows
        whose prediction nobody else gets (`silent`).
    chance : float or None
        The mean over rows that can be checked of the share of all others that their explanation covers; None if none.
    left_out : LeftOut or None
        Necessity without each row, or block; None if there is nothing to leave out.
    chance_left_out : (k,) array or None
        The chance level without each.
    """

    sums: Sums
    chance: float | None
    left_out: LeftOut | None
    chance_left_out: Floats | None


@dataclass(frozen=True, eq=False)
class NecessityCounts:
    """The terms of necessity, the counts behind them, and which rows were left out together.

    Attributes
    ----------
    counts : Counts
    terms : NecessityTerms
    own : (n,) array of bool
        Whether each row is covered by its own explanation.
    idle : tuple of str
        Conditions that hold on no row.
    block : (n,) array or None
        The block of each row; None if single rows were left out.
    alike : bool
        Whether every other explainer of these rows has the same blocks.
    others : (n,) array or None
        Of numbers, the weight of the other rows, each by its agreement with the row.
    """

    counts: Counts
    terms: NecessityTerms
    own: NDArray[np.bool_]
    idle: tuple[str, ...] = ()
    block: Ints | None = None
    alike: bool = True
    others: Floats | None = None


def mean_or_none(total: float, weight: float) -> float | None:
    """A mean from its sum; None of nothing."""
    return total / weight if weight > 0 else None


def share_of(part: NDArray[Any], whole: NDArray[Any], known: NDArray[np.bool_]) -> Floats:
    """Elementwise part / whole, from 0 to 1, if it is known; else 0."""
    part, whole, known = np.broadcast_arrays(part, whole, known)
    shares = np.divide(part, whole, out=np.zeros(part.shape), where=known)
    return np.asarray(np.clip(shares, 0.0, 1.0, out=shares))
