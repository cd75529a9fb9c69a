"""Rows of numbers, dates and categories as cells, and as points with a distance between them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import readable
from faithscope.explanations.distances.metrics import Gower, numbers_of, paired, pairwise, to_metric_name
from faithscope.inputs.array_types import Array, Bools, Floats, Names
from faithscope.inputs.arrays import declared_categories, to_vector
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.dates import Moment, nanoseconds
from faithscope.inputs.numbers import need_cells, refuse_nonfinite, to_matrix
from faithscope.inputs.rows import flat_rows

_BLOCK = 2**22  # distances at a time


def to_cells(rows: Any, what: str) -> tuple[Array, Names | None, tuple[bool, ...]]:
    """Rows of any kind as cells, images and series as rows of numbers; their columns, if named; and which are dates.

    Cells are floats if every one is a number; else Python objects, a date as its nanoseconds since 1970, whatever its
    unit, and a missing value as None.
    """
    rows, _ = flat_rows(rows)
    read = Rows(rows, what=what)
    names, columns = read.names if read.named else None, read.columns
    dates = tuple(column.dated for column in columns)
    if all(column.values.dtype.kind in "biuf" for column in columns):
        if not any(column.missing.any() for column in columns):
            return to_matrix(rows, what)[0], names, dates
        refuse_nonfinite(np.column_stack([np.where(each.missing, 0, each.values) for each in columns]), what)
    need_cells(40 * len(columns), len(read), len(columns), what)
    cells = np.empty((len(read), len(columns)), object)
    for j, column in enumerate(columns):
        cells[:, j] = nanoseconds(column.values) if dates[j] or column.values.dtype.kind == "m" else column.values
        cells[column.missing, j] = None
    return cells, names, dates


def cell_text(value: Any, is_date: bool = False) -> str:
    """The text of one cell."""
    if value is None:
        return "missing"
    return str(Moment(int(value))) if is_date else readable(value)


def to_metric(metric: Any, rows: Array, categories: Collection[int] = ()) -> Any:
    """The metric that a caller means; Gower's learns its ranges from these rows, but for features of categories."""
    others = rows.dtype == object or len(categories) > 0
    metric = to_metric_name(("gower" if others else "euclidean") if metric is None else metric)
    if isinstance(metric, str) and metric == "gower":
        columns = _columns(rows)
        return Gower.fit([column.astype(object) if j in categories else column for j, column in enumerate(columns)])
    if others and not isinstance(metric, Gower):
        raise BadInput(
            f"metric={metric!r} needs complete numbers, and these rows have categories, dates or missing values: use "
            "metric='gower', for which missing is a value of its own."
        )
    return metric


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
        cells, names, _ = to_cells(rows, "Points")
        return cls(cells, to_metric(metric, cells, declared_categories(rows)), names)

    def sample(self, X: Any) -> "Points":
        """The rows of a sample as points of this space; a table's columns by name, and numbers may be missing."""
        if not isinstance(self.metric, Gower):
            return Points(numbers_of(X, self.rows.shape[1], self.names), self.metric)
        columns = self.metric.read(Rows(X, loose=True).measured(self.names))
        return Points(np.empty((len(columns[0]), 0), object), self.metric, columns=columns)

    def complete(self, X: Any) -> Bools:
        """Which rows have a distance to these points: those that miss no number."""
        rows = self.sample(X).rows
        return np.ones(len(rows), bool) if rows.dtype == object else np.asarray(~np.isnan(rows).any(axis=1))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: Any) -> "Points":
        """Some of the points."""
        columns = None if self.columns is None else [column[chosen] for column in self.columns]
        return Points(self.rows[chosen], self.metric, self.names, columns)

    @cached_property
    def _read(self) -> list[Array]:
        """What the metric compares: columns for Gower's, else one matrix."""
        if isinstance(self.metric, Gower):
            return self.columns or self.metric.read(_columns(self.rows))
        return [self.rows.astype(np.float64)]

    def to(self, others: Array) -> Floats:
        """The distance of point i to row i of the others."""
        read = Points(others, self.metric)._read
        if isinstance(self.metric, Gower):
            return self.metric.between(self._read, read)
        return paired(self._read[0], read[0], self.metric)

    def from_all(self, others: "Points") -> Floats:
        """Distances of each of these points (rows) to all others (columns)."""
        if isinstance(self.metric, Gower):
            return self.metric.between([column[:, None] for column in self._read], others._read)
        return pairwise(self._read[0], others._read[0], self.metric)

    def distances(self, X: Any) -> Iterator[Floats]:
        """Distances of the rows of X to all of these points, in blocks of rows."""
        rows = self.sample(X)
        step = max(1, _BLOCK // max(1, len(self)))
        for start in range(0, len(rows), step):
            yield rows.take(slice(start, start + step)).from_all(self)
