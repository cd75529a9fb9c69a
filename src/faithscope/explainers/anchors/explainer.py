"""Anchors: conditions under which the model nearly always predicts what it predicts for the row."""

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.anchors.answers import Codes, Ints
from faithscope.explainers.anchors.bins import Bins, Coverage
from faithscope.explainers.anchors.draws import Drawn
from faithscope.explainers.anchors.kl_bounds import Floats
from faithscope.explainers.anchors.lucb import FRESH, KEPT_IN_SEARCH, Search, Wanted
from faithscope.explainers.shared.manners import Mannered
from faithscope.explainers.shared.models import Progress, to_predict
from faithscope.explainers.shared.table import Own, Table
from faithscope.explanations.rules import Rules
from faithscope.inputs.checks import check_whole
from faithscope.inputs.grouping import group
from faithscope.runtime.memory import in_memory

_GROUP = 1024  # rows searched at the same time, at most
_TRIED = 2**22  # rules tried at the same time
_ASKED = 200_000  # rows in one call of the model
_BATCH = 100  # draws at a time
_COVERED = 10_000  # training rows that coverage is counted on, at most


class Anchors(Mannered):
    """Explains a row by a rule: where it holds, the model nearly always predicts what it predicts for the row.

    Numbers are seen as their quarter of the training rows: conditions are ``x <= q`` and ``x > q`` for the quartiles q,
    equality for categories, and ``x == missing`` where the row misses a value that some training rows miss too. Dates
    are numbers. Precision is the share of rows with the row's prediction among training rows whose
    values that break the rule are replaced by others that keep it, drawn from the same column. Rules are found by beam
    search with KL-LUCB (see `lucb.Search`).

    A row for which no rule is found that reaches the threshold gets the most precise of those that were tried:
    `explain_with_precision` shows which rows these are. Quarters may be too coarse for the model, or the row may be
    one that it predicts otherwise than all its like.

    Draws are numbered, and those with the same number are of the same training row and replace a value by the same
    other, whichever row is explained: so the model is asked about each perturbed row once, for all rows that need it,
    and a rule depends on nothing but the seed, the quarters that a row lies in and its prediction.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from rows to labels.
    X_train : (n, d) array or table
        Training rows, as the model wants them.
    threshold : float
        The precision asked for. A rule that passes is more than 0.05 below it with a chance of at most `delta`.
    beam : int
        How many rules of each length are kept and extended.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    delta, tau : float
        The chance of error and the error in precision that does not matter, when the best rules are looked for.
    seed : int
    max_conditions : int, optional
        The most conditions, one a quartile or category; as many as it takes by default.

    Notes
    -----
    The rule without conditions covers everything and says nothing. It is given only where all draws agree with the row,
    as they do where the model knows one class; ``anchor-exp`` gives it wherever one class is so frequent that its share
    is above the threshold. Coverage is counted on all training rows, or on 10,000 of them.

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
    ) -> None:
        to_predict(predict)  # says at once if it is no model
        self.model, self.seed = predict, seed
        self.X_train, self.categorical = X_train, categorical
        self.search = Search(threshold, beam, delta, tau, max_conditions)
        self.table = Table.learn(X_train, categorical)
        Rules.from_conditions([], features=self.table.names)  # says at once if two columns have the same name
        self._bins = Bins.learn(self.table.encode(X_train), self.table.categorical, self.table.whole)
        self._coverage = Coverage.learn(self._bins, _COVERED, seed)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """A rule for each row, which it keeps; one that covers everything where the model always says the same.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing, and categories may be others than those of the training rows: the model is asked
            about the row as it is, and its rule says nothing of a category that training rows do not have.
        progress : callable, optional
            Called with rows done and rows in all, whenever some more are done.
        """
        cell, anchors, _ = self._find(X, progress)
        return self._rules(anchors).take(cell)

    def explain_with_precision(
        self, X: Any, *, samples: int = 1000, progress: Progress | None = None
    ) -> tuple[Rules, Floats, Floats]:
        """Rules, with the precision of each on draws that the search has not seen, and its coverage of training rows.

        Parameters
        ----------
        X, progress
            As for `explain`.
        samples : int
            Draws that precision is measured on, rounded up to whole hundreds.

        Returns
        -------
        rules : Rules
        precision : (n,) array
            Below the threshold, by more than the draws can be wrong, where no rule was found that reaches it.
        coverage : (n,) array
            Share of training rows that the rule covers.
        """
        batches = -(-check_whole(samples, "samples") // _BATCH)
        cell, anchors, drawn = self._find(X, progress)
        lines = np.arange(len(anchors))
        hits = sum((drawn.agreeing(Wanted.of(lines, anchors, FRESH + one)) for one in range(batches)), lines * 0)
        return self._rules(anchors).take(cell), hits[cell] / (batches * _BATCH), self._coverage.share(anchors)[cell]

    @in_memory("explain fewer rows or features, or bin categories")
    def _find(self, X: Any, progress: Progress | None) -> tuple[Ints, Codes, Drawn]:
        """The cell of each row, which rows in the same bins with the same prediction share; the anchor of each cell."""
        rows, own = self.table.read(X)
        labels = self._labels(rows, own)
        bins = self._bins.locate(rows)
        cell, first = group((bins, labels.astype(object)))
        drawn = Drawn(self._bins, self._coverage, bins[first], labels[first], self._labels, _BATCH, self.seed)
        told = _Told(progress, np.bincount(cell, minlength=len(first)))
        anchors: list[Codes] = [np.zeros((0, rows.shape[1]), np.int32)]
        step = max(1, min(_GROUP, _TRIED // (self.search.beam * len(self._bins.conditions[0]))))
        for start in range(0, len(first), step):
            part = np.arange(start, min(start + step, len(first)))
            anchors.append(self.search.run(drawn, part, told.add))
        return cell, np.concatenate(anchors), drawn

    def _labels(self, rows: Floats, own: Own | None = None) -> NDArray[Any]:
        """The model's predictions for rows of a matrix, no more of them at once than fit in memory."""
        predict = to_predict(self.model)
        slices = [slice(start, start + _ASKED) for start in range(0, len(rows), _ASKED)]
        parts = [predict(self.table.decode(rows[part], own and own.take(part))) for part in slices]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _rules(self, anchors: Codes) -> Rules:
        written = [
            [one for j in np.flatnonzero(anchor) for one in self._conditions(int(j), int(anchor[j]))]
            for anchor in anchors
        ]
        return Rules.from_conditions(written, features=self.table.names)

    def _conditions(self, j: int, code: int) -> list[tuple[int, str, Any]]:
        """What a code asks of a feature."""
        known, edges = self.table.categories[j], self._bins.edges[j]
        low, high = int(self._bins.low[j, code]), int(self._bins.high[j, code])
        if known is not None:
            return [(j, "==", known[low] if low < len(known) else None)]
        if low > len(edges):
            return [(j, "==", None)]
        above = [(j, ">", self.table.readable(j, edges[low - 1]))] if low else []
        return above + ([(j, "<=", self.table.readable(j, edges[high]))] if high < len(edges) else [])


@dataclass
class _Told:
    """Progress over cells, each of which stands for so many rows."""

    progress: Progress | None
    rows: Ints
    done: int = 0

    def add(self, cells: Ints) -> None:
        """Some cells are done."""
        self.done += int(self.rows[cells].sum())
        if self.progress is not None and len(cells):
            self.progress(self.done, int(self.rows.sum()))
