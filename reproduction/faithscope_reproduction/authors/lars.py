"""Feature selection as the shap package had it: the lasso path's best support by AIC, for many rows at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ints = NDArray[np.int64]

_TIED = 1e-9  # a share of the largest correlation, by which ties may differ for rounding
_FLAT = 1e-12
_SMALLEST = float(np.finfo(np.float32).eps)  # of the penalty: where scikit-learn's path ends


def supports(gram: Floats, correlations: Floats, squares: Floats, samples: int) -> Masks:
    """Which coefficients are not 0 where ``samples · RSS / TSS + 2 df`` is least along the lasso path.

    This is ``LassoLarsIC(criterion="aic")`` of scikit-learn before 1.1, which took the variance of y for that of the
    noise and scaled every column to length 1. Later versions estimate the noise and select far more features.

    Parameters
    ----------
    gram : (n, d, d) array
        Of each row's problem, columns centered.
    correlations : (n, d) array
        Of the columns with y, both centered.
    squares : (n,) array
        Of y, centered, summed.
    samples : int
        Lines in each problem.

    Returns
    -------
    (n, d) array of bool
    """
    lengths = np.sqrt(np.einsum("nii->ni", gram))
    lengths[lengths < _FLAT] = np.inf  # a column that never changes explains nothing
    path = _Path.start(gram / lengths[:, :, None] / lengths[:, None, :], correlations / lengths)
    least = np.full(len(gram), float(samples))
    chosen = np.zeros(correlations.shape, bool)
    for _ in range(8 * correlations.shape[1]):
        if not len(path.rows):
            break
        coefficients, rows, fit = path.step(samples)
        taken = np.abs(coefficients) > np.finfo(np.float64).eps
        total = squares[rows] + samples * np.finfo(np.float64).eps
        criterion = samples * (squares[rows] - fit) / total + 2 * taken.sum(axis=1)
        better = criterion < least[rows] - _FLAT
        least[rows[better]], chosen[rows[better]] = criterion[better], taken[better]
    return chosen


@dataclass
class _Path:
    """Where the lasso path of each row is; `rows` are those that have not ended."""

    gram: Floats
    start_at: Floats
    coefficients: Floats
    active: Masks
    left: Masks  # features that left in the last step, and may not come back in the next
    rows: Ints

    @classmethod
    def start(cls, gram: Floats, correlations: Floats) -> "_Path":
        none = np.zeros(correlations.shape, bool)
        alive = np.flatnonzero(np.abs(correlations).max(axis=1) > 0)
        return cls(gram, correlations, np.zeros(correlations.shape), none.copy(), none.copy(), alive)

    def step(self, samples: int) -> tuple[Floats, Ints, Floats]:
        """To the next knot: coefficients there, the rows they are of, and by how much they lower the sum of squares."""
        rows = self.rows
        gram, start, before = self.gram[rows], self.start_at[rows], self.coefficients[rows]
        now = start - np.einsum("nij,nj->ni", gram, before)
        height = np.abs(now).max(axis=1)
        active = self._joined(now, height)
        way = _direction(gram, np.where(active, np.sign(now), 0.0), active)
        slopes = np.einsum("nij,nj->ni", gram, way)
        free = ~active & ~self.left[rows] & (np.einsum("nii->ni", gram) > 0)
        length = np.minimum(_to_join(now, height, slopes, free), height)
        zero, first = _to_leave(before, way, active)
        leaves = zero < length
        length = np.where(leaves, zero, length)
        after = before + length[:, None] * way
        self._leave(rows[leaves], first[leaves], active, after, leaves)
        self.coefficients[rows] = after
        over = (length >= height * (1 - _FLAT)) | ((height - length) / samples < _SMALLEST)
        self.rows = rows[~over]
        fit = 2 * (after * start).sum(axis=1) - np.einsum("ni,nij,nj->n", after, gram, after)
        return after, rows, fit

    def _joined(self, now: Floats, height: Floats) -> Masks:
        """Active features, with one more that has come up to their correlation, if any; not after one has left."""
        active, left = self.active[self.rows], self.left[self.rows]
        size = np.where(active, -1.0, np.abs(now))
        best = size.argmax(axis=1)
        joins = ~left.any(axis=1) & (size.max(axis=1) >= height * (1 - _TIED))
        active[joins, best[joins]] = True
        return active

    def _leave(self, rows: Ints, features: Ints, active: Masks, after: Floats, leaves: Masks) -> None:
        after[leaves, features] = 0.0
        self.active[self.rows] = active
        self.active[rows, features] = False
        self.left[self.rows] = False
        self.left[rows, features] = True


def _direction(gram: Floats, signs: Floats, active: Masks) -> Floats:
    """How coefficients move so that all active correlations shrink alike."""
    inside = np.where(active[:, :, None] & active[:, None, :], gram, 0.0)
    outside = np.where(active, _FLAT / 10, 1.0)  # the least of ridges, for columns that are copies of each other
    solved = np.linalg.solve(inside + outside[:, :, None] * np.eye(gram.shape[1]), signs[:, :, None])[:, :, 0]
    return np.where(active, solved, 0.0)


def _to_join(now: Floats, height: Floats, slopes: Floats, free: Masks) -> Floats:
    """How far until another feature is correlated as much as the active ones."""
    nearest = np.full(len(now), np.inf)
    for sign in (1.0, -1.0):
        closing = 1 - sign * slopes
        meets = free & (closing > _FLAT)
        far = np.maximum(height[:, None] - sign * now, 0.0) / np.where(meets, closing, 1.0)
        nearest = np.minimum(nearest, np.where(meets, far, np.inf).min(axis=1))
    return nearest


def _to_leave(before: Floats, way: Floats, active: Masks) -> tuple[Floats, Ints]:
    """How far until an active coefficient is 0 again, and which."""
    moving = active & (way != 0)
    far = -before / np.where(moving, way, 1.0)
    far = np.where(moving & (far > _FLAT / 1000), far, np.inf)
    return far.min(axis=1), far.argmin(axis=1)
