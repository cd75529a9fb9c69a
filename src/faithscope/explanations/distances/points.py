"""Rows of numbers, dates and categories as cells, and as points with a distance between them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.distances.metrics import Gower, floats, paired, pairwise, to_metric_name
from faithscope.inputs.array_types import Array, Bools, Floats, Ints, Names
from faithscope.inputs.arrays import declared_categories
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.dates import Moment, nanoseconds
from faithscope.inputs.numbers import need_cells, refuse_nonfinite, to_matrix
from faithscope.inputs.rows import flat_rows
from faithscope.words import readable

_BLOCK = 2**22  # distances at a time

Read = list[Array]  # rows as a metric compares them: the columns for Gower's, else one matrix of numbers


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
        columns = enumerate(_columns(rows))
        return Gower.fit([column.astype(object) if j in categories else column for j, column in columns])
    if others and not isinstance(metric, Gower):
        raise BadInput(
            f"metric={metric!r} needs complete numbers, and these rows have categories, dates or missing values: use "
            "metric='gower', for which missing is a value of its own."
        )
    return metric


def _columns(rows: Array) -> list[Array]:
    return [Column("", column).measured for column in rows.T]


def all_pairs(metric: Any, a: Read, b: Read) -> Floats:
    """Distances of all rows of a (rows) to all rows of b (columns)."""
    if isinstance(metric, Gower):
        return metric.between([column[:, None] for column in a], b)
    return pairwise(a[0], b[0], metric)


@dataclass(frozen=True, eq=False)
class Points:
    """Rows and the distance between them.

    Parameters
    ----------
    rows : (m, d) array
        Floats, or Python objects if some features are categories.
    metric : str, callable or Gower
    names : tuple of str, optional
    """

    rows: Array
    metric: Any
    names: Names | None = None

    @classmethod
    def of(cls, rows: Any, metric: Any) -> "Points":
        """Points from whatever a caller has."""
        cells, names, _ = to_cells(rows, "Points")
        return cls(cells, to_metric(metric, cells, declared_categories(rows)), names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Points) and self.metric == other.metric and np.array_equal(self.rows, other.rows)

    @cached_property
    def read(self) -> Read:
        """These points as the metric compares them."""
        if isinstance(self.metric, Gower):
            return self.metric.read(_columns(self.rows))
        return [self.rows.astype(np.float64, copy=False)]

    def sample(self, X: Any) -> Read:
        """The rows of a sample likewise; a table's columns by name, and numbers may be missing."""
        columns, width = Rows(X, loose=True).measured(self.names), self.rows.shape[1]
        if isinstance(self.metric, Gower):
            return self.metric.read(columns)
        if len(columns) != width:
            raise BadInput(
                f"Rows have {len(columns)} features, but the explanations have {width}: pass the same features."
            )
        return [np.column_stack([floats(j, column) for j, column in enumerate(columns)])]

    def complete(self, X: Any) -> Bools:
        """Which rows have a distance to these points: those that miss no number."""
        rows = self.sample(X)[0]
        return np.ones(len(rows), bool) if isinstance(self.metric, Gower) else np.asarray(~np.isnan(rows).any(axis=1))

    def to(self, others: Array) -> Floats:
        """The distance of point i to row i of the others."""
        read = Points(others, self.metric).read
        if isinstance(self.metric, Gower):
            return self.metric.between(self.read, read)
        return paired(self.read[0], read[0], self.metric)

    def from_some(self, chosen: slice | Ints, rows: Read) -> Floats:
        """Distances of some of these points (rows) to all rows of a sample (columns)."""
        return all_pairs(self.metric, [column[chosen] for column in self.read], rows)

    def distances(self, X: Any) -> Iterator[Floats]:
        """Distances of the rows of X to all of these points, in blocks of rows."""
        rows = self.sample(X)
        step = max(1, _BLOCK // max(1, len(self.rows)))
        for start in range(0, len(rows[0]), step):
            yield all_pairs(self.metric, [column[start : start + step] for column in rows], self.read)
