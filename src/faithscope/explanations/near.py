"""Which vectors lie within a distance: blocks of distances, decided exactly where matrix products are too coarse."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.distances import paired, pairwise

Floats = NDArray[np.float64]


def near(centers: Floats, rows: Floats, tau: float, metric: Any) -> Callable[[int, int], NDArray[np.bool_]]:
    """A function that says, for centers start to stop, which rows lie within tau (inclusive)."""
    if metric == "euclidean":
        return _near_euclidean(centers, rows, tau)
    return lambda start, stop: pairwise(centers[start:stop], rows, metric) <= tau


def _near_euclidean(centers: Floats, rows: Floats, tau: float) -> Callable[[int, int], NDArray[np.bool_]]:
    """Squared distances by one matrix product; pairs too near tau for its rounding are computed outright."""
    middle = rows.mean(axis=0) if len(rows) else 0.0
    a, b = centers - middle, rows - middle
    a2, b2 = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    # Rounding of a sum of d products, with room to spare; relative to the sizes that cancel.
    slack = 8 * (rows.shape[1] + 4) * np.finfo(float).eps

    def mask(start: int, stop: int) -> NDArray[np.bool_]:
        squared = a[start:stop] @ b.T
        squared *= -2.0
        squared += b2
        squared += a2[start:stop, None] - tau**2
        inside: NDArray[np.bool_] = squared <= 0
        doubt = slack * (a2[start:stop].max(initial=0.0) + b2.max(initial=0.0) + tau**2)
        np.abs(squared, out=squared)
        i, j = np.nonzero(squared <= doubt)
        if len(i):
            inside[i, j] = paired(centers[start + i], rows[j], "euclidean") <= tau
        return inside

    return mask
