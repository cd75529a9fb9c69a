"""Prototypes: explanations by similar rows, such as the nearest training rows."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, Self

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import members
from faithscope.explanations.conditions.conjunctions import Conjunction, Shared, number_conjunctions
from faithscope.explanations.distances.points import Points
from faithscope.inputs.alignment import index_of
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.arrays import is_frame, to_objects, to_vector
from faithscope.inputs.numbers import to_matrix, to_positions
from faithscope.words import several

_BLOCK = 2**22  # distances at a time
_FARTHEST = np.finfo(np.float64).max


class Prototypes(Shared):
    """The examples that a prediction was justified by, as a set of their indices.

    Two rows have the same explanation if their sets are equal; neither order nor repetition counts.

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

    _settings = ("points",)
    _alike = (("points", "points or metrics"),)

    def __init__(self, indices: Any, points: Any = None, metric: Any = "euclidean") -> None:
        distinct, codes = _distinct_sets(indices)
        held = None if points is None else Points.of(points, metric)
        self._fill(codes=codes, distinct=distinct, points=held, index=index_of(indices))
        self._refuse_beyond()

    @property
    def kind(self) -> str:
        return "sets of prototypes"

    def describe(self, row: int) -> str:
        return "{" + ", ".join(map(str, self.conjunction(row))) + "}"

    def join(self, other: Self) -> Self:
        points = self.points if self.points is not None else other.points
        both = super().join(other)._with(points=points)
        both._refuse_beyond()
        return both

    def _refuse_beyond(self) -> None:
        """Raise if a row names a prototype that is none of the points."""
        for code, indices in enumerate(self.distinct):
            if self.points is not None and indices and indices[-1] >= len(self.points.rows):
                raise BadInput(
                    f"Row {(self.codes == code).argmax()} names prototype {indices[-1]}, but there are only "
                    f"{len(self.points.rows):,} points, counted from 0."
                )

    def nearest(self, X: Any, k: int) -> "Prototypes":
        """The k prototypes nearest to each row; among equally near ones the earlier."""
        assert self.points is not None
        missed = int((~self.points.complete(X)).sum())
        if missed:
            raise BadInput(
                f"{several(missed, 'row misses', 'rows miss')} a number, so no prototype is nearest by "
                f"metric={self.points.metric!r}: fill them, or use metric='gower', which compares missing values."
            )
        blocks = [_smallest(block, k) for block in self.points.distances(X)]
        indices = np.concatenate(blocks) if blocks else np.empty((0, k), np.int64)
        return Prototypes(indices)._with(points=self.points)

    def within(self, indices: Sequence[Any], X: Any, tau: float) -> Iterator[Bools]:
        """For each of these prototypes, the rows within tau of it."""
        assert self.points is not None
        rows, chosen = self.points.sample(X), np.array(indices, np.int64)
        step = max(1, _BLOCK // max(1, len(rows[0])))
        for start in range(0, len(chosen), step):
            yield from self.points.from_some(chosen[start : start + step], rows) <= tau


def _smallest(distances: Floats, k: int) -> Ints:
    """The columns of the k smallest entries of each row; among equal ones the earlier."""
    left, chosen = np.minimum(distances, _FARTHEST), distances.argmin(axis=1)[:, None]
    while chosen.shape[1] < k:
        np.put_along_axis(left, chosen[:, -1:], np.inf, axis=1)
        chosen = np.column_stack([chosen, left.argmin(axis=1)])
    return np.asarray(chosen)


def _distinct_sets(indices: Any) -> tuple[tuple[Conjunction, ...], Ints]:
    """The distinct sets, each ascending and without repetitions, and which of them each row was given."""
    matrix = to_matrix(indices, "Prototypes")[0] if is_frame(indices) else to_vector(indices, "Prototypes")
    if matrix.dtype == bool and matrix.size:
        raise BadInput("Prototypes came as a mask: pass their positions, e.g. np.flatnonzero(mask) for each row.")
    rows = [[item] if (held := members(item)) is None else held for item in matrix.tolist()]
    wanted = "Prototypes must be their positions in the set that they come from"
    positions = to_positions(to_objects(list(chain(*rows))), wanted).tolist()
    ends = accumulate(map(len, rows), initial=0)
    return number_conjunctions([tuple(sorted(set(positions[start:stop]))) for start, stop in pairwise(ends)])
