"""Rows within the radii of centers, counted on a GPU. Torch and Triton are imported here alone, when a GPU is used.

Distances are first computed in single precision, with a bound on their error. If a pair of a tile is nearer to its
radius than that bound, the tile is computed again in double precision, in the order of operations of the plain formula.
So counts are those of double precision, and nothing n x n is ever stored.
"""

# mypy: disable-error-code="untyped-decorator"

from collections.abc import Callable
from subprocess import SubprocessError
from threading import Lock

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.runtime.errors import TritonError

from faithscope.counting.near import PairCounts
from faithscope.explanations.distances.tiles import Near
from faithscope.inputs.array_types import Array, Floats, Ints

DEVICE = "cuda"
BUILT = torch.version.cuda is not None
FAILURES = (RuntimeError, OSError, SubprocessError, TritonError)  # of torch, the driver, the compiler and Triton
_CENTERS, _ROWS = 64, 16  # of a tile, which stays in registers
_NORMS = {"euclidean": 2, "cityblock": 1, "chebyshev": np.inf}
_UNIT = 2.0**-23  # twice the rounding error of single precision
_LEAST = 1e-16  # what squares too small for single precision add to a distance, and more


@triton.jit
def _gaps(
    a: tl.tensor, b: tl.tensor, i: tl.tensor, j: tl.tensor, sizes: tl.tuple, features: tl.tensor, METRIC: tl.constexpr
) -> tl.tensor:
    """The metric's sum over features, one feature after the other."""
    gap = tl.zeros((i + j).shape, a.dtype.element_ty)
    x_at, y_at = a + i, b + j
    for _ in range(features):
        apart = tl.abs(tl.load(x_at) - tl.load(y_at))
        if METRIC == "euclidean":
            gap += apart * apart
        elif METRIC == "cityblock":
            gap += apart
        else:
            gap = tl.maximum(gap, apart)
        x_at += sizes[0]
        y_at += sizes[1]
    return gap


@triton.jit(do_not_specialize=["begin", "tiles", "features"])
def count_pairs(
    centers: tl.tuple,
    rows: tl.tuple,
    radius: tl.tuple,
    error: tl.tensor,
    bounds: tl.tensor,
    out: tl.tensor,
    sizes: tl.tuple,
    begin: tl.tensor,
    tiles: tl.tensor,
    features: tl.tensor,
    METRIC: tl.constexpr,
    OPEN: tl.constexpr,
    CENTERS: tl.constexpr,
    ROWS: tl.constexpr,
) -> None:
    """Count the rows of one segment within the radius of each of a tile of centers; double precision comes first."""
    segment, segments = tl.program_id(0) // tiles, tl.num_programs(0) // tiles
    here = tl.program_id(0) % tiles * CENTERS + tl.arange(0, CENTERS)
    i = (begin + here)[None, :]
    within, surely, hardly = tl.load(radius[0] + i), tl.load(radius[1] + i), tl.load(radius[2] + i)
    total = tl.zeros([CENTERS], tl.int32)
    for piece in range(tl.load(bounds + segment), tl.load(bounds + segment + 1)):
        j, doubt = (piece * ROWS + tl.arange(0, ROWS))[:, None], tl.load(error + piece)
        low, high = surely - doubt, hardly + doubt
        if METRIC == "euclidean":
            low, high = low * tl.abs(low), high * high
        gap = _gaps(centers[1], rows[1], i, j, sizes, features, METRIC)
        inside = gap < low
        if tl.max(tl.max(((gap <= high) & (gap >= low)).to(tl.int32), 0), 0) > 0:
            exact = _gaps(centers[0], rows[0], i, j, sizes, features, METRIC)
            if METRIC == "euclidean":
                exact = tl.sqrt(exact)
            inside = exact < within if OPEN else exact <= within
        total += tl.sum(inside.to(tl.int32), 0)
    tl.store(out + here.to(tl.int64) * segments + segment, total)


