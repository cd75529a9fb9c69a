"""Anchors of tables as the package anchor-exp 0.0.2.0 gives them, with every column a number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explainers.anchors.bins import Bins
from faithscope.explainers.shared.arrays import Codes, Floats
from faithscope_reproduction.authors.anchor_search import anchors_of
from faithscope_reproduction.authors.drawn_rows import DrawnRows, Pool
from faithscope_reproduction.authors.line_seeds import line_seeds

_TOGETHER = 1_500  # searches at the same time


@dataclass(frozen=True, eq=False)
class ReleasedAnchors:
    """Explains a row by conditions that keep its prediction, or by none at all, as the package does.

    Every row has draws of its own, so rows alike may get different anchors. To ask the model less often, all rows draw
    from one pool of perturbed rows for each set of conditions (see `drawn_rows`). Of conditions that look equally
    precise the last is taken, as a stable sort has it.

    Parameters
    ----------
    model : model
        Anything with ``predict`` from (m, d) arrays to m positions of classes.
    known : (m, d) array
        Rows that are perturbed, and whose quartiles are the conditions.
    threshold : float
    names : sequence of str, optional
        The columns.
    seed : int
        With the row itself, and how often it came before, it decides what is drawn.
    """

    model: Any
    known: Floats
    threshold: float
    names: tuple[str, ...] | None = None
    seed: int = 0

    def __repr__(self) -> str:
        return f"ReleasedAnchors(known={len(self.known)}, threshold={self.threshold}, seed={self.seed})"

    @cached_property
    def _bins(self) -> Bins:
        return Bins.learn(self.known, np.zeros(self.known.shape[1], bool))

    @cached_property
    def _pool(self) -> Pool:
        return Pool(self._bins, self.model.predict, self.seed)

    def explain(self, X: Any, *, progress: Callable[[int, int], None] | None = None) -> fs.Rules:
        """One rule per row; the rule without conditions if the first draws agree."""
        return self.explain_at(X, [self.threshold], progress=progress)[self.threshold]

    def explain_at(
        self, X: Any, thresholds: Iterable[float], *, progress: Callable[[int, int], None] | None = None
    ) -> dict[float, fs.Rules]:
        """One rule per row for each of several thresholds: those that separate explainers would give."""
        rows, several = np.asarray(X, np.float64), list(thresholds)
        bins, labels, seeds = self._located(rows), self.model.predict(rows), line_seeds(self.seed, rows)
        rules: dict[float, list[Any]] = {threshold: [] for threshold in several}
        step = max(1, _TOGETHER // len(several))
        for begin in range(0, len(rows), step):
            self._pool.shrink()
            part = np.arange(begin, min(begin + step, len(rows)))
            lines = np.tile(part, len(several))
            drawn = DrawnRows(self._pool, bins[lines], labels[lines], seeds[lines])
            anchors = anchors_of(drawn, np.repeat(np.asarray(several, np.float64), len(part)))
            for threshold, held in zip(several, np.split(anchors, len(several)), strict=True):
                rules[threshold] += [self._rule(anchor, bins[row]) for anchor, row in zip(held, part, strict=True)]
            if progress is not None:
                progress(int(part[-1]) + 1, len(rows))
        features = [f"x{j}" for j in range(rows.shape[1])] if self.names is None else list(self.names)
        return {threshold: fs.Rules.from_conditions(given, features=features) for threshold, given in rules.items()}

    def _located(self, rows: Floats) -> Codes:
        """The bins of rows; every bin must hold a known value, from which draws are taken."""
        bins = self._bins.locate(rows)
        many = np.diff(self._bins.starts, axis=1)
        if (empty := many[np.arange(rows.shape[1]), np.minimum(bins, many.shape[1] - 1)] == 0).any():
            row, column = np.argwhere(empty)[0]
            raise BadInput(
                f"No known row has a value of column {column} in the quarter of row {row}'s, {rows[row, column]:g}, so "
                "there is nothing to draw; explain rows that are among the known ones."
            )
        return bins

    def _rule(self, held: NDArray[np.bool_], own: NDArray[Any]) -> list[tuple[int, str, float]]:
        """The tightest of the held conditions on each column."""
        ends: dict[tuple[int, str], float] = {}
        for j, edge in zip(*(part[held] for part in self._bins.conditions), strict=True):
            value = float(self._bins.edges[j][edge])
            way, tighter = (">", max) if own[j] > edge else ("<=", min)
            ends[int(j), way] = tighter(value, ends.get((int(j), way), value))
        return [(j, way, value) for (j, way), value in ends.items()]
