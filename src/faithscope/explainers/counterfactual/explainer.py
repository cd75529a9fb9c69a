"""Counterfactuals: the nearest known row with another prediction, moved toward the row as far as it stays so."""

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.explainers.counterfactual.distances import row_distances
from faithscope.explainers.counterfactual.flips import Flips, distinct_rows
from faithscope.explainers.shared.arrays import Ints
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.columns import column_kinds
from faithscope.explainers.shared.counterfactuals import as_counterfactuals, refuse_unflipped
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.outcomes import Outcomes
from faithscope.explainers.shared.table import Table
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.alignment import index_of, taken
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of

_NUMBERS = 2**20  # of candidate points, in one block


@dataclass(frozen=True, eq=False, repr=False)
class Counterfactual(Mannered):
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
    metric : str
        "gower", with ranges learned from the training rows, or any metric of scikit-learn's if all features are numbers
        and none is missing. With a metric that may grow when one feature comes closer (cosine), a training row may be
        returned as it is.
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

    predict: Any
    X_train: Any
    _: KW_ONLY
    categorical: Iterable[int | str] = ()
    metric: Any = "gower"
    candidates: int = 10
    agreement: Any = None

    def __post_init__(self) -> None:
        check_whole(self.candidates, "candidates")
        Outcomes.of(self.predict, self.agreement, type(self).__name__)  # raises if it cannot be applied

    def __getstate__(self) -> dict[str, Any]:
        """The state without what was learned, which is learned again."""
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    @property
    def _outcomes(self) -> Outcomes:
        return Outcomes.of(self.predict, self.agreement, type(self).__name__)

    @cached_property
    def _search(self) -> Flips:
        table = Table.learn(self.X_train, self.categorical)
        kinds = column_kinds(self.X_train)
        known = distinct_rows(table.encode(self.X_train))
        outcomes, distances = self._outcomes, row_distances(self.metric, table, known)
        return Flips(outcomes, table, kinds, known, outcomes.ask(table.decode(known)), distances, self.candidates)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Counterfactuals:
        """One counterfactual per row; raises if a row has none.

        Parameters
        ----------
        X : (n, d) array or table
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after every block of them.
        """
        counterfactuals, flipped = self.find(X, progress=progress)
        refuse_unflipped(flipped, rows_of(X), self._outcomes.never_kept())
        return counterfactuals

    def find(self, X: Any, *, progress: Progress | None = None) -> tuple[Counterfactuals, Ints]:
        """One counterfactual per row that has one, and the positions of these rows."""
        search = self._search
        rows, unseen = search.read(X)
        points, flipped = [search.known[:0]], [np.empty(0, np.int64)]
        step = _NUMBERS // (self.candidates * search.known.shape[1])
        for block in blocks(len(rows), step, progress):
            owner, flips = search.flip(rows[block], unseen.take(block))
            points.append(flips)
            flipped.append(owner + block.start)
        where, metric = np.concatenate(flipped), search.distances.metric
        rows, unseen = rows[where], unseen.take(where)
        counterfactuals = as_counterfactuals(search.table, np.concatenate(points), rows, unseen, search.known, metric)
        return counterfactuals._with(index=taken(index_of(X), where)), where
