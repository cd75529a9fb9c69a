"""Counterfactuals: the nearest known row that the model predicts otherwise, moved toward x while that lasts."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.models import Progress, to_predict
from faithscope.explainers.table import Table, columns_with_names
from faithscope.explanations.distances import Gower, paired, pairwise
from faithscope.explanations.examples import Counterfactuals
from faithscope.explanations.grouping import group
from faithscope.explanations.inputs import check_whole, rows_of, same_length

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DISTANCES = 2**22  # at a time
_NUMBERS = 2**20  # of candidate points, at a time
_PARTS, _ROUNDS = 4, 5  # a gap is cut in parts so often: to a thousandth of it


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """Explains a row by a near point that the model predicts otherwise: few features changed, and those little.

    The training rows nearest to x among those with another prediction are the candidates. Each has as many of its
    features as possible put back to x's values, the farthest first, while the prediction stays flipped; numbers that
    must stay changed move toward x's. The closest result is the explanation. So its prediction differs from x's, no
    changed feature can be put back alone, and no training row with another prediction is nearer.
    Whole numbers stay whole and categories known; nothing is left to chance.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from rows to labels.
    X_train : (m, d) array or table
        Known rows, as the model wants them.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    metric : str
        "gower", with ranges learned from the training rows, or any metric of scikit-learn's where all features are
        numbers. Where coming closer in one feature need not be coming closer (cosine), a training row may be returned
        as it is.
    candidates : int
        How many near training rows are tried for each row.

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 7.0]])
    >>> Counterfactual(lambda X: X[:, 0] > 2, rows).explain([[1.0, 6.0]]).points.round(2).tolist()
    [[2.0, 6.0]]
    """

    predict: Any
    X_train: Any
    _: KW_ONLY
    categorical: Iterable[int | str] = ()
    metric: Any = "gower"
    candidates: int = 10

    def __post_init__(self) -> None:
        check_whole(self.candidates, "candidates")

    def __getstate__(self) -> dict[str, Any]:
        """Without what was learned, which is learned again."""
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    @cached_property
    def _search(self) -> "_Search":
        table = Table.learn(self.X_train, self.categorical)
        kinds = tuple(column.dtype for column in columns_with_names(self.X_train)[1])
        known = np.unique(table.encode(self.X_train), axis=0)
        labels = _labels(self.predict, table, known)
        return _Search(self.predict, table, kinds, known, labels, _space(self.metric, table, known), self.candidates)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Counterfactuals:
        """A counterfactual for each row; an error where a row has none."""
        found, where = self.find(X, progress=progress)
        refuse_unflipped(where, rows_of(X), "no training row has another prediction")
        return found

    def find(self, X: Any, *, progress: Progress | None = None) -> tuple[Counterfactuals, Ints]:
        """A counterfactual for each row that has one, and the positions of these rows."""
        search = self._search
        rows, points, where = search.read(X), [search.known[:0]], [np.empty(0, np.int64)]
        step = max(1, _NUMBERS // (self.candidates * search.known.shape[1]))
        for start in range(0, len(rows), step):
            owner, near = search.flip(rows[start : start + step])
            points.append(near)
            where.append(owner + start)
            if progress is not None:
                progress(min(start + step, len(rows)), len(rows))
        found = np.concatenate(where)
        metric = search.space.carried
        return as_counterfactuals(search.table, np.concatenate(points), rows[found], search.known, metric), found


def as_counterfactuals(table: Table, points: Floats, rows: Floats, known: Floats, metric: Any) -> Counterfactuals:
    """Points and rows in the table's own values, with their distance."""
    if len(points):
        return Counterfactuals(table.decode(points), table.decode(rows), metric=metric)
    one = table.decode(known[:1])  # of no rows nothing could be learned about their types
    return Counterfactuals(one, one, metric=metric).take(slice(0))


def refuse_unflipped(found: Ints, rows: int, reason: str) -> None:
    """Raise, naming the first, where some of the rows have no counterfactual."""
    missing = np.setdiff1d(np.arange(rows), found)
    if len(missing):
        raise BadInput(
            f"No counterfactual was found for row {missing[0]} ({len(missing):,} of {rows:,} rows in all): {reason}. "
            "Use find(X), which leaves such rows out and says which are left."
        )


def _labels(model: Any, table: Table, matrix: Floats) -> NDArray[Any]:
    labels = to_predict(model)(table.decode(matrix))
    same_length(rows=len(matrix), predictions=len(labels))
    return labels


