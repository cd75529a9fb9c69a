"""Counting whom explanations cover: a bit a row, so that one AND and one population count do 64 rows at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.grouping import WORKERS
from faithscope.explanations.relations import Blocks, Parts

Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]

_AT_A_TIME = 2**18  # words of bitmaps that a thread works on
_MASK_CELLS = 2**22  # booleans of a mask made at once


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows arranged by segment, every segment filled up to whole 64-bit words.

    Parameters
    ----------
    segment : (n,) array
        The segment of each row.
    segments : int
        Number of segments.
    """

    segment: Ints
    segments: int

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
        order = np.argsort(self.segment, kind="stable")
        within = np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        position = np.empty(len(order), np.int64)
        position[order] = within + 64 * np.repeat(self.words[:-1], self.sizes)
        return position

    def pack(self, masks: NDArray[np.bool_]) -> Bits:
        """(b, n) booleans as (b, words) bitmaps."""
        spread = np.zeros((len(masks), 64 * int(self.words[-1])), bool)
        spread[:, self.position] = masks
        return np.packbits(spread, axis=1, bitorder="little").view(np.uint64)

    def unpack(self, bits: Bits) -> NDArray[np.uint8]:
        """Bitmaps as (b, n) zeros and ones, rows in their own order."""
        spread = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        return spread[:, self.position]

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
    """A function that gives the bitmaps of explanations start to stop."""
    if isinstance(cover, Blocks):
        return _paint_blocks(cover, layout)
    parts = np.empty((len(cover.parts) + 1, int(layout.words[-1])), np.uint64)
    parts[0] = layout.pack(np.ones((1, len(layout.segment)), bool))[0]
    for number, mask in enumerate(cover.masks, start=1):
        parts[number] = layout.pack(mask[None])[0]
    width = max(map(len, cover.lists), default=0)
    # Shorter lists are filled up with part 0, which holds everywhere.
    table = np.array(
        [[*(1 + part for part in parts_), *[0] * (width - len(parts_))] for parts_ in cover.lists], np.int64
    )

    def bits(start: int, stop: int) -> Bits:
        chosen = table[start:stop].reshape(stop - start, width)
        found = parts[chosen[:, 0]] if width else np.repeat(parts[:1], stop - start, axis=0)
        for column in range(1, width):
            found &= parts[chosen[:, column]]
        return found

    return bits


def _paint_blocks(cover: Blocks, layout: Layout) -> Callable[[int, int], Bits]:
    step = max(1, _MASK_CELLS // max(1, len(layout.segment)))

    def bits(start: int, stop: int) -> Bits:
        pieces = [layout.pack(cover.mask(a, min(a + step, stop))) for a in range(start, stop, step)]
        return np.concatenate(pieces)

    return bits


def in_blocks(cover: Parts | Blocks, layout: Layout, explanations: int, most: int) -> Iterator[tuple[int, Bits]]:
    """The bitmaps of all explanations, some at a time and in order, painted by several threads."""
    draw = paint(cover, layout)
    step = max(1, min(most, _AT_A_TIME // max(1, int(layout.words[-1]))))
    starts = range(0, explanations, step)
    if len(starts) == 1 or WORKERS == 1:
        yield from ((start, draw(start, min(start + step, explanations))) for start in starts)
        return
    with ThreadPoolExecutor(WORKERS) as pool:
        waiting = []
        for start in starts:
            waiting.append((start, pool.submit(draw, start, min(start + step, explanations))))
            if len(waiting) > 2 * WORKERS:
                begun, found = waiting.pop(0)
                yield begun, found.result()
        yield from ((begun, found.result()) for begun, found in waiting)
