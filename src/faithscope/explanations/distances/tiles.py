"""Which rows lie within a radius of which centers, tile by tile: by products, and exactly for pairs left in doubt."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.distances.metrics import paired, pairwise
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.runtime.memory import need

Masks = Bools
Products = NDArray[np.floating[Any]]

_TILE = 2**18  # pairs of a tile, so that their products stay in cache
_DOUBTS = {kind: (float(np.finfo(kind).eps) / 2, float(np.finfo(kind).tiny)) for kind in (np.float32, np.float64)}
_DOUBTFUL = 64  # a tile with more than 1 doubtful pair in so many is computed exactly


@dataclass(frozen=True, eq=False)
class Near:
    """Centers that cover the rows within their radius: coverage by distance, on whatever device it is counted.

    Parameters
    ----------
    centers, rows : (m, d) and (n, d) arrays
    radii : (m,) or (k, m) array
        Of each center; several per center give a mask each.
    metric : str or callable
        By its name in SciPy, if it has one.
    open : bool
        Whether a row at the radius itself is not covered.
    """

    centers: Floats
    rows: Floats
    radii: Floats
    metric: Any
    open: bool = False


class Tiles:
    """Masks of tiles of pairs, by the distance of every pair.

    Parameters
    ----------
    near : Near
        A row that misses a number is within no radius.
    """

    def __init__(self, near: Near) -> None:
        self.near, self.radii = near, np.atleast_2d(near.radii)
        self.inside = np.less if near.open else np.less_equal

    def masks(self, centers: slice, rows: slice) -> list[Masks]:
        """For each radius, whether each row lies within it of each center: (centers, rows)."""
        near = self.near
        distances = pairwise(near.centers[centers], near.rows[rows], near.metric)
        return [self.inside(distances, radius[centers, None]) for radius in self.radii]


class ProductTiles(Tiles):
    """The same for Euclidean distances: one matrix product gives ``|a|² + |b|² - 2ab - r²`` for all pairs of a tile.

    It is in single precision if that decides nearly all pairs, and in double precision else. A pair is decided if the
    product is farther from 0 than its rounding errors can add up to; other pairs are decided by their distances.
    """

    def __init__(self, near: Near) -> None:
        super().__init__(near)
        complete = near.rows[~np.isnan(near.rows).any(axis=1)]
        middle = complete.mean(axis=0) if len(complete) else np.zeros(near.rows.shape[1])
        a, b = near.centers - middle, near.rows - middle
        unit = 2.0 ** np.ceil(
            np.log2(_largest(a, b, self.radii) or 1.0)
        )  # a power of two: dividing by it rounds nothing
        a /= unit
        b /= unit
        self.squares = (self.radii / unit) ** 2
        sizes = [np.einsum("ij,ij->i", part, part) for part in (a, b)]
        left = np.column_stack([a, sizes[0] - self.squares[0], np.ones(len(a))])
        right = np.column_stack([-2 * b, np.ones(len(b)), sizes[1]])
        self.factors = {kind: (left.astype(kind, copy=False), right.astype(kind, copy=False)) for kind in _DOUBTS}
        self.sizes = [np.nan_to_num(size) for size in sizes]

    def masks(self, centers: slice, rows: slice) -> list[Masks]:
        squares = self.squares[:, centers]
        largest = float(squares.max())
        size = float(self.sizes[0][centers].max() + self.sizes[1][rows].max()) + largest
        single, double = (self._doubt(size, kind) for kind in _DOUBTS)
        kind, doubt = (np.float32, single) if _DOUBTFUL * single < largest else (np.float64, double)
        left, right = self.factors[kind]
        product = np.matmul(left[centers], right[rows].T)
        # Several radii are the same for every center: each is then one number to compare with.
        beyond = (squares[:, 0] - squares[0, 0]).tolist()
        return [self._decide(number, product, more, doubt, centers, rows) for number, more in enumerate(beyond)]

    def _doubt(self, size: float, kind: Any) -> float:
        """A bound on the rounding errors of a product, of its thresholds, and of the squared distances that decide.

        The sum of K products of rounded factors is off by at most ``(K + 3) u Σ|terms|``, but for terms in u², and
        ``Σ|terms|`` is at most ``2 (|a|² + |b|²) + r²``. Steps in double precision, before and after, have room in the
        last term.
        """
        (unit, least), terms = _DOUBTS[kind], self.near.rows.shape[1] + 2
        return float(2 * (terms + 4) * (unit * size + least) + (terms + 16) * _DOUBTS[np.float64][0] * size)

    def _decide(self, number: int, product: Products, more: float, doubt: float, centers: slice, rows: slice) -> Masks:
        """The mask of a radius; pairs within `doubt` of it are decided by their distances."""
        mask = product <= more + doubt
        close = np.flatnonzero(mask != (product < more - doubt))
        if _DOUBTFUL * len(close) > mask.size:
            return super().masks(centers, rows)[number]
        if len(close):
            i, j = np.divmod(close, mask.shape[1])
            near, at = self.near, centers.start + i
            distances = paired(near.centers[at], near.rows[rows.start + j], near.metric)
            mask[i, j] = self.inside(distances, self.radii[number, at])
        return mask


def need_distances(near: Near, rows: int) -> None:
    """Raise if the centers and so many rows, and what is made of them, do not fit in memory."""
    m, width = near.centers.shape
    asked = f"Distances from {m:,} vectors of {width:,} features"
    need(40 * width * (m + rows), asked, "sample rows, or take fewer features")


def to_tiles(near: Near) -> Tiles:
    """Tiles of pairs, by the fastest way that their metric and their numbers allow."""
    bounded = 1e-150 < _largest(near.centers, near.rows, near.radii) < 1e150
    return ProductTiles(near) if bounded and near.metric == "euclidean" else Tiles(near)


def _largest(*parts: Floats) -> float:
    """The largest size of a number in any of these arrays; missing ones do not count."""
    return max(float(np.fmax.reduce(np.abs(part), axis=None, initial=0.0)) for part in parts)


def arranged_masks(near: Callable[[], Near]) -> Callable[[Ints | None], Callable[[int, int], Masks]]:
    """``arranged(order)(start, stop)``: which rows, in that order or as they come, lie near centers start to stop."""

    def arranged(order: Ints | None) -> Callable[[int, int], Masks]:
        points = near()
        rows = points.rows if order is None else points.rows[order]
        need_distances(points, len(rows))
        tiles = to_tiles(replace(points, rows=rows))

        def mask(start: int, stop: int) -> Masks:
            inside = np.empty((stop - start, len(rows)), bool)
            step = max(64, _TILE // max(1, stop - start))
            for begin in range(0, len(rows), step):
                part = slice(begin, min(begin + step, len(rows)))
                inside[:, part] = tiles.masks(slice(start, stop), part)[0]
            return inside

        return mask

    return arranged
