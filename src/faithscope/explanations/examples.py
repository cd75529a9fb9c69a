"""Explanations by example: prototypes and counterfactuals."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.alignment import index_of, same_rows
from faithscope.explanations.base import Explanations, readable, several, shorten
from faithscope.explanations.cells import cell_text, to_cells
from faithscope.explanations.conjunctions import Conjunction, Shared, number_conjunctions
from faithscope.explanations.grouping import Column, group
from faithscope.explanations.importances import to_names
from faithscope.explanations.inputs import is_frame, same_length, to_array, to_matrix, to_vector
from faithscope.explanations.points import Points, same_metric, to_metric
from faithscope.visible import visible

_LARGEST = 2**62
_BLOCK = 2**22  # distances at a time


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Prototypes(Shared):
    """The examples that a prediction was justified by, as a set of their indices.

    Two rows have the same explanation where their sets are equal; neither order nor repetition counts.

    Parameters
    ----------
    indices : (n,) or (n, k) array of integers, or a list of sets or lists
        Sets may differ in size.
    points : (m, d) array or table, optional
        The prototypes themselves, which `indices` count from 0; needed to say which rows they cover.
    metric : str
        Any metric of scikit-learn's, or "gower" for rows with categories, dates or missing values.

    Examples
    --------
    >>> Prototypes([[4, 1], [1, 4], [7]]).group()[0].tolist()
    [0, 0, 1]
    """

    points: Points | None = None

    def __init__(self, indices: Any, points: Any = None, metric: Any = "euclidean") -> None:
        distinct, codes = _distinct_sets(indices)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "distinct", distinct)
        self._remember(indices)
        if points is not None:
            object.__setattr__(self, "points", Points.of(points, metric))
            _refuse_beyond(distinct, codes, len(self.points or ()))

    @property
    def kind(self) -> str:
        return "sets of prototypes"

    def describe(self, row: int) -> str:
        return "{" + ", ".join(map(str, self.conjunction(row))) + "}"

    def check_comparable(self, other: Explanations) -> None:
        super().check_comparable(other)
        theirs = getattr(other, "points", None)
        if self.points is not None and theirs is not None and not self.points.same_space(theirs):
            raise Incompatible("These prototypes are of different points or metrics: pass the same points for both.")

    def nearest(self, X: Any, k: int) -> "Prototypes":
        """The k prototypes nearest to each row; among equally near ones the earlier."""
        assert self.points is not None
        missed = int((~self.points.complete(X)).sum())
        if missed:
            raise BadInput(
                f"{several(missed, 'row misses', 'rows miss')} a number and can have no nearest prototypes by "
                f"metric={self.points.metric!r}: use metric='gower', where missing is a value of its own, or fill them."
            )
        found = [_smallest(block, k) for block in self.points.distances(X)]
        indices = np.concatenate(found) if found else np.empty((0, k), np.int64)
        return Prototypes(indices)._with(points=self.points)

    def within(self, indices: Sequence[Any], X: Any, tau: float) -> Iterator[NDArray[np.bool_]]:
        """For each of these prototypes, the rows within tau of it."""
        assert self.points is not None
        rows, chosen = self.points.sample(X), np.array(indices, np.int64)
        step = max(1, _BLOCK // max(1, len(rows)))
        for start in range(0, len(chosen), step):
            yield from self.points.take(chosen[start : start + step]).from_all(rows) <= tau


def _smallest(distances: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The columns of the k smallest entries of each row; among equal ones the earlier."""
    if k == 1:
        return np.asarray(distances.argmin(axis=1))[:, None]
    chosen = np.argpartition(distances, k - 1, axis=1)[:, :k]
    farthest = np.take_along_axis(distances, chosen, axis=1).max(axis=1, keepdims=True)
    tied = np.flatnonzero((distances <= farthest).sum(axis=1) > k)
    chosen[tied] = np.argsort(distances[tied], axis=1, kind="stable")[:, :k]
    return np.asarray(chosen)


