"""Anchors of tables as the package anchor-exp 0.0.2.0 gives them, with every column a number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explainers.anchors.search import Keys, anchor_keys, mix
from faithscope.explainers.anchors.tables import Bins
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints
from faithscope_reproduction.authors.anchor_search import anchors_of, line_seeds

_TOGETHER = 1_500  # searches at the same time
_DRAWS = 5_000  # in a pool: more than a search takes of one set of conditions, but for few
_KEPT = 2**15  # anchors whose draws are remembered, 5 kB each; beyond that all are forgotten
_ASKED = 200_000  # rows in one call of the model


@dataclass(frozen=True, eq=False)
class ReleasedAnchors:
    """Explains a row by conditions that keep its prediction, or by none at all, as the package does.

    Every row has draws of its own, so rows alike may get different anchors. To ask the model less often, all rows draw
    from one pool of perturbed rows for each set of conditions. Of conditions that look equally precise the last is
    taken, as a stable sort has it.

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
    def pool(self) -> "Pool":
        """What all rows draw from."""
        return Pool(Bins(self.known, *np.zeros((2, self.known.shape[1]), bool)), self.model.predict, self.seed)

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
            part = np.arange(begin, min(begin + step, len(rows)))
            lines = np.tile(part, len(several))
            drawn = DrawnRows(self.pool, bins[lines], labels[lines], seeds[lines])
            anchors = anchors_of(drawn, np.repeat(np.asarray(several, np.float64), len(part)))
            for threshold, held in zip(several, np.split(anchors, len(several)), strict=True):
                rules[threshold] += [self._rule(anchor, bins[row]) for anchor, row in zip(held, part, strict=True)]
            if progress is not None:
                progress(int(part[-1]) + 1, len(rows))
        features = [f"x{j}" for j in range(rows.shape[1])] if self.names is None else list(self.names)
        return {threshold: fs.Rules.from_conditions(given, features=features) for threshold, given in rules.items()}

    def _located(self, rows: Floats) -> Codes:
        """The bins of rows; every bin must hold a known value, from which draws are taken."""
        bins = self.pool.bins.locate(rows)
        many = np.diff(self.pool.bins.starts, axis=1)
        if (empty := many[np.arange(rows.shape[1]), np.minimum(bins, many.shape[1] - 1)] == 0).any():
            row, column = np.argwhere(empty)[0]
            raise BadInput(
                f"No known row has a value of column {column} in the quarter of row {row}'s, {rows[row, column]:g}, so "
                "there is nothing to draw; explain rows that are among the known ones."
            )
        return bins

    def _rule(self, held: Bools, own: NDArray[Any]) -> list[tuple[int, str, float]]:
        """The tightest of the held conditions on each column."""
        ends: dict[tuple[int, str], float] = {}
        for j, edge in zip(*(part[held] for part in self.pool.bins.conditions), strict=True):
            value = float(self.pool.bins.edges[j][edge])
            way, tighter = (">", max) if own[j] > edge else ("<=", min)
            ends[int(j), way] = tighter(value, ends.get((int(j), way), value))
        return [(j, way, value) for (j, way), value in ends.items()]


