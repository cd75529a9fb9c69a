"""Anchors: rules such that the model gives nearly all rows under them the prediction of the row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.anchors.search import (
    KEPT_IN_SEARCH,
    Answers,
    Keys,
    Search,
    Wanted,
    condition_keys,
    mix,
)
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.shared.outcomes import Outcomes
from faithscope.explainers.shared.ranges import bins_of, edges_of, range_condition, rules_of
from faithscope.explainers.space import Categories, Space
from faithscope.explanations.conditions.condition import Condition, to_condition
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Bools, Codes, Floats, Ints
from faithscope.inputs.grouping import group
from faithscope.inputs.seeds import generators
from faithscope.runtime.memory import in_memory, need

_GROUP = 1024  # rows searched at the same time, at most
_TRIED = 2**22  # rules tried at the same time
_ASKED = 200_000  # rows in one call of the model
_COVERED = 10_000  # training rows on which coverage is counted, at most
_WORDS = 2**22  # of bitmaps, in one block
_FEWER = "merge rare categories"  # advice if memory is short
_LINES = 4096  # batches of draws looked up at the same time, at most
_NUMBERS = 2**25  # of draws, in one block


class Anchors(Explainer):
    """Explains a row by a rule: under it, the model nearly always gives the prediction that it gives the row.

    Numbers are seen as their quarter of the training rows: conditions are ``x <= q`` and ``x > q`` for the quartiles q,
    equality for categories, and ``x == missing`` if the row misses a value that some training rows miss too. Dates are
    numbers. The precision of a rule is measured on perturbed training rows, in which each value that breaks the rule is
    replaced by a value of the same column that keeps it: it is the share of them that have the row's prediction. Rules
    are found by beam search with KL-LUCB (see `lucb.Search`).

    If no rule reaches the threshold, the row gets the most precise rule that was tried: `Rules.claimed` shows which
    these are. Quarters may be too coarse for the model, or the model may predict the row otherwise than all
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
        self.table = Space.learn(X_train, categorical)
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
        return self.explain_at(X, [self.search.threshold], progress=progress)[self.search.threshold]

    @in_memory("explain fewer rows or features, or bin categories")
    def explain_at(
        self, X: Any, thresholds: Iterable[float], *, progress: Progress | None = None
    ) -> dict[float, Rules]:
        """One rule per row for each of several thresholds: the rules that separate explainers would give.

        The model is asked once about a perturbed row that several of the searches need.

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
        searches = {threshold: replace(self.search, threshold=threshold) for threshold in several}
        rows, table = self.table.read(X)
        labels, bins = self._labels(rows, table), self._bins.locate(rows)
        cell, first = group((bins, labels.astype(object)))  # rows with the same bins and prediction share a rule
        draws = TableDraws(
            self._bins, self._coverage, bins[first], labels[first], self._labels, self._outcomes, self.seed
        )
        sizes, done = np.bincount(cell, minlength=len(first)), 0

        def tell(cells: Ints) -> None:
            """Count these cells as done by one search; a row is done when all searches are, on average."""
            nonlocal done
            done += int(sizes[cells].sum())
            if progress is not None and len(cells):
                progress(done // len(searches), len(rows))

        step, cells = min(_GROUP, _TRIED // (self.search.beam * len(self._bins.conditions[0]))), np.arange(len(first))
        found = {}
        for threshold, search in searches.items():
            parts = [search.run(draws, cells[block], tell) for block in blocks(len(first), step)]
            parts = parts or [(np.zeros((0, rows.shape[1]), np.int32), np.empty(0))]
            anchors, precision = map(np.concatenate, zip(*parts, strict=True))
            found[threshold] = self._claiming(anchors, precision).take(cell)._labelled(X)
        return found

    def _labels(self, rows: Floats, table: Space | None = None) -> Array:
        """The model's predictions for rows of a matrix, asked in blocks that fit in memory."""
        parts = [self._outcomes.ask((table or self.table).decode(rows[block])) for block in blocks(len(rows), _ASKED)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _claiming(self, anchors: Codes, precision: Floats) -> Rules:
        """The rules with what is claimed of them."""
        rules = [
            tuple(self._condition(j, int(anchor[j])) for j in np.flatnonzero(anchor).tolist()) for anchor in anchors
        ]
        return rules_of(rules, self.table.names, precision=precision, coverage=self._coverage.share(anchors))

    def _condition(self, j: int, code: int) -> Condition:
        """The condition on feature j that a code stands for."""
        name, scale = self.table.names[j], self.table.scales[j]
        low, high = int(self._bins.low[j, code]), int(self._bins.high[j, code])
        if isinstance(scale, Categories):
            return to_condition(j, name, "==", scale.known[low] if low < len(scale.known) else None)
        return range_condition(j, name, self._bins.edges[j], low, high, scale.readable)


@dataclass(frozen=True, eq=False)
class Bins:
    """Training rows as bins: quarters of numbers, or categories, and a last bin for missing values if there are any.

    A code of a feature stands for its bins from ``low`` to ``high``; code 0 stands for all of them. A row may lie in a
    bin that the feature does not have, because no training row has that category, or misses that value: then no
    condition on the feature is possible.

    Attributes
    ----------
    values, bins : (n, d) arrays
        Training rows, and the bin of each value.
    categorical : (d,) array
    edges : tuple of arrays
        Upper ends of all quarters but the last; None for categories.
    quarters : (d,) array
        How many quarters a feature has, which is also the bin of its missing values; 0 for categories.
    counts : (d,) array
        How many bins a feature has, including that of missing values.
    ordered, starts : (d, n) and (d, bins + 1) arrays
        Training values in order, and where the values of each bin begin.
    low, high : (d, codes) arrays
    """

    values: Floats
    bins: Codes
    categorical: Bools
    edges: tuple[Any, ...]
    quarters: Ints
    counts: Ints
    ordered: Floats
    starts: Ints
    low: Codes
    high: Codes

    @classmethod
    def learn(cls, values: Floats, categorical: Bools, whole: Bools | None = None) -> "Bins":
        """The bins of training rows; the edges of features in `whole` are whole numbers."""
        kinds = zip(values.T, categorical, categorical & False if whole is None else whole, strict=True)
        edges = tuple(
            None if category else edges_of(column, whole=bool(rounded)) for column, category, rounded in kinds
        )
        bins, quarters = _locate(values, edges), np.array([0 if cuts is None else len(cuts) + 1 for cuts in edges])
        counts = np.maximum(quarters, bins.max(axis=0) + 1)
        tally = [np.bincount(column, minlength=counts.max()) for column in bins.T]
        starts = np.column_stack([np.zeros(len(tally), np.int64), np.cumsum(tally, axis=1)])
        ordered = np.ascontiguousarray(np.sort(values, axis=0).T)
        return cls(values, bins, categorical, edges, quarters, counts, ordered, starts, *_bounds(counts, categorical))

    def locate(self, rows: Floats) -> Codes:
        """The bin of each value."""
        return _locate(rows, self.edges)

    @property
    def codes(self) -> Ints:
        """How many codes each feature has."""
        return np.where(self.categorical, self.counts, self.counts**2) + 1

    @cached_property
    def conditions(self) -> Ints:
        """All conditions: a feature, and the number of an edge of it, or -1 for equality with a category or missing."""
        kinds = enumerate(zip(self.quarters.tolist(), (self.counts > self.quarters).tolist(), strict=True))
        pairs = [(j, edge) for j, (many, equal) in kinds for edge in (*range(many - 1), *[-1] * equal)]
        return np.array(pairs, np.int64).reshape(-1, 2).T

    def extend(self, bins: Codes, anchors: Codes) -> Codes:
        """Codes after adding each condition that rows in these bins meet; 0 if that changes nothing."""
        j, edge = self.conditions
        own, old = bins[:, None, j], anchors[:, :, j]
        known = own < self.counts[j]
        equal, above, own = edge < 0, own > edge, np.where(known, own, 0)
        kept = known & (self.categorical[j] | ((own >= self.quarters[j]) == equal))  # missing is above no edge
        low = np.maximum(self.low[j, old], np.where(equal, own, np.where(above, edge + 1, 0)))
        high = np.minimum(self.high[j, old], np.where(equal, own, np.where(above, self.quarters[j] - 1, edge)))
        high = np.maximum(low, high)  # of rows that cannot meet the condition
        after, before = self._size(j, low, high), self._size(j, self.low[j, old], self.high[j, old])
        codes = np.where(self.categorical[j], own, low * self.counts[j] + high) + 1
        return np.where(kept & (after > 0) & (after < before), codes, 0).astype(np.int32)

    def _size(self, j: Ints, low: Codes, high: Codes) -> Ints:
        """How many training values lie in these bins."""
        return self.starts[j, high + 1] - self.starts[j, low]


def _locate(values: Floats, edges: Sequence[Any]) -> Codes:
    return np.column_stack([bins_of(column, cuts) for column, cuts in zip(values.T, edges, strict=True)]).astype(
        np.int32
    )


def _bounds(counts: Ints, categorical: Bools) -> tuple[Codes, Codes]:
    """The lowest and highest bin of every code of every feature."""
    most = int(np.where(categorical, counts, counts**2).max())
    need(16 * len(counts) * most, f"Bounds of {most:,} categories of {len(counts):,} features", _FEWER)
    low, high = np.zeros((2, len(counts), most + 1), np.int32)
    low[:, 1:] = high[:, 1:] = np.arange(most)
    for j in np.flatnonzero(~categorical):
        low[j, 1:], high[j, 1:] = np.divmod(np.arange(most), counts[j])
    high[:, 0] = counts - 1
    return low, high


@dataclass(frozen=True, eq=False)
class CoveredRows:
    """Bitmaps of the training rows that each code of each feature covers.

    Attributes
    ----------
    maps : (all codes, words) array
        One bit per row, set if the row lies in the bins of the code.
    offsets : (d,) array
        Where the codes of a feature begin.
    rows : int
    """

    maps: Keys
    offsets: Ints
    rows: int

    @classmethod
    def learn(cls, known: Bins, samples: int, seed: int) -> "CoveredRows":
        """Bitmaps of all training rows; if they are more than `samples`, of that many drawn at random."""
        bins = known.bins
        if len(bins) > samples:
            bins = bins[generators(seed, np.full((1, 1), -1.0))[0].choice(len(bins), samples, replace=False)]
        many = int(known.codes.sum())
        need(many * len(bins) // 8, f"Bitmaps of {many:,} quarters and categories", _FEWER)
        maps = np.zeros((many, -(-len(bins) // 64) * 8), np.uint8)
        offsets = np.cumsum(known.codes) - known.codes
        for j, offset in enumerate(offsets):
            for code in range(known.codes[j]):
                packed = np.packbits((bins[:, j] >= known.low[j, code]) & (bins[:, j] <= known.high[j, code]))
                maps[offset + code, : len(packed)] = packed
        return cls(maps.view(np.uint64), offsets, len(bins))

    def share(self, anchors: Codes) -> Floats:
        """Share of the rows that each anchor covers."""
        return np.asarray(np.bitwise_count(self._map(anchors)).sum(axis=-1) / self.rows)

    def extended(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """Share of the rows that each anchor covers with one more code: (n, beam, k)."""
        covered = np.empty(codes.shape)
        step = _WORDS // (codes.shape[1] * codes.shape[2] * self.maps.shape[1])
        for block in blocks(len(codes), step):
            maps = self._map(anchors[block])[:, :, None] & self.maps[self.offsets[features] + codes[block]]
            covered[block] = np.bitwise_count(maps).sum(axis=3)
        return covered / self.rows

    def _map(self, anchors: Codes) -> Keys:
        maps = np.broadcast_to(self.maps[0], (*anchors.shape[:-1], self.maps.shape[1])).copy()
        for j in np.flatnonzero(anchors.reshape(-1, anchors.shape[-1]).any(axis=0)):
            maps &= self.maps[self.offsets[j] + anchors[..., j]]
        return maps


class _Batch(NamedTuple):
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
    seed : int
    """

    batch: ClassVar[int] = 100

    bins: Bins
    covered: CoveredRows
    cells: Codes
    labels: Array
    ask: Callable[[Floats], Array]
    outcomes: Outcomes
    seed: int
    answers: Answers = field(default_factory=Answers)
    batches: dict[int, _Batch] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """How many features there are."""
        return int(self.cells.shape[1])

    @cached_property
    def known(self) -> tuple[Array, Ints]:
        """The distinct predictions of rows, and the place of each row's prediction among them."""
        places, first = group((self.labels.astype(object),))
        return self.labels[first], places

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
        told = labels if self.outcomes.of_numbers else np.arange(len(labels), dtype=np.float64)
        pairs, pair = np.unique(line * len(labels) + places[wanted.row], return_inverse=True)
        line, place = np.divmod(pairs, len(labels))
        hits = np.empty(len(pairs), np.int64)
        for block in blocks(len(pairs), min(_LINES, _NUMBERS // (self.batch * self.width))):
            low, high = line[block.start], line[block.stop - 1] + 1
            answers = self._predict(wanted.anchors(first[low:high]), wanted.batch[first[low:high]])
            agree = self.outcomes.agree(answers[line[block] - low], told[place[block], None])
            hits[block] = agree.sum(axis=1)
        return hits[pair]

    def _predict(self, anchors: Codes, numbers: Ints) -> Floats:
        """The prediction of each draw of these batches, as a number: (lines, batch)."""
        distinct, place = np.unique(numbers, return_inverse=True)
        batches = _Batch(*map(np.stack, zip(*(self._batch(int(number)) for number in distinct), strict=True)))

        def ask(positions: Ints) -> Floats:
            line, draw = np.divmod(positions, self.batch)
            return self._as_numbers(self.ask(self._rows(anchors[line], batches, place[line], draw)))

        return self.answers.of(self._keys(anchors, batches, place), ask)

    def _as_numbers(self, predictions: Array) -> Floats:
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
