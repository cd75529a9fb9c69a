"""Distances between rows: any metric of scikit-learn's, and Gower's for rows of numbers and categories."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.inputs import frame_columns, is_frame, to_vector

Floats = NDArray[np.float64]
_DIAGONAL = 16  # rows at a time whose square of distances is computed for its diagonal


@dataclass(frozen=True, eq=False)
class Gower:
    """Numbers by their range, categories by equality, averaged over features; 0 to 1.

    Missing numbers are at distance 1 from any other and 0 from each other. The ranges are learned once, so that a
    distance does not depend on the rows it is asked with.

    Parameters
    ----------
    ranges : tuple of float or None
        For each feature the range of its numbers; None for categories.
    """

    ranges: tuple[float | None, ...]

    @classmethod
    def fit(cls, columns: list[NDArray[Any]]) -> "Gower":
        """Learn the ranges from columns of numbers, dates or objects."""
        return cls(tuple(None if column.dtype == object else _range(_numbers(column)) for column in columns))

    def read(self, columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
        """Each column ready for comparison: numbers as floats, categories as text."""
        if len(columns) != len(self.ranges):
            raise BadInput(f"Rows have {len(columns)} features where this distance knows {len(self.ranges)}.")
        pairs = zip(columns, self.ranges, strict=True)
        return [_text(column) if width is None else _numbers(column) for column, width in pairs]

    def between(self, a: list[NDArray[Any]], b: list[NDArray[Any]]) -> Floats:
        """Distances of columns that were read, broadcast against each other."""
        total: Floats = np.zeros(np.broadcast(a[0], b[0]).shape)
        for x, y, width in zip(a, b, self.ranges, strict=True):
            total += (x != y) if width is None else _gap(x, y, width)
        return total / len(self.ranges)


def _gap(x: Floats, y: Floats, width: float) -> Floats:
    # The difference first: equal differences are then equal distances, as an open ball needs.
    gap = np.abs(x - y) / (width or 1.0)
    unknown = np.isnan(gap)
    if unknown.any():
        gap[unknown] = 1.0  # a missing number is far from any other, but not from another missing one
        gap[np.broadcast_to(np.isnan(x) & np.isnan(y), gap.shape)] = 0.0
    return np.minimum(gap, 1.0)


def _numbers(column: NDArray[Any]) -> Floats:
    values = column.astype(np.int64 if column.dtype.kind in "Mm" else np.float64).astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    return values


def _range(values: Floats) -> float:
    return float(np.nanmax(values) - np.nanmin(values)) if np.isfinite(values).any() else 0.0


def _text(column: NDArray[Any]) -> NDArray[Any]:
    return np.array([str(item) for item in column], object)


def columns_of(X: Any) -> list[NDArray[Any]]:
    """Rows of any kind as columns of numbers, dates or objects."""
    if is_frame(X):
        return frame_columns(X)[1]
    array = to_vector(X, "X")
    if array.ndim == 1 and array.dtype == object and len(array) and isinstance(array[0], list | np.ndarray):
        lengths = {len(row) for row in array}
        array = np.array(list(map(list, array)), object) if len(lengths) == 1 else array.astype(str)
    columns = list(array.reshape(len(array), int(np.prod(array.shape[1:]))).T)
    return [to_vector(column.tolist()) if column.dtype.kind not in "biuf" else column for column in columns]


def numbers_of(X: Any, width: int | None = None) -> Floats:
    """Rows as a matrix of numbers, which may be missing; a metric on numbers needs nothing else."""
    columns = columns_of(X)
    wrong = next((j for j, column in enumerate(columns) if column.dtype.kind not in "biuf"), None)
    if wrong is not None:
        raise WrongType(
            f"Column {wrong} of the rows holds {columns[wrong][0]!r}, which is no number: "
            "use metric='gower' for rows with categories."
        )
    if width is not None and len(columns) != width:
        raise BadInput(f"Rows have {len(columns)} features where the explanations have {width}.")
    return np.column_stack(columns).astype(np.float64)


def pairwise(a: Floats, b: Floats, metric: Any) -> Floats:
    """Distances between all rows of a and all rows of b."""
    if isinstance(metric, str) and metric in {"euclidean", "cityblock", "manhattan", "chebyshev", "cosine", "hamming"}:
        from scipy.spatial.distance import cdist  # here, since it would double the time to import faithscope

        return np.asarray(cdist(a, b, {"manhattan": "cityblock"}.get(metric, metric)))
    from sklearn.metrics import pairwise_distances

    try:
        return np.asarray(pairwise_distances(a, b, metric=metric))
    except (ValueError, TypeError) as problem:
        raise BadInput(f"metric={metric!r} could not be used: {str(problem).splitlines()[0]}") from problem


def paired(a: Floats, b: Floats, metric: Any) -> Floats:
    """Distance of each row of a to its own row of b, rounded exactly as `pairwise` rounds it."""
    parts = [
        np.diagonal(pairwise(a[start : start + _DIAGONAL], b[start : start + _DIAGONAL], metric))
        for start in range(0, len(a), _DIAGONAL)
    ]
    return np.concatenate(parts) if parts else np.empty(0)
