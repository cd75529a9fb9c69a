"""Anchors: conditions under which the model nearly always predicts what it predicts for the row."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.lucb import (
    FRESH,
    Answers,
    Bools,
    Codes,
    Floats,
    Ints,
    Keys,
    Search,
    Wanted,
    condition_keys,
    mix,
)
from faithscope.explainers.models import Progress, to_predict
from faithscope.explainers.seeds import generators
from faithscope.explainers.table import Table
from faithscope.explanations.grouping import group
from faithscope.explanations.inputs import check_whole, same_length
from faithscope.explanations.rules import Rules

_GROUP = 1024  # rows searched at the same time
_LINES = 4096  # batches of draws looked up at the same time
_ASKED = 200_000  # rows in one call of the model
_WORDS = 2**22  # of bitmaps, at a time


class Anchors:
    """Explains a row by a rule: where it holds, the model nearly always predicts what it predicts for the row.

    Numbers are seen as their quarter of the training rows: conditions are ``x <= q`` and ``x > q`` for the quartiles q,
    and equality for categories. Precision is the share of rows with the row's prediction among training rows whose
    values that break the rule are replaced by others that keep it, drawn from the same column. Rules are found by beam
    search with KL-LUCB (see `lucb.Search`).

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
        The precision asked for.
    beam : int
        How many rules of each length are kept and extended.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    delta, tau : float
        The chance of error and the error in precision that does not matter, when the best rules are looked for.
    batch : int
        Draws at a time.
    coverage_samples : int
        Training rows that coverage is counted on; all, where there are no more.
    seed : int
    max_conditions : int, optional
        The most conditions, one a quartile or category; as many as it takes by default.

    Examples
    --------
    >>> rows = np.column_stack([np.arange(100), np.arange(100) % 7])
    >>> Anchors(lambda X: X[:, 0] >= 50, rows).explain([[80, 3]]).describe(0)
    'x0 > 49.5'
    """

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
        batch: int = 100,
        coverage_samples: int = 10_000,
        seed: int = 0,
        max_conditions: int | None = None,
    ) -> None:
        to_predict(predict)  # says at once if it is no model
        self.model, self.seed = predict, seed
        self.search = Search(threshold, beam, delta, tau, max_conditions)
        self.batch = check_whole(batch, "batch")
        self.table = Table.learn(X_train, categorical)
        samples = check_whole(coverage_samples, "coverage_samples")
        self._bins = _Bins.learn(self.table.encode(X_train), self.table.categorical)
        self._coverage = _Coverage.learn(self._bins, samples, seed)

    def __repr__(self) -> str:
        return f"Anchors(threshold={self.search.threshold}, beam={self.search.beam}, seed={self.seed})"

    def explain(self, X: Any, *, progress: Progress | None = None) -> Rules:
        """A rule for each row, which it keeps; one that covers everything where the model always says the same.

        Parameters
        ----------
        X : (n, d) array or table
            None missing, no category that training rows do not have.
        progress : callable, optional
            Called with rows done and rows in all, after every part of them.
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
            Draws that precision is measured on, rounded up to whole batches.
        """
        cell, anchors, drawn = self._find(X, progress)
        batches = -(-check_whole(samples, "samples") // self.batch)
        lines = np.arange(len(anchors))
        hits = sum((drawn.agreeing(Wanted.of(lines, anchors, FRESH + one)) for one in range(batches)), lines * 0)
        return self._rules(anchors).take(cell), hits[cell] / (batches * self.batch), self._coverage.share(anchors)[cell]

    def _find(self, X: Any, progress: Progress | None) -> tuple[Ints, Codes, "_Drawn"]:
        """The cell of each row, which rows in the same bins with the same prediction share; the anchor of each cell."""
        rows = self.table.encode(X)
        labels = self._labels(rows)
        bins = self._bins.locate(rows)
        cell, first = group((bins, labels.astype(object)))
        drawn = _Drawn(self._bins, self._coverage, bins[first], labels[first], self._labels, self.batch, self.seed)
        done = np.searchsorted(np.sort(cell), np.arange(len(first)), side="right")
        anchors: list[Codes] = [np.zeros((0, rows.shape[1]), np.int32)]
        for start in range(0, len(first), _GROUP):
            part = np.arange(start, min(start + _GROUP, len(first)))
            anchors.append(self.search.run(drawn, part))
            if progress is not None:
                progress(int(done[part[-1]]), len(rows))
        return cell, np.concatenate(anchors), drawn

    def _labels(self, rows: Floats) -> NDArray[Any]:
        """The model's predictions for rows of a matrix, no more of them at once than fit in memory."""
        parts = []
        for start in range(0, len(rows), _ASKED):
            part = rows[start : start + _ASKED]
            parts.append(to_predict(self.model)(self.table.decode(part)))
            same_length(rows=len(part), predictions=len(parts[-1]))
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
            return [(j, "==", known[low])]
        above = [(j, ">", float(edges[low - 1]))] if low else []
        return above + ([(j, "<=", float(edges[high]))] if high < len(edges) else [])