class _Space(Protocol):
    """Distances between rows of a matrix, and the metric that gives the same ones for the table's own values."""

    @property
    def carried(self) -> Any: ...

    def between(self, rows: Floats, others: Floats) -> Floats: ...

    def own(self, rows: Floats, others: Floats) -> Floats: ...

    def gaps(self, rows: Floats, others: Floats) -> Floats: ...


def _space(metric: Any, table: Table, known: Floats) -> _Space:
    if metric == "gower":
        return _GowerSpace(_coded_gower(table, known), gower(table, known), ~table.categorical, known)
    if table.categorical.any():
        raise BadInput(f"metric={metric!r} needs numbers, and these rows have categories: use metric='gower'.")
    pairwise(known[:1], known[:1], metric)  # refuses what is no metric, or none of two rows alone
    return _NumberSpace(metric)


def _coded_gower(table: Table, known: Floats) -> Gower:
    """Gower's distance on a matrix: of codes, any two that differ are farther than half apart, so at distance 1."""
    widths = np.where(table.categorical, 0.5, np.ptp(known, axis=0))
    return Gower(tuple(widths.tolist()))


def gower(table: Table, known: Floats) -> Gower:
    """Gower's distance for a table's own values, its ranges learned from known rows."""
    ranges = np.ptp(known, axis=0).tolist()
    return Gower(tuple(ranges[j] if one is None else _apart(one) for j, one in enumerate(table.categories)))


def _apart(categories: tuple[Any, ...]) -> float | None:
    """Half the least difference of categories that are numbers, so that 3 and 3.0 are one; None for all others."""
    if not all(isinstance(one, int | float) for one in categories):
        return None
    return float(np.diff(np.array(categories, np.float64)).min()) / 2 if len(categories) > 1 else 1.0


@dataclass(frozen=True, eq=False)
class _GowerSpace:
    coded: Gower
    carried: Gower
    numbers: NDArray[np.bool_]
    known: Floats

    def between(self, rows: Floats, others: Floats) -> Floats:
        from scipy.spatial.distance import cdist

        near, far = rows[:, self.numbers] / self._widths, others[:, self.numbers] / self._widths
        total: Floats = cdist(near, far, "cityblock") if near.shape[1] else np.zeros((len(rows), len(others)))
        for i, j in np.argwhere(self._outside(rows)):  # only there can a number be more than its range away
            total[i] -= np.maximum(np.abs(near[i, j] - far[:, j]) - 1.0, 0.0)
        if not self.numbers.all():
            total += cdist(rows[:, ~self.numbers], others[:, ~self.numbers], "hamming") * np.sum(~self.numbers)
        total /= rows.shape[1]
        return total

    @cached_property
    def _widths(self) -> Floats:
        widths = np.ptp(self.known[:, self.numbers], axis=0)
        return np.where(widths > 0, widths, 1.0)

    def _outside(self, rows: Floats) -> NDArray[np.bool_]:
        values, known = rows[:, self.numbers], self.known[:, self.numbers]
        return np.asarray((values < known.min(axis=0)) | (values > known.max(axis=0)))

    def own(self, rows: Floats, others: Floats) -> Floats:
        return self.coded.between(list(rows.T), list(others.T))

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        gaps = np.abs(rows - others)
        gaps[:, self.numbers] /= self._widths
        return np.minimum(gaps, 1.0)


