"""SHAP as the authors seem to have run it: the shap package's kernel method of 2021, on the predicted label."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.authors.kernel_coalitions import draw
from faithscope_reproduction.authors.mixed_labels import by_leaves, mean_labels

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ints = NDArray[np.int64]

_SOLVED, _SOLVED_BY_LEAVES = 200, 2_000  # rows whose values are solved for at once
_ROUNDING = 1e-10  # below which the package takes a value for 0
_WELL_COVERED = 0.2  # share of all coalitions from which on the package selects no features


@dataclass(frozen=True, eq=False)
class LabelShap:
    """Kernel SHAP of the predicted label, a class's position as a number, as the package ``shap`` computed it in 2021.

    Coalitions are drawn anew for every row. With ``l1_reg="auto"``, the default then, features are selected by the AIC
    of scikit-learn before 1.1 where less than a fifth of all coalitions is tried, and all others get exactly 0.

    Parameters
    ----------
    model : model
        Anything with ``predict`` from (m, d) arrays to m numbers.
    background : (b, d) array
    coalitions : int
        Tried for each row.
    seed : int
        With the row itself it decides what is drawn, so batches change nothing.
    """

    model: Any
    background: Floats
    coalitions: int = 100
    seed: int = 0

    def __repr__(self) -> str:
        return f"LabelShap(background={len(self.background)}, coalitions={self.coalitions}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Importances:
        """One value per row and feature."""
        rows = np.asarray(X, np.float64)
        # Features that differ from no row of the background cannot matter.
        low, high = self.background.min(axis=0), self.background.max(axis=0)
        varying = (low != high) | (rows != low)
        values, done = np.zeros(rows.shape), 0
        most = _SOLVED_BY_LEAVES if by_leaves(self.model, rows.shape[1]) else _SOLVED
        for part, features in _alike(varying, most):
            values[part[:, None], features] = self._values(rows[part], features)
            done += len(part)
            if progress is not None:
                progress(done, len(rows))
        return fs.Importances(values)

    def _values(self, rows: Floats, features: Ints) -> Floats:
        """Values of the features that vary, for rows that have equally many of them: (n, m)."""
        null = float(self._outputs(self.background).mean())
        gains = self._outputs(rows) - null
        count = features.shape[1]
        if count < 2:
            return np.repeat(gains[:, None], count, axis=1)
        members, weights = draw(rows, count, self.coalitions, self.seed)
        everywhere = np.zeros((*members.shape[:2], rows.shape[1]), bool)
        np.put_along_axis(everywhere, np.broadcast_to(features[:, None, :], members.shape), members, axis=2)
        worths = mean_labels(self.model, rows, self.background, everywhere) - null
        select = members.shape[1] / (2.0**count - 2) < _WELL_COVERED
        return solve(members.astype(np.float64), weights, worths, gains, select=select)

    def _outputs(self, rows: Floats) -> Floats:
        return np.asarray(self.model.predict(rows), np.float64)


def solve(members: Floats, weights: Floats, worths: Floats, gains: Floats, *, select: bool) -> Floats:
    """Least squares under the kernel's weights, the values held to the sum `gains`.

    Parameters
    ----------
    members, weights : (n, coalitions, m), (n, coalitions) arrays
        The coalitions, with 1 for members, and their weights.
    worths : (n, coalitions) array
        What each coalition adds to the empty one.
    gains : (n,) array
        What all features together add.
    select : bool
        Whether features are selected first; the values of all others are 0.

    Returns
    -------
    (n, m) array
    """
    taken = _selected(members, weights, worths, gains) if select else np.ones(members.shape[::2], bool)
    weighted = (members * weights[:, :, None]).transpose(0, 2, 1)
    gram = np.where(taken[:, :, None] & taken[:, None, :], weighted @ members, 0.0)
    gram += np.where(taken, _ROUNDING**2, 1.0)[:, :, None] * np.eye(members.shape[2])
    sides = np.stack([(weighted @ worths[:, :, None])[:, :, 0], np.ones(taken.shape)], axis=2)
    free, share = np.moveaxis(np.linalg.solve(gram, np.where(taken[:, :, None], sides, 0.0)), 2, 0)
    missing = gains - free.sum(axis=1)
    values = free + share * (missing / np.where(taken.any(axis=1), share.sum(axis=1), 1.0))[:, None]
    return np.where(np.abs(values) < _ROUNDING, 0.0, values)


def _selected(members: Floats, weights: Floats, worths: Floats, gains: Floats) -> Masks:
    """Features that the package selects: every coalition is seen from the empty one and from the full one."""
    size, count = members.sum(axis=2), members.shape[2]
    roots = np.sqrt(np.concatenate([weights * (count - size), weights * size], axis=1))
    y = np.concatenate([worths, worths - gains[:, None]], axis=1) * roots
    X = np.concatenate([members, members - 1], axis=1) * roots[:, :, None]
    y -= y.mean(axis=1, keepdims=True)
    X -= X.mean(axis=1, keepdims=True)
    return np.array([support(*problem) for problem in zip(X, y, strict=True)])


def support(X: Floats, y: Floats) -> Masks:
    """Which coefficients are not 0 where ``samples · RSS / TSS + 2 df`` is least along the lasso path.

    This is ``LassoLarsIC(criterion="aic")`` of scikit-learn before 1.1, which took the variance of y for that of the
    noise and scaled every column to length 1. Later versions estimate the noise and select far more features. X and y
    are centered.
    """
    from sklearn.linear_model import lars_path

    lengths = np.linalg.norm(X, axis=0)
    scaled = X / np.where(lengths > 0, lengths, np.inf)  # a column that never changes explains nothing
    with warnings.catch_warnings(action="ignore"):  # of columns that are copies of each other
        path = lars_path(scaled, y, method="lasso", alpha_min=0.0)[2]
    rest = np.sum((y[:, None] - scaled @ path) ** 2, axis=0)
    taken, least = np.abs(path) > np.finfo(np.float64).eps, len(y) * np.finfo(np.float64).eps
    criterion = len(y) * rest / (np.sum(y**2) + least) + 2 * taken.sum(axis=0)
    return np.asarray(taken[:, criterion.argmin()])


def _alike(varying: Masks, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Blocks of at most so many rows of which equally many features vary, and these features."""
    counts = varying.sum(axis=1)
    for count in np.unique(counts):
        every = np.flatnonzero(counts == count)
        for start in range(0, len(every), most):
            part = every[start : start + most]
            yield part, np.nonzero(varying[part])[1].reshape(len(part), count)
