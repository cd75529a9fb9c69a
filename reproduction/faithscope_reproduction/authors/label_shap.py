"""SHAP as the authors seem to have run it: the method of the package shap, on the predicted label."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.inputs.seeds import row_digests

Floats = NDArray[np.float64]

_WELL_COVERED = 0.2  # share of all coalitions from which on the package of 2021 selected no features


@dataclass(frozen=True, eq=False)
class LabelShap:
    """Kernel SHAP of the predicted label, a class's position as a number, by the package ``shap``.

    Coalitions are drawn anew for every row. As with ``l1_reg="auto"`` in 2021, features are selected by the AIC of
    scikit-learn before 1.1 where less than a fifth of all coalitions is tried, and all others get exactly 0.

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
        kernel, values = _kernel()(lambda asked: self.model.predict(asked) * 1.0, self.background), np.empty(rows.shape)
        before = np.random.get_state()  # noqa: NPY002, the package draws from NumPy's global state
        for place, digest in enumerate(row_digests(self.seed, rows)):
            np.random.seed(np.frombuffer(digest, np.uint32))  # noqa: NPY002
            values[place] = kernel.explain(rows[place : place + 1], nsamples=self.coalitions, l1_reg=False)
            if progress is not None:
                progress(place + 1, len(rows))
        np.random.set_state(before)  # noqa: NPY002
        return fs.Importances(values)


@cache
def _kernel() -> Any:
    """The package's explainer, which selects features as it did in 2021."""
    import shap

    package: Any = shap.KernelExplainer

    class Kernel(package):  # type: ignore[misc]
        def solve(self: Any, fraction_evaluated: float, dim: int) -> tuple[Floats, Floats]:
            """Values, and their variances, of one output: every coalition is seen from the empty and the full one."""
            masks, weights, size = self.maskMatrix, self.kernelWeights, self.maskMatrix.sum(axis=1)
            taken: Any = np.ones(self.M, bool)
            values = np.zeros(self.M)
            if fraction_evaluated < _WELL_COVERED:
                roots = np.sqrt(np.concatenate([weights * (self.M - size), weights * size]))
                worths = self.ey[:, dim] - self.fnull[dim]
                worths = np.concatenate([worths, worths - (self.fx[dim] - self.fnull[dim])]) * roots
                taken = support(np.concatenate([masks, masks - 1]) * roots[:, None], worths)
            self.maskMatrix, self.M = masks[:, taken], int(taken.sum())
            values[taken] = super().solve(fraction_evaluated, dim)[0]
            return values, np.ones(len(values))

    return Kernel


def support(X: Floats, y: Floats) -> NDArray[np.bool_]:
    """Which coefficients are not 0 where ``samples · RSS / TSS + 2 df`` is least along the lasso path.

    This is ``LassoLarsIC(criterion="aic")`` of scikit-learn before 1.1, which took the variance of y for that of the
    noise and scaled every column to length 1. Later versions estimate the noise and select far more features.
    """
    from sklearn.linear_model import lars_path

    X, y = X - X.mean(axis=0), y - y.mean()
    lengths = np.linalg.norm(X, axis=0)
    scaled = X / np.where(lengths > 0, lengths, np.inf)  # a column that never changes explains nothing
    with warnings.catch_warnings(action="ignore"):  # of columns that are copies of each other
        path = lars_path(scaled, y, method="lasso", alpha_min=0.0)[2]
    rest = np.sum((y[:, None] - scaled @ path) ** 2, axis=0)
    taken, least = np.abs(path) > np.finfo(np.float64).eps, len(y) * np.finfo(np.float64).eps
    criterion = len(y) * rest / (np.sum(y**2) + least) + 2 * taken.sum(axis=0)
    return np.asarray(taken[:, criterion.argmin()])
