"""Explanations by example: prototypes and counterfactuals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import Explanations, readable, shorten
from faithscope.explanations.conjunctions import Conjunction, Shared, number_conjunctions
from faithscope.explanations.grouping import Column, group
from faithscope.explanations.importances import to_names
from faithscope.explanations.inputs import is_frame, same_length, to_array, to_matrix, to_rows, to_vector

_LARGEST = 2**62


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Prototypes(Shared):
    """The examples that a prediction was justified by, as a set of their indices.

    Two rows have the same explanation where their sets are equal; neither order nor repetition counts.

    Parameters
    ----------
    indices : (n,) or (n, k) array of integers, or a list of sets or lists
        Sets may differ in size.

    Examples
    --------
    >>> Prototypes([[4, 1], [1, 4], [7]]).group()[0].tolist()
    [0, 0, 1]
    """

    def __init__(self, indices: Any) -> None:
        distinct, codes = _distinct_sets(indices)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "distinct", distinct)

    @property
    def kind(self) -> str:
        return "sets of prototypes"

    def describe(self, row: int) -> str:
        return "{" + ", ".join(map(str, self.conjunction(row))) + "}"


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
    ordered = np.sort(matrix, axis=1)
    codes, first = group([ordered if ordered.dtype.kind in "biuf" else ordered.astype(np.float64)])
    distinct, numbers = number_conjunctions([_to_set(int(row), ordered[row].tolist()) for row in first])
    return distinct, numbers[codes]


def _to_set(row: int, item: Any) -> Conjunction:
    members = list(item) if hasattr(item, "__iter__") and not isinstance(item, str) else [item]
    wrong = next((member for member in members if not _is_index(member)), None)
    if wrong is not None:
        raise BadInput(
            f"Prototypes must be whole numbers from 0; row {row} holds {wrong!r}. "
            "Pass the positions of the prototypes in the set they come from."
        )
    return tuple(sorted(set(map(int, members))))


def _is_index(item: Any) -> bool:
    return isinstance(item, int | float | np.number) and bool(0 <= item < _LARGEST) and float(item).is_integer()


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Counterfactuals(Explanations):
    """For each row, a nearby point that the model predicts otherwise.

    Two rows have the same explanation where their points are equal.

    Parameters
    ----------
    points, originals : (n, d) arrays, lists of rows, or pandas, polars or Arrow tables
        The counterfactual of each row, and the row itself. Numbers, or numbers and categories.
    names : sequence of str, optional
        The features; by default the column names, if the input has any.
    """

    points: NDArray[Any]
    originals: NDArray[Any]
    names: tuple[str, ...] | None = None

    _per_row: ClassVar[tuple[str, ...]] = ("points", "originals")

    def __init__(self, points: Any, originals: Any, names: Sequence[str] | None = None) -> None:
        new, columns = to_rows(points, "Counterfactuals")
        old, old_columns = to_rows(originals, "Originals")
        same_length(counterfactuals=len(new), originals=len(old))
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

    @property
    def key(self) -> tuple[Column, ...]:
        if self.points.dtype != object:
            return (self.points,)
        rows = np.empty(len(self.points), object)
        rows[:] = list(map(tuple, self.points.tolist()))
        return (rows,)

    @property
    def kind(self) -> str:
        return f"counterfactuals over {self.points.shape[1]} features"

    def __len__(self) -> int:
        return len(self.points)

    def describe(self, row: int) -> str:
        pairs = zip(self.feature_names, self.points[row], strict=True)
        return shorten([f"{name} {readable(value)}" for name, value in pairs])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names, or x0, x1, … where none were given."""
        return self.names or tuple(f"x{j}" for j in range(self.points.shape[1]))
