"""Rows by number: their explanations, labels and blocks, as bitmaps and sums over them need them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.layout import Layout
from faithscope.counting.bits.ordering import order_by
from faithscope.counting.blocks import Content
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCKS = 100
_FEWER_LABELS = "sample rows, or bin the predictions"
ROWS_PER_SEGMENT = 4  # with fewer, most bits and most entries of tables would be padding


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """The rows of a sample, with their explanations, labels and blocks as numbers.

    Attributes
    ----------
    distinct : Explanations
        The distinct explanations; if all are, those of the sample, which a caller may change later: see `kept`.
    codes : (n,) array
        The position of each row's explanation among the distinct ones.
    names : tuple
        The distinct labels.
    labels : (n,) array
        The position of each row's label among the distinct ones.
    blocks : int
        Number of blocks of rows that are left out in turn; 1 if single rows are.
    content : Content
        What decides the block of a row.
    numbers : bool
        Whether bitmaps hold rows in the order of their predictions, in a single segment: numbers, or clustered rows.
    """

    distinct: Explanations
    codes: Ints
    names: Sequence[Any]
    labels: Ints
    blocks: int
    content: Content
    numbers: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def clusters(self) -> Ints | None:
        """The cluster of each row; None if rows are not clustered."""
        return self.content.clusters

    @property
    def weights(self) -> Floats | None:
        """The weight of each row; None if rows are not weighted."""
        return self.content.weights

    @cached_property
    def kept(self) -> Explanations:
        """The distinct explanations, to be kept: a copy, if a caller may change them."""
        return self.distinct.take(np.arange(self.n)) if len(self.distinct) == self.n else self.distinct

    @cached_property
    def block(self) -> Ints:
        """The block of each row; it depends on the content of the row and not on its position."""
        return np.zeros(self.n, np.int64) if self.blocks == 1 else self.content.deal(self.blocks)

    @cached_property
    def _by_explanation(self) -> tuple[Ints, Ints]:
        """Rows in order of explanation, then of label; and where the rows of each explanation begin."""
        by_label = order_by(self.labels, len(self.names))
        order = by_label[order_by(self.codes[by_label], len(self.distinct))]
        return order, np.searchsorted(self.codes[order], np.arange(len(self.distinct) + 1))

    def given(self, start: int, many: int) -> Ints:
        """The rows that were given the explanations from `start` on, in order of explanation, then of label."""
        order, bounds = self._by_explanation
        return order[bounds[start] : bounds[start + many]]

    def layout(self, padded: bool = True) -> Layout:
        """The order of rows in bitmaps: by label, and by block within a label; numbers ascend."""
        if self.numbers:
            need(64 * self.n, f"Bitmaps of {self.n:,} rows", "sample rows")
            return Layout(np.zeros(self.n, np.int64), 1, self.labels)
        asked = f"Bitmaps of {self.n:,} rows with {len(self.names):,} labels"
        segments = len(self.names) * self.blocks
        need((128 if padded else 512) * self.n + 32 * segments * padded, asked, _FEWER_LABELS)
        layout = Layout(self.labels * self.blocks + self.block, segments, blocks=self.blocks, padded=padded)
        need(640 * layout.width, asked, _FEWER_LABELS)
        return layout

    @property
    def sparse(self) -> bool:
        """Whether there are so few rows per label and block that cells are listed, instead of counted in tables."""
        return not self.numbers and self.n < ROWS_PER_SEGMENT * len(self.names) * self.blocks


def number_rows(sample: Sample, scopes: Explanations, exact: int, content: Content) -> NumberedRows:
    """The rows with their distinct scopes as numbers."""
    codes, first = scopes.group()
    distinct = scopes if len(first) == len(codes) else scopes.take(first)  # numbered in order of appearance
    return _numbered(sample, distinct, codes, exact, content)


def number_among(sample: Sample, scopes: Explanations, among: Explanations, content: Content) -> NumberedRows:
    """The rows numbered by explanations that were collected before, from these rows and from others."""
    codes = among.locate(scopes)
    if (codes < 0).any():
        raise Incompatible(
            f"Row {int((codes < 0).argmax())} was given an explanation that is not among those to count. "
            "Collect the distinct explanations of all parts first."
        )
    return _numbered(sample, among, codes, sys.maxsize, content)


def _numbered(sample: Sample, distinct: Explanations, codes: Ints, exact: int, content: Content) -> NumberedRows:
    names, numbers = sample.numbered_labels
    by_number = sample.agreement.of_numbers or sample.clusters is not None
    segments = 1 if by_number else len(names)
    few = len(distinct) * max(len(codes), 16 * segments) <= exact
    blocks = 1 if few else int(np.clip(len(codes) // (32 * segments), 20, _BLOCKS))
    blocks = min(blocks, len(codes) if sample.clusters is None else int(sample.clusters.max()) + 1)
    return NumberedRows(distinct, codes, names, numbers, blocks, content, by_number)
