"""Layout: the order of rows in bitmaps, by which rows of a segment are counted 64 at a time."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.array_types import Array, Bools, Floats, Ints

Bits = NDArray[np.uint64]

_DIGIT = 16  # bits: NumPy sorts 16-bit numbers by counting them


class Layout:
    """The order of rows in a bitmap: by segment.

    Every segment has words of its own, and all segments of one label have as many: words are in order of label, then of
    their place within the segment, then of block, so that contiguous words are added for all blocks at once.

    Parameters
    ----------
    segment : (n,) array
        The segment of each row: ``label * blocks + block``.
    segments : int
        Number of segments.
    rank : (n,) array, optional
        The order of rows within a segment; by default as they come.
    blocks : int
        Segments per label.

    Attributes
    ----------
    depth, first : (labels,) arrays
        Words per segment of each label, and its first word; labels with as many words per segment stand together.
    width : int
        Words per bitmap.
    position : (n,) array
        The bit of each row.
    """

    def __init__(self, segment: Ints, segments: int, rank: Ints | None = None, blocks: int = 1) -> None:
        self.segment, self.segments, self.blocks = segment, segments, blocks
        sizes = np.bincount(segment, minlength=segments)
        self.depth = depth = np.asarray(-(-sizes.reshape(-1, blocks).max(axis=1, initial=0) // 64))
        self.width = int(depth.sum()) * blocks
        by_depth, self.first = np.argsort(depth, kind="stable"), np.empty(len(depth), np.int64)
        self.first[by_depth] = (np.cumsum(depth[by_depth]) - depth[by_depth]) * blocks
        order = order_by(segment, segments) if rank is None else np.lexsort((rank, segment))
        within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        label, block = np.divmod(segment[order], blocks)
        self.position = np.empty(len(order), np.int64)
        self.position[order] = 64 * (self.first[label] + (within >> 6) * blocks + block) + (within & 63)

    @cached_property
    def source(self) -> Ints:
        """The row of each bit; row 0 for padding bits, which `everybody` masks out."""
        source = np.zeros(64 * self.width, np.int64)
        source[self.position] = np.arange(len(self.segment))
        return source

    @cached_property
    def everybody(self) -> Bits:
        """The bitmap of all rows: 1 for every row, 0 for padding."""
        filled = np.zeros(64 * self.width, bool)
        filled[self.position] = True
        return np.packbits(filled, bitorder="little").view(np.uint64)

    def pack(self, masks: Bools) -> Bits:
        """Masks whose columns are in the order of `source` as (b, words) bitmaps."""
        bits = np.packbits(masks, axis=1, bitorder="little").view(np.uint64)
        bits &= self.everybody
        return bits

    def ones(self, bits: Bits) -> tuple[Ints, Ints]:
        """The bitmap and the bit of every bit that is set, in order."""
        words = np.flatnonzero(bits)
        which, word = np.divmod(words, max(1, bits.shape[1]))
        spread = np.unpackbits(bits.reshape(-1)[words].view(np.uint8), bitorder="little")
        place = np.flatnonzero(spread.view(bool))
        hit = place >> 6
        place &= 63
        place += (word << 6)[hit]
        return which[hit], place

    def count(self, bits: Bits) -> Array:
        """How many rows of each segment each bitmap holds: (b, labels, blocks)."""
        return self.fold(np.bitwise_count(bits), np.int32)

    def fold(self, words: Array, kind: Any = np.float64) -> Array:
        """Sums of one value per word over the words of each segment: (b, labels, blocks)."""
        sums = np.zeros((len(words), len(self.depth), self.blocks), kind)
        for depth in np.unique(self.depth[self.depth > 0]).tolist():
            labels = np.flatnonzero(self.depth == depth)  # they have as many words per segment, and stand together
            start = int(self.first[labels[0]])
            part = words[:, start : start + len(labels) * depth * self.blocks]
            sums[:, labels] = part.reshape(len(words), len(labels), depth, self.blocks).sum(axis=2, dtype=kind)
        return sums

    def holds(self, bits: Bits, which: Ints, rows: Ints) -> Bools:
        """Whether bitmap ``which[i]`` holds row ``rows[i]``."""
        place = self.position[rows]
        word = bits.reshape(-1)[which * bits.shape[1] + (place >> 6)]
        return np.asarray((word >> (place & 63).astype(np.uint64)) & np.uint64(1) == 1)


def order_by(numbers: Ints, many: int) -> Ints:
    """The stable order of whole numbers from 0 to ``many - 1``, one digit after the other.

    Examples
    --------
    >>> order_by(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    order = np.argsort((numbers & (2**_DIGIT - 1)).astype(np.uint16), kind="stable")
    shift = _DIGIT
    while many > 2**shift:
        digit = (numbers >> shift) & (2**_DIGIT - 1)
        order = order[np.argsort(digit[order].astype(np.uint16), kind="stable")]
        shift += _DIGIT
    return order


def run_starts(numbers: Ints) -> Ints:
    """The first position of each run of equal numbers.

    Examples
    --------
    >>> run_starts(np.array([4, 4, 7, 4])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    return np.flatnonzero(new)


def sums(index: Ints, values: Array, size: int = 0) -> Floats:
    """``result[i]`` is the sum of the values whose index is i; floats, at least so many of them."""
    return np.bincount(index, values, size).astype(np.float64, copy=False)


def divided(part: Any, whole: Any, otherwise: float) -> Floats:
    """Elementwise part / whole; `otherwise` if the whole is not positive."""
    found = np.full(np.broadcast(part, whole).shape, otherwise)
    return np.asarray(np.divide(part, whole, out=found, where=whole > 0))


def numbered_pairs(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """The different pairs of numbers from 0 on, in order, and the place of each pair among them.

    Examples
    --------
    >>> [column.tolist() for column in numbered_pairs(np.array([1, 0, 1]), np.array([0, 2, 0]))]
    [[0, 1], [2, 0], [1, 0, 1]]
    """
    many = int(second.max(initial=0)) + 1
    most, place = many * (int(first.max(initial=0)) + 1), first * many + second
    if most <= 4 * len(place) + 1024:
        known = np.bincount(place, minlength=most) > 0
        return *np.divmod(np.flatnonzero(known), many), (np.cumsum(known) - 1)[place]
    order = order_by(place, most)
    ascending = place[order]
    starts = run_starts(ascending)
    place[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    return *np.divmod(ascending[starts], many), place
