"""Counts of pairs by distance: how many rows of each segment lie within the radius of each center."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.pieces import Bytes, Pieces
from faithscope.explanations.distances.metrics import paired
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.tiles import need_distances, to_tiles
from faithscope.inputs.chunks import in_threads
from faithscope.runtime.blas import one_blas_thread

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Part = TypeVar("Part")

_SIDE = 896  # centers and rows of a tile: its product stays in cache
_CELLS = 2**17  # of tables (centers, segments) worked on at once
_TABLE = 2**27  # bytes of counts kept, so that each pair is computed once if centers are rows
_SYMMETRIC = ("euclidean", "cityblock", "chebyshev", "hamming")  # |a - b| is |b - a|, also when rounded


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
        self.near, self.radii, self.codes = near, radii, codes
        self.pieces = pieces = Pieces(segment, segments)
        self.groups = pieces.groups(_SIDE).tolist()
        need_distances(near, int(pieces.places[-1]))
        self.alike = len(codes) == len(near.centers) and np.array_equal(near.centers[codes], near.rows)
        rows = np.full((int(pieces.places[-1]), near.rows.shape[1]), np.nan)
        rows[pieces.position] = near.rows[pieces.order]
        self.halved = self._may_halve()
        arranged = near.centers[codes[pieces.order]] if self.halved else near.centers
        radii = radii[:, codes[pieces.order]] if self.halved else radii
        self.tiles = to_tiles(replace(near, centers=arranged, rows=rows, radii=radii[0]), radii)

    def _may_halve(self) -> bool:
        """Whether one half of the pairs gives the other, and filling up segments does not cost more than that saves."""
        places, sizes = len(self.pieces.position), len(self.radii) * len(self.codes) * len(self.pieces.of)
        once = len(np.unique(self.codes)) == len(self.codes)  # each center is one row's
        alike = self.alike and once and self.near.metric in _SYMMETRIC and bool((self.radii == self.radii[:, :1]).all())
        return alike and sizes <= _TABLE and int(self.pieces.places[-1]) < 1.5 * places

    def own(self) -> NDArray[np.bool_]:
        """Whether each row lies within each radius of its own center: (k, n)."""
        near, inside = self.near, np.less if self.near.open else np.less_equal
        alike = self.alike and near.metric in _SYMMETRIC
        distances = np.zeros(len(self.codes)) if alike else paired(near.centers[self.codes], near.rows, near.metric)
        return np.asarray(inside(distances, self.radii[:, self.codes]))

    def in_batches(self, work: Callable[[int, Ints], Part]) -> Iterator[Part]:
        """``work(start, counts)`` for batches of centers in order, in threads; `counts` are (k, centers, segments)."""
        step = max(1, min(_SIDE, _CELLS // max(1, self.pieces.segments)))
        with one_blas_thread():
            counted = self._halves() if self.halved else self._counted

            def batch(start: int) -> Part:
                return work(start, self.pieces.by_segment(counted(start, start + step)))

            yield from in_threads(batch, range(0, len(self.near.centers), step))

    def _counted(self, start: int, stop: int) -> Bytes:
        """Counts per piece of the centers from start to stop: (k, centers, pieces)."""
        stop = min(stop, len(self.near.centers))
        counts = np.empty((len(self.radii), stop - start, len(self.pieces.of)), np.uint8)
        for first, last in zip(self.groups[:-1], self.groups[1:], strict=True):
            places = slice(*self.pieces.places[[first, last]].tolist())
            for table, mask in zip(counts, self.tiles.masks(slice(start, stop), places), strict=True):
                table[:, first:last] = self.pieces.count(mask, first, last)
        return counts

    def _halves(self) -> Callable[[int, int], Bytes]:
        """The same from a table of all pairs, of which one half is computed."""
        table = np.empty((len(self.radii), len(self.codes), len(self.pieces.of)), np.uint8)
        for _ in in_threads(lambda group: self._fill(table, group), range(len(self.groups) - 1)):
            pass
        place = np.empty(len(self.codes), np.int64)
        place[self.codes[self.pieces.order]] = np.arange(len(self.codes))
        return lambda start, stop: table[:, place[start:stop]]

    def _fill(self, table: Bytes, group: int) -> None:
        """Count the pairs of a group of pieces with itself and with all later groups."""
        pieces, (own, end) = self.pieces, self.groups[group : group + 2]
        centers = slice(*pieces.bounds[[own, end]].tolist())
        for first, last in zip(self.groups[group:-1], self.groups[group + 1 :], strict=True):
            places, others = (slice(*bounds[[first, last]].tolist()) for bounds in (pieces.places, pieces.bounds))
            filled = pieces.position[others] - places.start
            for counts, mask in zip(table, self.tiles.masks(centers, places), strict=True):
                counts[centers, first:last] = pieces.count(mask, first, last)
                if first > own:
                    counts[others, own:end] = np.take(pieces.count_across(mask, own, end), filled, axis=1).T
