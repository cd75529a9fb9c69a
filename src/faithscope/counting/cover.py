"""Bitmaps of the rows that explanations cover: one bit per row, so that one AND or bit count treats 64 rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, repeat
from typing import TypeVar

import numpy as np

from faithscope.counting.layout import Bits, Layout
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.chunks import in_threads
from faithscope.relations import Blocks, Parts
from faithscope.runtime.memory import need
from faithscope.runtime.threads import one_blas_thread

T = TypeVar("T")

_AT_A_TIME = 2**18  # words of bitmaps that a thread works on
_MASK_CELLS = 2**22  # booleans of a mask made at once
_PACKED = 2**20  # booleans packed at once


Paint = Callable[[int, int], Bits]


def over_batches(
    cover: Parts | Blocks, paint: Paint, layout: Layout, explanations: int, most: int, work: Callable[[int, Bits], T]
) -> Iterator[T]:
    """``work(start, bits)`` for the bitmaps of all explanations in batches, in order; several threads compute it."""
    step = max(1, min(most, _AT_A_TIME // max(1, layout.width)))

    def batch(start: int) -> T:
        return work(start, paint(start, min(start + step, explanations)))

    starts = range(0, explanations, step)
    several = len(starts) > 1 and (isinstance(cover, Parts) or cover.threads)
    # Small products gain nothing from BLAS's own threads, and those of several callers block each other.
    with one_blas_thread():
        yield from in_threads(batch, starts) if several else map(batch, starts)


def bitmaps(cover: Parts | Blocks, layout: Layout, idle: list[str]) -> Paint:
    """The bitmaps of explanations from start to stop: from masks, or from one bitmap per part.

    Bitmap 0 holds every row, and part k has bitmap k + 1. The parts that hold on no row are added to `idle`.
    """
    if isinstance(cover, Blocks):
        mask, cells = cover.masks(layout.source), max(1, _MASK_CELLS // max(1, len(layout.segment)))
        return lambda start, stop: np.concatenate(
            [layout.pack(mask(a, min(a + cells, stop))) for a in range(start, stop, cells)]
        )
    count, rows = len(cover.parts) + 1, len(layout.segment)
    asked = f"Bitmaps of {count - 1:,} conditions over {rows:,} rows"
    need(8 * count * layout.width, asked, "sample rows, or explanations")
    parts = np.zeros((count, layout.width), np.uint64)
    if cover.postings is not None:
        which, row = cover.postings
        place = layout.position[row]
        ones = np.uint64(1) << (place & 63).astype(np.uint64)
        np.bitwise_or.at(parts.reshape(-1), (which + 1) * layout.width + (place >> 6), ones)
    else:
        masks, at_once = cover.masks(layout.source), max(1, _PACKED // max(1, 64 * layout.width))

        def pack(numbered: list[tuple[int, Bools]]) -> tuple[list[int], Bits]:
            numbers, some = zip(*numbered, strict=True)
            return [1 + number for number in numbers], layout.pack(np.stack(some))

        batches = -(-(count - 1) // at_once)
        numbered = map(list, map(islice, repeat(masks, batches), repeat(at_once)))
        for numbers, packed in (in_threads if batches > 1 else map)(pack, numbered):
            parts[numbers] = packed
    parts[0] = layout.everybody
    idle += map(str, map(cover.parts.__getitem__, np.flatnonzero(~parts[1:].any(axis=1)).tolist()))
    sizes = np.array(list(map(len, cover.lists)), np.int64)
    begins = np.cumsum(sizes) - sizes
    listed = 1 + np.fromiter(chain.from_iterable(cover.lists), np.int64, int(sizes.sum()))

    def paint(start: int, stop: int) -> Bits:
        size, begin = sizes[start:stop], begins[start:stop]
        # Part 0 holds on every row: it is the first part of an explanation without conditions.
        first = np.where(size > 0, listed[np.minimum(begin, len(listed) - 1)], 0) if len(listed) else size
        bits = parts[first]
        for place in range(1, int(size.max(initial=0))):
            longer = np.flatnonzero(size > place)
            if len(longer) == len(size):
                bits &= parts[listed[begin + place]]
            else:
                bits[longer] &= parts[listed[begin[longer] + place]]
        return bits

    return paint


@dataclass(frozen=True, eq=False)
class Asked:
    """The pairs of which it is known whether the explanation covers the row.

    Attributes
    ----------
    which, row : (k,) arrays
        The explanation among the distinct ones, and the row, of each pair.
    codes : (n,) array
        The explanation of each row.
    distinct : int
        Number of distinct explanations.
    """

    which: Ints
    row: Ints
    codes: Ints
    distinct: int

    @cached_property
    def per_explanation(self) -> Ints:
        """Rows that each explanation was asked about."""
        return np.bincount(self.which, minlength=self.distinct)

    @cached_property
    def own(self) -> Bools:
        """Whether each row was asked about with its own explanation."""
        own = np.zeros(len(self.codes), bool)
        own[self.row[self.codes[self.row] == self.which]] = True
        return own

    @cached_property
    def others(self) -> Ints:
        """Per row, how many other rows its explanation was asked about."""
        return self.per_explanation[self.codes] - self.own
