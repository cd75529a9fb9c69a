"""Points in a metric space: rows of numbers, or of numbers and categories, and the distance between them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.explanations.distances.cells import to_cells
from faithscope.explanations.distances.metrics import (
    Gower,
    numbers_of,
    paired,
    pairwise,
    to_metric_name,
    typed,
)
from faithscope.inputs.array_types import Array, Bools, Floats, Ints, Names
from faithscope.inputs.arrays import declared_categories, to_vector
from faithscope.inputs.columns import Column, Rows

_BLOCK = 2**22  # distances at a time


def to_metric(metric: Any, rows: Array, categories: Collection[int] = ()) -> Any:
    """The metric that a caller means; Gower's learns its ranges from these rows, but for features of categories."""
    if metric is None:
        metric = "gower" if rows.dtype == object or categories else "euclidean"
    metric = to_metric_name(metric)
    if isinstance(metric, str) and metric == "gower":
        columns = _columns(rows)
        return Gower.fit([column.astype(object) if j in categories else column for j, column in enumerate(columns)])
    if (rows.dtype == object or categories) and not isinstance(metric, Gower):
        raise BadInput(numbers_only(metric, sum(item is None for item in rows.flat)))
    return metric


def numbers_only(metric: Any, missing: int) -> str:
    """The message for a metric of numbers on rows that hold other values: why not, and what to use."""
    if missing:
        return (
            f"metric={metric!r} needs complete numbers, and these rows miss {several(missing, 'value', 'values')}: "
            "use metric='gower', for which missing is a value of its own, or fill them."
        )
    return f"metric={metric!r} needs numbers, and these rows have categories or dates: use metric='gower'."


def _columns(rows: Array) -> list[Array]:
    if rows.dtype != object:
        return list(rows.T)
    return [Column("", to_vector(column.tolist())).measured for column in rows.T]


@dataclass(frozen=True, eq=False)
class Points:
    """Rows and the distance between them.

    Parameters
    ----------
    rows : (m, d) array
        Floats, or Python objects if some features are categories.
    metric : str, callable or Gower
    names : tuple of str, optional
    columns : list of (m,) arrays, optional
        The same ready for Gower's distance, if they have been read before.
    """

    rows: Array
    metric: Any
    names: Names | None = None
    columns: list[Array] | None = None

    @classmethod
    def of(cls, rows: Any, metric: Any) -> "Points":
        """Points from whatever a caller has."""
        cells = to_cells(rows, "Points")
        return cls(cells.values, to_metric(metric, cells.values, declared_categories(rows)), cells.names)

    def sample(self, X: Any) -> "Points":
        """The rows of a sample as points of this space; a table's columns by name, and numbers may be missing."""
        if not isinstance(self.metric, Gower):
            return Points(numbers_of(X, self.rows.shape[1], self.names), self.metric)
        columns = self.metric.read(typed(Rows(X, loose=True).measured(self.names), self.metric.ranges))
        return Points(np.empty((len(columns[0]), 0), object), self.metric, columns=columns)

    def complete(self, X: Any) -> Bools:
        """Which rows have a distance to these points: those that miss no number."""
        rows = self.sample(X).rows
        return np.ones(len(rows), bool) if rows.dtype == object else np.asarray(~np.isnan(rows).any(axis=1))

    def same_space(self, other: "Points") -> bool:
        """Whether both have the same points and the same metric."""
        return bool(self.metric == other.metric) and np.array_equal(self.rows, other.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: Ints) -> "Points":
        """Some of the points."""
        columns = None if self.columns is None else [column[chosen] for column in self.columns]
        return Points(self.rows[chosen], self.metric, self.names, columns)

    @cached_property
    def _read(self) -> list[Array]:
        assert isinstance(self.metric, Gower)
        return self.columns or self.metric.read(typed(_columns(self.rows), self.metric.ranges))

    def to(self, others: Array) -> Floats:
        """The distance of point i to row i of the others."""
        if isinstance(self.metric, Gower):
            return self.metric.between(self._read, Points(others, self.metric)._read)
        return paired(self.rows.astype(np.float64), others.astype(np.float64), self.metric)

    def from_all(self, others: "Points") -> Floats:
        """Distances of each of these points (rows) to all others (columns)."""
        if isinstance(self.metric, Gower):
            return self.metric.between([column[:, None] for column in self._read], others._read)
        return pairwise(self.rows.astype(np.float64), others.rows.astype(np.float64), self.metric)

    def distances(self, X: Any) -> Iterator[Floats]:
        """Distances of the rows of X to all of these points, in blocks of rows."""
        rows = self.sample(X)
        step = max(1, _BLOCK // max(1, len(self)))
        for start in range(0, len(rows), step):
            yield rows.take(np.arange(start, min(start + step, len(rows)))).from_all(self)
