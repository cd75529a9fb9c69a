"""Rows by segment in pieces of few rows, so that a sum of eight booleans at a time counts those of a piece."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

_MOST = 248  # rows of a piece: their number fits in a byte, and they fill whole words of eight
_ONES = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The order of rows by segment, in pieces: each is filled up to a whole number of words, eight rows per word.

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
    def order(self) -> Ints:
        """The rows in order of segment."""
        return np.argsort(self.segment, kind="stable")

    @cached_property
    def of(self) -> Ints:
        """The segment of each piece."""
        sizes = np.bincount(self.segment, minlength=self.segments)
        return np.repeat(np.arange(self.segments), -(-sizes // _MOST))

    @cached_property
    def bounds(self) -> Ints:
        """The first row of each piece, in order of segment, and one past the last."""
        ends = np.cumsum(np.bincount(self.segment, minlength=self.segments))
        first = np.searchsorted(self.of, self.of)  # the first piece of the same segment
        begins = np.concatenate([[0], ends])[self.of] + _MOST * (np.arange(len(self.of)) - first)
        return np.append(begins, len(self.segment))

    @cached_property
    def places(self) -> Ints:
        """The first place of each piece, and one past the last; a place holds a row, or fills up."""
        return np.concatenate([[0], np.cumsum(8 * -(-np.diff(self.bounds) // 8))])

    @cached_property
    def position(self) -> Ints:
        """The place of each row, for rows in order of segment."""
        return np.arange(len(self.segment)) + np.repeat(self.places[:-1] - self.bounds[:-1], np.diff(self.bounds))

    def groups(self, size: int) -> Ints:
        """The first piece of each group of pieces of about `size` places together, and one past the last."""
        most = range(0, int(self.places[-1]), size)
        return np.unique(np.append(np.searchsorted(self.places, most), len(self.of)))

    def count(self, masks: NDArray[np.bool_], first: int, last: int) -> Bytes:
        """How many rows of the pieces `first` to `last` each mask holds; the columns are the places of these."""
        begins = (self.places[first:last] - self.places[first]) // 8
        sums = np.add.reduceat(masks.view(np.uint64), begins, axis=1)  # each byte is a sum of its own
        return ((sums * _ONES) >> _TOP).astype(np.uint8)  # the product adds all bytes up in the highest

    def count_across(self, masks: NDArray[np.bool_], first: int, last: int) -> Bytes:
        """How many of the masks, one per row of the pieces `first` to `last`, hold each column: (pieces, columns)."""
        bounds = (self.bounds[first : last + 1] - self.bounds[first]).tolist()
        ones, counts = masks.view(np.uint8), np.empty((last - first, masks.shape[1]), np.uint8)
        for number, row in enumerate(counts):
            np.add.reduce(ones[bounds[number] : bounds[number + 1]], axis=0, dtype=np.uint8, out=row)
        return counts

    def by_segment(self, counts: Bytes) -> Ints:
        """Counts per piece, added up per segment: (…, segments)."""
        full, first = np.unique(self.of, return_index=True)
        if len(full) == len(self.of) == self.segments:
            return counts.astype(np.int64)
        table = np.zeros((*counts.shape[:-1], self.segments), np.int64)
        if len(full):
            table[..., full] = np.add.reduceat(counts, first, axis=-1, dtype=np.int64)
        return table
