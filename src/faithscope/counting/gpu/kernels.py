"""The GPU kernels that count the rows within a radius of each center, in tiles that stay in registers.

Distances are first computed coarsely, with a bound on their error: euclidean and cosine distances by products of
half-precision parts on the tensor units, manhattan and chebyshev distances in single precision. If a distance differs
from the radius by less than that bound, the strip (its center with all rows of the tile) is recorded, and
`settle_strips` computes it again in double precision, in the order of operations of the plain formula.
"""

# mypy: disable-error-code="untyped-decorator"

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

CLOSE = 1e-5  # relative to the radius: nearer pairs are decided in double precision, and reported by number
STEP = 64  # numbers of a point multiplied at once


class Side(NamedTuple):
    """One side of the pairs, in tiles of one label each, padded with points that are near to no other."""

    plain: Any  # (features, size) float64
    coarse: Any  # (size, k) float16, or (features, size) float32
    rest: Any  # (size, k) float16: what `coarse` leaves over
    norm: Any  # (size,) float64, for cosine distances
    doubt: Any  # (tiles,) float32: bound on the error of a coarse distance
    label: Any  # (tiles,) int32
    filled: Any  # (tiles,) int32: points of the tile that are not padding
    spans: Any  # (parts + 1,) int32: the first tile of each part; parts are counted separately
    weights: Any  # (2, size, width) float16, if points are weighed: for other labels, and for the same
    size: int


class Reach(NamedTuple):
    """The radii of centers, as bounds on the metric's sum over features, such as the sum of squares."""

    bound: Any  # (taus, size) float64: pairs up to this are within the radius
    low: Any  # (taus, size) float64: sums from `low` ...
    high: Any  # (taus, size) float64: ... to `high` are close to the radius
    offset: Any  # (taus, size) float32: closeness + offset is positive inside the radius
    band: Any  # (taus, tiles) float32: |closeness + offset| up to this is close to the radius


class Doubts(NamedTuple):
    """Strips to be computed again, their number, and for each radius the number of pairs close to it."""

    strips: Any
    number: Any
    close: Any
    most: int


class How(NamedTuple):
    """What a kernel is compiled for."""

    metric: str
    tile: int  # points of this side
    other_tile: int  # points of the other side in one of its tiles
    slice: int  # points of the other side treated at once
    k: int  # numbers per point that the tensor units multiply; 0 if differences are computed instead
    step: int  # of these, multiplied at once
    exact: bool = False  # whether everything is in double precision
    taus: int = 1
    weigh: bool = False  # whether to sum the other side's weights, not to count; the radii are then the other side's
    width: int = 1  # columns of the sums: a power of two
    group: int = 8  # strips settled together


