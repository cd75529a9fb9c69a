"""The oracle for numbers: agreement pair by pair, from an (n, n) table of which rows each row's explanation covers."""

from typing import NamedTuple

import numpy as np

from brute import clustered


class Brute(NamedTuple):
    """The value, the unverifiable share, the chance level and the upper end, by the definition."""

    value: float
    unverifiable: float
    chance: float
    upper: float


def agreement_of(name, eps):
    """K(y, y') by its name."""
    return {
        "labels": lambda a, b: np.asarray(a == b, float),
        "close": lambda a, b: np.maximum(0.0, 1 - np.abs(a - b) / eps),
        "tolerance": lambda a, b: (np.abs(a - b) <= eps).astype(float),
        "own": lambda a, b: 1 / (1 + np.abs(a - b) / eps),
    }[name]


def brute(
    covers,
    y,
    agree,
    w=None,
    codes=None,
    clusters=None,
):
    """The mean over rows of the mean agreement with the other rows covered; with weights or clusters, by explanation.

    Parameters
    ----------
    covers : (n, n) array
        Whether row i's explanation covers row j.
    codes : (n,) array, optional
        The explanation of each row, for weights; by default rows with the same row of `covers` have the same one.
    clusters : (n,) array, optional
        Rows of one cluster are not compared.
    """
    table = np.asarray(agree(y[:, None], y[None, :]), np.float64)
    if w is None and clusters is None:
        return _of_table(covers, table)
    return _weighted(covers, table, np.ones(len(y)) if w is None else w, _codes(covers, codes), clusters)


def brute_spread(covers, y, w=None, codes=None):
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


def _others(covers):
    return covers & ~np.eye(len(covers), dtype=bool)


def _codes(covers, codes):
    return np.unique(covers, axis=0, return_inverse=True)[1].reshape(-1) if codes is None else codes


def _of_table(covers, table):
    n, value, silent = len(table), 0.0, 0
    for row, others in zip(table, _others(covers), strict=True):
        if others.any():
            value += row[others].mean()
        else:
            silent += 1
    chance = (table.sum() - np.trace(table)) / (n * (n - 1)) if n > 1 else np.nan
    return Brute(value / n, silent / n, float(chance), (value + silent) / n)


def _weighted(
    covers,
    table,
    w,
    codes,
    clusters=None,
):
    """`clustered`, and the chance level: the mean agreement of all pairs of different clusters."""
    cluster = np.arange(len(w)) if clusters is None else clusters
    value, silent = clustered(codes, covers, table, cluster, w)
    mass = np.outer(w, w) * (cluster[:, None] != cluster)
    chance = (mass * table).sum() / mass.sum() if mass.any() else np.nan
    return Brute(value, silent, float(chance), value + silent)
