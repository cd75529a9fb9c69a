"""Points in a metric space: rows of numbers, or of numbers and categories, with their distance."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.distances import Gower, columns_of, numbers_of, paired, pairwise
from faithscope.explanations.inputs import to_rows, to_vector

Floats = NDArray[np.float64]
_BLOCK = 2**22  # distances at a time


def to_metric(metric: Any, rows: NDArray[Any]) -> Any:
    """The metric a caller means; Gower's learns its ranges from these rows."""
    if metric is None:
        metric = "gower" if rows.dtype == object else "euclidean"
    if metric == "gower":
        return Gower.fit(_columns(rows))
    if rows.dtype == object and not isinstance(metric, Gower):
        raise BadInput(f"metric={metric!r} needs numbers, and these rows have categories: use metric='gower'.")
    return metric


def _columns(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return [to_vector(column.tolist()) if rows.dtype == object else column for column in rows.T]


@dataclass(frozen=True, eq=False)
class Points:
    """Rows and the distance between them.

    Parameters
    ----------
    rows : (m, d) array
        Floats, or Python objects where some features are categories.
    metric : str, callable or Gower
    """

    rows: NDArray[Any]
    metric: Any

    @classmethod
    def of(cls, rows: Any, metric: Any) -> "Points":
        """Points from whatever a caller has."""
        table = to_rows(rows, "Points")[0]
        return cls(table, to_metric(metric, table))

    @classmethod
    def like(cls, X: Any, other: NDArray[Any], metric: Any) -> "Points":
        """Rows of a sample, to be compared with others; numbers may be missing."""
        if not isinstance(metric, Gower):
            return cls(numbers_of(X, other.shape[1]), metric)
        columns = columns_of(X)
        rows = np.empty((len(columns[0]), len(columns)), object)
        for j, column in enumerate(columns):
            rows[:, j] = column.tolist()
        return cls(rows, metric)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: NDArray[np.int64]) -> "Points":
        """Some of the points."""
        return Points(self.rows[chosen], self.metric)

    @cached_property
    def _read(self) -> list[NDArray[Any]]:
        assert isinstance(self.metric, Gower)
        return self.metric.read(_typed(self.rows, self.metric))

    def to(self, others: NDArray[Any]) -> Floats:
        """The distance of each point to its own other one."""
        if isinstance(self.metric, Gower):
            return self.metric.between(self._read, Points(others, self.metric)._read)
        return paired(self.rows.astype(np.float64), others.astype(np.float64), self.metric)

    def from_all(self, others: "Points") -> Floats:
        """Distances of each of these points (rows) to all others (columns)."""
        if isinstance(self.metric, Gower):
            mine = [column[:, None] for column in self._read]
            return self.metric.between(mine, [column[None, :] for column in others._read])
        return pairwise(self.rows.astype(np.float64), others.rows.astype(np.float64), self.metric)

    def distances(self, X: Any) -> Iterator[Floats]:
        """Distances of the rows of X to all of these points, some rows at a time."""
        rows = Points.like(X, self.rows, self.metric)
        step = max(1, _BLOCK // max(1, len(self)))
        for start in range(0, len(rows), step):
            yield rows.take(np.arange(start, min(start + step, len(rows)))).from_all(self)


def _typed(rows: NDArray[Any], metric: Gower) -> list[NDArray[Any]]:
    """Columns as the metric knows them: what it learned as numbers must be numbers here."""
    columns = _columns(rows)
    for j, (column, width) in enumerate(zip(columns, metric.ranges, strict=False)):
        if width is not None and column.dtype == object:
            columns[j] = np.array([np.nan if item is None else item for item in column], np.float64)
        if width is None and column.dtype != object:
            columns[j] = column.astype(object)
    return columns
