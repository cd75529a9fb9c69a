"""The search for counterfactuals on matrices: near points that the model predicts otherwise than the row."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shared.models import to_predict
from faithscope.explainers.shared.table import Own, Table
from faithscope.inputs.grouping import group

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DISTANCES = 2**22  # at a time
_PARTS, _ROUNDS = 4, 5  # a gap is cut in parts so often: to a thousandth of it


class Space(Protocol):
    """Distances between rows of a matrix."""

    @property
    def carried(self) -> Any:
        """The metric that gives the same distances for the table's own values."""
        ...

    def check(self, rows: Floats) -> None:
        """Raise where rows have no distance."""
        ...

    def between(self, rows: Floats, others: Floats) -> Floats:
        """From each row to each of the others: (n, m)."""
        ...

    def own(self, rows: Floats, others: Floats) -> Floats:
        """From each row to its own other: (n,)."""
        ...

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        """What each feature adds to the distance from each row to its own other, for comparison: (n, d)."""
        ...


def predicted(model: Any, table: Table, matrix: Floats, own: Own | None = None) -> NDArray[Any]:
    """What the model predicts for rows of a matrix."""
    return to_predict(model)(table.decode(matrix, own))


def unlike(a: Floats, b: Floats) -> NDArray[np.bool_]:
    """Where values differ; two missing ones do not."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))


def distinct_rows(matrix: Floats) -> Floats:
    """The different rows in order, missing numbers being equal and last."""
    found = np.unique(np.where(np.isnan(matrix), np.inf, matrix), axis=0)
    return np.where(np.isinf(found), np.nan, found)


@dataclass(frozen=True, eq=False)
class Asked:
    """Rows to be flipped, or for each of some points the row that it is a candidate for.

    Attributes
    ----------
    rows : (n, d) array
    own : Own
        Their categories that training rows do not have.
    labels : (n,) array
        What the model predicts for them.
    """

    rows: Floats
    own: Own
    labels: NDArray[Any]

    def take(self, which: Any) -> "Asked":
        """Some of the rows, in another order or more than once."""
        return Asked(self.rows[which], self.own.take(which), self.labels[which])


@dataclass(frozen=True, eq=False)
class Flips:
    """The search on matrices; every step is one call of the model for all points that take it.

    A point's owner is the position of the row it is a candidate for. A category of the row's own, which training rows
    do not have, is kept or given up like any other value; a missing number has no way to move.
    """

    model: Any
    table: Table
    kinds: tuple[np.dtype[Any], ...]
    known: Floats
    labels: NDArray[Any]
    space: Space
    candidates: int

    def read(self, X: Any) -> tuple[Floats, Own]:
        """Rows as a matrix, in the precision that the model sees, and their categories that training rows lack."""
        rows, own = self.table.read(X)
        self.space.check(rows)
        return self._settle(rows), own

    def _settle(self, matrix: Floats) -> Floats:
        for j, kind in enumerate(self.kinds):
            if kind.kind == "f" and kind.itemsize < 8:
                matrix[:, j] = matrix[:, j].astype(kind)
        return matrix

    def flip(self, rows: Floats, own: Own) -> tuple[Ints, Floats]:
        """The rows that have a counterfactual, and these."""
        every = Asked(rows, own, predicted(self.model, self.table, rows, own))
        owner, starts = self._starts(rows, every.labels)
        if not len(owner):
            return owner, starts
        sparse = self._put_back(starts.copy(), every.take(owner))
        best = self._closest(sparse, rows, owner)
        owner, points, nearest = owner[best], sparse[best], starts[np.unique(owner, return_index=True)[1]]
        asked = every.take(owner)
        points = self._put_back_all(self._move(points, asked), asked)
        x = asked.rows
        farther = self.space.own(x, points) > self.space.own(x, nearest)  # never by a metric that adds up features
        points[farther] = nearest[farther]
        flipped = self._flips(points, asked)
        return owner[flipped], points[flipped]

    def _flips(self, points: Floats, asked: Asked) -> NDArray[np.bool_]:
        return np.asarray(predicted(self.model, self.table, points, asked.own) != asked.labels, np.bool_)

    def _closest(self, points: Floats, rows: Floats, owner: Ints) -> Ints:
        """The closest point of each owner; among equally close ones that which changes least, then the earlier."""
        changed = unlike(points, rows[owner]).sum(axis=1)
        return _first_of_each(owner, 1, changed, self.space.own(rows[owner], points))

    def _starts(self, rows: Floats, labels: NDArray[Any]) -> tuple[Ints, Floats]:
        """The nearest known rows with another prediction, as owners ascending and points, nearest first."""
        codes, first = group([labels.astype(object)])
        owners, points = [np.empty(0, np.int64)], [self.known[:0]]
        for code, one in enumerate(first):
            pool = self.known[self.labels != labels[[one]]]
            for part in _parts(np.flatnonzero(codes == code), len(pool)):
                owner, chosen = _smallest(self.space.between(rows[part], pool), self.candidates)
                owners.append(part[owner])
                points.append(pool[chosen])
        order = np.argsort(np.concatenate(owners), kind="stable")
        return np.concatenate(owners)[order], np.concatenate(points)[order]

    def _put_back(self, points: Floats, asked: Asked) -> Floats:
        """Points with features put back to the row's values, the farthest first, where that keeps the flip."""
        place, left = self._farthest_first(points, asked.rows, np.True_)
        for turn in range(int(left.max(initial=0))):
            active = np.flatnonzero(left > turn)
            tried = np.where(place[active] == turn, asked.rows[active], points[active])
            kept = self._flips(tried, asked.take(active))
            points[active[kept]] = tried[kept]
        return points

    def _put_back_all(self, points: Floats, asked: Asked) -> Floats:
        """Points of which no changed feature can be put back alone: what changed is tried again."""
        again = np.arange(len(points))
        while again.size:
            after = self._put_back(points[again], asked.take(again))
            different = unlike(after, points[again]).any(axis=1)
            points[again] = after
            again = again[different]
        return points

    def _farthest_first(self, points: Floats, origin: Floats, which: Any) -> tuple[Ints, Ints]:
        """For each point the place of each feature, changed ones by their gap; and how many are changed."""
        changed = unlike(points, origin) & which
        order = np.argsort(np.where(changed, -self.space.gaps(origin, points), 1.0), axis=1, kind="stable")
        return np.argsort(order, axis=1, kind="stable"), changed.sum(axis=1)

    def _move(self, points: Floats, asked: Asked) -> Floats:
        """Points with changed numbers moved toward the row's, the farthest first, while that keeps the flip."""
        origin = asked.rows
        numbers = ~self.table.categorical & np.isfinite(points) & np.isfinite(origin)
        place, left = self._farthest_first(points, origin, numbers)
        for turn in range(int(left.max(initial=0))):
            moving = np.flatnonzero(left > turn)
            feature = (place[moving] == turn).argmax(axis=1)
            self._move_one(points, origin[moving, feature], asked, moving, feature)
        return points

    def _move_one(self, points: Floats, near: Floats, asked: Asked, moving: Ints, feature: Ints) -> None:
        """Move one feature of each of these points, between what does not flip (near) and what does (far)."""
        for _ in range(_ROUNDS):
            far = points[moving, feature]
            tried = self._steps(points[moving], near, far, feature)
            steps = tried[:, np.arange(len(moving)), feature].T
            room = (steps != far[:, None]).any(axis=1)
            if not room.any():
                return
            moving, feature, near, far, steps = moving[room], feature[room], near[room], far[room], steps[room]
            flips = self._flips(np.concatenate(tried[:, room]), asked.take(np.tile(moving, _PARTS - 1)))
            flips = np.vstack([flips.reshape(_PARTS - 1, -1), np.ones(len(moving), bool)])
            edges, reached = np.column_stack([near, steps, far]), flips.argmax(axis=0)
            near, far = edges[np.arange(len(edges)), reached], edges[np.arange(len(edges)), reached + 1]
            points[moving, feature] = far

    def _steps(self, points: Floats, near: Floats, far: Floats, feature: Ints) -> Floats:
        """Points with one feature on its way from near to far: (parts - 1, points, features)."""
        whole = (np.array([kind.kind in "biu" for kind in self.kinds]) | self.table.whole)[feature]
        steps = near + (far - near) * (np.arange(1, _PARTS) / _PARTS)[:, None]
        steps = np.where(whole, np.where(far > near, np.ceil(steps), np.floor(steps)), steps)
        tried = np.repeat(points[None], _PARTS - 1, axis=0)
        tried[:, np.arange(len(points)), feature] = steps
        self._settle(tried.reshape(-1, points.shape[1]))  # in place
        return tried


def _parts(members: Ints, pool: int) -> list[Ints]:
    """Some of the rows at a time, so that their distances to a pool fit in memory; none where the pool is empty."""
    step = max(1, _DISTANCES // max(1, pool))
    return [members[start : start + step] for start in range(0, len(members) if pool else 0, step)]


def _smallest(distances: Floats, k: int) -> tuple[Ints, Ints]:
    """Row and column of the k smallest of each row, smallest first; among equal ones the earlier column."""
    k = min(k, distances.shape[1])
    row, column = np.nonzero(distances <= np.partition(distances, k - 1, axis=1)[:, k - 1 : k])
    chosen = _first_of_each(row, k, distances[row, column])
    return row[chosen], column[chosen]


def _first_of_each(owner: Ints, k: int, *keys: NDArray[Any]) -> Ints:
    """Positions of each owner's first k by the keys, the last key first; owners ascending, equal ones in order."""
    order = np.lexsort((*keys, owner))
    ordered = owner[order]
    return order[np.arange(len(order)) - np.searchsorted(ordered, ordered) < k]
