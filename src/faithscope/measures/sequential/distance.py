"""How far the explanations of two periods are apart: total variation, with limits that are never too narrow."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special


class Distance(NamedTuple):
    """Total variation distance of two distributions of explanations: the value of the sample, and limits of the truth.

    The value of a sample is too large with many rare explanations, so it may lie above the limits' middle.
    """

    value: float
    low: float
    high: float


def distance(before: ArrayLike, after: ArrayLike, error: float, seed: int) -> Distance:
    """Total variation between the distributions of explanations that rows before and rows after were drawn from.

    The lower limit chooses explanations on a random half of the rows that have become more frequent, and compares
    their shares on the other half. The upper one is the value plus McDiarmid's margin, since the expected value is at
    least the truth.

    Parameters
    ----------
    before, after
        Rows by explanation, shape (n_explanations,) each.

    Examples
    --------
    >>> [round(end, 3) for end in distance([500, 500, 0], [500, 300, 200], error=0.05, seed=0)]
    [0.2, 0.143, 0.261]
    """
    counts = np.stack([np.asarray(before, np.int64), np.asarray(after, np.int64)])
    rows = counts.sum(axis=1)
    if not rows.all():
        return Distance(0.0, 0.0, 1.0)
    shares = counts / rows[:, None]
    value = float(np.abs(shares[0] - shares[1]).sum() / 2)
    margin = np.sqrt((1 / rows).sum() * np.log(2 / error) / 2)
    chosen = np.random.default_rng(seed).binomial(counts, 0.5)
    low = _gap(chosen, counts - chosen, error / 4)
    return Distance(round(value, 12), max(0.0, min(low, value)), min(1.0, value + float(margin)))


def _gap(chosen: NDArray[np.int64], kept: NDArray[np.int64], error: float) -> float:
    """The least by which the explanations that became more frequent among `chosen` rows did so among `kept` rows."""
    shares = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    more = shares[1] > shares[0]
    (k0, k1), (n0, n1) = kept[:, more].sum(axis=1), kept.sum(axis=1)
    low = special.betaincinv(k1, n1 - k1 + 1, error) if k1 else 0.0
    high = special.betaincinv(k0 + 1, n0 - k0, 1 - error) if k0 < n0 else 1.0
    return float(low - high)