@dataclass(frozen=True, eq=False)
class _Bins:
    """Training rows as bins: quarters of numbers, or categories; and bounds on bins as codes.

    A code of a feature stands for its bins from ``low`` to ``high``; code 0 for all of them.

    Attributes
    ----------
    values, bins : (n, d) arrays
        Training rows, and the bin of each value.
    categorical : (d,) array
    edges : tuple of arrays
        Upper ends of all quarters but the last; none for categories.
    counts : (d,) array
        How many bins a feature has.
    ordered, starts : (d, n) and (d, bins + 1) arrays
        Training values in order, and where those of each bin begin.
    low, high : (d, codes) arrays
    """

    values: Floats
    bins: Codes
    categorical: Bools
    edges: tuple[Floats, ...]
    counts: Ints
    ordered: Floats
    starts: Ints
    low: Codes
    high: Codes

    @classmethod
    def learn(cls, values: Floats, categorical: Bools) -> "_Bins":
        """The bins of training rows."""
        edges = tuple(
            np.empty(0) if category else np.unique(np.percentile(column, (25, 50, 75)))
            for column, category in zip(values.T, categorical, strict=True)
        )
        bins = _locate(values, categorical, edges)
        counts = np.where(categorical, bins.max(axis=0) + 1, [len(one) + 1 for one in edges])
        tally = [np.bincount(column, minlength=counts.max()) for column in bins.T]
        starts = np.column_stack([np.zeros(len(tally), np.int64), np.cumsum(tally, axis=1)])
        ordered = np.ascontiguousarray(np.sort(values, axis=0).T)
        return cls(values, bins, categorical, edges, counts, ordered, starts, *_bounds(counts, categorical))

    def locate(self, rows: Floats) -> Codes:
        """The bin of each value."""
        return _locate(rows, self.categorical, self.edges)

    @property
    def codes(self) -> Ints:
        """How many codes each feature has."""
        return np.where(self.categorical, self.counts, self.counts**2) + 1

    @cached_property
    def conditions(self) -> tuple[Ints, Ints]:
        """What conditions there are: a feature and one of its edges, or -1 for equality."""
        edges = [np.arange(len(one)) if len(one) else np.array([-1]) for one in self.edges]
        return np.repeat(np.arange(len(edges)), [len(one) for one in edges]), np.concatenate(edges)

    def extend(self, bins: Codes, anchors: Codes) -> Codes:
        """Codes after adding each condition that rows in these bins meet, 0 where that changes nothing."""
        j, edge = self.conditions
        here, old = bins[:, None, j], anchors[:, :, j]
        low, high = self.low[j, old], self.high[j, old]
        before = self._size(j, low, high)
        equal, above = edge < 0, here > edge
        low = np.where(equal, here, np.where(above, np.maximum(low, edge + 1), low))
        high = np.where(equal, here, np.where(above, high, np.minimum(high, edge)))
        after = self._size(j, low, high)
        codes = np.where(equal, here, low * self.counts[j] + high) + 1
        return np.where((after > 0) & (after < before), codes, 0).astype(np.int32)

    def _size(self, j: Ints, low: Codes, high: Codes) -> Ints:
        """Training values in these bins."""
        return np.asarray(self.starts[j, high + 1] - self.starts[j, low])


