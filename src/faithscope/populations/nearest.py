"""The nearest real rows that an explanation covers, with what it fixes as the row itself has it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.distances.metrics import Gower, columns_of
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of
from faithscope.populations.base import FEWEST, Drawer, Draws, Population, refuse_unscoped
from faithscope.populations.fixed_features import FixedFeatures
from faithscope.populations.near_documents import NearDocuments
from faithscope.populations.source_rows import SourceRows

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_PAIRS = 2**20  # distances computed at once


class Conditional(Population):
    """Real rows near the row: features that the explanation does not fix come from the k nearest rows that it covers.

    Nearest by Gower's distance over all features, from 0 to 1: numbers by their gap as a share of the range in
    training, categories by whether they differ; of equally near rows the first. Features that the explanation fixes
    stay as the row itself has them, unless the row does not meet its own explanation; then they too come from the
    nearest row. One training row that equals the row in every feature is left out, since it may be the row itself.
    There is no chance in it: k rows are all draws there are, and fewer if the explanation covers fewer.

    Of highlights, draws are the k nearest training documents that hold all highlighted words, by the share of words
    that only one of both documents has (Jaccard's distance).

    Parameters
    ----------
    X_train : (n, d) array, table, or documents
        Rows to draw from, in the form that the model takes.
    k : int
        How many of the nearest rows.
    model : model or function, optional
        Who predicts the draws, if predictions are ready labels.

    Examples
    --------
    >>> import faithscope as fs
    >>> X_train = [[20.0, 0.0], [30.0, 1.0], [50.0, 0.0], [60.0, 1.0]]
    >>> rules = fs.Rules.from_conditions([[("age", "<=", 40.0)]], features=["age", "member"])
    >>> fs.Conditional(X_train, k=2).draw(rules, [[25.0, 1.0]]).rows.tolist()
    [[25.0, 1.0], [25.0, 0.0]]
    """

    what: ClassVar[str] = "the nearest real rows"

    def __init__(self, X_train: Any, k: int = 50, *, model: Any = None) -> None:
        self.X_train, self.k, self.model = X_train, check_whole(k, "k"), model

    def __repr__(self) -> str:
        return f"Conditional(X_train of {rows_of(self.X_train):,} rows, k={self.k})"

    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        if self.X_train is None:
            raise BadInput("Conditional draws from training rows: pass Conditional(X_train).")
        if isinstance(explanations, Rules):
            return _NearestDrawer(explanations, SourceRows.of(self.X_train, X), self.k)
        if isinstance(explanations, Highlights) and not isinstance(explanations, Concepts):
            return NearDocuments.of(explanations, X, self.X_train, self.k)
        return refuse_unscoped(explanations, "Conditional")

    def _sentence(self, *, of_words: bool) -> str:
        if of_words:
            return "the nearest training documents that hold all highlighted words"
        return (
            "the row, in which features that the explanation does not fix come from near training rows that it covers"
        )


@dataclass(frozen=True, eq=False)
class _NearestDrawer:
    """The k nearest of the training rows that each rule covers."""

    rules: Rules
    source: SourceRows
    k: int

    @property
    def widths(self) -> Ints:
        return np.full(len(self.rules), self.k * max(FEWEST, self.source.width))

    @cached_property
    def gower(self) -> tuple[Gower, list[NDArray[Any]]]:
        """The distance, and the columns of training rows and then of measured rows as it reads them."""
        names = self.source.names if is_frame(self.source.X_train) else None
        train, own = (columns_of(rows, names) for rows in (self.source.X_train, self.source.X))
        gower = Gower.fit(train)
        pairs = zip(gower.read(train), gower.read(_as_learned(gower, own)), strict=True)
        return gower, [np.concatenate(pair) for pair in pairs]

    def draw(self, start: int, stop: int) -> Draws:
        fixed = FixedFeatures.of(self.rules, self.source, start, stop)
        keeps = fixed.met_by_own_row(stop - start)
        places = self.source.places(self.rules)
        near = self._nearest(fixed, start, stop)
        of = np.repeat(np.arange(start, stop), [len(rows) for rows in near])
        drawn = np.repeat(np.concatenate([np.empty(0, np.int64), *near])[:, None], self.source.width, axis=1)
        own = np.zeros((stop - start, self.source.width), bool)
        for condition, rows in fixed.rows.items():
            if condition.position >= 0:
                own[rows, places[condition.position]] = keeps[rows]
        drawn = np.where(own[of - start], self.source.train + of[:, None], drawn)
        return Draws(self.source.rows(drawn), of)

    def _nearest(self, fixed: FixedFeatures, start: int, stop: int) -> list[Ints]:
        """For each row, the positions of the nearest training rows that its rule covers."""
        conditions = list(fixed.rows)
        masks = dict(zip(conditions, self.rules.holds(conditions, self.source.X_train), strict=True))
        near: list[Ints] = [np.empty(0, np.int64)] * (stop - start)
        codes = self.rules.codes[start:stop]
        for code in np.unique(codes).tolist():
            mask = np.ones(self.source.train, bool)
            for condition in self.rules.distinct[code]:
                mask &= masks[condition]
            covered = np.flatnonzero(mask)
            rows = np.flatnonzero(codes == code)
            step = max(1, _PAIRS // max(1, len(covered)))
            for first in range(0, len(rows), step):
                part = rows[first : first + step]
                for row, chosen in zip(part.tolist(), self._among(covered, start + part), strict=True):
                    near[row] = chosen
        return near

    def _among(self, covered: Ints, rows: Ints) -> list[Ints]:
        """The nearest of the covered training rows to each of the rows."""
        if not len(covered):
            return [covered] * len(rows)
        gower, columns = self.gower
        measured = [column[self.source.train + rows][:, None] for column in columns]
        distances = gower.between(measured, [column[covered][None, :] for column in columns])
        return [covered[_k_smallest(line, self.k)] for line in distances]


def _as_learned(gower: Gower, columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Columns of numbers where training has numbers; raises if they hold anything else."""
    for j, (column, width) in enumerate(zip(columns, gower.ranges, strict=True)):
        if width is not None and column.dtype == object:
            raise BadInput(f"Column {j} holds numbers in X_train, and {column[0]!r} in X: convert one of them.")
    return columns


def _k_smallest(distances: NDArray[np.float64], k: int) -> Ints:
    """The positions of the k smallest distances, in order, without the first of those that are 0."""
    equal = np.flatnonzero(distances == 0)[:1]
    wanted = k + len(equal)
    if wanted < len(distances):
        limit = np.partition(distances, wanted - 1)[wanted - 1]
        near = np.flatnonzero(distances <= limit)
    else:
        near = np.arange(len(distances))
    order = near[np.argsort(distances[near], kind="stable")]
    return np.asarray(order[~np.isin(order, equal)][:k])
