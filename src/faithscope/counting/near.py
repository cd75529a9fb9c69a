"""Counts of pairs by distance: how many rows of each segment lie within the radius of each center."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.distances.metrics import paired
from faithscope.explanations.distances.tiles import Near, need_distances, to_tiles
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.chunks import in_threads
from faithscope.runtime.threads import one_blas_thread

Bytes = NDArray[np.uint8]
Part = TypeVar("Part")

_SIDE = 896  # centers and rows of a tile: its product stays in cache
_CELLS = 2**17  # of tables (centers, segments) worked on at once
_TABLE = 2**27  # bytes of counts kept, so that each pair is computed once if centers are rows
_SYMMETRIC = ("euclidean", "cityblock", "chebyshev", "hamming")  # |a - b| is |b - a|, also when rounded
_MOST = 248  # rows of a piece: their number fits in a byte, and they fill whole words of eight
_ONES = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)


class Pieces:
    """The order of rows by segment, in pieces: each is filled up to a whole number of words, eight rows per word.

    Parameters
    ----------
    segment : (n,) array
        The segment of each row.
    segments : int
        Number of segments.

    Attributes
    ----------
    order : (n,) array
        The rows in order of segment.
    of : (pieces,) array
        The segment of each piece.
    bounds, places : (pieces + 1,) arrays
        The first row of each piece, in order of segment, and its first place, which holds a row or fills up; and one
        past the last.
    position : (n,) array
        The place of each row, for rows in order of segment.
    """

    def __init__(self, segment: Ints, segments: int) -> None:
        self.segments, self.order = segments, np.argsort(segment, kind="stable")
        sizes = np.bincount(segment, minlength=segments)
        pieces = -(-sizes // _MOST)
        self.of = np.repeat(np.arange(segments), pieces)
        within = np.arange(len(self.of)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        self.bounds = np.append(np.repeat(np.cumsum(sizes) - sizes, pieces) + _MOST * within, len(segment))
        rows = np.diff(self.bounds)
        self.places = np.concatenate([[0], np.cumsum(8 * -(-rows // 8))])
        self.position = np.arange(len(segment)) + np.repeat(self.places[:-1] - self.bounds[:-1], rows)

    def count(self, masks: Bools, first: int, last: int) -> Bytes:
        """How many rows of the pieces `first` to `last` each mask holds; the columns are the places of these."""
        begins = (self.places[first:last] - self.places[first]) // 8
        sums = np.add.reduceat(masks.view(np.uint64), begins, axis=1)  # each byte is a sum of its own
        return ((sums * _ONES) >> _TOP).astype(np.uint8)  # the product adds all bytes up in the highest

    def by_segment(self, counts: Bytes) -> Ints:
        """Counts per piece, added up per segment: (…, segments)."""
        full, first = np.unique(self.of, return_index=True)
        if len(full) == len(self.of) == self.segments:
            return counts.astype(np.int64)
        table = np.zeros((*counts.shape[:-1], self.segments), np.int64)
        if len(full):
            table[..., full] = np.add.reduceat(counts, first, axis=-1, dtype=np.int64)
        return table


class PairCounts:
    """Counts of the rows within one or several radii of every center, per segment of rows.

    Parameters
    ----------
    near : Near
        Centers and rows, and the metric, which is not a function.
    radii : (k, m) array
        The radii of each center; several are the same for every center.
    codes : (n,) array
        The center that each row was given.
    segment : (n,) array
        The segment of each row.
    segments : int
        Number of segments.
    """

    def __init__(self, near: Near, radii: Floats, codes: Ints, segment: Ints, segments: int) -> None:
        self.near, self.radii, self.codes, self.segments = near, radii, codes, segments
        self.pieces = pieces = Pieces(segment, segments)
        # The first piece of each group of pieces of about as many places as a tile has, and one past the last.
        begins = np.searchsorted(pieces.places, range(0, int(pieces.places[-1]), _SIDE))
        self.groups = np.unique(np.append(begins, len(pieces.of))).tolist()
        need_distances(near, int(pieces.places[-1]))
        rows = np.full((int(pieces.places[-1]), near.rows.shape[1]), np.nan)
        rows[pieces.position] = near.rows[pieces.order]
        # One half of the pairs gives the other, unless filling up segments costs more than that saves.
        sizes = len(radii) * len(codes) * len(pieces.of)
        once = len(np.unique(codes)) == len(codes)  # each center is one row's
        alike = self.alike and once and near.metric in _SYMMETRIC and bool((radii == radii[:, :1]).all())
        self.halved = alike and sizes <= _TABLE and int(pieces.places[-1]) < 1.5 * len(pieces.position)
        arranged = near.centers[codes[pieces.order]] if self.halved else near.centers
        radii = radii[:, codes[pieces.order]] if self.halved else radii
        self.tiles = to_tiles(replace(near, centers=arranged, rows=rows, radii=radii))

    @cached_property
    def alike(self) -> bool:
        """Whether every row is its own center."""
        near, codes = self.near, self.codes
        return len(codes) == len(near.centers) and np.array_equal(near.centers[codes], near.rows)

    def own(self) -> Bools:
        """Whether each row lies within each radius of its own center: (k, n)."""
        near, inside = self.near, np.less if self.near.open else np.less_equal
        alike = self.alike and near.metric in _SYMMETRIC
        distances = np.zeros(len(self.codes)) if alike else paired(near.centers[self.codes], near.rows, near.metric)
        return inside(distances, self.radii[:, self.codes])

    def in_batches(self, work: Callable[[int, Ints], Part]) -> Iterator[Part]:
        """``work(start, counts)`` for batches of centers in order, in threads; `counts` are (k, centers, segments)."""
        many = len(self.near.centers)
        step = max(1, min(_SIDE, _CELLS // max(1, self.segments)))
        with one_blas_thread():
            counted = self.counter()

            def batch(start: int) -> Part:
                return work(start, counted(start, min(start + step, many)))

            yield from in_threads(batch, range(0, many, step))

    def counter(self) -> Callable[[int, int], Ints]:
        """A function that counts for the centers from start to stop: (k, centers, segments)."""
        if not self.halved:
            return lambda start, stop: self.pieces.by_segment(self._counted(start, stop))
        # From a table of all pairs, of which one half is computed.
        table = np.empty((len(self.radii), len(self.codes), len(self.pieces.of)), np.uint8)
        for _ in in_threads(lambda group: self._fill(table, group), range(len(self.groups) - 1)):
            pass
        place = np.empty(len(self.codes), np.int64)
        place[self.codes[self.pieces.order]] = np.arange(len(self.codes))
        return lambda start, stop: self.pieces.by_segment(table[:, place[start:stop]])

    def _counted(self, start: int, stop: int) -> Bytes:
        """Counts per piece of the centers from start to stop: (k, centers, pieces)."""
        counts = np.empty((len(self.radii), stop - start, len(self.pieces.of)), np.uint8)
        for first, last in zip(self.groups[:-1], self.groups[1:], strict=True):
            places = slice(*self.pieces.places[[first, last]].tolist())
            for table, mask in zip(counts, self.tiles.masks(slice(start, stop), places), strict=True):
                table[:, first:last] = self.pieces.count(mask, first, last)
        return counts

    def _fill(self, table: Bytes, group: int) -> None:
        """Count the pairs of a group of pieces with itself and with all later groups."""
        pieces, (own, end) = self.pieces, self.groups[group : group + 2]
        centers = slice(*pieces.bounds[[own, end]].tolist())
        bounds = (pieces.bounds[own : end + 1] - centers.start).tolist()
        for first, last in zip(self.groups[group:-1], self.groups[group + 1 :], strict=True):
            places, others = (slice(*ends[[first, last]].tolist()) for ends in (pieces.places, pieces.bounds))
            filled = pieces.position[others] - places.start
            for counts, mask in zip(table, self.tiles.masks(centers, places), strict=True):
                counts[centers, first:last] = pieces.count(mask, first, last)
                if first > own:  # how many of the masks of each of the own pieces hold each column
                    across = np.empty((end - own, mask.shape[1]), np.uint8)
                    for number, row in enumerate(across):
                        part = mask[bounds[number] : bounds[number + 1]].view(np.uint8)
                        np.add.reduce(part, axis=0, dtype=np.uint8, out=row)
                    counts[others, own:end] = np.take(across, filled, axis=1).T