class DevicePairs(PairCounts):
    """`PairCounts` on a GPU: of centers in batches, one distance after the other if there are several."""

    def __init__(self, near: Near, radii: Floats, codes: Ints, segment: Ints, segments: int) -> None:
        self.near, self.radii, self.codes, self.segments = near, radii, codes, segments
        self.lock = Lock()  # Triton compiles, and its interpreter runs, in one thread at a time
        pieces = -(-np.bincount(segment, minlength=segments) // _ROWS)
        self.bounds = _on_device(np.concatenate([[0], np.cumsum(pieces)]).astype(np.int32))
        order = np.argsort(segment, kind="stable")
        first = np.searchsorted(segment[order], np.arange(segments))
        padded = _ROWS * (np.cumsum(pieces) - pieces)
        place = np.full(_ROWS * int(pieces.sum()), -1)
        place[np.arange(len(order)) + (padded - first)[segment[order]]] = order
        middle = np.mean(near.rows, axis=0)
        centers, rows = (np.asarray(part, np.float64) for part in (near.centers, near.rows))
        sizes = [np.linalg.norm(part - middle, _NORMS[near.metric], axis=1) for part in (centers, rows)]
        self.unit = 2.0 ** np.ceil(np.log2(max(1e-100, *(size.max() for size in sizes))))
        self.sizes = [size / self.unit for size in sizes]
        largest = np.where(place < 0, 0, self.sizes[1][place]).reshape(-1, _ROWS).max(axis=1)
        self.error = _on_device((_UNIT * largest).astype(np.float32))
        padded = np.minimum(np.arange(len(centers) + _CENTERS), len(centers) - 1)  # a tile may begin anywhere
        self.centers = self._points(centers, padded, middle)
        self.rows = self._points(rows, place, middle)

    def _points(self, points: Floats, place: Ints, middle: Floats) -> tuple[Tensor, Tensor]:
        """Points by feature, as they are, and moved and scaled in single precision; padding is infinitely far away."""
        absent = place < 0
        plain = np.where(absent[:, None], np.inf, points[place])
        near = np.where(absent[:, None], np.inf, (points[place] - middle) / self.unit)
        return _on_device(plain.T), _on_device(near.T.astype(np.float32))

    def counter(self) -> Callable[[int, int], Ints]:
        features, metric = self.near.rows.shape[1], self.near.metric
        radii = []
        for radius in self.radii:
            scaled = radius / self.unit
            error = _UNIT * (self.sizes[0] + (features + 8) * scaled) + _LEAST
            with np.errstate(over="ignore"):  # beyond every distance
                ends = (scaled - error).astype(np.float32), (scaled + error).astype(np.float32)
            radii.append(tuple(_on_device(np.pad(part, (0, _CENTERS), mode="edge")) for part in (radius, *ends)))
        sizes = self.centers[0].shape[1], self.rows[0].shape[1]

        def count(start: int, stop: int) -> Ints:
            tiles = -(-(stop - start) // _CENTERS)
            tables = torch.empty((len(radii), tiles * _CENTERS, self.segments), dtype=torch.int32, device=DEVICE)
            with self.lock:
                for radius, table in zip(radii, tables, strict=True):
                    count_pairs[(tiles * self.segments,)](
                        *(self.centers, self.rows, radius, self.error, self.bounds, table),
                        *(sizes, start, tiles, features),
                        METRIC=metric,
                        OPEN=self.near.open,
                        CENTERS=_CENTERS,
                        ROWS=_ROWS,
                        num_warps=1,
                        enable_fp_fusion=False,  # products are rounded as those of the plain formula are
                    )
            return np.asarray(tables[:, : stop - start].cpu().numpy(), np.int64)

        return count


def _on_device(array: Array) -> Tensor:
    return torch.as_tensor(np.ascontiguousarray(array), device=DEVICE)


def wake() -> None:
    """Raise if torch finds no GPU that it can use."""
    if DEVICE == "cuda":
        torch.cuda.current_device()
