"""Counterfactuals: the nearest known row that the model predicts otherwise, moved toward x while that lasts."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.flips import Flips, Space, predicted
from faithscope.explainers.manners import Mannered
from faithscope.explainers.models import Progress
from faithscope.explainers.table import Table, columns_with_names
from faithscope.explanations.distances import Gower, paired, pairwise
from faithscope.explanations.examples import Counterfactuals
from faithscope.explanations.inputs import check_whole, rows_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NUMBERS = 2**20  # of candidate points, at a time


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Mannered):
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
    def _search(self) -> Flips:
        table = Table.learn(self.X_train, self.categorical)
        kinds = tuple(column.dtype for column in columns_with_names(self.X_train)[1])
        known = np.unique(table.encode(self.X_train), axis=0)
        labels = predicted(self.predict, table, known)
        return Flips(self.predict, table, kinds, known, labels, _space(self.metric, table, known), self.candidates)

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


def _space(metric: Any, table: Table, known: Floats) -> Space:
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
