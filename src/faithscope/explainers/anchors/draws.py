"""Training rows drawn anew under anchors, and what the model says to them, each asked for once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.anchors.answers import Answers, Codes, Ints, Keys, condition_keys, mix
from faithscope.explainers.anchors.bins import Bins, Coverage
from faithscope.explainers.anchors.kl_bounds import Floats
from faithscope.explainers.anchors.lucb import Wanted
from faithscope.explainers.shared.seeds import generators
from faithscope.inputs.grouping import group

_LINES = 4096  # batches of draws looked up at the same time, at most
_NUMBERS = 2**25  # of draws, at a time


@dataclass(frozen=True, eq=False)
class _Batch:
    """Draws of one number: training rows, their bins, and the chances that say what a broken value is replaced by."""

    row: Ints
    bins: Codes
    chance: Floats
    keys: Keys


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws under the anchors of cells, and the model's answers to them, each asked for once.

    Attributes
    ----------
    bins, covered
        What conditions there are, and whom they cover.
    cells, labels : (n, d) and (n,) arrays
        The bins that rows lie in, and their predictions.
    ask : function
        From rows of a matrix to predictions.
    batch, seed : int
    """

    bins: Bins
    covered: Coverage
    cells: Codes
    labels: NDArray[Any]
    ask: Callable[[Floats], NDArray[Any]]
    batch: int
    seed: int
    answers: Answers = field(default_factory=Answers)
    batches: dict[int, _Batch] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.cells.shape[1])

    @cached_property
    def known(self) -> tuple[NDArray[Any], Ints]:
        """The labels that rows are predicted, and which of them each row is."""
        places, first = group((self.labels.astype(object),))
        return self.labels[first], places

    def extend(self, rows: Ints, anchors: Codes) -> tuple[Ints, Codes]:
        """Conditions by their features, and the codes that adding each of them leads to."""
        return self.bins.conditions[0], self.bins.extend(self.cells[rows], anchors)

    def coverage(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """Share of training rows that each extension covers."""
        return self.covered.extended(anchors, features, codes)

    def agreeing(self, wanted: Wanted) -> Ints:
        """How many draws of each batch are predicted as the row is; equal anchors are looked up once for all rows."""
        _, first, line = np.unique(wanted.key + mix(wanted.batch), return_index=True, return_inverse=True)
        labels, places = self.known
        hits = np.empty((len(first), len(labels)), np.int64)
        step = max(1, min(_LINES, _NUMBERS // (self.batch * self.width)))
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            answers = self._predict(wanted.anchors(first[part]), wanted.batch[first[part]])
            for label in range(len(labels)):
                hits[part, label] = (answers == label).sum(axis=1)
        return hits[line, places[wanted.row]]

    def _predict(self, anchors: Codes, numbers: Ints) -> Ints:
        """What the model says to each draw of these batches, as a place among the known labels: (lines, batch)."""
        distinct, place = np.unique(numbers, return_inverse=True)
        batches = _stack([self._batch(int(number)) for number in distinct])

        def ask(positions: Ints) -> Ints:
            line, draw = np.divmod(positions, self.batch)
            return self._places(self.ask(self._rows(anchors[line], batches, place[line], draw)))

        return self.answers.of(self._keys(anchors, batches, place), ask)

    def _places(self, labels: NDArray[Any]) -> Ints:
        """Labels as places among the known ones; those that no row is predicted are of no account."""
        known = self.known[0]
        places = np.full(len(labels), len(known))
        for place in range(len(known)):
            places[labels == known[place : place + 1]] = place  # an array of one: a label may be a tuple
        return places

    def _keys(self, anchors: Codes, batches: _Batch, place: Ints) -> Keys:
        """A number for each draw of each line: equal where the same values of the same training row are replaced."""
        keys = batches.keys[place]
        line, j = np.nonzero(anchors)
        if len(line):
            code = anchors[line, j]
            here = batches.bins[place[line], j]
            broken = (here < self.bins.low[j, code][:, None]) | (here > self.bins.high[j, code][:, None])
            parts = np.where(broken, condition_keys(j, code)[:, None], np.uint64(0))
            starts = np.flatnonzero(np.diff(line, prepend=-1))
            keys[line[starts]] += np.add.reduceat(parts, starts, axis=0)
        return keys | np.uint64(1)

    def _rows(self, anchors: Codes, batches: _Batch, place: Ints, draw: Ints) -> Floats:
        """Perturbed rows: values of the training row that break the anchor are replaced by some that keep it."""
        bins, row = self.bins, batches.row[place, draw]
        values, (at, j) = bins.values[row], np.nonzero(anchors)
        code, here = anchors[at, j], bins.bins[row[at], j]
        broken = (here < bins.low[j, code]) | (here > bins.high[j, code])
        at, j, code = at[broken], j[broken], code[broken]
        start, stop = bins.starts[j, bins.low[j, code]], bins.starts[j, bins.high[j, code] + 1]
        chance = batches.chance[place[at], draw[at], j]
        values[at, j] = bins.ordered[j, start + (chance * (stop - start)).astype(np.int64)]
        return values

    def _batch(self, number: int) -> _Batch:
        if number not in self.batches:
            chance = generators(self.seed, np.full((1, 1), float(number)))[0]
            row = chance.integers(len(self.bins.values), size=self.batch)
            keys = mix(number * self.batch + np.arange(self.batch))
            chances = chance.random((self.batch, self.width))
            self.batches[number] = _Batch(row, self.bins.bins[row].T, chances, keys)
        return self.batches[number]


def _stack(batches: list[_Batch]) -> _Batch:
    parts = zip(*((one.row, one.bins, one.chance, one.keys) for one in batches), strict=True)
    return _Batch(*map(np.stack, parts))
