"""Evidence that the mean of independent draws between 0 and 1 is above, or below, a number: valid at all times.

Of n draws with sum k and mean m, ``θ^k (1-θ)^(n-k) / (m^k (1-m)^(n-k))`` is a nonnegative supermartingale for every
θ. Its average over θ > m, by the arcsine distribution, is evidence that the mean is above m. If it is not, the
evidence ever exceeds 1/δ with probability at most δ (Ville). `docs/statistics.md` has the proof.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Numbers = NDArray[np.float64]
_PRIOR = 0.5
_STEPS = 45


def log_evidence_above(total: ArrayLike, draws: ArrayLike, mean: ArrayLike) -> Numbers:
    """Logarithm of the evidence that the mean of the draws, whose sum is `total`, exceeds `mean`.

    Examples
    --------
    >>> log_evidence_above(95, 100, [0.8, 0.9, 0.95]).round(2)
    array([ 8.08,  0.68, -1.35])
    """
    k, n, m = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (total, draws, mean)))
    inside = np.clip(m, 1e-300, 1 - 1e-16)
    posterior = special.betaln(k + _PRIOR, n - k + _PRIOR) + _log_tail(k + _PRIOR, n - k + _PRIOR, inside)
    prior = special.betaln(_PRIOR, _PRIOR) + _log_tail(_PRIOR, _PRIOR, inside)
    likelihood = special.xlogy(k, inside) + special.xlog1py(n - k, -inside)
    return np.asarray(posterior - prior - likelihood, np.float64)


def log_evidence_below(total: ArrayLike, draws: ArrayLike, mean: ArrayLike) -> Numbers:
    """Logarithm of the evidence that the mean of the draws, whose sum is `total`, is less than `mean`."""
    k, n, m = (np.asarray(value, np.float64) for value in (total, draws, mean))
    return log_evidence_above(n - k, n, 1 - m)


def lower_limit(total: ArrayLike, draws: ArrayLike, error: ArrayLike) -> Numbers:
    """A number that the mean ever lies below, at any number of draws, with probability at most `error`.

    Evidence falls in the mean up to ``(k - 1/2) / n``; the limit is the place there at which it is 1 / error.

    Examples
    --------
    >>> lower_limit([95, 950, 9_500], [100, 1_000, 10_000], 0.05).round(3)
    array([0.863, 0.925, 0.942])
    """
    k, n, error = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (total, draws, error)))
    wanted = -np.log(error)
    low, high = np.zeros(k.shape), np.clip((k - 0.5) / np.maximum(n, 1), 0, 1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = log_evidence_above(k, n, middle) >= wanted
        low, high = np.where(enough, middle, low), np.where(enough, high, middle)
    return low


def upper_limit(total: ArrayLike, draws: ArrayLike, error: ArrayLike) -> Numbers:
    """A number that the mean ever lies above, at any number of draws, with probability at most `error`."""
    k, n = np.asarray(total, np.float64), np.asarray(draws, np.float64)
    return 1 - lower_limit(n - k, n, error)


def single_look_limits(total: ArrayLike, most: ArrayLike, draws: ArrayLike, error: float) -> tuple[Numbers, Numbers]:
    """Clopper and Pearson's limits, for one look alone: the lower from `total`, the upper from `most`.

    Examples
    --------
    >>> low, high = single_look_limits(95, 95, 100, 0.05)
    >>> float(low.round(3)), float(high.round(3))
    (0.887, 0.984)
    """
    k, top, n = (np.asarray(value, np.float64) for value in (total, most, draws))
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(np.maximum(k, 1e-9), n - k + 1, error / 2)
        high = special.betaincinv(top + 1, np.maximum(n - top, 1e-9), 1 - error / 2)
    return np.where(k > 0, low, 0.0), np.where(top < n, high, 1.0)


def _log_tail(a: Any, b: Any, m: Numbers) -> Numbers:
    """Logarithm of the probability that a beta variable exceeds m; -inf where it is too small for a number."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(special.betaincc(a, b, m)), np.float64)
