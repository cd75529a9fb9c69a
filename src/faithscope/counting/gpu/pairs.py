"""Rows within the radii of centers, counted on a GPU. Torch and Triton are imported here alone, when a GPU is used.

Distances are those of double precision, in the order of operations of the plain formula. So counts are those of the
CPU, and nothing n x n is ever stored.
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
from faithscope.explanations.distances.near import Near
from faithscope.inputs.array_types import Array, Floats, Ints

DEVICE = "cuda"
BUILT = torch.version.cuda is not None
FAILURES = (RuntimeError, OSError, SubprocessError, TritonError)  # of torch, the driver, the compiler and Triton
_CENTERS, _ROWS = 64, 16  # of a tile, which stays in registers


@triton.jit(do_not_specialize=["begin", "tiles", "features"])
def count_pairs(
    centers: tl.tensor,
    rows: tl.tensor,
    radius: tl.tensor,
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
    """Count the rows of one segment within the radius of each of a tile of centers."""
    segment, segments = tl.program_id(0) // tiles, tl.num_programs(0) // tiles
    here = tl.program_id(0) % tiles * CENTERS + tl.arange(0, CENTERS)
    i = (begin + here)[None, :]
    within, total = tl.load(radius + i), tl.zeros([CENTERS], tl.int32)
    for piece in range(tl.load(bounds + segment), tl.load(bounds + segment + 1)):
        j = (piece * ROWS + tl.arange(0, ROWS))[:, None]
        gap = tl.zeros((ROWS, CENTERS), tl.float64)
        x_at, y_at = centers + i, rows + j
        for _ in range(features):  # one feature after the other
            apart = tl.abs(tl.load(x_at) - tl.load(y_at))
            if METRIC == "euclidean":
                gap += apart * apart
            elif METRIC == "cityblock":
                gap += apart
            else:
                gap = tl.maximum(gap, apart)
            x_at += sizes[0]
            y_at += sizes[1]
        if METRIC == "euclidean":
            gap = tl.sqrt(gap)
        inside = gap < within if OPEN else gap <= within
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
        rows = np.full((_ROWS * int(pieces.sum()), near.rows.shape[1]), np.inf)  # padding is within no radius
        rows[np.arange(len(order)) + (padded - first)[segment[order]]] = near.rows[order]
        last = np.minimum(np.arange(len(near.centers) + _CENTERS), len(near.centers) - 1)  # a tile may begin anywhere
        self.rows, self.centers = _on_device(rows.T), _on_device(near.centers[last].T.astype(np.float64))
        self.reaches = [_on_device(radius[last].astype(np.float64)) for radius in radii]

    def counter(self) -> Callable[[int, int], Ints]:
        sizes, (features, _) = (self.centers.shape[1], self.rows.shape[1]), self.rows.shape

        def count(start: int, stop: int) -> Ints:
            tiles = -(-(stop - start) // _CENTERS)
            shape = len(self.reaches), tiles * _CENTERS, self.segments
            tables = torch.empty(shape, dtype=torch.int32, device=DEVICE)
            with self.lock:
                for radius, table in zip(self.reaches, tables, strict=True):
                    count_pairs[(tiles * self.segments,)](
                        *(self.centers, self.rows, radius, self.bounds, table),
                        *(sizes, start, tiles, features),
                        METRIC=self.near.metric,
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
