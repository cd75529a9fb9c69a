"""Perturbed rows of a table, of which every explained row draws its own from a pool."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.anchors.answers import Answers, Keys, anchor_keys, condition_keys, mix
from faithscope.explainers.anchors.bins import Bins
from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints

BATCH = 100
_BATCHES = 50  # in a pool: more draws than a search takes of one set of conditions, but for few
_KEPT = 2**15  # anchors whose draws are remembered, 5 kB each; beyond that all are forgotten
_ASKED = 200_000  # rows in one call of the model
_LINES = 4_096  # batches looked up at the same time


@dataclass(eq=False)
class Pool:
    """For each anchor 5,000 numbered draws, whose labels are asked for when first needed.

    A draw is a known row in which each value that breaks the anchor is replaced by a random value of the column that
    keeps it. Draws of the same number perturb the same known row, and a row that needs no other replacement is not
    asked about again.
    """

    bins: Bins
    predict: Callable[[Floats], NDArray[Any]]  # to positions of classes, of which there are fewer than 128
    seed: int
    answers: Answers = field(default_factory=Answers)
    places: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.row = rng.integers(len(self.bins.values), size=_BATCHES * BATCH)
        self.chances = rng.random((len(self.row), self.bins.bins.shape[1]))
        self._clear()

    def _clear(self) -> None:
        self.places.clear()
        self.labels = np.zeros((1_024, len(self.row)), np.int8)
        self.ready = np.zeros((1_024, _BATCHES), bool)

    def shrink(self) -> None:
        """Forget all draws if there are many; they would be the same again."""
        if len(self.places) > _KEPT:
            self._clear()

    def find(self, anchors: Codes) -> Ints:
        """The place of each anchor in the pool."""
        keys, line = np.unique(anchor_keys(anchors), return_inverse=True)
        places = [self.places.setdefault(int(key), len(self.places)) for key in keys]
        while len(self.places) > len(self.ready):
            self.labels = np.concatenate([self.labels, np.zeros_like(self.labels)])
            self.ready = np.concatenate([self.ready, np.zeros_like(self.ready)])
        return np.array(places, np.int64)[line]

    def ask(self, places: Ints, anchors: Codes, batches: Ints) -> None:
        """Ask for the labels of these batches where they are not known."""
        new = np.flatnonzero(~self.ready[places, batches])
        new = new[np.unique(places[new] * _BATCHES + batches[new], return_index=True)[1]]
        for begin in range(0, len(new), _LINES):
            part = new[begin : begin + _LINES]
            draws = batches[part, None] * BATCH + np.arange(BATCH)
            self.labels[places[part, None], draws] = self._labels(anchors[part], draws)
            self.ready[places[part], batches[part]] = True

    def _labels(self, anchors: Codes, draws: Ints) -> Ints:
        """The model's labels of draws under anchors: (lines, BATCH)."""
        keys = mix(draws)
        line, j = np.nonzero(anchors)
        for each in np.unique(j):
            at = line[j == each]
            broken = self._broken(anchors[at, each][:, None], each, draws[at])
            keys[at] += np.where(broken, condition_keys(each, anchors[at, each])[:, None], np.uint64(0))

        def ask(positions: Ints) -> Floats:
            where, draw = np.divmod(positions, BATCH)
            blocks = [slice(begin, begin + _ASKED) for begin in range(0, len(where), _ASKED)]
            return np.concatenate(
                [self.predict(self._rows(anchors[where[at]], draws[where[at], draw[at]])) for at in blocks]
            ).astype(np.float64)

        return self.answers.of(keys | np.uint64(1), ask).astype(np.int64)

    def _broken(self, code: Codes, j: Any, draws: Ints) -> Bools:
        drawn = self.bins.bins[self.row[draws], j]
        return np.asarray((drawn < self.bins.low[j, code]) | (drawn > self.bins.high[j, code]))

    def _replaced(self, code: Codes, j: Any, draws: Ints) -> Ints:
        """Where the replacement stands among the ordered known values of the column."""
        begin = self.bins.starts[j, self.bins.low[j, code]]
        end = self.bins.starts[j, self.bins.high[j, code] + 1]
        return np.asarray(begin + (self.chances[draws, j] * (end - begin)).astype(np.int64))

    def _rows(self, anchors: Codes, draws: Ints) -> Floats:
        """Perturbed rows, one per line."""
        values = self.bins.values[self.row[draws]]
        for j in np.flatnonzero(anchors.any(axis=0)):
            at = np.flatnonzero((anchors[:, j] != 0) & self._broken(anchors[:, j], j, draws))
            values[at, j] = self.bins.ordered[j, self._replaced(anchors[at, j], j, draws[at])]
        return values

    def _bin_at(self, j: int, places: Ints) -> Ints:
        return np.searchsorted(self.bins.starts[j], places, side="right").astype(np.int64) - 1

    def located(self, anchor: Codes, draws: Ints) -> Codes:
        """The bins of perturbed rows: (draws, d)."""
        bins = self.bins.bins[self.row[draws]]
        for j in np.flatnonzero(anchor):
            code = np.full(len(draws), anchor[j])
            replaced = self._bin_at(int(j), self._replaced(code, j, draws))
            bins[:, j] = np.where(self._broken(code, j, draws), replaced, bins[:, j])
        return bins


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Draws of lines, each of which goes through the pool from a number of its own on, another for each anchor.

    Attributes
    ----------
    pool : Pool
    own : (lines, d) array
        The bins that rows lie in.
    labels, seeds : (lines,) arrays
        Predictions and seeds.
    """

    pool: Pool
    own: Codes
    labels: NDArray[Any]
    seeds: Keys
    batch: int = BATCH

    @cached_property
    def many(self) -> Ints:
        """Every line may hold one condition per edge."""
        return np.full(len(self.own), len(self.pool.bins.conditions[0]))

    @cached_property
    def _above(self) -> Bools:
        """Which conditions of a line are of the form x > edge."""
        j, edge = self.pool.bins.conditions
        return np.asarray(self.own[:, j] > edge)

    def agreeing(self, lines: Ints, held: Bools, first: Ints, count: int) -> Ints:
        """How many of these draws have the row's prediction."""
        anchors = self._codes(lines, held)
        places, draws = self.pool.find(anchors), self._numbers(lines, anchors, first, count)
        ends = draws[:, [0, -1]] // BATCH
        self.pool.ask(np.repeat(places, 2), np.repeat(anchors, 2, axis=0), ends.ravel())
        return np.asarray((self.pool.labels[places[:, None], draws] == self.labels[lines, None]).sum(axis=1))

    def shown(self, line: int, held: Bools, count: int) -> tuple[Bools, Bools]:
        """Which conditions the first draws meet, and which of them have the row's prediction."""
        anchors = self._codes(np.array([line]), held[None])
        draws = self._numbers(np.array([line]), anchors, np.zeros(1, np.int64), count)[0]
        labels = self.pool.labels[self.pool.find(anchors), draws]
        j, edge = self.pool.bins.conditions
        met = (self.pool.located(anchors[0], draws)[:, j] > edge) == self._above[line]
        return met, labels == self.labels[line]

    def _numbers(self, lines: Ints, anchors: Codes, first: Ints, count: int) -> Ints:
        """Numbers of draws in the pool: (lines, count)."""
        begin = (mix(self.seeds[lines] ^ mix(anchor_keys(anchors))) % np.uint64(_BATCHES * BATCH)).astype(np.int64)
        return np.asarray((begin[:, None] + first[:, None] + np.arange(count)) % (_BATCHES * BATCH))

    def _codes(self, lines: Ints, held: Bools) -> Codes:
        """Anchors as one code per column, as `Bins` has them; 0 for a column without a condition."""
        bins, (j, edge) = self.pool.bins, self.pool.bins.conditions
        columns, starts = np.unique(j, return_index=True)
        above = self._above[lines]
        low = np.maximum.reduceat(np.where(held & above, edge + 1, 0), starts, axis=1)
        top = bins.counts[j] - 1
        high = np.minimum.reduceat(np.where(held & ~above, edge, top), starts, axis=1)
        codes = np.zeros((len(lines), self.own.shape[1]), np.int32)
        free = (low == 0) & (high == top[starts])
        codes[:, columns] = np.where(free, 0, low * bins.counts[columns] + high + 1)
        return codes
