"""Rows within the radii of centers, counted on a GPU: prepares what the kernels read, and reads what they write.

Only this file, `cells` and `kernels` use torch and Triton; they are imported when a GPU is used, never before. Counts
are those of double precision, and nothing n x n is ever stored.
"""

from collections.abc import Iterator
from functools import cached_property, reduce
from subprocess import SubprocessError
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from triton.runtime.errors import TritonError

from faithscope.counting.gpu.cells import DeviceCells
from faithscope.counting.gpu.kernels import (
    CLOSE,
    STEP,
    DeviceSpace,
    Doubts,
    How,
    Reach,
    Side,
    count_tiles,
    settle_strips,
)
from faithscope.explanations.distances.near import Near
from faithscope.inputs.array_types import Array, Floats, Ints

DEVICE = "cuda"
BUILT = torch.version.cuda is not None
FAILURES = (RuntimeError, OSError, SubprocessError, TritonError)  # of torch, the driver, the compiler and Triton
THEIRS = 128  # points of the other side in a tile; of this side, half of them if few numbers are multiplied
STRIPS = 2**24  # written down at once
_SLICE = 16  # points of the other side at once, if differences are computed
_TABLE = 2**26  # counts held at once
_TRIED = 1024  # tiles up to which all are counted at once, not knowing how many strips they will need
_TAUS = 8  # radii in one pass
_BUSY = 1056  # programs that keep a GPU busy


def wake() -> None:
    """Raise if torch finds no GPU that it can use."""
    if DEVICE == "cuda":
        torch.cuda.current_device()


class Arrangement(NamedTuple):
    """The order of points: by label, and by size within a label, with every label padded to whole tiles."""

    tile: int
    source: Tensor  # (places,): the point at each place; -1 for padding
    size: Tensor  # (places,)
    label: Tensor  # (tiles,)
    filled: Tensor  # (tiles,)
    spans: Tensor  # (labels + 1,): the first tile of each label

    def cut(self, tile: int) -> "Arrangement":
        """The same order in smaller tiles, of which a whole number makes one of these."""
        parts = self.tile // tile
        pieces = torch.arange(parts, dtype=torch.int32, device=self.filled.device) * tile
        filled = (self.filled[:, None] - pieces).clamp(0, tile).flatten()
        label = self.label[:, None].expand(-1, parts).flatten()
        return Arrangement(tile, self.source, self.size, label, filled, self.spans * parts)


