"""Counterfactuals: the nearest known row that the model predicts otherwise, moved toward x while that lasts."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.counterfactual.flips import Flips, Space, distinct_rows, predicted
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.models import Progress
from faithscope.explainers.shared.table import Own, Table, columns_with_names
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import Gower, paired, pairwise
from faithscope.explanations.distances.points import numbers_only
from faithscope.inputs.checks import check_whole
from faithscope.inputs.dates import UNITS
from faithscope.inputs.missing import is_missing
from faithscope.inputs.rows import rows_of

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
    Whole numbers stay whole, dates whole in the unit that training dates are, and categories known or the row's own.
    A missing value is one more value, which a row may be given or have replaced. Nothing is left to chance.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from rows to labels.
    X_train : (m, d) array or table
        Known rows, as the model wants them. Values may be missing, there and in rows to explain.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold neither numbers nor dates are categories in any case.
    metric : str
        "gower", with ranges learned from the training rows, or any metric of scikit-learn's where all features are
        numbers and none is missing. Where coming closer in one feature need not be coming closer (cosine), a training
        row may be returned as it is.
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
        kinds = column_kinds(self.X_train)
        known = distinct_rows(table.encode(self.X_train))
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
        rows, own = search.read(X)
        points, where = [search.known[:0]], [np.empty(0, np.int64)]
        step = max(1, _NUMBERS // (self.candidates * search.known.shape[1]))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            owner, near = search.flip(rows[part], own.take(part))
            points.append(near)
            where.append(owner + start)
            if progress is not None:
                progress(min(start + step, len(rows)), len(rows))
        found = np.concatenate(where)
        points_found, metric = np.concatenate(points), search.space.carried
        rows, own = rows[found], own.take(found)
        return as_counterfactuals(search.table, points_found, rows, own, search.known, metric), found


def column_kinds(X: Any) -> tuple[np.dtype[Any], ...]:
    """The types of columns; whole numbers stay whole numbers where some of them are missing."""
    columns = columns_with_names(X)[1]
    declared = X.schema.types if hasattr(X, "column_names") else getattr(X, "dtypes", [""] * len(columns))
    pairs = zip(columns, declared, strict=True)
    return tuple(np.dtype(np.int64) if _is_whole(column, kind) else column.dtype for column, kind in pairs)


def _is_whole(column: NDArray[Any], declared: Any) -> bool:
    if column.dtype.kind in "iu" or str(declared).lower().startswith(("int", "uint")):
        return True
    return column.dtype == object and all(type(item) is int or is_missing(item) for item in column)


def as_counterfactuals(
    table: Table, points: Floats, rows: Floats, own: Own, known: Floats, metric: Any
) -> Counterfactuals:
    """Points and rows in the table's own values, with their distance."""
    if len(points):
        return Counterfactuals(table.decode(points, own), table.decode(rows, own), metric=metric)
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
    if table.categorical.any() or table.whole.any():
        raise BadInput(numbers_only(metric, 0))
    space = _NumberSpace(metric)
    space.check(known)
    pairwise(known[:1], known[:1], metric)  # refuses what is no metric, or none of two rows alone
    return space


def _coded_gower(table: Table, known: Floats) -> Gower:
    """Gower's distance on a matrix: of codes, any two that differ are farther than half apart, so at distance 1."""
    widths = np.where(table.categorical, 0.5, _ranges(known))
    return Gower(tuple(widths.tolist()))


def _ranges(known: Floats) -> Floats:
    """The range of each column, of the values that are not missing; 0 where there are none."""
    highest = np.where(np.isnan(known), -np.inf, known).max(axis=0)
    lowest = np.where(np.isnan(known), np.inf, known).min(axis=0)
    return np.where(highest >= lowest, highest - lowest, 0.0)


def gower(table: Table, known: Floats) -> Gower:
    """Gower's distance for a table's own values, its ranges learned from known rows."""
    units = [1 if dates is None else UNITS[dates.unit] for dates in table.dates]
    ranges = (_ranges(known) * units).tolist()
    return Gower(tuple(None if coded else ranges[j] for j, coded in enumerate(table.categorical)))


@dataclass(frozen=True, eq=False)
class _GowerSpace:
    coded: Gower
    carried: Gower
    numbers: NDArray[np.bool_]
    known: Floats

    def between(self, rows: Floats, others: Floats) -> Floats:
        from scipy.spatial.distance import cdist

        near, far = rows[:, self.numbers] / self._widths, others[:, self.numbers] / self._widths
        whole = ~(np.isnan(near).any(axis=0) | np.isnan(far).any(axis=0))
        total: Floats = np.zeros((len(rows), len(others)))
        if whole.any():
            total = cdist(near[:, whole], far[:, whole], "cityblock")
        for i, j in np.argwhere(self._outside(rows) & whole):  # only there can a number be more than its range away
            total[i] -= np.maximum(np.abs(near[i, j] - far[:, j]) - 1.0, 0.0)
        for j in np.flatnonzero(~whole):
            total += _with_missing(np.abs(near[:, j, None] - far[None, :, j]), near[:, j, None], far[None, :, j])
        if not self.numbers.all():
            total += cdist(rows[:, ~self.numbers], others[:, ~self.numbers], "hamming") * np.sum(~self.numbers)
        total /= rows.shape[1]
        return total

    @cached_property
    def _widths(self) -> Floats:
        widths = _ranges(self.known[:, self.numbers])
        return np.where(widths > 0, widths, 1.0)

    def _outside(self, rows: Floats) -> NDArray[np.bool_]:
        values, known = rows[:, self.numbers], self.known[:, self.numbers]
        lowest, highest = np.fmin.reduce(known, axis=0), np.fmax.reduce(known, axis=0)
        return np.asarray((values < lowest) | (values > highest))

    def own(self, rows: Floats, others: Floats) -> Floats:
        return self.coded.between(list(rows.T), list(others.T))

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        gaps = np.abs(rows - others)
        gaps[:, self.numbers] /= self._widths
        return _with_missing(gaps, rows, others)

    def check(self, rows: Floats) -> None:
        """Every row has a distance."""


def _with_missing(gaps: Floats, a: Floats, b: Floats) -> Floats:
    """Gaps of at most 1, which is that of a missing value from a known one; two missing ones are alike."""
    gaps = np.where(np.isnan(gaps), 1.0, np.minimum(gaps, 1.0))
    gaps[np.isnan(a) & np.isnan(b)] = 0.0
    return gaps


@dataclass(frozen=True, eq=False)
class _NumberSpace:
    carried: Any

    def check(self, rows: Floats) -> None:
        """Raise where numbers are missing."""
        missing = int(np.isnan(rows).sum())
        if missing:
            raise BadInput(numbers_only(self.carried, missing))

    def between(self, rows: Floats, others: Floats) -> Floats:
        return pairwise(rows, others, self.carried)

    def own(self, rows: Floats, others: Floats) -> Floats:
        return paired(rows, others, self.carried)

    def gaps(self, rows: Floats, others: Floats) -> Floats:
        return np.abs(rows - others)
