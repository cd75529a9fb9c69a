"""Anchors: rules such that the model gives nearly all rows under them the prediction of the row."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explainers.anchors.bins import Bins, CoveredRows
from faithscope.explainers.anchors.draws import TableDraws
from faithscope.explainers.anchors.lucb import KEPT_IN_SEARCH, Search
from faithscope.explainers.anchors.perturbations import fresh_precision
from faithscope.explainers.anchors.precise import Precise
from faithscope.explainers.shared.arrays import Codes, Floats, Ints
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.outcomes import Outcomes
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.explanations.base import claims
from faithscope.explanations.rules import Rules
from faithscope.inputs.checks import check_whole
from faithscope.inputs.grouping import group
from faithscope.runtime.memory import in_memory

_GROUP = 1024  # rows searched at the same time, at most
_TRIED = 2**22  # rules tried at the same time
_ASKED = 200_000  # rows in one call of the model
_BATCH = 100  # draws in one batch
_COVERED = 10_000  # training rows on which coverage is counted, at most


class Anchors(Mannered):
    """Explains a row by a rule: under it, the model nearly always gives the prediction that it gives the row.

    Numbers are seen as their quarter of the training rows: conditions are ``x <= q`` and ``x > q`` for the quartiles q,
    equality for categories, and ``x == missing`` if the row misses a value that some training rows miss too. Dates are
    numbers. The precision of a rule is measured on perturbed training rows, in which each value that breaks the rule is
    replaced by a value of the same column that keeps it: it is the share of them that have the row's prediction. Rules
    are found by beam search with KL-LUCB (see `lucb.Search`).

    If no rule reaches the threshold, the row gets the most precise rule that was tried: `explain_with_precision` shows
    which rows these are. Quarters may be too coarse for the model, or the model may predict the row otherwise than all
    rows like it.

    Draws are numbered. Draws with the same number perturb the same training row and replace a value by the same other
    value, whichever row is explained. So the model is asked about each perturbed row once, for all rows that need it,
    and a rule depends only on the seed, the quarters that a row lies in and its prediction.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from rows to labels; to numbers with an `agreement`.
    X_train : (n, d) array or table
        Training rows, as the model reads them.
    threshold : float
        The precision asked for. A rule that passes is more than 0.05 below it with a chance of at most `delta`.
    beam : int
        How many rules of each length are kept and extended.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    delta, tau : float
        The chance of error in the choice of the best rules, and the error in precision that does not matter.
    seed : int
    max_conditions : int, optional
        The largest number of conditions, each on one quartile or category; no limit by default.
    agreement : Tolerance, optional
        Of a regressor, whose predictions are numbers: precision is then the share of perturbed rows whose prediction
        lies within eps of the row's own.

    Notes
    -----
    The rule without conditions covers everything and says nothing. A row gets it only if all draws agree with the row,
    for example because the model knows one class only; ``anchor-exp`` gives it whenever the share of one class is above
    the threshold. Coverage is counted on all training rows, or on 10,000 of them.

    Examples
    --------
    >>> rows = np.column_stack([np.arange(100), np.arange(100) % 7])
    >>> Anchors(lambda X: X[:, 0] >= 50, rows).explain([[80, 3]]).describe(0)
    'x0 > 49.5'
    """

    _kept_as = MappingProxyType({"predict": "model", **KEPT_IN_SEARCH, "max_conditions": "search.longest"})

    def __init__(
        self,
        predict: Any,
        X_train: Any,
        *,
        threshold: float = 0.95,
        beam: int = 4,
        categorical: Iterable[int | str] = (),
        delta: float = 0.1,
        tau: float = 0.15,
        seed: int = 0,
        max_conditions: int | None = None,
        agreement: Any = None,
    ) -> None:
        self._outcomes = Outcomes.of(predict, agreement, type(self).__name__)
        self.model, self.seed, self.agreement = predict, seed, agreement
        self.X_train, self.categorical = X_train, categorical
        self.search = Search(threshold, beam, delta, tau, max_conditions)
        self.table = Table.learn(X_train, categorical)
        Rules.from_conditions([], features=self.table.names)  # raises if two columns have the same name
        self._bins = Bins.learn(self.table.encode(X_train), self.table.categorical, self.table.whole)
        self._coverage = CoveredRows.learn(self._bins, _COVERED, seed)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """One rule per row, which covers the row; it covers everything if the prediction is always the same.

        `Rules.claimed` holds the precision of each by the draws of the search, which chose it for that precision, and
        its coverage of training rows.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing. A row may have a category that no training row has: the model is asked about the row
            as it is, and its rule has no condition on that feature.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, whenever more are done.
        """
        return self._explain_at(X, (self.search,), progress)[0]

    def explain_at(
        self, X: Any, thresholds: Iterable[float], *, progress: Progress | None = None
    ) -> dict[float, Rules]:
        """One rule per row for each of several thresholds: the rules that separate explainers would give.

        All thresholds are searched for at the same time, so the model is asked once about a perturbed row that several
        of them need: six thresholds take little more time than the highest of them.

        Parameters
        ----------
        X, progress
            As for `explain`.
        thresholds : iterable of float
            As `threshold`, which plays no part here.

        Examples
        --------
        >>> rows = np.column_stack([np.arange(100), np.arange(100) % 7])
        >>> anchors = Anchors(lambda X: (X[:, 0] >= 50) & (X[:, 1] > 1), rows)
        >>> {asked: rules.describe(0) for asked, rules in anchors.explain_at([[80, 3]], [0.6, 0.95]).items()}
        {0.6: 'x0 > 24.75 and x1 > 1', 0.95: 'x0 > 49.5 and x1 > 1'}
        """
        if isinstance(thresholds, int | float | str) or not (several := list(thresholds)):
            raise BadInput(f"thresholds must list at least one number, as in [0.5, 0.95]; got {thresholds!r}.")
        searches = tuple(replace(self.search, threshold=threshold) for threshold in several)
        return dict(zip(several, self._explain_at(X, searches, progress), strict=True))

    def _explain_at(self, X: Any, searches: tuple[Search, ...], progress: Progress | None) -> list[Rules]:
        cell, anchors, _, means = self._find(X, searches, progress)
        found = [self._claiming(anchors[:, place], means[:, place]) for place in range(len(searches))]
        return [rules.take(cell)._labelled(X) for rules in found]

    def explain_with_precision(
        self, X: Any, *, samples: int = 1000, progress: Progress | None = None
    ) -> Precise[Rules]:
        """Rules, the precision of each on draws that the search has not seen, and its coverage of training rows.

        Parameters
        ----------
        X, progress
            As for `explain`.
        samples : int
            Number of draws that precision is measured on, rounded up to whole hundreds.

        Returns
        -------
        Precise
            ``explanations``, ``precision`` and ``coverage``, which unpack in this order.
        """
        batches = -(-check_whole(samples, "samples") // _BATCH)
        cell, anchors, draws, _ = self._find(X, (self.search,), progress)
        anchors = anchors[:, 0]
        precision = fresh_precision(draws, np.arange(len(anchors)), anchors, batches)
        rules = self._claiming(anchors, precision).take(cell)._labelled(X)
        return Precise(rules, precision[cell], self._coverage.share(anchors)[cell])

    @in_memory("explain fewer rows or features, or bin categories")
    def _find(
        self, X: Any, searches: tuple[Search, ...], progress: Progress | None
    ) -> tuple[Ints, Codes, TableDraws, Floats]:
        """The cell of each row, shared by rows with the same bins and prediction; the cells' anchors; the draws.

        There is one anchor per cell and search, (cells, searches, d), and one precision by the draws of the search.
        Searches differ in their thresholds alone.
        """
        rows, unseen = self.table.read(X)
        labels = self._labels(rows, unseen)
        bins = self._bins.locate(rows)
        cell, first = group((bins, labels.astype(object)))
        draws = TableDraws(
            self._bins, self._coverage, bins[first], labels[first], self._labels, self._outcomes, _BATCH, self.seed
        )
        counter = _CellProgress(progress, np.bincount(cell, minlength=len(first)), len(searches))
        anchors = np.zeros((len(first), len(searches), rows.shape[1]), np.int32)
        means = np.ones(anchors.shape[:2])
        asked = np.array([search.threshold for search in searches], np.float64)
        step = min(_GROUP, _TRIED // (self.search.beam * len(self._bins.conditions[0]) * len(searches)))
        for block in blocks(len(first), step):
            cells = np.repeat(np.arange(block.start, block.stop), len(searches))
            best, precision = self.search.run_with_precision(draws, cells, counter.add, np.resize(asked, len(cells)))
            anchors[block] = best.reshape(-1, *anchors.shape[1:])
            means[block] = precision.reshape(-1, len(searches))
        return cell, anchors, draws, means

    def _labels(self, rows: Floats, unseen: Unseen | None = None) -> NDArray[Any]:
        """The model's predictions for rows of a matrix, asked in blocks that fit in memory."""
        parts = [
            self._outcomes.ask(self.table.decode(rows[block], unseen and unseen.take(block)))
            for block in blocks(len(rows), _ASKED)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _claiming(self, anchors: Codes, precision: Floats) -> Rules:
        """The rules with what is claimed of them."""
        claimed = claims({"precision": precision, "coverage": self._coverage.share(anchors)})
        return self._rules(anchors)._with(claimed=claimed)

    def _rules(self, anchors: Codes) -> Rules:
        rules = [
            [condition for j in np.flatnonzero(anchor) for condition in self._conditions(int(j), int(anchor[j]))]
            for anchor in anchors
        ]
        return Rules.from_conditions(rules, features=self.table.names)

    def _conditions(self, j: int, code: int) -> list[tuple[int, str, Any]]:
        """The conditions on feature j that a code stands for."""
        known, edges = self.table.categories[j], self._bins.edges[j]
        low, high = int(self._bins.low[j, code]), int(self._bins.high[j, code])
        if known is not None:
            return [(j, "==", known[low] if low < len(known) else None)]
        if low > len(edges):
            return [(j, "==", None)]
        above = [(j, ">", self.table.readable(j, edges[low - 1]))] if low else []
        return above + ([(j, "<=", self.table.readable(j, edges[high]))] if high < len(edges) else [])


@dataclass
class _CellProgress:
    """Progress in rows over searches in cells; `rows` says how many rows each cell has."""

    progress: Progress | None
    rows: Ints
    searches: int
    done: int = 0

    def add(self, cells: Ints) -> None:
        """Count these cells as done by one search; a row is done when all searches are, on average."""
        self.done += int(self.rows[cells].sum())
        if self.progress is not None and len(cells):
            self.progress(self.done // self.searches, int(self.rows.sum()))
