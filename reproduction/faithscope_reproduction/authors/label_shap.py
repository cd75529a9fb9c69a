"""SHAP as the authors seem to have run it: the shap package's kernel method of 2021, on the predicted label."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.authors.kernel_coalitions import Coalitions, draw
from faithscope_reproduction.authors.lars import supports
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
        varying = _varying(rows, self.background)
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
        coalitions = draw(rows, count, self.coalitions, self.seed)
        worths = self._worths(rows, features, coalitions.members) - null
        everything = 2.0**count - 2
        select = coalitions.members.shape[1] / everything < _WELL_COVERED
        return solve(coalitions, worths, gains, select=select)

    def _worths(self, rows: Floats, features: Ints, members: Masks) -> Floats:
        """Mean label over the background where only members have the row's values: (n, coalitions)."""
        everywhere = np.zeros((*members.shape[:2], rows.shape[1]), bool)
        np.put_along_axis(everywhere, np.broadcast_to(features[:, None, :], members.shape), members, axis=2)
        return mean_labels(self.model, rows, self.background, everywhere)

    def _outputs(self, rows: Floats) -> Floats:
        return np.asarray(self.model.predict(rows), np.float64)


def solve(coalitions: Coalitions, worths: Floats, gains: Floats, *, select: bool) -> Floats:
    """Least squares under the kernel's weights, the values held to the sum `gains`.

    Parameters
    ----------
    found : Coalitions
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
    members, weights = coalitions.members.astype(np.float64), coalitions.weights
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
    size = members.sum(axis=2)
    count = members.shape[2]
    roots = np.sqrt(np.concatenate([weights * (count - size), weights * size], axis=1))
    y = np.concatenate([worths, worths - gains[:, None]], axis=1) * roots
    X = np.concatenate([members, members - 1], axis=1) * roots[:, :, None]
    y -= y.mean(axis=1, keepdims=True)
    X -= X.mean(axis=1, keepdims=True)
    turned = X.transpose(0, 2, 1)
    return supports(turned @ X, (turned @ y[:, :, None])[:, :, 0], (y * y).sum(axis=1), y.shape[1])


def _varying(rows: Floats, background: Floats) -> Masks:
    """Which features of each row differ from some row of the background: the others cannot matter."""
    low, high = background.min(axis=0), background.max(axis=0)
    return np.asarray((low != high) | (rows != low))


def _alike(varying: Masks, most: int) -> Iterator[tuple[Ints, Ints]]:
    """Blocks of at most so many rows of which equally many features vary, and these features."""
    counts = varying.sum(axis=1)
    for count in np.unique(counts):
        every = np.flatnonzero(counts == count)
        for start in range(0, len(every), most):
            part = every[start : start + most]
            yield part, np.nonzero(varying[part])[1].reshape(len(part), count)
