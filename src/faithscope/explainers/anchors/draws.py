"""Training rows that are perturbed to keep an anchor, and the model's answers to them, each asked for once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.anchors.answers import Answers, Keys, condition_keys, mix
from faithscope.explainers.anchors.bins import Bins, CoveredRows
from faithscope.explainers.anchors.perturbations import Wanted
from faithscope.explainers.shared.arrays import Codes, Floats, Ints
from faithscope.explainers.shared.blocks import blocks
from faithscope.explainers.shared.outcomes import Outcomes
from faithscope.explainers.shared.seeds import generators
from faithscope.inputs.grouping import group

_LINES = 4096  # batches of draws looked up at the same time, at most
_NUMBERS = 2**25  # of draws, in one block


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch of draws: training rows, their bins, random numbers that choose replacements, and keys."""

    row: Ints
    bins: Codes
    chances: Floats
    keys: Keys


@dataclass(frozen=True, eq=False)
class TableDraws:
    """Draws under the anchors of cells, and the model's answers to them, each asked for once.

    Attributes
    ----------
    bins : Bins
        The conditions that there are.
    covered : CoveredRows
        The training rows that they cover.
    cells, labels : (n, d) and (n,) arrays
        The bins that rows lie in, and their predictions.
    ask : function
        From rows of a matrix to predictions.
    outcomes : Outcomes
        Which predictions agree.
    batch, seed : int
    """

    bins: Bins
    covered: CoveredRows
    cells: Codes
    labels: NDArray[Any]
    ask: Callable[[Floats], NDArray[Any]]
    outcomes: Outcomes
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
        """The distinct predictions of rows, and the place of each row's prediction among them."""
        places, first = group((self.labels.astype(object),))
        return self.labels[first], places

    @cached_property
    def numbers(self) -> Floats:
        """The known predictions as answers have them: numbers as they are, labels by their place."""
        known = self.known[0]
        return known if self.outcomes.of_numbers else np.arange(len(known), dtype=np.float64)

    def extend(self, rows: Ints, anchors: Codes) -> tuple[Ints, Codes]:
        """The feature of each condition, and the code of that feature once the condition is added."""
        return self.bins.conditions[0], self.bins.extend(self.cells[rows], anchors)

    def coverage(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """Share of training rows that each extension covers."""
        return self.covered.extended(anchors, features, codes)

    def agreeing(self, wanted: Wanted) -> Ints:
        """How many draws of each batch agree with the row; equal anchors are looked up once for all rows."""
        _, first, line = np.unique(wanted.key + mix(wanted.batch), return_index=True, return_inverse=True)
        labels, places = self.known
        pairs, pair = np.unique(line * len(labels) + places[wanted.row], return_inverse=True)
        line, place = np.divmod(pairs, len(labels))
        hits = np.empty(len(pairs), np.int64)
        for block in blocks(len(pairs), min(_LINES, _NUMBERS // (self.batch * self.width))):
            low, high = line[block.start], line[block.stop - 1] + 1
            answers = self._predict(wanted.anchors(first[low:high]), wanted.batch[first[low:high]])
            agree = self.outcomes.agree(answers[line[block] - low], self.numbers[place[block], None])
            hits[block] = agree.sum(axis=1)
        return hits[pair]

    def _predict(self, anchors: Codes, numbers: Ints) -> Floats:
        """The prediction of each draw of these batches, as a number: (lines, batch)."""
        distinct, place = np.unique(numbers, return_inverse=True)
        batches = _stack([self._batch(int(number)) for number in distinct])

        def ask(positions: Ints) -> Floats:
            line, draw = np.divmod(positions, self.batch)
            return self._as_numbers(self.ask(self._rows(anchors[line], batches, place[line], draw)))

        return self.answers.of(self._keys(anchors, batches, place), ask)

    def _as_numbers(self, predictions: NDArray[Any]) -> Floats:
        """Numbers as they are; labels by their place among the known ones, with the place after the last for others."""
        if self.outcomes.of_numbers:
            return predictions
        known = self.known[0]
        places = np.full(len(predictions), float(len(known)))
        for place in range(len(known)):
            places[predictions == known[place : place + 1]] = place  # of length 1, since a label may be a tuple
        return places

    def _keys(self, anchors: Codes, batches: _Batch, place: Ints) -> Keys:
        """The key of each draw of each line: equal if the same values of the same training row are replaced."""
        keys = batches.keys[place]
        line, j = np.nonzero(anchors)
        if len(line):
            code = anchors[line, j]
            drawn = batches.bins[place[line], j]
            broken = (drawn < self.bins.low[j, code][:, None]) | (drawn > self.bins.high[j, code][:, None])
            parts = np.where(broken, condition_keys(j, code)[:, None], np.uint64(0))
            starts = np.flatnonzero(np.diff(line, prepend=-1))
            keys[line[starts]] += np.add.reduceat(parts, starts, axis=0)
        return keys | np.uint64(1)

    def _rows(self, anchors: Codes, batches: _Batch, place: Ints, draw: Ints) -> Floats:
        """Perturbed rows: values of the training row that break the anchor are replaced by values that keep it."""
        bins, row = self.bins, batches.row[place, draw]
        values, (at, j) = bins.values[row], np.nonzero(anchors)
        code, drawn = anchors[at, j], bins.bins[row[at], j]
        broken = (drawn < bins.low[j, code]) | (drawn > bins.high[j, code])
        at, j, code = at[broken], j[broken], code[broken]
        start, stop = bins.starts[j, bins.low[j, code]], bins.starts[j, bins.high[j, code] + 1]
        chance = batches.chances[place[at], draw[at], j]
        values[at, j] = bins.ordered[j, start + (chance * (stop - start)).astype(np.int64)]
        return values

    def _batch(self, number: int) -> _Batch:
        if number not in self.batches:
            generator = generators(self.seed, np.full((1, 1), float(number)))[0]
            row = generator.integers(len(self.bins.values), size=self.batch)
            keys = mix(number * self.batch + np.arange(self.batch))
            chances = generator.random((self.batch, self.width))
            self.batches[number] = _Batch(row, self.bins.bins[row].T, chances, keys)
        return self.batches[number]


def _stack(batches: list[_Batch]) -> _Batch:
    parts = zip(*((batch.row, batch.bins, batch.chances, batch.keys) for batch in batches), strict=True)
    return _Batch(*map(np.stack, parts))