def _locate(values: Floats, categorical: Bools, edges: tuple[Floats, ...]) -> Codes:
    bins = np.empty(values.shape, np.int32)
    for j, column in enumerate(values.T):
        bins[:, j] = column if categorical[j] else np.searchsorted(edges[j], column)
    return bins


def _bounds(counts: Ints, categorical: Bools) -> tuple[Codes, Codes]:
    """The lowest and highest bin of every code of every feature."""
    most = int(np.where(categorical, counts, counts**2).max())
    low, high = np.zeros((2, len(counts), most + 1), np.int32)
    low[:, 1:] = high[:, 1:] = np.arange(most)
    for j in np.flatnonzero(~categorical):
        low[j, 1:], high[j, 1:] = np.divmod(np.arange(most), counts[j])
    high[:, 0] = counts - 1
    return low, high


@dataclass(frozen=True, eq=False)
class _Coverage:
    """Which of some training rows each code of each feature covers.

    Attributes
    ----------
    maps : (all codes, words) array
        A bit a row, set where the row is in the bins of the code.
    offsets : (d,) array
        Where the codes of a feature begin.
    rows : int
    """

    maps: Keys
    offsets: Ints
    rows: int

    @classmethod
    def learn(cls, known: _Bins, samples: int, seed: int) -> "_Coverage":
        """On all training rows, or on so many of them that are drawn."""
        bins = known.bins
        if len(bins) > samples:
            bins = bins[generators(seed, np.full((1, 1), -1.0))[0].choice(len(bins), samples, replace=False)]
        maps = np.zeros((int(known.codes.sum()), -(-len(bins) // 64) * 8), np.uint8)
        offsets = np.cumsum(known.codes) - known.codes
        for j, offset in enumerate(offsets):
            for code in range(known.codes[j]):
                packed = np.packbits((bins[:, j] >= known.low[j, code]) & (bins[:, j] <= known.high[j, code]))
                maps[offset + code, : len(packed)] = packed
        return cls(maps.view(np.uint64), offsets, len(bins))

    def share(self, anchors: Codes) -> Floats:
        """Share of rows under each anchor."""
        return np.asarray(np.bitwise_count(self._map(anchors)).sum(axis=-1) / self.rows)

    def extended(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """Share of rows under each anchor with one more code: (n, beam, k)."""
        covered = np.empty(codes.shape)
        step = max(1, _WORDS // (codes.shape[1] * codes.shape[2] * self.maps.shape[1]))
        for start in range(0, len(codes), step):
            part = slice(start, start + step)
            maps = self._map(anchors[part])[:, :, None] & self.maps[self.offsets[features] + codes[part]]
            covered[part] = np.bitwise_count(maps).sum(axis=3)
        return covered / self.rows

    def _map(self, anchors: Codes) -> Keys:
        maps = np.broadcast_to(self.maps[0], (*anchors.shape[:-1], self.maps.shape[1])).copy()
        for j in np.flatnonzero(anchors.reshape(-1, anchors.shape[-1]).any(axis=0)):
            maps &= self.maps[self.offsets[j] + anchors[..., j]]
        return maps


@dataclass(frozen=True, eq=False)
class _Batch:
    """Draws of one number: training rows, their bins, and the chances that say what a broken value is replaced by."""

    row: Ints
    bins: Codes
    chance: Floats
    keys: Keys


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Draws under the anchors of cells, and the model's answers to them, each asked for once.

    Attributes
    ----------
    bins, covered : _Bins, _Coverage
    cells, labels : (n, d) and (n,) arrays
        The bins that rows lie in, and their predictions.
    ask : function
        From rows of a matrix to predictions.
    batch, seed : int
    """

    bins: _Bins
    covered: _Coverage
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
        for start in range(0, len(first), _LINES):
            part = slice(start, start + _LINES)
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
        places = np.full(len(labels), len(self.known[0]))
        for place, label in enumerate(self.known[0]):
            places[labels == label] = place
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
        features = np.arange(self.width)
        low, high, here = bins.low[features, anchors], bins.high[features, anchors], bins.bins[row]
        values = bins.values[row]
        at, j = np.nonzero((here < low) | (here > high))
        start, stop = bins.starts[j, low[at, j]], bins.starts[j, high[at, j] + 1]
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
