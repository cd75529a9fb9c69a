"""Points in a metric space: rows of numbers, or of numbers and categories, and the distance between them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.distances.cells import missing_cells, to_cells
from faithscope.explanations.distances.metrics import (
    Gower,
    as_number,
    columns_of,
    numbers_of,
    paired,
    pairwise,
    to_metric_name,
)
from faithscope.inputs.arrays import declared_categories, to_vector
from faithscope.inputs.missing import is_missing

Floats = NDArray[np.float64]
_BLOCK = 2**22  # distances at a time


def to_metric(metric: Any, rows: NDArray[Any], categories: Collection[int] = ()) -> Any:
    """The metric that a caller means; Gower's learns its ranges from these rows, but for features of categories."""
    if metric is None:
        metric = "gower" if rows.dtype == object or categories else "euclidean"
    metric = to_metric_name(metric)
    if isinstance(metric, str) and metric == "gower":
        columns = _columns(rows)
        return Gower.fit([column.astype(object) if j in categories else column for j, column in enumerate(columns)])
    if (rows.dtype == object or categories) and not isinstance(metric, Gower):
        raise BadInput(numbers_only(metric, missing_cells(rows)))
    return metric


def numbers_only(metric: Any, missing: int) -> str:
    """The message for a metric of numbers on rows that hold other values: why not, and what to use."""
    if missing:
        return (
            f"metric={metric!r} needs complete numbers, and these rows miss {several(missing, 'value', 'values')}: "
            "use metric='gower', for which missing is a value of its own, or fill them."
        )
    return f"metric={metric!r} needs numbers, and these rows have categories or dates: use metric='gower'."


def same_metric(a: Any, b: Any) -> bool:
    """Whether two metrics are the same."""
    return bool(a.ranges == b.ranges if isinstance(a, Gower) and isinstance(b, Gower) else a is b or a == b)


def _columns(rows: NDArray[Any]) -> list[NDArray[Any]]:
    return [as_number(to_vector(column.tolist())) if rows.dtype == object else column for column in rows.T]


@dataclass(frozen=True, eq=False)
class Points:
    """Rows and the distance between them.

    Parameters
    ----------
    rows : (m, d) array
        Floats, or Python objects if some features are categories.
    metric : str, callable or Gower
    """

    rows: NDArray[Any]
    metric: Any
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, rows: Any, metric: Any) -> "Points":
        """Points from whatever a caller has."""
        cells = to_cells(rows, "Points")
        return cls(cells.values, to_metric(metric, cells.values, declared_categories(rows)), cells.names)

    def sample(self, X: Any) -> "Points":
        """The rows of a sample as points of this space; a table's columns by name, and numbers may be missing."""
        if not isinstance(self.metric, Gower):
            return Points(numbers_of(X, self.rows.shape[1], self.names), self.metric)
        columns = columns_of(X, self.names)
        rows = np.empty((len(columns[0]), len(columns)), object)
        for j, column in enumerate(columns):
            rows[:, j] = column.tolist()
        return Points(rows, self.metric)

    def complete(self, X: Any) -> NDArray[np.bool_]:
        """Which rows have a distance to these points: those that miss no number."""
        rows = self.sample(X).rows
        return np.ones(len(rows), bool) if rows.dtype == object else ~np.isnan(rows).any(axis=1)

    def same_space(self, other: "Points") -> bool:
        """Whether both have the same points and the same metric."""
        return same_metric(self.metric, other.metric) and np.array_equal(self.rows, other.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: NDArray[np.int64]) -> "Points":
        """Some of the points."""
        return Points(self.rows[chosen], self.metric, self.names)

    @cached_property
    def _read(self) -> list[NDArray[Any]]:
        assert isinstance(self.metric, Gower)
        return self.metric.read(_typed(self.rows, self.metric))

    def to(self, others: NDArray[Any]) -> Floats:
        """The distance of point i to row i of the others."""
        if isinstance(self.metric, Gower):
            return self.metric.between(self._read, Points(others, self.metric)._read)
        return paired(self.rows.astype(np.float64), others.astype(np.float64), self.metric)

    def from_all(self, others: "Points") -> Floats:
        """Distances of each of these points (rows) to all others (columns)."""
        if isinstance(self.metric, Gower):
            own = [column[:, None] for column in self._read]
            return self.metric.between(own, [column[None, :] for column in others._read])
        return pairwise(self.rows.astype(np.float64), others.rows.astype(np.float64), self.metric)

    def distances(self, X: Any) -> Iterator[Floats]:
        """Distances of the rows of X to all of these points, in blocks of rows."""
        rows = self.sample(X)
        step = max(1, _BLOCK // max(1, len(self)))
        for start in range(0, len(rows), step):
            yield rows.take(np.arange(start, min(start + step, len(rows)))).from_all(self)


def _typed(rows: NDArray[Any], metric: Gower) -> list[NDArray[Any]]:
    """Columns of the types that the metric learned; raises if one that held numbers holds something else."""
    columns = _columns(rows)
    for j, (column, width) in enumerate(zip(columns, metric.ranges, strict=False)):
        if width is not None and column.dtype == object:
            wrong = [i for i in column if not (is_missing(i) or isinstance(i, int | float | np.number))]
            if wrong:
                raise WrongType(
                    f"Feature {j} held numbers when this distance was learned, but now {len(wrong):,} of "
                    f"{len(column):,} values are not numbers, such as {wrong[0]!r}: convert or drop them."
                )
            columns[j] = np.array([np.nan if is_missing(item) else item for item in column], np.float64)
        if width is None and column.dtype != object:
            columns[j] = column.astype(object)
    return columns