@dataclass(frozen=True, eq=False)
class DeviceSpace:
    """How a metric is computed coarsely: how points are moved and scaled, and a bound on the error."""

    metric: str
    middle: Tensor
    scale: float
    k: int  # numbers per point that are multiplied; 0 if differences are computed instead
    coarse: bool  # False if everything is in double precision at once

    @classmethod
    def of(cls, metric: str, centers: Tensor, rows: Tensor) -> tuple["DeviceSpace", Tensor, Tensor]:
        """The space of some centers and rows, and their sizes in it."""
        width = rows.shape[1] + 2
        k = next((power for power in (16, 32, STEP) if power >= width), -(-width // STEP) * STEP)
        middle = torch.zeros_like(rows[0]) if metric == "cosine" else rows.mean(0)
        plain = cls(metric, middle, 1.0, k if metric in ("euclidean", "cosine") else 0, True)
        sizes = plain.sizes(centers), plain.sizes(rows)
        largest = float(torch.maximum(sizes[0].max(), sizes[1].max()))
        usable = metric != "hamming" and largest > 0
        unit = 1.0 if not usable else (2.0**15 if plain.k else 1.0) / largest
        scaled = cls(metric, middle, unit**0.5 if plain.k else unit, plain.k, usable)
        return scaled, sizes[0] * unit, sizes[1] * unit

    def points(self, plain: Tensor) -> Tensor:
        """Points moved to the middle, or to the unit sphere, and scaled."""
        if self.metric == "cosine":
            return plain / torch.linalg.vector_norm(plain, dim=1, keepdim=True) * self.scale
        return (plain - self.middle) * self.scale

    def sizes(self, plain: Tensor) -> Tensor:
        """The sizes of points; their rounding error is proportional to it."""
        points = self.points(plain)
        if self.k:
            return (points * points).sum(1).nan_to_num(0.0)
        size: Tensor = points.abs().sum(1) if self.metric == "cityblock" else points.abs().amax(1)
        return size

    def doubt(self, size: Tensor) -> Tensor:
        """Bound on the error of a coarse closeness due to a point of this size."""
        if self.k:  # three roundings of halves, one for each sum of products, and the least half there is
            return (3 + 1.5 * self.k / 16) * 2.0**-22 * size + self.k * 2.0**-24
        return (len(self.middle) + 4) * 2.0**-23 * size + 1e-30

    def halves(self, plain: Tensor, absent: Tensor, own: bool) -> tuple[Tensor, Tensor]:
        """Rows to be multiplied: (x, -|x|²/2, 1) and (y, 1, -|y|²/2) give -|x - y|²/2, or NaN for padding."""
        points = self.points(plain)
        half = torch.where(absent, torch.nan, -0.5 * (points * points).sum(1))
        ones = torch.ones_like(half)
        more = torch.stack([half, ones] if own else [ones, half], dim=1)
        left = self.k - points.shape[1] - 2
        numbers = torch.nn.functional.pad(torch.cat([points, more], dim=1), (0, left))
        first = numbers.half()
        return first, (numbers - first.double()).half()

    def offset(self, radius: Tensor) -> Tensor:
        """What is added to a closeness to make it positive inside the radius; clamped beyond every closeness."""
        if self.metric == "euclidean":
            return ((self.scale * radius) ** 2 / 2).clamp(max=2.0**18)
        return (radius * (self.scale**2 if self.metric == "cosine" else self.scale)).clamp(max=2.0**18)

    def band(self, offset: Tensor) -> Tensor:
        """Closeness + offset up to this, in absolute value, is close to the radius, rounding included."""
        return (2.2 if self.metric == "euclidean" else 1.1) * CLOSE * offset


@triton.jit
def _gaps(a: tl.tuple, b: tl.tuple, i: tl.tensor, j: tl.tensor, features: tl.tensor, HOW: tl.constexpr) -> tl.tensor:
    """The metric's sum over features, one feature after the other; `i` and `j` broadcast to the pairs."""
    gap = tl.zeros((i + j).shape, a[0].dtype.element_ty)
    x_at, y_at = a[0] + i, b[0] + j
    for _ in range(features):
        x, y = tl.load(x_at), tl.load(y_at)
        if HOW.metric == "euclidean":
            gap += (x - y) * (x - y)
        elif HOW.metric == "cityblock":
            gap += tl.abs(x - y)
        elif HOW.metric == "chebyshev":
            gap = tl.maximum(gap, tl.abs(x - y))
        elif HOW.metric == "cosine":
            gap += x * y
        else:
            gap += (x != y).to(gap.dtype)
        x_at += a[1]
        y_at += b[1]
    return gap


@triton.jit
def _exact(
    own: tl.tuple, other: tl.tuple, i: tl.tensor, j: tl.tensor, features: tl.tensor, HOW: tl.constexpr
) -> tl.tensor:
    """`_gaps` in double precision; for cosine the distance itself."""
    if HOW.metric == "cosine":
        # SciPy adds up even and odd features by themselves.
        twice, half, last = (2 * own.size, 2 * other.size), features // 2, tl.cast(features - 1, tl.int64)
        gap = _gaps((own.plain, twice[0]), (other.plain, twice[1]), i, j, half, HOW)
        gap += _gaps((own.plain + own.size, twice[0]), (other.plain + other.size, twice[1]), i, j, half, HOW)
        gap += _gaps((own.plain + last * own.size, 0), (other.plain + last * other.size, 0), i, j, features % 2, HOW)
        gap = gap / (tl.load(own.norm + i) * tl.load(other.norm + j))
        gap = 1.0 - tl.where(tl.abs(gap) > 1.0, tl.where(gap > 0.0, 1.0, -1.0), gap)
    else:
        gap = _gaps((own.plain, own.size), (other.plain, other.size), i, j, features, HOW)
    return gap


@triton.jit
def _halves(side: tl.tuple, rows: tl.tensor, numbers: tl.tensor, HOW: tl.constexpr) -> tl.tuple:
    """Some numbers of some rows, each in two halves."""
    place = rows.to(tl.int64) * HOW.k + numbers
    return tl.load(side.coarse + place), tl.load(side.rest + place)


@triton.jit
def _products(
    own: tl.tuple, other: tl.tuple, i: tl.tensor, j: tl.tensor, halves: tl.tuple, HOW: tl.constexpr
) -> tl.tensor:
    """Products of rows; the product of the two rests is left out, being smaller than the rounding of the others."""
    total = tl.zeros((i[:, None] + j[None, :]).shape, tl.float32)
    numbers = tl.arange(0, HOW.step)
    for begin in range(0, HOW.k, HOW.step):
        a, a_rest = halves
        if HOW.k > HOW.step:
            a, a_rest = _halves(own, i[:, None], begin + numbers[None, :], HOW)
        b, b_rest = _halves(other, j[None, :], begin + numbers[:, None], HOW)
        total = tl.dot(a, b, total)
        total = tl.dot(a, b_rest, total)
        total = tl.dot(a_rest, b, total)
    return total


@triton.jit
def _closeness(
    own: tl.tuple, other: tl.tuple, i: tl.tensor, j: tl.tensor, halves: tl.tuple, features: tl.tensor, HOW: tl.constexpr
) -> tl.tensor:
    """What is compared with the radius: the exact sum of the metric, or a coarse one with its sign reversed."""
    if HOW.exact:
        gap = _exact(own, other, i[None, :], j[:, None], features, HOW)
    elif HOW.k == 0:
        gap = -_gaps((own.coarse, own.size), (other.coarse, other.size), i[None, :], j[:, None], features, HOW)
    else:
        gap = _products(own, other, i, j, halves, HOW)
    return gap


@triton.jit
def _reached(gap: tl.tensor, reach: tl.tuple, place: tl.tensor, real: tl.tensor) -> tl.tuple:
    """Which real pairs lie within the radius, and which are close to it."""
    close = (gap >= tl.load(reach.low + place)) & (gap <= tl.load(reach.high + place))
    return ((gap <= tl.load(reach.bound + place)) & real).to(tl.float32), (close & real).to(tl.int32)


@triton.jit
def _write_down(doubts: tl.tuple, doubtful: tl.tensor, i: tl.tensor, strip: tl.tensor) -> None:
    """Record the strips of points that are in doubt."""
    slot = tl.atomic_add(doubts.number + tl.zeros_like(i), 1, mask=doubtful)
    key = (tl.zeros_like(i) + strip).to(tl.int64) << 32 | i
    tl.store(doubts.strips + slot, key, mask=doubtful & (slot < doubts.most))


@triton.jit
def _sums(
    held: tl.tensor,
    other: tl.tuple,
    j: tl.tensor,
    same: tl.tensor,
    column: tl.tensor,
    tau: tl.constexpr,
    HOW: tl.constexpr,
) -> tl.tensor:
    """Sums over the other side: one column per radius, or per weight."""
    AXIS: tl.constexpr = 0 if HOW.exact or HOW.k == 0 else 1
    if HOW.weigh:
        weights = tl.load(other.weights + (same.to(tl.int32) * other.size + j[:, None]) * HOW.width + column)
        sums = tl.dot((held if AXIS == 1 else tl.trans(held)).to(tl.float16), weights)
    else:
        sums = tl.where(column == tau, (tl.sum(held, AXIS) + 0.5).to(tl.int32)[:, None], 0)
    return sums


@triton.jit(do_not_specialize=["start", "tiles", "features"])
def count_tiles(
    own: tl.tuple,
    other: tl.tuple,
    reach: tl.tuple,
    doubts: tl.tuple,
    out: tl.tensor,
    start: tl.tensor,
    tiles: tl.tensor,
    features: tl.tensor,
    HOW: tl.constexpr,
) -> None:
    """Count, or weigh, the pairs of one tile of this side with all tiles of one part of the other."""
    TILE: tl.constexpr = HOW.tile
    TAUS: tl.constexpr = HOW.taus
    WIDTH: tl.constexpr = HOW.width
    SLICE: tl.constexpr = HOW.slice
    # Sums over the other side cost least along this axis, by how products, or differences, lie in registers.
    AXIS: tl.constexpr = 0 if HOW.exact or HOW.k == 0 else 1
    own_tile, part = start + tl.program_id(0) % tiles, tl.program_id(0) // tiles
    here, column = tl.arange(0, TILE), tl.arange(0, WIDTH)[None, :]
    i = own_tile * TILE + here
    there = here < tl.load(own.filled + own_tile)
    total = tl.zeros([TILE, WIDTH], tl.float64 if HOW.weigh else tl.int32)
    halves = (here, here)
    if AXIS == 1 and HOW.k == HOW.step:
        halves = _halves(own, i[:, None], tl.arange(0, HOW.step)[None, :], HOW)
    slices = HOW.other_tile // HOW.slice
    for piece in range(tl.load(other.spans + part) * slices, tl.load(other.spans + part + 1) * slices):
        j, tile = piece * SLICE + tl.arange(0, SLICE), piece // slices
        gap = _closeness(own, other, i, j, halves, features, HOW)
        same = tl.load(own.label + own_tile) == tl.load(other.label + tile)
        for tau in tl.static_range(TAUS):
            place = tl.expand_dims(j, 1 - AXIS) if HOW.weigh else tl.expand_dims(tau * own.size + i, AXIS)
            if HOW.exact:
                real = there[None, :] & (j - tile * HOW.other_tile < tl.load(other.filled + tile))[:, None]
                held, close = _reached(gap, reach, place, real)
                tl.atomic_add(doubts.close + tau, tl.sum(tl.sum(close, 0), 0).to(tl.int64))
                total += _sums(held, other, j, same, column, tau, HOW)
            else:
                band = tile if HOW.weigh else tau * (own.size // TILE) + own_tile
                sharp = 0.5 / (tl.load(own.doubt + own_tile) + tl.load(other.doubt + tile) + tl.load(reach.band + band))
                # 0 outside, 1 inside, and between them in doubt: then the sum of squares is less than the sum.
                held = tl.maximum(gap * sharp + (tl.load(reach.offset + place) * sharp + 0.5), 0.0)
                held = tl.minimum(held, 1.0)
                doubtful = (tl.sum(held, AXIS) != tl.sum(held * held, AXIS)) & there
                _write_down(doubts, doubtful, i, piece * TAUS + tau)
                total += tl.where(doubtful[:, None], 0, _sums(held, other, j, same, column, tau, HOW))
    place = (part * WIDTH + column).to(tl.int64) * tiles * TILE + (i - start * TILE)[:, None]
    tl.store(out + place, total)


@triton.jit(do_not_specialize=["start", "tiles", "features"])
def settle_strips(
    own: tl.tuple,
    other: tl.tuple,
    reach: tl.tuple,
    doubts: tl.tuple,
    out: tl.tensor,
    start: tl.tensor,
    tiles: tl.tensor,
    features: tl.tensor,
    HOW: tl.constexpr,
) -> None:
    """Compute the recorded strips again in double precision, and add the pairs within the radius."""
    GROUP: tl.constexpr = HOW.group
    number = tl.program_id(0) * GROUP + tl.arange(0, GROUP)
    asked = number < tl.load(doubts.number)
    key = tl.load(doubts.strips + number, mask=asked, other=0)
    i, piece, tau = key & 0xFFFFFFFF, (key >> 32) // HOW.taus, (key >> 32) % HOW.taus
    j = piece[:, None] * HOW.slice + tl.arange(0, HOW.slice)[None, :]
    tile = piece // (HOW.other_tile // HOW.slice)
    gap = _exact(own, other, i[:, None], j, features, HOW)
    real = asked[:, None] & (j - (tile * HOW.other_tile)[:, None] < tl.load(other.filled + tile)[:, None])
    held, close = _reached(gap, reach, j if HOW.weigh else (tau * own.size + i)[:, None], real)
    place, row = i - start * HOW.tile, tl.cast(tiles, tl.int64) * HOW.tile
    label = tl.load(other.label + tile)
    if HOW.weigh:
        same = (tl.load(own.label + i // HOW.tile) == label).to(tl.int32)[:, None]
        for weight in tl.static_range(9):
            each = tl.load(other.weights + (same * other.size + j) * HOW.width + weight)
            tl.atomic_add(out + weight * row + place, tl.sum((held * each).to(tl.float64), 1), mask=asked)
    else:
        tl.atomic_add(out + (label * HOW.width + tau) * row + place, tl.sum(held, 1).to(tl.int32), mask=asked)
        tl.atomic_add(doubts.close + tau, tl.sum(close, 1).to(tl.int64), mask=asked)
