"""Bitmaps of the rows that explanations cover: one bit per row, so that one AND or bit count treats 64 rows."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.layout import Bits, Layout
from faithscope.explanations.conditions.conjunctions import Postings
from faithscope.inputs.chunks import in_threads
from faithscope.relations import Blocks, Parts
from faithscope.runtime.blas import one_blas_thread
from faithscope.runtime.memory import need

S = TypeVar("S")
T = TypeVar("T")

_AT_A_TIME = 2**18  # words of bitmaps that a thread works on
_MASK_CELLS = 2**22  # booleans of a mask made at once
_PACKED = 2**20  # booleans packed at once


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
    count, words, rows = len(cover.parts) + 1, layout.width, len(layout.segment)
    need(8 * count * words, f"Bitmaps of {count - 1:,} conditions over {rows:,} rows", "sample rows, or explanations")
    if cover.postings is not None:
        which, held = cover.postings
        parts = layout.pack_pairs(which + 1, held, count)
    else:
        parts = np.empty((count, words), np.uint64)
        step = max(1, _PACKED // max(1, 64 * layout.width))
        for numbers, bits in in_threads(partial(_pack, layout), _batches(cover.masks(layout.source), step)):
            parts[numbers] = bits
    parts[0] = layout.everybody
    return parts


def _pack(layout: Layout, numbered: list[tuple[int, NDArray[np.bool_]]]) -> tuple[list[int], Bits]:
    """The bitmaps of masks by the number of their part."""
    return [1 + number for number, _ in numbered], layout.pack_arranged(np.stack([mask for _, mask in numbered]))


def _batches(items: Iterator[S], size: int) -> Iterator[list[S]]:
    """Lists of at most so many items."""
    while batch := list(islice(items, size)):
        yield batch


def _paint_blocks(cover: Blocks, layout: Layout) -> Callable[[int, int], Bits]:
    if cover.pairs is not None:
        return _paint_pairs(cover.pairs, layout)
    step = max(1, _MASK_CELLS // max(1, len(layout.segment)))

    if cover.arranged is None:
        mask, pack = cover.mask, layout.pack
    else:
        mask, pack = cover.arranged(layout.source), layout.pack_arranged

    def bits(start: int, stop: int) -> Bits:
        pieces = [pack(mask(a, min(a + step, stop))) for a in range(start, stop, step)]
        return np.concatenate(pieces)

    return bits


def _paint_pairs(pairs: Postings, layout: Layout) -> Callable[[int, int], Bits]:
    """Bitmaps from pairs (explanation, row) that ascend by explanation."""
    which, rows = pairs

    def bits(start: int, stop: int) -> Bits:
        part = slice(*np.searchsorted(which, [start, stop]))
        return layout.pack_pairs(which[part] - start, rows[part], stop - start)

    return bits


def over_batches(
    cover: Parts | Blocks, layout: Layout, explanations: int, most: int, work: Callable[[int, Bits], T]
) -> Iterator[T]:
    """``work(start, bits)`` for the bitmaps of all explanations in batches, in order; several threads compute it."""
    # Small products gain nothing from BLAS's own threads, and those of several callers block each other.
    with one_blas_thread() if isinstance(cover, Blocks) else nullcontext():
        draw = paint(cover, layout)
        step = max(1, min(most, _AT_A_TIME // max(1, layout.width)))

        def batch(start: int) -> T:
            return work(start, draw(start, min(start + step, explanations)))

        starts = range(0, explanations, step)
        alone = len(starts) == 1 or (isinstance(cover, Blocks) and not cover.threads)
        yield from map(batch, starts) if alone else in_threads(batch, starts)


def in_blocks(cover: Parts | Blocks, layout: Layout, explanations: int, most: int) -> Iterator[tuple[int, Bits]]:
    """The bitmaps of all explanations in batches, in order: the number of the first, and the bitmaps."""
    return over_batches(cover, layout, explanations, most, lambda start, bits: (start, bits))
