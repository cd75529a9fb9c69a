"""Counterfactuals: the nearest known row with another prediction, moved toward the row as far as it stays so."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.outcomes import Outcomes
from faithscope.explainers.space import Dates, Space, unlike
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import Gower, gap
from faithscope.inputs.alignment import index_of, taken
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.dates import UNITS
from faithscope.inputs.grouping import group
from faithscope.inputs.rows import rows_of

_DISTANCES = 2**22  # in one block
_PARTS, _ROUNDS = 4, 5  # a gap is cut in 4 parts 5 times: to a thousandth of it
_NUMBERS = 2**20  # of candidate points, in one block


class FlippingExplainer(Explainer, ABC):
    """Base of explainers by counterfactuals."""

    X_train: Any
    categorical: Iterable[int | str]
    _why_none: ClassVar[str]  # why a row may have no counterfactual

    @cached_property
    def _learned(self) -> tuple[Space, Floats]:
        table = Space.learn(self.X_train, self.categorical)
        return table, table.encode(self.X_train)

    @abstractmethod
    def _flipped(self, rows: Floats, table: Space, progress: Progress | None) -> tuple[Floats, Ints]:
        """One point per row that has a counterfactual, and the positions of these rows."""

    def find(self, X: Any, *, progress: Progress | None = None) -> tuple[Counterfactuals, Ints]:
        """One counterfactual per row that has one, and the positions of these rows.

        They have the table's own values, and Gower's metric with the ranges of the training rows.
        """
        learned, known = self._learned
        rows, table = learned.read(X)
        points, where = self._flipped(rows, table, progress)
        a, b = (points, rows[where]) if len(points) else (known[:1], known[:1])  # which show the types of columns
        units = [UNITS[scale.unit] if isinstance(scale, Dates) else 1 for scale in table.scales]
        widths = zip(table.categorical, (ranges(known) * units).tolist(), strict=True)
        metric = Gower(tuple(None if coded else width for coded, width in widths))
        found = Counterfactuals(table.decode(a), table.decode(b), metric=metric).take(slice(len(points)))
        return found._with(index=taken(index_of(X), where)), where

    def explain(self, X: Any, *, progress: Progress | None = None) -> Counterfactuals:
        """One counterfactual per row; raises if a row has none.

        Parameters
        ----------
        X : (n, d) array or table
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after some of them.
        """
        counterfactuals, flipped = self.find(X, progress=progress)
        rows = rows_of(X)
        missing = np.setdiff1d(np.arange(rows), flipped)
        if len(missing):
            raise BadInput(
                f"No counterfactual was found for row {missing[0]} ({len(missing):,} of {rows:,} rows in all): "
                f"{self._why_none}. Use find(X), which leaves such rows out and says which are left."
            )
        return counterfactuals


def ranges(known: Floats) -> Floats:
    """The range of each column over the values that are not missing; 0 if all are."""
    return np.asarray(np.nan_to_num(np.fmax.reduce(known, axis=0) - np.fmin.reduce(known, axis=0)))


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(FlippingExplainer):
    """Explains a row by a close point that the model predicts otherwise, with few features changed, and those little.

    The training rows nearest to x among those with another prediction are the candidates. Each has as many of its
    features as possible put back to x's values, the farthest first, as long as the prediction stays flipped; numbers
    that must stay changed move toward x's. The closest result is the explanation. So its prediction differs from x's,
    no changed feature can be put back alone, and no training row with another prediction is nearer.
    Whole numbers stay whole, dates stay whole in the unit of the training dates, and categories are known ones or the
    row's own. A missing value is a value like any other: a row may be given it, or have it replaced. There is no
    randomness.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from rows to labels; to numbers with an `agreement`.
    X_train : (m, d) array or table
        Known rows, as the model reads them. Values may be missing, there and in rows to explain.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold neither numbers nor dates are categories in any case.
    metric : "gower"
        With ranges learned from the training rows.
    candidates : int
        How many of the nearest training rows are tried per row.
    agreement : Tolerance, optional
        Of a regressor, whose predictions are numbers: "another prediction" is then one more than eps away from x's.

    Examples
    --------
    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0], [4.0, 7.0]])
    >>> Counterfactual(lambda X: X[:, 0] > 2, rows).explain([[1.0, 6.0]]).points.round(2).tolist()
    [[2.0, 6.0]]
    >>> from faithscope.agreements import Tolerance
    >>> double = Counterfactual(lambda X: 2 * X[:, 0], rows, agreement=Tolerance(3.0))
    >>> double.explain([[1.0, 6.0]]).points.round(2).tolist()
    [[2.5, 6.0]]
    """

    _why_none = "no training row has another prediction (of numbers: one more than eps away, so pass a smaller eps)"

    predict: Any
    X_train: Any
    _: KW_ONLY
    categorical: Iterable[int | str] = ()
    metric: Any = "gower"
    candidates: int = 10
    agreement: Any = None

    def __post_init__(self) -> None:
        check_whole(self.candidates, "candidates")
        if not isinstance(self.metric, str) or self.metric != "gower":
            raise BadInput(
                f"Counterfactual searches by Gower's distance alone; got metric={self.metric!r}. Of what it finds, "
                "fs.Counterfactuals(found.points, found.originals, metric=...) measures distances otherwise."
            )
        _ = self._outcomes  # raises if it cannot be applied

    @property
    def _outcomes(self) -> Outcomes:
        return Outcomes(self.predict, self.agreement, type(self).__name__)

    @cached_property
    def _known(self) -> tuple[Floats, Array]:
        """The distinct training rows, and their predictions."""
        table, known = self._learned
        known = np.unique(np.where(np.isnan(known), np.inf, known), axis=0)  # missing numbers are equal, and come last
        known = np.where(np.isinf(known), np.nan, known)
        return known, self._outcomes.ask(table.decode(known))

    def _flipped(self, rows: Floats, table: Space, progress: Progress | None) -> tuple[Floats, Ints]:
        table.settle(rows)
        known, labels = self._known
        points, flipped = [rows[:0]], [np.empty(0, np.int64)]
        for block in blocks(len(rows), _NUMBERS // (self.candidates * rows.shape[1]), progress):
            owner, flips = Flips(self._outcomes, table, known, labels, self.candidates, rows[block]).flip()
            points.append(flips)
            flipped.append(owner + block.start)
        return np.concatenate(points), np.concatenate(flipped)


@dataclass(frozen=True, eq=False)
class Flips:
    """The search on matrices; every step is one call of the model for all points that take it.

    A point's owner is the position of the row that it is a candidate for. A category that only the row has, and no
    training row, is kept or given up like any other value. A missing number cannot move.

    Attributes
    ----------
    outcomes : Outcomes
    table : Space
    known, labels : (m, d) and (m,) arrays
        Training rows, and their predictions.
    candidates : int
    rows : (n, d) array
        The rows that are to be flipped.
    """

    outcomes: Outcomes
    table: Space
    known: Floats
    labels: Array
    candidates: int
    rows: Floats

    @cached_property
    def own(self) -> Array:
        """The predictions of the rows."""
        return self.outcomes.ask(self.table.decode(self.rows))

    def flip(self) -> tuple[Ints, Floats]:
        """Positions of the rows that have a counterfactual, and these counterfactuals."""
        owner, starts = self._starts()
        if not len(owner):
            return owner, starts
        sparse = self._put_back(starts, owner)
        changed = unlike(sparse, self.rows[owner]).sum(axis=1)  # which decides among equally close points
        distances = Gower(tuple(self._widths.tolist())).between(list(self.rows[owner].T), list(sparse.T))
        best = _first_of_each(owner, 1, changed, distances)
        owner = owner[best]
        points, again = self._move(sparse[best], owner), np.arange(len(best))
        while again.size:  # until no changed feature can be put back alone
            after = self._put_back(points[again], owner[again])
            different = unlike(after, points[again]).any(axis=1)
            points[again] = after
            again = again[different]
        flipped = self._flips(points, owner)
        return owner[flipped], points[flipped]

    def _flips(self, points: Floats, owner: Ints) -> Bools:
        return ~self.outcomes.agree(self.outcomes.ask(self.table.decode(points)), self.own[owner])

    def _starts(self) -> tuple[Ints, Floats]:
        """The nearest known rows with another prediction: owners in ascending order, and points, the nearest first.

        They are found in sections of rows that agree with the same known rows, or nearly, so that few distances are
        measured in vain.
        """
        known, own = self.labels, self.own
        sections = [np.argsort(own, kind="stable")] if self.outcomes.of_numbers else []
        if not sections:  # labels as numbers
            codes, _ = group([np.append(known.astype(object), own.astype(object))])
            known, own = codes[: len(known)], codes[len(known) :]
            sections = [np.flatnonzero(own == code) for code in np.unique(own)]
        owners, points = [np.empty(0, np.int64)], [self.known[:0]]
        for members in sections:
            for block in blocks(len(members), _DISTANCES // len(known)):
                agree = self.outcomes.agree(known, own[members[block], None])
                pool = np.flatnonzero(~agree.all(axis=0))
                if len(pool):
                    barred, k = agree[:, pool], min(self.candidates, len(pool))
                    distances = self._between(self.rows[members[block]], self.known[pool])
                    distances[barred] = np.inf
                    most = np.partition(distances, k - 1, axis=1)[:, k - 1, None]
                    row, column = np.nonzero((distances <= most) & ~barred)
                    chosen = _first_of_each(row, k, distances[row, column])
                    owners.append(members[block][row[chosen]])
                    points.append(self.known[pool[column[chosen]]])
        order = np.argsort(np.concatenate(owners), kind="stable")
        return np.concatenate(owners)[order], np.concatenate(points)[order]

    def _put_back(self, points: Floats, owner: Ints) -> Floats:
        """Points with features put back to the row's values, the farthest first, whenever that keeps the flip."""
        place, left = self._farthest_first(points, self.rows[owner], np.True_)
        for turn in range(int(left.max(initial=0))):
            active = np.flatnonzero(left > turn)
            tried = np.where(place[active] == turn, self.rows[owner[active]], points[active])
            kept = self._flips(tried, owner[active])
            points[active[kept]] = tried[kept]
        return points

    def _farthest_first(self, points: Floats, origin: Floats, which: Any) -> tuple[Ints, Ints]:
        """The place of each feature in each point, the largest change first; and how many features are changed."""
        changed = unlike(points, origin) & which
        order = np.argsort(np.where(changed, -gap(origin, points, self._widths), 1.0), axis=1, kind="stable")
        return np.argsort(order, axis=1, kind="stable"), changed.sum(axis=1)

    def _move(self, points: Floats, owner: Ints) -> Floats:
        """Points with changed numbers moved toward the row's, the farthest first, as long as that keeps the flip.

        A feature moves between a value that does not flip (start) and one that does (end).
        """
        origin = self.rows[owner]
        numbers = ~self.table.categorical & np.isfinite(points) & np.isfinite(origin)
        place, left = self._farthest_first(points, origin, numbers)
        for turn in range(int(left.max(initial=0))):
            moving = np.flatnonzero(left > turn)
            feature = (place[moving] == turn).argmax(axis=1)
            start = origin[moving, feature]
            for _ in range(_ROUNDS):
                end = points[moving, feature]
                steps = start + (end - start) * (np.arange(1, _PARTS) / _PARTS)[:, None]
                rounded = np.where(end > start, np.ceil(steps), np.floor(steps))
                tried = np.repeat(points[None, moving], _PARTS - 1, axis=0)
                tried[:, np.arange(len(moving)), feature] = np.where(self.table.integral[feature], rounded, steps)
                self.table.settle(tried.reshape(-1, points.shape[1]))  # in place
                steps = tried[:, np.arange(len(moving)), feature].T
                room = (steps != end[:, None]).any(axis=1)
                if not room.any():
                    break
                moving, feature, start, end, steps = moving[room], feature[room], start[room], end[room], steps[room]
                flips = self._flips(np.concatenate(tried[:, room]), np.tile(owner[moving], _PARTS - 1))
                flips = np.vstack([flips.reshape(_PARTS - 1, -1), np.ones(len(moving), bool)])
                edges = np.column_stack([start, steps, end])
                reached = np.arange(len(moving)), flips.argmax(axis=0)
                start, points[moving, feature] = edges[reached], edges[:, 1:][reached]
        return points

    def _between(self, rows: Floats, others: Floats) -> Floats:
        """Distance from each of n rows to each of m others, (n, m): rounded alike whatever rows are beside a row."""
        from scipy.spatial.distance import cdist

        numbers, (a, b) = ~self.table.categorical, (part / self._widths for part in (rows, others))
        low, high = np.fmin.reduce(self.known, axis=0), np.fmax.reduce(self.known, axis=0)
        whole = numbers & ~np.isnan(self.known).any(axis=0)
        total = cdist(a[:, whole], b[:, whole], "cityblock") if whole.any() else np.zeros((len(a), len(b)))
        # Only what is outside the known rows can be farther away than the range.
        far = np.flatnonzero(~((rows >= low) & (rows <= high))[:, whole].all(axis=1))
        total[far] = sum(gap(a[far, j, None], b[:, j], 1.0) for j in np.flatnonzero(whole))
        for j in np.flatnonzero(numbers & ~whole):
            total += gap(a[:, j, None], b[:, j], 1.0)
        if not numbers.all():
            total += cdist(rows[:, ~numbers], others[:, ~numbers], "hamming") * np.sum(~numbers)
        return np.asarray(total / rows.shape[1])

    @cached_property
    def _widths(self) -> Floats:
        """What each feature is divided by: two different codes are farther apart than 1/2, so at distance 1."""
        widths = np.where(self.table.categorical, 0.5, ranges(self.known))
        return np.where(widths > 0, widths, 1.0)


def _first_of_each(owner: Ints, k: int, *keys: Array) -> Ints:
    """Positions of the first k points of each owner, sorted by the last key, then the one before it, then position."""
    order = np.lexsort((*keys, owner))
    ordered = owner[order]
    return order[np.arange(len(order)) - np.searchsorted(ordered, ordered) < k]
