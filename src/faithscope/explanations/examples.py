"""Explanations by example: prototypes and counterfactuals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import Explanations, shorten
from faithscope.explanations.grouping import Column
from faithscope.explanations.inputs import is_frame, same_length, to_matrix, to_rows, to_vector

_NONE = -1  # fills the row of a smaller set; no prototype has this index


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Prototypes(Explanations):
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

    indices: NDArray[np.int64]

    _per_row: ClassVar[tuple[str, ...]] = ("indices",)

    def __init__(self, indices: Any) -> None:
        object.__setattr__(self, "indices", _sorted_sets(_index_matrix(indices)))

    @property
    def key(self) -> tuple[Column, ...]:
        return (self.indices,)

    @property
    def kind(self) -> str:
        return "sets of prototypes"

    def describe(self, row: int) -> str:
        return "{" + ", ".join(str(index) for index in self.indices[row] if index != _NONE) + "}"

    def join(self, other: "Prototypes") -> "Prototypes":
        width = max(self.indices.shape[1], other.indices.shape[1])
        return self._with(indices=np.concatenate([_widen(self.indices, width), _widen(other.indices, width)]))

    def locate(self, wanted: Explanations) -> NDArray[np.int64]:
        self.check_comparable(wanted)
        width = max(self.indices.shape[1], wanted.key[0].shape[1])
        known, sought = _widen(self.indices, width), _widen(wanted.key[0], width)
        return Explanations.locate(self._with(indices=known), self._with(indices=sought))


def _index_matrix(indices: Any) -> NDArray[np.int64]:
    if isinstance(indices, np.ndarray) and indices.ndim == 2:
        return _indices(indices.reshape(-1), indices.shape[1]).reshape(indices.shape)
    if is_frame(indices):
        return _index_matrix(to_matrix(indices, "Prototypes")[0])
    column = to_vector(indices)
    if column.dtype != object:
        return _indices(column, 1)[:, None]
    sets = [list(one) if hasattr(one, "__iter__") else [one] for one in column]
    sizes = np.array([len(one) for one in sets], np.int64)
    matrix = np.full((len(sets), max(1, sizes.max(initial=1))), _NONE)
    matrix[np.arange(matrix.shape[1]) < sizes[:, None]] = _indices(to_vector([i for one in sets for i in one]), sizes)
    return matrix


def _indices(flat: NDArray[Any], per_row: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """All indices in one line, as integers, or an error naming the first row with one that is none."""
    wrong = flat < 0 if flat.dtype.kind in "iu" else np.array([not _is_index(item) for item in flat.tolist()], bool)
    if wrong.any():
        first = int(wrong.argmax())
        row = first // per_row if isinstance(per_row, int) else int(np.searchsorted(np.cumsum(per_row), first, "right"))
        raise BadInput(
            f"Prototypes must be whole numbers from 0; row {row} holds {flat.tolist()[first]!r}. "
            "Pass the positions of the prototypes in the set they come from."
        )
    return flat.astype(np.int64)


def _is_index(item: Any) -> bool:
    return isinstance(item, int | float | np.number) and bool(item >= 0) and float(item).is_integer()


def _sorted_sets(matrix: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row's set in one form: repetitions dropped, descending, filled up at the end."""
    ordered = np.sort(matrix, axis=1)
    ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = _NONE
    descending: NDArray[np.int64] = -np.sort(-ordered, axis=1)
    return descending


def _widen(matrix: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    return np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])), constant_values=_NONE)


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
        old, originals_columns = to_rows(originals, "Originals")
        same_length(counterfactuals=len(new), originals=len(old))
        if columns and originals_columns and columns != originals_columns:
            raise Incompatible(f"Counterfactuals have columns {columns}, originals {originals_columns}: pass the same.")
        if new.shape != old.shape:
            raise BadInput(f"Counterfactuals have {new.shape[1]} features but originals {old.shape[1]}: pass the same.")
        chosen = tuple(map(str, names)) if names is not None else columns or originals_columns
        if chosen is not None and len(chosen) != new.shape[1]:
            raise BadInput(f"Counterfactuals have {new.shape[1]} features but {len(chosen)} names: pass one for each.")
        if new.dtype != old.dtype:
            new, old = new.astype(object), old.astype(object)
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
        return shorten([f"{name} {value}" for name, value in zip(self.feature_names, self.points[row], strict=True)])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names, or x0, x1, … where none were given."""
        return self.names or tuple(f"x{j}" for j in range(self.points.shape[1]))
