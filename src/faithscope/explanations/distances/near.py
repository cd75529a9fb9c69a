"""Which vectors lie within a distance: by matrix products, and exactly for pairs that these cannot decide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.distances.metrics import paired, pairwise

Floats = NDArray[np.float64]

_TILE = 2**18  # squared distances computed at once, so that they stay in cache


@dataclass(frozen=True, eq=False)
class Near:
    """Centers that cover the rows within their radius: coverage by distance, on whatever device it is counted.

    Parameters
    ----------
    centers, rows : (m, d) and (n, d) arrays
    radii : (m,) array
    metric : str or callable
        By its name in SciPy, if it has one.
    open : bool
        Whether a row at the radius itself is not covered.
    """

    centers: Floats
    rows: Floats
    radii: Floats
    metric: Any
    open: bool = False


def near(centers: Floats, rows: Floats, tau: float, metric: Any) -> Callable[[int, int], NDArray[np.bool_]]:
    """``mask(start, stop)``: which rows lie within tau (inclusive) of centers start to stop."""
    largest = max(np.abs(centers).max(initial=0.0), np.abs(rows).max(initial=0.0), tau)
    if metric in ("euclidean", "l2") and 1e-150 < largest < 1e150:
        return _near_euclidean(centers, rows, tau)
    return lambda start, stop: pairwise(centers[start:stop], rows, metric) <= tau


def _near_euclidean(centers: Floats, rows: Floats, tau: float) -> Callable[[int, int], NDArray[np.bool_]]:
    """Squared distances by one matrix product; pairs that its rounding cannot decide are computed exactly."""
    middle = rows.mean(axis=0) if len(rows) else 0.0
    a, b = centers - middle, rows - middle
    size = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), tau) or 1.0
    a /= size
    b /= size
    most = (tau / size) ** 2
    a2, b2 = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    # Rounding of a sum of d products, with room to spare; relative to the sizes that cancel.
    slack = 8 * (rows.shape[1] + 4) * (a2.max(initial=0.0) + b2.max(initial=0.0) + most)
    kind: type[np.floating[Any]] = np.float32 if 64 * slack * np.finfo(np.float32).eps < most else np.float64
    doubt = kind(slack * np.finfo(kind).eps)
    # One product gives |a|² - 2ab + |b|² - τ².
    left = np.column_stack([a, a2 - most, np.ones(len(a))]).astype(kind)
    right = np.empty((rows.shape[1] + 2, len(b)), kind, order="F")
    right[:-2], right[-2], right[-1] = b.T, 1, b2
    right[:-2] *= -2
    del a, b

    def mask(start: int, stop: int) -> NDArray[np.bool_]:
        inside = np.empty((stop - start, len(rows)), bool)
        step = max(64, _TILE // max(1, stop - start))
        for begin in range(0, len(rows), step):
            squared = np.matmul(left[start:stop], right[:, begin : begin + step])
            tile = inside[:, begin : begin + step]
            np.less_equal(squared, doubt, out=tile)
            close = np.flatnonzero(tile & (squared >= -doubt))  # flat: in two dimensions nonzero is far slower
            if 64 * len(close) > tile.size:
                tile[:] = pairwise(centers[start:stop], rows[begin : begin + step], "euclidean") <= tau
            elif len(close):
                i, j = np.divmod(close, tile.shape[1])
                tile[i, j] = paired(centers[start + i], rows[begin + j], "euclidean") <= tau
        return inside

    return mask
