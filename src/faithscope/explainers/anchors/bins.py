"""Bins that conditions of anchors are made of: quarters and categories of training rows, and the rows they cover."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from faithscope.explainers.anchors.answers import Keys
from faithscope.explainers.shared.arrays import Bools, Codes, Floats, Ints
from faithscope.explainers.shared.blocks import blocks
from faithscope.explainers.shared.quarters import quarter_of, quartiles
from faithscope.explainers.shared.seeds import generators
from faithscope.runtime.memory import need

_WORDS = 2**22  # of bitmaps, in one block
_FEWER = "merge rare categories"  # advice if memory is short


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
        Upper ends of all quarters but the last; none for categories.
    counts : (d,) array
        How many bins a feature has, including that of missing values.
    ordered, starts : (d, n) and (d, bins + 1) arrays
        Training values in order, and where the values of each bin begin.
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
    def learn(cls, values: Floats, categorical: Bools, whole: Bools | None = None) -> "Bins":
        """The bins of training rows; the edges of features in `whole` are whole numbers."""
        kinds = zip(values.T, categorical, np.zeros(len(categorical), bool) if whole is None else whole, strict=True)
        edges = tuple(
            np.empty(0) if category else quartiles(column[~np.isnan(column)], whole=bool(rounded))
            for column, category, rounded in kinds
        )
        bins = _locate(values, categorical, edges)
        counts = np.where(categorical, bins.max(axis=0) + 1, [len(cuts) + 1 for cuts in edges])
        counts = np.maximum(counts, bins.max(axis=0) + 1)
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
        """All conditions: a feature, and the number of an edge of it, or -1 for equality with a category or missing."""
        equal = self.categorical | (self.counts > self._quarters)
        edges = [
            np.append(np.arange(len(cuts)), [-1] * bool(same)) for cuts, same in zip(self.edges, equal, strict=True)
        ]
        numbers = np.concatenate(edges).astype(np.int64)
        return np.repeat(np.arange(len(edges)), [len(cuts) for cuts in edges]), numbers

    @cached_property
    def _quarters(self) -> Ints:
        """How many quarters each feature has, which is also the bin of its missing values; 0 for categories."""
        return np.where(self.categorical, 0, [len(cuts) + 1 for cuts in self.edges])

    def extend(self, bins: Codes, anchors: Codes) -> Codes:
        """Codes after adding each condition that rows in these bins meet; 0 if that changes nothing."""
        j, edge = self.conditions
        own, old = bins[:, None, j], anchors[:, :, j]
        low, high = self.low[j, old], self.high[j, old]
        before = self._size(j, low, high)
        equal, above = edge < 0, own > edge
        known = own < self.counts[j]
        kept = known & (self.categorical[j] | ((own >= self._quarters[j]) == equal))  # missing is above no edge
        own = np.where(known, own, 0)
        low = np.where(equal, own, np.where(above, np.maximum(low, edge + 1), low))
        top = np.minimum(high, np.where(self.categorical, self.counts, self._quarters)[j] - 1)
        high = np.where(equal, own, np.where(above, top, np.minimum(high, edge)))
        after = self._size(j, low, high)
        codes = np.where(self.categorical[j], own, low * self.counts[j] + high) + 1
        return np.where(kept & (after > 0) & (after < before), codes, 0).astype(np.int32)

    def _size(self, j: Ints, low: Codes, high: Codes) -> Ints:
        """How many training values lie in these bins."""
        return np.asarray(self.starts[j, high + 1] - self.starts[j, low])


def _locate(values: Floats, categorical: Bools, edges: tuple[Floats, ...]) -> Codes:
    bins = np.empty(values.shape, np.int32)
    for j, column in enumerate(values.T):
        bins[:, j] = column if categorical[j] else quarter_of(column, edges[j])
    return bins


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