@dataclass(eq=False)
class Pool:
    """For each anchor 5,000 numbered draws, whose labels are asked for when first needed.

    A draw is a known row in which each value that breaks the anchor is replaced by a random value of the column that
    keeps it. Draws of the same number perturb the same known row.
    """

    bins: Bins
    predict: Callable[[Floats], NDArray[Any]]  # to positions of classes, of which there are fewer than 128
    seed: int
    kept: dict[int, NDArray[np.int8]] = field(default_factory=dict)  # labels by an anchor's key; -1 if not asked for

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.row = rng.integers(len(self.bins.values), size=_DRAWS)
        self.chances = rng.random((_DRAWS, self.bins.bins.shape[1]))

    def labels(self, anchors: Codes, draws: Ints) -> Ints:
        """The model's labels of draws under anchors, one anchor per line: (lines, draws)."""
        keys = anchor_keys(anchors).tolist()
        if len(self.kept) > _KEPT:
            self.kept.clear()  # they would be the same again
        for key in keys:
            self.kept.setdefault(key, np.full(_DRAWS, -1, np.int8))
        answers = np.array([self.kept[key][line] for key, line in zip(keys, draws, strict=True)], np.int64).reshape(
            draws.shape
        )
        line, place = np.nonzero(answers < 0)
        for begin in range(0, len(line), _ASKED):
            at, of = line[begin : begin + _ASKED], place[begin : begin + _ASKED]
            answers[at, of] = self.predict(self.rows(anchors[at], draws[at, of]))
        for each in np.unique(line).tolist():
            self.kept[keys[each]][draws[each]] = answers[each]
        return answers

    def rows(self, anchors: Codes, draws: Ints) -> Floats:
        """Perturbed rows, one per line."""
        bins, values = self.bins, self.bins.values[self.row[draws]]
        drawn = bins.bins[self.row[draws]]
        for j in np.flatnonzero(anchors.any(axis=0)):
            low, high = bins.low[j, anchors[:, j]], bins.high[j, anchors[:, j]]
            at = np.flatnonzero((anchors[:, j] != 0) & ((drawn[:, j] < low) | (drawn[:, j] > high)))
            begin, end = bins.starts[j, low[at]], bins.starts[j, high[at] + 1]
            values[at, j] = bins.ordered[j, begin + (self.chances[draws[at], j] * (end - begin)).astype(np.int64)]
        return values


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Draws of lines, each of which goes through the pool from a number of its own on, another for each anchor.

    Attributes
    ----------
    pool : Pool
    own : (lines, d) array
        The bins that rows lie in.
    predictions, seeds : (lines,) arrays
    """

    pool: Pool
    own: Codes
    predictions: NDArray[Any]
    seeds: Keys
    batch: int = 100

    @cached_property
    def many(self) -> Ints:
        """Every line may hold one condition per edge."""
        return np.full(len(self.own), len(self.pool.bins.conditions[0]))

    def agreeing(self, lines: Ints, held: Bools, first: Ints, count: int) -> Ints:
        """How many of these draws have the row's prediction."""
        anchors = self._codes(lines, held)
        labels = self.pool.labels(anchors, self._numbers(lines, anchors, first, count))
        return np.asarray((labels == self.predictions[lines, None]).sum(axis=1))

    def shown(self, line: int, held: Bools, count: int) -> tuple[Bools, Bools]:
        """Which conditions the first draws meet, and which of them have the row's prediction."""
        lines = np.array([line])
        anchors = self._codes(lines, held[None])
        draws = self._numbers(lines, anchors, np.zeros(1, np.int64), count)
        bins, (j, edge) = self.pool.bins, self.pool.bins.conditions
        located = bins.locate(self.pool.rows(np.repeat(anchors, count, axis=0), draws[0]))
        met = (located[:, j] > edge) == (self.own[line, j] > edge)
        return met, self.pool.labels(anchors, draws)[0] == self.predictions[line]

    def _numbers(self, lines: Ints, anchors: Codes, first: Ints, count: int) -> Ints:
        """Numbers of draws in the pool: (lines, count)."""
        begin = (mix(self.seeds[lines] ^ mix(anchor_keys(anchors))) % np.uint64(_DRAWS)).astype(np.int64)
        return np.asarray((begin[:, None] + first[:, None] + np.arange(count)) % _DRAWS)

    def _codes(self, lines: Ints, held: Bools) -> Codes:
        """Anchors as one code per column, as `Bins` has them; 0 for a column without a condition."""
        bins, (j, edge) = self.pool.bins, self.pool.bins.conditions
        columns, starts = np.unique(j, return_index=True)
        above = self.own[lines][:, j] > edge
        low = np.maximum.reduceat(np.where(held & above, edge + 1, 0), starts, axis=1)
        top = bins.counts[j] - 1
        high = np.minimum.reduceat(np.where(held & ~above, edge, top), starts, axis=1)
        codes = np.zeros((len(lines), self.own.shape[1]), np.int32)
        free = (low == 0) & (high == top[starts])
        codes[:, columns] = np.where(free, 0, low * bins.counts[columns] + high + 1)
        return codes
