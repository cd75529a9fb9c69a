"""The oracle for numbers: agreement pair by pair, from an (n, n) table of which rows each row's explanation covers."""

from typing import NamedTuple

import numpy as np


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


def mean_over_pairs(covers, table, codes, weights, clusters, asks=True, answers=True):
    """The mean of a table over pairs of a row that asks and a row covered that answers, and which rows find nobody.

    Pairs are of different clusters, explanation by explanation: ``Σ G · Σ w w' K / Σ w w'``, with G the weight of an
    explanation's rows that lie under it, or that do not.
    """
    asks, total, silent = asks | np.zeros(len(codes), bool), 0.0, np.zeros(len(codes), bool)
    for explanation in np.unique(codes[asks]):
        for own in (True, False):
            rows = asks & (codes == explanation) & (np.diag(covers) == own)
            pairs = rows[:, None] & covers & answers & (clusters[:, None] != clusters)
            mass = np.outer(weights, weights) * pairs
            if pairs.any():
                total += weights[rows].sum() * (mass * table).sum() / mass.sum()
            else:
                silent |= rows
    return total / weights[asks].sum(), silent


def brute(covers, y, agree, codes, weights=None, clusters=None, asks=True, answers=True):
    """The mean over rows that ask of the mean agreement with the other rows covered that answer.

    Parameters
    ----------
    covers : (n, n) array
        Whether row i's explanation covers row j.
    codes : (n,) array
        The explanation of each row.
    clusters : (n,) array, optional
        Rows of one cluster are not compared.
    """
    n, table = len(y), np.asarray(agree(y[:, None], y[None, :]), np.float64)
    weights = np.ones(n) if weights is None else weights
    how = (weights, np.arange(n) if clusters is None else clusters, asks, answers)
    value, silent = mean_over_pairs(covers, table, codes, *how)
    chance, nobody = mean_over_pairs(np.ones_like(covers), table, np.zeros(n), *how)
    unverifiable = weights[silent].sum() / weights[asks | np.zeros(n, bool)].sum()
    return Brute(value, unverifiable, np.nan if nobody.any() else chance, value + unverifiable)


def brute_spread(covers, y, codes, weights=None, asks=True, answers=True):
    """``1 - (W + S) / T`` by the definition; NaN if all predictions are the same."""
    n, columns = len(y), (y - y[0]).reshape(len(y), -1)  # so that nothing cancels
    weights = np.ones(n) if weights is None else weights
    distance = 0.5 * ((columns[:, None, :] - columns[None, :, :]) ** 2).sum(axis=2)
    within, silent = mean_over_pairs(covers, distance, codes, weights, np.arange(n), asks, answers)
    alone = mean_over_pairs(covers, distance, codes, weights, np.arange(n), answers, answers)[1]
    squares = weights * ((columns - weights @ columns / weights.sum()) ** 2).sum(axis=1)
    asked = weights[asks | np.zeros(n, bool)].sum()
    unverifiable = weights[silent].sum() / asked
    if not distance.any():
        return Brute(np.nan, unverifiable, 0.0, np.nan)
    freedom = (weights.sum() - weights @ weights / weights.sum()) / squares.sum()
    upper = 1 - within * freedom
    return Brute(upper - squares[alone].sum() / squares.sum() * weights.sum() / asked, unverifiable, 0.0, upper)