def arrange(labels: Tensor, rows: Ints, size: Tensor, tile: int) -> Arrangement:
    """Order points by label and size: points of similar size round alike, so few tiles have pairs in doubt."""
    tiles = -(-rows // tile)
    spans = np.concatenate([[0], np.cumsum(tiles)])
    label = np.repeat(np.arange(len(rows)), tiles)
    filled = np.minimum(rows[label] - tile * (np.arange(len(label)) - spans[label]), tile)
    if len(rows) == 1:
        order = torch.argsort(size)
        source = torch.nn.functional.pad(order, (0, tile * int(spans[-1]) - len(order)), value=-1)
    else:
        order = torch.argsort(labels + size / (2 * size.max() + 1e-300))
        shift = _on_device(tile * spans[:-1] - np.cumsum(rows) + rows)
        source = torch.full((tile * int(spans[-1]),), -1, device=DEVICE)
        source[torch.arange(len(order), device=DEVICE) + shift[labels[order]]] = order
    lists = _on_device(np.concatenate([label, filled, spans]).astype(np.int32))
    return Arrangement(tile, source, size[source.clamp(min=0)], *lists.split([len(label), len(label), len(spans)]))


def _on_device(array: Array) -> Tensor:
    return torch.as_tensor(np.require(array, requirements="W"), device=DEVICE)  # torch warns of others


def in_order(metric: str, a: Tensor, b: Tensor) -> Tensor:
    """The metric's sum over features, for each row of `a` and the same row of `b`, in the order of the kernels."""
    if metric == "hamming":
        return torch.ne(a, b).sum(1).double()
    terms = [x * y if metric == "cosine" else (x - y).abs() for x, y in zip(a.T, b.T, strict=True)]
    if metric == "euclidean":
        terms = [term * term for term in terms]
    half = len(terms) // 2 * 2
    if metric == "cosine" and half:
        terms = [reduce(torch.add, terms[0:half:2]), reduce(torch.add, terms[1:half:2]), *terms[half:]]
    total: Tensor = reduce(torch.maximum if metric == "chebyshev" else torch.add, terms)
    return total


def bound(radius: Tensor, metric: str, is_open: bool, features: int) -> Tensor:
    """The largest sum over features whose distance is within the radius: at most the radius, or less if it is open."""
    if metric == "hamming":
        # By NumPy: torch would multiply by the reciprocal.
        shares = torch.as_tensor(np.arange(features + 1) / features, device=radius.device)
        return (torch.searchsorted(shares, radius, right=not is_open) - 1).double()
    least = torch.full_like(radius, -torch.inf)
    if metric != "euclidean":
        return torch.nextafter(radius, least) if is_open else radius
    return torch.as_tensor(_largest_squares(radius.cpu().numpy(), is_open), device=radius.device)


def _largest_squares(radius: Floats, is_open: bool) -> Floats:
    """The largest squares whose roots are within the radius; by NumPy, since torch's roots may be off by a bit."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = radius * radius
        for _ in range(4):  # several squares round to the same root: take the last of them
            if is_open:
                square = np.where(np.sqrt(square) < radius, square, np.nextafter(square, -np.inf))
            else:
                more = np.nextafter(square, np.inf)
                square = np.where(np.sqrt(more) <= radius, more, square)
    return square


class DevicePairs:
    """All pairs of centers and rows, ready to be counted.

    Parameters
    ----------
    near : Near
        Centers, rows and their metric.
    codes, labels : (n,) arrays
        The center that each row was given, and the label of the row.
    names : int
        Number of labels.
    """

    def __init__(self, near: Near, codes: Ints, labels: Ints, names: int) -> None:
        self.near, self.names, self.per_label = near, names, np.bincount(labels, minlength=names)
        self.rows, self.codes, self.labels = map(_on_device, (near.rows, codes, labels))
        own = near.centers is near.rows or np.array_equal(near.centers, near.rows)
        self.alike = own and bool((codes == np.arange(len(codes))).all())
        self.centers = self.rows if self.alike else _on_device(near.centers)
        self.space, self.center_sizes, self.sizes = DeviceSpace.of(near.metric, self.centers, self.rows)
        self.exact = not self.space.coarse
        self.tile = THEIRS // 2 if 0 < self.space.k < STEP else THEIRS

    def count(self, radii: Floats) -> list[DeviceCells]:
        """The counts for several radii of every center; `radii` has shape (taus, centers)."""
        if self.alike:
            order, own = self._own_rows
        else:
            order = arrange(self.labels, np.array([len(self.centers)]), self.center_sizes, self.tile)
            own = self._side(self.centers, order, True)
        by_radius: list[DeviceCells] = []
        for begin in range(0, len(radii), _TAUS):
            by_radius += self._count(own, self._other_rows[1], order, radii[begin : begin + _TAUS])
        return by_radius

    @cached_property
    def _own_rows(self) -> tuple[Arrangement, Side]:
        """The rows on this side of the pairs, in order of their labels."""
        order = self._other_rows[0].cut(self.tile)
        return order, self._side(self.rows, order, True)

    @cached_property
    def _other_rows(self) -> tuple[Arrangement, Side]:
        """The rows on the other side."""
        order = arrange(self.labels, self.per_label, self.sizes, THEIRS)
        return order, self._side(self.rows, order, False)

    def _count(self, own: Side, other: Side, order: Arrangement, radii: Floats) -> list[DeviceCells]:
        how = self._how(taus=len(radii), width=1 << (len(radii) - 1).bit_length())
        close = torch.zeros(len(radii), dtype=torch.int64, device=DEVICE)
        most, *_ = bounds = self._bounds(radii)
        parts: list[list[tuple[Tensor, Tensor]]] = [[] for _ in radii]
        for start, table in self._sweep(own, other, self._reach(bounds, order), how, close):
            source = order.source[start : start + table.shape[2]]
            for tau, tables in enumerate(parts):
                counts = torch.where(source < 0, 0, table[:, tau]).T.flatten()
                seen = counts.nonzero()[:, 0]
                tables.append((source[seen // self.names] * self.names + seen % self.names, counts[seen]))
        inside = self._own_gaps() <= (most if most.shape[1] == 1 else most[:, self.codes])
        joined = [
            (torch.cat([keys for keys, _ in tables]), torch.cat([counts for _, counts in tables])) for tables in parts
        ]
        every = zip(joined, inside, close.tolist(), strict=True)
        return [self._cells(keys, covered, own_too, near) for (keys, covered), own_too, near in every]

    def _cells(self, keys: Tensor, covered: Tensor, own: Tensor, close: int) -> DeviceCells:
        """The cells in order, with the rows that were given them."""
        rows = self.codes * self.names + self.labels
        missing = rows[~own]
        every = torch.cat([keys, missing]).unique() if len(missing) else keys.sort().values
        total = torch.zeros_like(every)
        total[torch.searchsorted(every, keys)] = covered.long()
        given, missed = (
            torch.bincount(torch.searchsorted(every, cells), minlength=len(every)) for cells in (rows, missing)
        )
        columns = [every // self.names, every % self.names, given, total, missed]
        return DeviceCells(torch.stack(columns), own, close)

    def _own_gaps(self) -> Tensor:
        """The metric's sum between each row and its own center; for cosine the distance."""
        if self.alike and self.near.metric != "cosine":
            return torch.zeros_like(self.sizes)
        centers = self.centers[self.codes]
        gap = in_order(self.near.metric, centers, self.rows)
        if self.near.metric == "cosine":
            gap = 1 - (gap / (self._norm(centers) * self._norm(self.rows))).clamp(-1, 1)
        return gap

    def influence(self, radius: Floats, explanation: Tensor, label: Tensor, weights: Tensor) -> Floats:
        """For each row, sums of the weights of the cells whose explanation covers it.

        Parameters
        ----------
        radius : (centers,) array
        explanation, label : (m,) tensors
            The cells to which a row belongs, in order.
        weights : (4, m) tensor
            As `cell_losses`: for rows with the cell's label, weight 3 is subtracted from weight 0.

        Returns
        -------
        (3, n) array
        """
        if self.alike:  # every row is a cell
            order, other = self._other_rows
        else:
            rows = torch.bincount(label, minlength=self.names).cpu().numpy()
            order = arrange(label, rows, self.center_sizes[explanation], THEIRS)
            other = self._side(self.centers[explanation], order, False)
            radius = radius if (radius == radius[:1]).all() else radius[explanation.cpu().numpy()]
        by_label, own = self._own_rows
        halves, unit = _loads(weights, order.source)
        parts = max(1, min(len(order.label), _BUSY // len(by_label.label)))
        spans = torch.linspace(0, len(order.label), parts + 1, device=DEVICE).int()
        other, how = other._replace(weights=halves, spans=spans), self._how(weigh=True, width=halves.shape[2])
        close = torch.zeros(1, dtype=torch.int64, device=DEVICE)
        reach = self._reach(self._bounds(radius[None]), order)
        sums = torch.cat([table.sum(0) for _, table in self._sweep(own, other, reach, how, close)], dim=1)
        real = by_label.source >= 0
        influence = torch.empty((3, len(self.rows)), dtype=torch.float64, device=DEVICE)
        influence[:, by_label.source[real]] = ((sums[:3] + sums[3:6] + sums[6:9]) * unit)[:, real]
        return np.asarray(influence.cpu().numpy())

    def _how(self, **more: Any) -> How:
        k = self.space.k
        return How(self.near.metric, self.tile, THEIRS, THEIRS if k else _SLICE, k, min(k, STEP) or 16, **more)

    def _norm(self, points: Tensor) -> Tensor:
        return in_order("cosine", points, points).sqrt()

    def _side(self, points: Tensor, order: Arrangement, own: bool) -> Side:
        absent = order.source < 0
        placed = points[order.source.clamp(min=0)]
        plain = placed.T.contiguous()
        doubt = self.space.doubt(order.size).view(-1, order.tile).amax(1).float()
        if not self.space.coarse:
            first = rest = plain
        elif self.space.k:
            first, rest = self.space.halves(placed, absent, own)
        else:
            far = torch.where(absent[:, None], 0.0 if own else torch.inf, self.space.points(placed))
            first = rest = far.T.float().contiguous()
        norm = self._norm(placed) if self.near.metric == "cosine" else plain
        return Side(plain, first, rest, norm, doubt, order.label, order.filled, order.spans, rest, len(placed))

    def _bounds(self, radii: Floats) -> tuple[Tensor, ...]:
        """Bounds on the metric's sum: (taus, centers), or (taus, 1) if all centers have the same radius."""
        alike = bool((radii == radii[:, :1]).all())
        radius = torch.as_tensor(radii[:, :1] if alike else radii).contiguous().to("cpu" if alike else DEVICE)
        features, metric = self.rows.shape[1], self.near.metric
        power, factor = 2 if metric == "euclidean" else 1, features if metric == "hamming" else 1
        low, high = (((1 + sign * CLOSE) * radius) ** power * factor for sign in (-1, 1))
        every = (bound(radius, metric, self.near.open, features), low, high, self.space.offset(radius))
        return tuple(torch.stack(every).to(DEVICE).unbind())

    def _reach(self, bounds: tuple[Tensor, ...], order: Arrangement) -> Reach:
        source = order.source.clamp(min=0)
        alike = bounds[0].shape[1] == 1
        most, low, high, offset = (
            (each.expand(-1, len(source)) if alike else each[:, source]).contiguous() for each in bounds
        )
        band = self.space.band(offset).view(len(offset), -1, order.tile).amax(2)
        return Reach(most, low, high, offset.float(), band.float())

    def _sweep(self, own: Side, other: Side, reach: Reach, how: How, close: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Tables of sums, (parts, width, points), for batches of tiles; adds the pairs near the radius to `close`."""
        tiles, parts = len(own.label), len(other.spans) - 1
        most = max(1, _TABLE // (parts * how.width * self.tile))
        room = min(STRIPS, own.size * len(other.label) * (THEIRS // how.slice) * how.taus)
        strips = torch.empty(room, dtype=torch.int64, device=DEVICE)
        start, step = 0, tiles if tiles <= _TRIED else tiles // 64
        while start < tiles:
            step, written = min(step, most, tiles - start), 0
            kind = torch.float64 if how.weigh else torch.int32
            table = torch.zeros((parts, how.width, step * self.tile), dtype=kind, device=DEVICE)
            number = torch.zeros(1, dtype=torch.int64, device=DEVICE)
            given = (own, other, reach, Doubts(strips, number, close, room), table, start, step, len(own.plain))
            if not self.exact:
                _launch(count_tiles, step * parts, given, how)
                written = int(number)
                self.exact = written > room
            if self.exact:
                _launch(count_tiles, step * parts, given, how._replace(exact=True, slice=_SLICE))
            elif written:
                strips[:written] = strips[:written].sort().values  # strips of one tile together, for the cache
                _launch(settle_strips, -(-written // how.group), given, how._replace(exact=True))
            yield start * self.tile, table
            growth = 64 if self.exact else min(64, room / (2 * written + 1))
            start, step = start + step, max(1, int(step * growth))


def _loads(weights: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
    """Each weight as three half-precision parts, (2, size, 16), for rows of other labels and of the same; and units."""
    both = torch.stack([weights[:3], weights[:3]])
    both[1, 0] -= weights[3]
    unit = torch.exp2(torch.ceil(torch.log2(both.abs().amax((0, 2)).clamp(min=1e-300))) - 10)[:, None]
    left, parts = both / unit, []
    for _ in range(3):
        parts.append(left.half())
        left = left - parts[-1].double()
    loads = torch.zeros((2, len(source), 16), dtype=torch.float16, device=DEVICE)
    placed = torch.cat(parts, dim=1)[:, :, source.clamp(min=0)]
    loads[:, :, :9] = torch.where(source < 0, 0.0, placed).transpose(1, 2)
    return loads, unit


def _launch(kernel: Any, programs: int, given: tuple[Any, ...], how: How) -> None:
    warps = 4 if kernel is settle_strips else 1 if how.slice == _SLICE else how.tile // 16
    # Sums in double precision are rounded one by one, as the plain formula is.
    fused, stages = not how.exact, 5 if how.k < STEP else 2 if how.k == STEP else 3
    kernel[(programs,)](*given, HOW=how, num_warps=warps, num_stages=stages, enable_fp_fusion=fused)
