"""The oracle for numbers: agreement pair by pair, from an (n, n) table of which rows each row's explanation covers."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Agree = Callable[[Floats, Floats], Floats]


class Brute(NamedTuple):
    """The value, the unverifiable share, the chance level and the upper end, by the definition."""

    value: float
    unverifiable: float
    chance: float
    upper: float


def agreement_of(name: str, eps: float) -> Agree:
    """K(y, y') by its name."""
    return {
        "close": lambda a, b: np.maximum(0.0, 1 - np.abs(a - b) / eps),
        "tolerance": lambda a, b: (np.abs(a - b) <= eps).astype(float),
        "own": lambda a, b: 1 / (1 + np.abs(a - b) / eps),
    }[name]


def brute(
    covers: NDArray[np.bool_], y: Floats, agree: Agree, w: Floats | None = None, codes: NDArray[np.int64] | None = None
) -> Brute:
    """The mean over rows of the mean agreement with the other rows covered; with weights, by explanation.

    Parameters
    ----------
    covers : (n, n) array
        Whether row i's explanation covers row j.
    codes : (n,) array, optional
        The explanation of each row, for weights; by default rows with the same row of `covers` have the same one.
    """
    table = np.asarray(agree(y[:, None], y[None, :]), np.float64)
    return _of_table(covers, table) if w is None else _weighted(covers, table, w, _codes(covers, codes))


def brute_spread(
    covers: NDArray[np.bool_], y: Floats, w: Floats | None = None, codes: NDArray[np.int64] | None = None
) -> Brute:
    """``1 - (W + S) / T`` by the definition; NaN if all predictions are the same."""
    columns, weights = (y - y[0]).reshape(len(y), -1), np.ones(len(y)) if w is None else w  # so that nothing cancels
    distance = 0.5 * ((columns[:, None, :] - columns[None, :, :]) ** 2).sum(axis=2)
    within = _of_table(covers, distance) if w is None else _weighted(covers, distance, w, _codes(covers, codes))
    mean = (weights[:, None] * columns).sum(axis=0) / weights.sum()
    squares = weights * ((columns - mean) ** 2).sum(axis=1)
    freedom = weights.sum() - (weights**2).sum() / weights.sum()
    silent = ~_others(covers).any(axis=1)
    if not distance.any():
        return Brute(np.nan, within.unverifiable, 0.0, np.nan)
    whole, alone = squares.sum() / freedom, squares[silent].sum() / freedom
    return Brute(1 - (within.value + alone) / whole, within.unverifiable, 0.0, 1 - within.value / whole)


def _others(covers: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return covers & ~np.eye(len(covers), dtype=bool)


def _codes(covers: NDArray[np.bool_], codes: NDArray[np.int64] | None) -> NDArray[np.int64]:
    return np.unique(covers, axis=0, return_inverse=True)[1].reshape(-1) if codes is None else codes


def _of_table(covers: NDArray[np.bool_], table: Floats) -> Brute:
    n, value, silent = len(table), 0.0, 0
    for row, others in zip(table, _others(covers), strict=True):
        if others.any():
            value += row[others].mean()
        else:
            silent += 1
    chance = (table.sum() - np.trace(table)) / (n * (n - 1)) if n > 1 else np.nan
    return Brute(value / n, silent / n, float(chance), (value + silent) / n)


def _weighted(covers: NDArray[np.bool_], table: Floats, w: Floats, codes: NDArray[np.int64]) -> Brute:
    """``Σ G · Σ w w' K / Σ w w'`` over pairs of a row given and another row covered, explanation by explanation."""
    mass, value, silent = _others(np.ones_like(covers)) * np.outer(w, w), 0.0, 0.0
    for code in np.unique(codes):
        for inside in (True, False):
            rows = (codes == code) & (np.diag(covers) == inside)
            pairs = mass[rows] * covers[rows]
            if pairs.any():
                value += w[rows].sum() * (pairs * table[rows]).sum() / pairs.sum()
            else:
                silent += w[rows].sum()
    total = w.sum()
    chance = (mass * table).sum() / mass.sum() if mass.any() else np.nan
    return Brute(value / total, silent / total, float(chance), (value + silent) / total)
