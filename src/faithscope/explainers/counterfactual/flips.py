"""The search for counterfactuals on matrices: points close to a row that the model predicts otherwise."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.counterfactual.distances import RowDistances
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks
from faithscope.explainers.shared.counterfactuals import unlike
from faithscope.explainers.shared.outcomes import Outcomes
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.inputs.grouping import group

_DISTANCES = 2**22  # in one block
_PARTS, _ROUNDS = 4, 5  # a gap is cut in 4 parts 5 times: to a thousandth of it


def distinct_rows(matrix: Floats) -> Floats:
    """The distinct rows in order; missing numbers are equal, and come last."""
    rows = np.unique(np.where(np.isnan(matrix), np.inf, matrix), axis=0)
    return np.where(np.isinf(rows), np.nan, rows)


@dataclass(frozen=True, eq=False)
class Originals:
    """Rows that are to be flipped, or for each candidate point the row that it is a candidate for.

    Attributes
    ----------
    rows : (n, d) array
    unseen : Unseen
        Their categories that no training row has.
    labels : (n,) array
        Their predictions.
    """

    rows: Floats
    unseen: Unseen
    labels: NDArray[Any]

    def take(self, which: Any) -> "Originals":
        """Some of the rows, in any order, each as often as it is wanted."""
        return Originals(self.rows[which], self.unseen.take(which), self.labels[which])


@dataclass(frozen=True, eq=False)
class Flips:
    """The search on matrices; every step is one call of the model for all points that take it.

    A point's owner is the position of the row that it is a candidate for. A category that only the row has, and no
    training row, is kept or given up like any other value. A missing number cannot move.
    """

    outcomes: Outcomes
    table: Table
    kinds: tuple[np.dtype[Any], ...]
    known: Floats
    labels: NDArray[Any]
    distances: RowDistances
    candidates: int

    def read(self, X: Any) -> tuple[Floats, Unseen]:
        """Rows as a matrix, in the precision that the model sees, and their categories that no training row has."""
        rows, unseen = self.table.read(X)
        self.distances.check(rows)
        return self._settle(rows), unseen

    def _settle(self, matrix: Floats) -> Floats:
        for j, kind in enumerate(self.kinds):
            if kind.kind == "f" and kind.itemsize < 8:
                matrix[:, j] = matrix[:, j].astype(kind)
        return matrix

    def flip(self, rows: Floats, unseen: Unseen) -> tuple[Ints, Floats]:
        """Positions of the rows that have a counterfactual, and these counterfactuals."""
        every = Originals(rows, unseen, self.outcomes.ask(self.table.decode(rows, unseen)))
        owner, starts = self._starts(rows, every.labels)
        if not len(owner):
            return owner, starts
        sparse = self._put_back(starts.copy(), every.take(owner))
        best = self._closest(sparse, rows, owner)
        owner, points, nearest = owner[best], sparse[best], starts[np.unique(owner, return_index=True)[1]]
        originals = every.take(owner)
        points = self._put_back_all(self._move(points, originals), originals)
        x = originals.rows
        # A sum over features never gets larger on the way, but another metric may.
        farther = self.distances.paired(x, points) > self.distances.paired(x, nearest)
        points[farther] = nearest[farther]
        flipped = self._flips(points, originals)
        return owner[flipped], points[flipped]

    def _flips(self, points: Floats, originals: Originals) -> Bools:
        predictions = self.outcomes.ask(self.table.decode(points, originals.unseen))
        return ~self.outcomes.agree(predictions, originals.labels)

    def _closest(self, points: Floats, rows: Floats, owner: Ints) -> Ints:
        """The closest point of each owner; among equally close points the one with fewest changes, then the earlier."""
        changed = unlike(points, rows[owner]).sum(axis=1)
        return _first_of_each(owner, 1, changed, self.distances.paired(rows[owner], points))

    def _starts(self, rows: Floats, labels: NDArray[Any]) -> tuple[Ints, Floats]:
        """The nearest known rows with another prediction: owners in ascending order, and points, the nearest first."""
        known, own, sections = self._comparable(labels)
        owners, points = [np.empty(0, np.int64)], [self.known[:0]]
        for members in sections:
            for block in blocks(len(members), _DISTANCES // len(known)):
                agree = self.outcomes.agree(known, own[members[block], None])
                pool = np.flatnonzero(~agree.all(axis=0))
                if len(pool):
                    distances = self.distances.between(rows[members[block]], self.known[pool])
                    owner, chosen = _smallest(distances, agree[:, pool], self.candidates)
                    owners.append(members[block][owner])
                    points.append(self.known[pool[chosen]])
        order = np.argsort(np.concatenate(owners), kind="stable")
        return np.concatenate(owners)[order], np.concatenate(points)[order]

    def _comparable(self, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], list[Ints]]:
        """Predictions of known rows and of others as numbers, and sections of the others that are much alike.

        Rows of a section agree with the same known rows, or nearly, so that few distances are measured in vain.
        """
        if self.outcomes.of_numbers:
            return self.labels, labels, [np.argsort(labels, kind="stable")]
        codes, _ = group([np.append(self.labels.astype(object), labels.astype(object))])
        known, own = codes[: len(self.labels)], codes[len(self.labels) :]
        return known, own, [np.flatnonzero(own == code) for code in np.unique(own)]

    def _put_back(self, points: Floats, originals: Originals) -> Floats:
        """Points with features put back to the row's values, the farthest first, whenever that keeps the flip."""
        place, left = self._farthest_first(points, originals.rows, np.True_)
        for turn in range(int(left.max(initial=0))):
            active = np.flatnonzero(left > turn)
            tried = np.where(place[active] == turn, originals.rows[active], points[active])
            kept = self._flips(tried, originals.take(active))
            points[active[kept]] = tried[kept]
        return points

    def _put_back_all(self, points: Floats, originals: Originals) -> Floats:
        """Points of which no changed feature can be put back alone: tried again until nothing changes."""
        again = np.arange(len(points))
        while again.size:
            after = self._put_back(points[again], originals.take(again))
            different = unlike(after, points[again]).any(axis=1)
            points[again] = after
            again = again[different]
        return points

    def _farthest_first(self, points: Floats, origin: Floats, which: Any) -> tuple[Ints, Ints]:
        """The place of each feature in each point, the largest change first; and how many features are changed."""
        changed = unlike(points, origin) & which
        order = np.argsort(np.where(changed, -self.distances.gaps(origin, points), 1.0), axis=1, kind="stable")
        return np.argsort(order, axis=1, kind="stable"), changed.sum(axis=1)

    def _move(self, points: Floats, originals: Originals) -> Floats:
        """Points with changed numbers moved toward the row's, the farthest first, as long as that keeps the flip."""
        origin = originals.rows
        numbers = ~self.table.categorical & np.isfinite(points) & np.isfinite(origin)
        place, left = self._farthest_first(points, origin, numbers)
        for turn in range(int(left.max(initial=0))):
            moving = np.flatnonzero(left > turn)
            feature = (place[moving] == turn).argmax(axis=1)
            self._move_feature(points, origin[moving, feature], originals, moving, feature)
        return points

    def _move_feature(self, points: Floats, start: Floats, originals: Originals, moving: Ints, feature: Ints) -> None:
        """Move one feature of each of these points, between a value that does not flip (start) and one that does."""
        for _ in range(_ROUNDS):
            end = points[moving, feature]
            tried = self._steps(points[moving], start, end, feature)
            steps = tried[:, np.arange(len(moving)), feature].T
            room = (steps != end[:, None]).any(axis=1)
            if not room.any():
                return
            moving, feature, start, end, steps = moving[room], feature[room], start[room], end[room], steps[room]
            flips = self._flips(np.concatenate(tried[:, room]), originals.take(np.tile(moving, _PARTS - 1)))
            flips = np.vstack([flips.reshape(_PARTS - 1, -1), np.ones(len(moving), bool)])
            edges, reached = np.column_stack([start, steps, end]), flips.argmax(axis=0)
            start, end = edges[np.arange(len(edges)), reached], edges[np.arange(len(edges)), reached + 1]
            points[moving, feature] = end

    def _steps(self, points: Floats, start: Floats, end: Floats, feature: Ints) -> Floats:
        """Points with one feature on its way from start to end: (parts - 1, points, features)."""
        whole = (np.array([kind.kind in "biu" for kind in self.kinds]) | self.table.whole)[feature]
        steps = start + (end - start) * (np.arange(1, _PARTS) / _PARTS)[:, None]
        steps = np.where(whole, np.where(end > start, np.ceil(steps), np.floor(steps)), steps)
        tried = np.repeat(points[None], _PARTS - 1, axis=0)
        tried[:, np.arange(len(points)), feature] = steps
        self._settle(tried.reshape(-1, points.shape[1]))  # in place
        return tried


def _smallest(distances: Floats, barred: Bools, k: int) -> tuple[Ints, Ints]:
    """Row and column of the k smallest distances of each row that are not barred, smallest first, then by column."""
    k = min(k, distances.shape[1])
    if barred.any():
        distances = np.where(barred, np.inf, distances)
    row, column = np.nonzero(distances <= np.partition(distances, k - 1, axis=1)[:, k - 1 : k])
    chosen = _first_of_each(row, k, distances[row, column])
    row, column = row[chosen], column[chosen]
    open_ = ~barred[row, column]
    return row[open_], column[open_]


def _first_of_each(owner: Ints, k: int, *keys: NDArray[Any]) -> Ints:
    """Positions of the first k points of each owner, sorted by the last key, then the one before it, then position."""
    order = np.lexsort((*keys, owner))
    ordered = owner[order]
    return order[np.arange(len(order)) - np.searchsorted(ordered, ordered) < k]