def _refuse_beyond(distinct: tuple[Conjunction, ...], codes: NDArray[np.int64], size: int) -> None:
    wrong = next((i for i, one in enumerate(distinct) if one and int(one[-1]) >= size), None)  # type: ignore[call-overload]
    if wrong is not None:
        row = int((codes == wrong).argmax())
        raise BadInput(f"Row {row} names prototype {distinct[wrong][-1]}, but there are only {size:,} points.")


def _distinct_sets(indices: Any) -> tuple[tuple[Conjunction, ...], NDArray[np.int64]]:
    """The different sets, each ascending and without repetitions, and which of them each row has."""
    matrix = to_matrix(indices, "Prototypes")[0] if is_frame(indices) else to_array(indices, "Prototypes")
    if matrix is None or matrix.ndim == 1:
        column = to_vector(indices if matrix is None else matrix, "Prototypes")
        if column.dtype == object:
            return number_conjunctions([_to_set(row, item) for row, item in enumerate(column)])
        matrix = column[:, None]
    if matrix.ndim != 2:
        raise BadInput(f"Prototypes must be one set of indices a row; got shape {matrix.shape}.")
    if matrix.dtype == bool and matrix.size:
        raise BadInput("Prototypes came as a mask: pass their positions, e.g. np.flatnonzero(mask) for each row.")
    if matrix.dtype.kind not in "biuf":
        return number_conjunctions([_to_set(row, item) for row, item in enumerate(matrix.tolist())])
    ordered = np.sort(matrix, axis=1)
    codes, first = group([ordered])
    distinct, numbers = number_conjunctions([_to_set(int(row), ordered[row].tolist()) for row in first])
    return distinct, numbers[codes]


def _to_set(row: int, item: Any) -> Conjunction:
    several = hasattr(item, "__iter__") and not isinstance(item, str) and getattr(item, "shape", None) != ()
    members = list(item) if several else [item]
    wrong = [member for member in members if not _is_index(member)]
    if wrong:
        raise BadInput(
            f"Prototypes must be whole numbers from 0; row {row} holds {wrong[0]!r}. "
            "Pass the positions of the prototypes in the set they come from."
        )
    return tuple(sorted(set(map(int, members))))


