"""Bitmaps of the rows that explanations cover: one bit per row, so that one AND or bit count treats 64 rows."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from faithscope.counting.layout import Bits, Layout
from faithscope.errors import NotProven
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.chunks import in_threads
from faithscope.relations import Blocks, Parts
from faithscope.runtime.blas import one_blas_thread
from faithscope.runtime.memory import need

T = TypeVar("T")

_AT_A_TIME = 2**18  # words of bitmaps that a thread works on
_MASK_CELLS = 2**22  # booleans of a mask made at once
_PACKED = 2**20  # booleans packed at once


def over_batches(
    cover: Parts | Blocks,
    layout: Layout,
    explanations: int,
    most: int,
    work: Callable[[int, Bits], T],
    idle: list[str] | None = None,
) -> Iterator[T]:
    """``work(start, bits)`` for the bitmaps of all explanations in batches, in order; several threads compute it.

    The parts that hold on no row are added to `idle`.
    """
    words, rows = layout.width, len(layout.segment)
    if isinstance(cover, Parts):
        count = len(cover.parts) + 1
        asked = f"Bitmaps of {count - 1:,} conditions over {rows:,} rows"
        need(8 * count * words, asked, "sample rows, or explanations")
        # One bitmap per part; bitmap 0 holds every row, and part k has bitmap k + 1.
        if cover.postings is not None:
            which, held = cover.postings
            parts = layout.pack_pairs(which + 1, held, count)
        else:
            parts = np.empty((count, words), np.uint64)
            masks, at_once = cover.masks(layout.source), max(1, _PACKED // max(1, 64 * words))

            def pack(numbered: list[tuple[int, Bools]]) -> tuple[list[int], Bits]:
                arranged = np.stack([mask for _, mask in numbered])
                return [1 + number for number, _ in numbered], layout.pack(arranged)

            some = (list(islice(masks, at_once)) for _ in range(0, count - 1, at_once))
            for numbers, packed in in_threads(pack, some):
                parts[numbers] = packed
        parts[0] = layout.everybody
        if idle is not None:
            idle += [str(cover.parts[number]) for number in np.flatnonzero(~parts[1:].any(axis=1))]
        sizes = np.array([len(parts) for parts in cover.lists], np.int64)
        begins = np.cumsum(sizes) - sizes
        listed = 1 + np.fromiter(chain.from_iterable(cover.lists), np.int64, int(sizes.sum()))
    step = max(1, min(most, _AT_A_TIME // max(1, words)))

    def batch(start: int) -> T:
        stop = min(start + step, explanations)
        if isinstance(cover, Parts):
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
        elif cover.pairs is not None:
            which, held = cover.pairs  # pairs (explanation, row) that ascend by explanation
            part = slice(*np.searchsorted(which, [start, stop]))
            bits = layout.pack_pairs(which[part] - start, held[part], stop - start)
        else:
            masks = (mask(a, min(a + cells, stop)) for a in range(start, stop, cells))
            bits = np.concatenate([layout.pack(each) for each in masks])
        return work(start, bits)

    threads, cells = True, max(1, _MASK_CELLS // max(1, rows))
    if isinstance(cover, Blocks):
        threads = cover.threads
        if cover.pairs is None:
            mask = cover.masks(layout.source)
    # Small products gain nothing from BLAS's own threads, and those of several callers block each other.
    with one_blas_thread() if isinstance(cover, Blocks) else nullcontext():
        starts = range(0, explanations, step)
        yield from in_threads(batch, starts) if threads and len(starts) > 1 else map(batch, starts)


def in_blocks(cover: Parts | Blocks, layout: Layout, explanations: int, most: int) -> Iterator[tuple[int, Bits]]:
    """The bitmaps of all explanations in batches, in order: the number of the first, and the bitmaps."""
    return over_batches(cover, layout, explanations, most, lambda start, bits: (start, bits))


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

    @classmethod
    def of(cls, covers: Parts | Blocks, codes: Ints, distinct: int) -> "Asked | None":
        """Those of a coverage; None if all pairs are known."""
        return None if covers.asked is None else cls(*covers.asked, codes, distinct)

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

    @property
    def share(self) -> float:
        """The share of all pairs that were asked about."""
        return len(self.row) / (self.distinct * len(self.codes))

    def per_cell(self, labels: Ints, many: int) -> Ints:
        """Rows of each of the `many` labels that each explanation was asked about: (explanations, labels)."""
        table = np.bincount(self.which * many + labels[self.row], minlength=self.distinct * many)
        return table.reshape(self.distinct, many)


def refuse_unasked(measure: str) -> None:
    """Raise where it is unknown whether explanations cover rows: "not asked" is not "does not apply"."""
    raise NotProven(
        f"{measure} needs to know of every row whether an explanation applies to it, and the judge was asked about "
        "some pairs only: ask about all of them, fs.pairs_to_ask(explanations, per_explanation=None), or measure "
        "sufficiency."
    )
