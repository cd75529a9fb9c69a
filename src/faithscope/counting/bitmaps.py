"""Bitmaps of the rows that explanations cover: one bit per row, so that one AND or bit count treats 64 rows."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.grouping import WORKERS
from faithscope.relations import Blocks, Parts
from faithscope.runtime.memory import need

Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]

_AT_A_TIME = 2**18  # words of bitmaps that a thread works on
_MASK_CELLS = 2**22  # booleans of a mask made at once


@dataclass(frozen=True, eq=False)
class Layout:
    """The order of rows in a bitmap: by segment, with every segment padded to whole 64-bit words.

    Parameters
    ----------
    segment : (n,) array
        The segment of each row.
    segments : int
        Number of segments.
    rank : (n,) array, optional
        The order of rows within a segment; by default as they come.
    """

    segment: Ints
    segments: int
    rank: Ints | None = None

    @cached_property
    def sizes(self) -> Ints:
        """Rows in each segment."""
        return np.bincount(self.segment, minlength=self.segments)

    @cached_property
    def words(self) -> Ints:
        """The first word of each segment, and one past the last."""
        return np.concatenate([[0], np.cumsum(-(-self.sizes // 64))])

    @cached_property
    def position(self) -> Ints:
        """The bit of each row."""
        keys = (self.segment,) if self.rank is None else (self.rank, self.segment)
        order = np.lexsort(keys)
        within = np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        position = np.empty(len(order), np.int64)
        position[order] = within + 64 * np.repeat(self.words[:-1], self.sizes)
        return position

    @cached_property
    def source(self) -> Ints:
        """The row of each bit; row 0 for padding bits, which `everybody` masks out."""
        source = np.zeros(64 * int(self.words[-1]), np.int64)
        source[self.position] = np.arange(len(self.segment))
        return source

    @cached_property
    def everybody(self) -> Bits:
        """The bitmap of all rows: 1 for every row, 0 for padding."""
        filled = np.zeros(64 * int(self.words[-1]), bool)
        filled[self.position] = True
        return np.packbits(filled, bitorder="little").view(np.uint64)

    def pack(self, masks: NDArray[np.bool_]) -> Bits:
        """(b, n) booleans as (b, words) bitmaps."""
        # Gather, not scatter: reading out of order is several times faster than writing out of order.
        return self.pack_arranged(np.take(masks, self.source, axis=1))

    def pack_arranged(self, masks: NDArray[np.bool_]) -> Bits:
        """`pack` for masks whose columns are already in the order of `source`."""
        bits = np.packbits(masks, axis=1, bitorder="little").view(np.uint64)
        bits &= self.everybody
        return bits

    def pack_pairs(self, which: Ints, rows: Ints, bitmaps: int) -> Bits:
        """Bitmaps in which bitmap ``which[i]`` holds row ``rows[i]``, and no other bit is set."""
        bits = np.zeros((bitmaps, int(self.words[-1])), np.uint64)
        place = self.position[rows]
        ones = np.uint64(1) << (place & 63).astype(np.uint64)
        np.bitwise_or.at(bits.reshape(-1), which * bits.shape[1] + (place >> 6), ones)
        return bits

    def ones(self, bits: Bits) -> tuple[Ints, Ints, Ints]:
        """The bitmap, the bit and the segment of every bit that is set."""
        words = np.flatnonzero(bits)
        which, word = np.divmod(words, bits.shape[1])
        spread = np.unpackbits(bits.reshape(-1)[words].view(np.uint8), bitorder="little")
        hit, bit = np.divmod(np.flatnonzero(spread), 64)
        segment = np.repeat(np.arange(self.segments), np.diff(self.words))
        return which[hit], 64 * word[hit] + bit, segment[word[hit]]

    def count(self, bits: Bits) -> Ints:
        """How many rows of each segment each bitmap holds: (b, segments)."""
        counts = np.zeros((len(bits), self.segments), np.int64)
        full = np.flatnonzero(self.sizes)
        if len(full):
            ones = np.bitwise_count(bits)
            counts[:, full] = np.add.reduceat(ones, self.words[:-1][full], axis=1, dtype=np.int64)
        return counts

    def holds(self, bits: Bits, which: Ints, rows: Ints) -> NDArray[np.bool_]:
        """Whether bitmap ``which[i]`` holds row ``rows[i]``."""
        place = self.position[rows]
        word = bits[which, place >> 6]
        return np.asarray((word >> (place & 63).astype(np.uint64)) & np.uint64(1) == 1)


def paint(cover: Parts | Blocks, layout: Layout) -> Callable[[int, int], Bits]:
    """A function (start, stop) that gives the bitmaps of the explanations in that range."""
    if isinstance(cover, Blocks):
        return _paint_blocks(cover, layout)
    parts = _paint_parts(cover, layout)
    sizes = np.array([len(parts) for parts in cover.lists], np.int64)
    begins = np.cumsum(sizes) - sizes
    listed = 1 + np.fromiter(chain.from_iterable(cover.lists), np.int64, int(sizes.sum()))

    def bits(start: int, stop: int) -> Bits:
        size, begin = sizes[start:stop], begins[start:stop]
        # Part 0 holds on every row: it is the first part of an explanation without conditions.
        first = np.where(size > 0, listed[np.minimum(begin, len(listed) - 1)], 0) if len(listed) else size
        bitmaps = parts[first]
        for place in range(1, int(size.max(initial=0))):
            longer = np.flatnonzero(size > place)
            if len(longer) == len(size):
                bitmaps &= parts[listed[begin + place]]
            else:
                bitmaps[longer] &= parts[listed[begin[longer] + place]]
        return bitmaps

    return bits


def _paint_parts(cover: Parts, layout: Layout) -> Bits:
    """One bitmap per part; bitmap 0 holds every row, and part k has bitmap k + 1."""
    count, words, rows = len(cover.parts) + 1, int(layout.words[-1]), len(layout.segment)
    need(8 * count * words, f"Bitmaps of {count - 1:,} conditions over {rows:,} rows", "sample rows, or explanations")
    if cover.postings is not None:
        which, held = cover.postings
        parts = layout.pack_pairs(which + 1, held, count)
    else:
        parts = np.empty((count, words), np.uint64)
        for number, mask in enumerate(cover.masks, start=1):
            parts[number] = layout.pack(mask[None])[0]
    parts[0] = layout.everybody
    return parts


def _paint_blocks(cover: Blocks, layout: Layout) -> Callable[[int, int], Bits]:
    step = max(1, _MASK_CELLS // max(1, len(layout.segment)))

    if cover.arranged is None:
        mask, pack = cover.mask, layout.pack
    else:
        mask, pack = cover.arranged(layout.source), layout.pack_arranged

    def bits(start: int, stop: int) -> Bits:
        pieces = [pack(mask(a, min(a + step, stop))) for a in range(start, stop, step)]
        return np.concatenate(pieces)

    return bits


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread. Without threadpoolctl BLAS keeps its threads: the same numbers, more slowly."""
    if find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return cast("AbstractContextManager[Any]", threadpool_limits(1, "blas"))


def in_blocks(cover: Parts | Blocks, layout: Layout, explanations: int, most: int) -> Iterator[tuple[int, Bits]]:
    """The bitmaps of all explanations in batches, in order; several threads compute them."""
    # Small products gain nothing from BLAS's own threads, and those of several callers block each other.
    with one_blas_thread() if isinstance(cover, Blocks) else nullcontext():
        draw = paint(cover, layout)
        step = max(1, min(most, _AT_A_TIME // max(1, int(layout.words[-1]))))
        starts = range(0, explanations, step)
        if len(starts) == 1 or WORKERS == 1 or (isinstance(cover, Blocks) and not cover.threads):
            yield from ((start, draw(start, min(start + step, explanations))) for start in starts)
            return
        with ThreadPoolExecutor(WORKERS) as pool:
            waiting = []
            for start in starts:
                waiting.append((start, pool.submit(draw, start, min(start + step, explanations))))
                if len(waiting) > 2 * WORKERS:
                    begun, bitmaps = waiting.pop(0)
                    yield begun, bitmaps.result()
            yield from ((begun, bitmaps.result()) for begun, bitmaps in waiting)