def _is_index(item: Any) -> bool:
    if isinstance(item, float | np.floating):
        item = int(item) if float(item).is_integer() else -1
    whole = isinstance(item, int | np.integer) and not isinstance(item, bool | np.timedelta64)
    return whole and 0 <= int(item) < _LARGEST


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Counterfactuals(Explanations):
    """For each row, a nearby point that the model predicts otherwise.

    Two rows have the same explanation where their points are equal; an explanation covers the open ball around its
    own row that reaches to the point, so two rows with the same point cover different balls.

    Parameters
    ----------
    points, originals : (n, d) arrays, lists of rows, or pandas, polars or Arrow tables
        The counterfactual of each row, and the row itself. Numbers, dates and categories, all of which may be missing.
    names : sequence of str, optional
        The features; by default the column names, if the input has any.
    metric : str or Gower, optional
        The distance of the ball: any metric of scikit-learn's, or "gower", which learns its ranges from these rows.
        By default euclidean for numbers, Gower's where there are categories, dates or missing values.

    Attributes
    ----------
    dates : tuple of bool
        Which features are dates: whole nanoseconds since 1970 in `points` and `originals`, where None is missing.
    """

    points: NDArray[Any]
    originals: NDArray[Any]
    names: tuple[str, ...] | None = None
    metric: Any = "euclidean"
    dates: tuple[bool, ...] = ()

    _per_row: ClassVar[tuple[str, ...]] = ("points", "originals")

    def __init__(self, points: Any, originals: Any, names: Sequence[str] | None = None, metric: Any = None) -> None:
        after, before = to_cells(points, "Counterfactuals"), to_cells(originals, "Originals")
        (new, columns), (old, old_columns) = (after.values, after.names), (before.values, before.names)
        same_length(counterfactuals=len(new), originals=len(old))
        same_rows(originals=originals, points=points)
        if columns and old_columns and columns != old_columns:
            raise Incompatible(f"Counterfactuals have columns {columns}, originals {old_columns}: pass the same.")
        if new.shape != old.shape:
            raise BadInput(f"Counterfactuals have {new.shape[1]} features but originals {old.shape[1]}: pass the same.")
        if (new.dtype == object) != (old.dtype == object):
            new, old = new.astype(object), old.astype(object)
        chosen = to_names(names, columns or old_columns, new.shape[1], "Counterfactuals")
        object.__setattr__(self, "points", new)
        object.__setattr__(self, "originals", old)
        object.__setattr__(self, "names", chosen)
        object.__setattr__(self, "metric", to_metric(metric, np.concatenate([new, old])))
        object.__setattr__(self, "dates", tuple(map(max, after.dates, before.dates)))
        self._remember(points if index_of(originals) is None else originals)

    def balls(self) -> "Balls":
        """Where each explanation applies: the open ball around its row, as far as its counterfactual."""
        centers = Points(self.originals, self.metric)
        return Balls(self.originals, centers.to(self.points), self.metric, self.names, self.dates)

    def item(self, row: int) -> Any:
        return self.points[row], self.originals[row]

    def check_comparable(self, other: Explanations) -> None:
        super().check_comparable(other)
        _check_metrics(self, other)

    @property
    def scope_key(self) -> tuple[Column, ...]:
        return self.balls().key

    @property
    def key(self) -> tuple[Column, ...]:
        return (_rows_key(self.points),)

    @property
    def kind(self) -> str:
        return f"counterfactuals over {self.points.shape[1]} features"

    def __len__(self) -> int:
        return len(self.points)

    def describe(self, row: int) -> str:
        return _in_words(self.feature_names, self.points[row], self.dates)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names, or x0, x1, … where none were given."""
        return self.names or tuple(f"x{j}" for j in range(self.points.shape[1]))


@dataclass(frozen=True, eq=False, repr=False)
class Balls(Explanations):
    """Open balls: each covers the rows nearer to its center than its radius."""

    centers: NDArray[Any]
    radii: NDArray[np.float64]
    metric: Any
    names: tuple[str, ...] | None = None
    dates: tuple[bool, ...] = ()

    _per_row: ClassVar[tuple[str, ...]] = ("centers", "radii")

    @property
    def key(self) -> tuple[Column, ...]:
        return (_rows_key(self.centers), self.radii[:, None])

    @property
    def kind(self) -> str:
        return f"balls over {self.centers.shape[1]} features"

    def __len__(self) -> int:
        return len(self.centers)

    def item(self, row: int) -> Any:
        return self.centers[row], float(self.radii[row])

    def describe(self, row: int) -> str:
        names = self.names or tuple(f"x{j}" for j in range(self.centers.shape[1]))
        return f"nearer than {readable(self.radii[row])} to {_in_words(names, self.centers[row], self.dates)}"

    def check_comparable(self, other: Explanations) -> None:
        super().check_comparable(other)
        _check_metrics(self, other)

    def inside(self, X: Any) -> Callable[[int, int], NDArray[np.bool_]]:
        """A function that says, for balls start to stop, which rows of X lie inside."""
        rows = Points(self.centers[:0], self.metric, self.names).sample(X)

        def mask(start: int, stop: int) -> NDArray[np.bool_]:
            centers = Points(self.centers[start:stop], self.metric)
            return centers.from_all(rows) < self.radii[start:stop, None]

        return mask


def _in_words(names: Sequence[str], cells: NDArray[Any], dates: Sequence[bool]) -> str:
    """The cells of one row to read, with their features' names."""
    columns = zip(names, cells, dates or [False] * len(cells), strict=True)
    return visible(shorten([f"{name} {cell_text(value, is_date)}" for name, value, is_date in columns]))


def _check_metrics(mine: "Counterfactuals | Balls", theirs: Any) -> None:
    if not same_metric(mine.metric, theirs.metric):
        raise Incompatible(
            "These explanations measure distance differently, so their balls cannot be compared: pass the same metric, "
            "for Gower's one that was fitted once."
        )


def _rows_key(rows: NDArray[Any]) -> Column:
    if rows.dtype != object:
        return rows
    keys = np.empty(len(rows), object)
    keys[:] = list(map(tuple, rows.tolist()))
    return keys