@dataclass(frozen=True, eq=False)
class _NumberSpace:
    carried: Any

    def between(self, rows: Floats, others: Floats) -> Floats:
        return pairwise(rows, others, self.carried)

    def own(self, rows: Floats, others: Floats) -> Floats:
        return paired(rows, others, self.carried)

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        return np.abs(rows - others)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search on matrices; every step is one call of the model for all points that take it.

    A point's owner is the position of the row it is a candidate for; origin and labels are, for each point, the row
    and its prediction.
    """

    model: Any
    table: Table
    kinds: tuple[np.dtype[Any], ...]
    known: Floats
    labels: NDArray[Any]
    space: _Space
    candidates: int

    def read(self, X: Any) -> Floats:
        """Rows as a matrix, in the precision that the model sees."""
        return self._settle(self.table.encode(X))

    def _settle(self, matrix: Floats) -> Floats:
        for j, kind in enumerate(self.kinds):
            if kind.kind == "f" and kind.itemsize < 8:
                matrix[:, j] = matrix[:, j].astype(kind)
        return matrix

    def flip(self, rows: Floats) -> tuple[Ints, Floats]:
        """The rows that have a counterfactual, and these."""
        labels = _labels(self.model, self.table, rows)
        owner, starts = self._starts(rows, labels)
        if not len(owner):
            return owner, starts
        sparse = self._put_back(starts.copy(), rows[owner], labels[owner])
        best = self._closest(sparse, rows, owner)
        owner, points, nearest = owner[best], sparse[best], starts[np.unique(owner, return_index=True)[1]]
        x, wanted = rows[owner], labels[owner]
        points = self._put_back_all(self._move(points, x, wanted), x, wanted)
        farther = self.space.own(x, points) > self.space.own(x, nearest)  # never by a metric that adds up features
        points[farther] = nearest[farther]
        flipped = self._flips(points, wanted)
        return owner[flipped], points[flipped]

    def _flips(self, points: Floats, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(_labels(self.model, self.table, points) != labels, np.bool_)

    def _closest(self, points: Floats, rows: Floats, owner: Ints) -> Ints:
        """The closest point of each owner; among equally close ones that which changes least, then the earlier."""
        changed = (points != rows[owner]).sum(axis=1)
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

    def _put_back(self, points: Floats, origin: Floats, labels: NDArray[Any]) -> Floats:
        """Points with features put back to the row's values, the farthest first, where that keeps the flip."""
        place, left = self._farthest_first(points, origin, np.True_)
        for turn in range(int(left.max(initial=0))):
            active = np.flatnonzero(left > turn)
            tried = np.where(place[active] == turn, origin[active], points[active])
            kept = self._flips(tried, labels[active])
            points[active[kept]] = tried[kept]
        return points

    def _put_back_all(self, points: Floats, origin: Floats, labels: NDArray[Any]) -> Floats:
        """Points of which no changed feature can be put back alone: what changed is tried again."""
        again = np.arange(len(points))
        while again.size:
            after = self._put_back(points[again], origin[again], labels[again])
            different = (after != points[again]).any(axis=1)
            points[again] = after
            again = again[different]
        return points

    def _farthest_first(self, points: Floats, origin: Floats, which: Any) -> tuple[Ints, Ints]:
        """For each point the place of each feature, changed ones by their gap; and how many are changed."""
        changed = (points != origin) & which
        order = np.argsort(np.where(changed, -self.space.gaps(origin, points), 1.0), axis=1, kind="stable")
        return np.argsort(order, axis=1, kind="stable"), changed.sum(axis=1)

    def _move(self, points: Floats, origin: Floats, labels: NDArray[Any]) -> Floats:
        """Points with changed numbers moved toward the row's, the farthest first, while that keeps the flip."""
        place, left = self._farthest_first(points, origin, ~self.table.categorical)
        for turn in range(int(left.max(initial=0))):
            moving = np.flatnonzero(left > turn)
            feature = (place[moving] == turn).argmax(axis=1)
            self._move_one(points, origin[moving, feature], labels, moving, feature)
        return points

    def _move_one(self, points: Floats, near: Floats, labels: NDArray[Any], moving: Ints, feature: Ints) -> None:
        """Move one feature of each of these points, between what does not flip (near) and what does (far)."""
        for _ in range(_ROUNDS):
            far = points[moving, feature]
            tried = self._steps(points[moving], near, far, feature)
            steps = tried[:, np.arange(len(moving)), feature].T
            room = (steps != far[:, None]).any(axis=1)
            if not room.any():
                return
            moving, feature, near, far, steps = moving[room], feature[room], near[room], far[room], steps[room]
            flips = self._flips(np.concatenate(tried[:, room]), np.tile(labels[moving], _PARTS - 1))
            flips = np.vstack([flips.reshape(_PARTS - 1, -1), np.ones(len(moving), bool)])
            edges, reached = np.column_stack([near, steps, far]), flips.argmax(axis=0)
            near, far = edges[np.arange(len(edges)), reached], edges[np.arange(len(edges)), reached + 1]
            points[moving, feature] = far

    def _steps(self, points: Floats, near: Floats, far: Floats, feature: Ints) -> Floats:
        """Points with one feature on its way from near to far: (parts - 1, points, features)."""
        whole = np.array([kind.kind in "biu" for kind in self.kinds])[feature]
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
