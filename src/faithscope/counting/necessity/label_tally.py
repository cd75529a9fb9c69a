"""Tallies of labeled rows: whom explanations cover, over batches of explanations, as bitmaps or as counts."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.necessity.blocks import ReachedRows, ReachedSums
from faithscope.counting.necessity.counted import NecessityTerms
from faithscope.counting.necessity.rows import LabeledRows, label_terms
from faithscope.counting.numbered import NumberedRows
from faithscope.counting.tally import TABLE, WEIGHED, weigh

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_WORDS_PER_LABEL = 8  # below it, covered rows are listed instead of multiplied
_CELLS = 2**17  # of masks multiplied at once, so that they stay in cache


class NecessityTally:
    """What is known of labeled rows, and which of them were given an explanation."""

    def __init__(self, rows: NumberedRows, own: NDArray[np.bool_] | None = None) -> None:
        self.rows, self.labels = rows, len(rows.names)
        self.own = np.zeros(rows.n, bool) if own is None else own
        self.same = np.zeros(rows.n)
        self.reached = np.zeros(len(rows.distinct), np.int64)

    def given(self, start: int, many: int) -> tuple[Ints, Ints]:
        """The rows that were given a batch of explanations, and which of these."""
        rows = self.rows.given(start, many)
        return rows, self.rows.codes[rows] - start


class RowTally(NecessityTally):
    """Rows that are left out one by one: how many rows of its label have an explanation that covers each row."""

    def layout(self) -> Layout:
        """The order of rows in bitmaps."""
        return self.rows.layout(padded=not self.rows.sparse)

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        return max(1, TABLE // max(self.rows.n, self.labels))

    @cached_property
    def per_label(self) -> Ints:
        """Rows with each label."""
        return np.bincount(self.rows.labels, minlength=self.labels)

    @cached_property
    def given_by_label(self) -> Floats:
        """Rows that were given each explanation, by label: (explanations, labels)."""
        cells = self.rows.codes * self.labels + self.rows.labels
        table = np.bincount(cells, minlength=len(self.rows.distinct) * self.labels)
        return table.reshape(-1, self.labels).astype(np.float64)

    @cached_property
    def given_checked(self) -> Floats:
        """Of these, the rows that can be checked: somebody else gets their label."""
        return np.asarray(self.given_by_label[:, self.per_label > 1].sum(axis=1))

    @cached_property
    def reaching(self) -> Floats:
        """Per row, the rows whose explanation covers it: those with its label, and those that can be checked."""
        return np.zeros((2, self.rows.n))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """Count a batch of explanations by their bitmaps, in any thread; what is returned adds them."""
        given, which = self.given(start, len(bits))
        self.own[given] = layout.holds(bits, which, given)
        chosen = slice(start, start + len(bits))
        ones = int(np.bitwise_count(bits).sum())
        filled = layout.padded and layout.width >= _WORDS_PER_LABEL * self.labels
        dense = filled and 16 * ones > bits.size * 64
        counts: NDArray[Any]
        if dense:
            counts, sums = layout.count(bits)[:, :, 0], self._densely(chosen, bits, layout)
        else:
            counts, sums = self._sparsely(chosen, bits, layout)
        self.same[given] = counts[which, self.rows.labels[given]]
        self.reached[chosen] = counts.sum(axis=1)
        return partial(self._add, sums[:, layout.position])

    def _add(self, sums: Floats) -> None:
        self.reaching[:] += sums

    def _sparsely(self, chosen: slice, bits: Bits, layout: Layout) -> tuple[Ints, Floats]:
        """Counts by label, and sums over the explanations that cover each bit, by listing all that are set."""
        which, place = layout.ones(bits)
        label = self.rows.labels[layout.source][place]
        counts = np.bincount(which * self.labels + label, minlength=len(bits) * self.labels).reshape(len(bits), -1)
        columns = (self.given_by_label[chosen][which, label], self.given_checked[chosen][which])
        size = len(layout.source)
        return counts, np.stack([np.bincount(place, column, minlength=size) for column in columns])

    def _densely(self, chosen: slice, bits: Bits, layout: Layout) -> Floats:
        """The same sums by matrix products, label by label: faster if explanations cover many rows."""
        sums, ends = np.zeros((2, len(layout.source))), layout.first + layout.depth
        for label, (first, last) in enumerate(zip(layout.first.tolist(), ends.tolist(), strict=True)):
            weights = np.vstack([self.given_by_label[chosen, label], self.given_checked[chosen]])
            step = max(1, _CELLS // (64 * len(bits)))
            for a in range(first, last, step):
                b = min(a + step, last)
                masks = np.unpackbits(np.ascontiguousarray(bits[:, a:b]).view(np.uint8), axis=1, bitorder="little")
                sums[:, 64 * a : 64 * b] = weights @ masks.astype(np.float64)
        return sums

    def terms(self) -> NecessityTerms:
        """The terms of all rows, and the same without each."""
        rows, own = self.rows, self.own.astype(np.float64)
        sure = (self.per_label > 1)[rows.labels]
        same, checked = self.reaching
        return label_terms(
            LabeledRows(
                label=rows.labels,
                same=self.same - own,
                covered=self.reached[rows.codes] - own,
                same_reaching=same - own,
                reaching=checked - own * sure,
                rows=np.ones(rows.n, np.int64),
                per_label=self.per_label,
            )
        )


class BlockTally(NecessityTally):
    """Rows that are left out in blocks: counts of covered rows by label and block; rows may be weighted."""

    def __init__(self, rows: NumberedRows, own: NDArray[np.bool_] | None = None) -> None:
        super().__init__(rows, own)
        self.weights = np.ones(rows.n) if rows.weights is None else rows.weights
        segment = rows.labels * rows.blocks + rows.block
        table = np.bincount(segment, self.weights, minlength=self.labels * rows.blocks)
        self.alike = table.reshape(self.labels, rows.blocks).astype(np.float64)
        self.sums = ReachedSums(self.alike.sum(axis=0))

    def layout(self) -> Layout:
        """The order of rows in bitmaps."""
        return self.rows.layout(padded=True)

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        most = TABLE // max(1, layout.segments)
        return max(1, most if self.rows.weights is None else min(most, WEIGHED // max(1, 64 * layout.width)))

    def prepare(self, start: int, bits: Bits, layout: Layout) -> Callable[[], None]:
        """Count a batch of explanations by their bitmaps, in any thread; what is returned adds them."""
        given, which = self.given(start, len(bits))
        self.own[given] = layout.holds(bits, which, given)
        counts = layout.count(bits)
        weights = self.rows.weights
        covered = counts if weights is None else layout.fold(weigh(bits, weights[layout.source]))
        return self._prepared(start, counts, covered)

    def prepare_counts(self, start: int, counts: Ints) -> Callable[[], None]:
        """`prepare` by counts of the covered rows, (explanations, labels * blocks); `own` must be known."""
        covered = counts.reshape(len(counts), self.labels, self.rows.blocks)
        return self._prepared(start, covered, covered)

    def _prepared(self, start: int, counts: NDArray[Any], covered: NDArray[Any]) -> Callable[[], None]:
        given, which = self.given(start, len(counts))
        label, own = self.rows.labels[given], self.own[given]
        self.reached[start : start + len(counts)] = counts.sum(axis=(1, 2))
        self.same[given] = covered.sum(axis=2)[which, label]
        # Rows that are not weighted are alike if they share explanation, label, and whether it covers them.
        kind = (which * self.labels + label) * 2 + own if self.rows.weights is None else np.arange(len(given))
        _, first, kinds = np.unique(kind, return_index=True, return_inverse=True)
        place = kinds.reshape(-1) * self.rows.blocks + self.rows.block[given]
        weight = np.bincount(place, self.weights[given], minlength=len(first) * self.rows.blocks)
        weight = weight.reshape(len(first), -1).astype(np.float64)
        which, label, mine = which[first], label[first], self.weights[given][first]
        inside = mine * own[first]
        rows = ReachedRows(
            weight, covered[which, label], covered.sum(axis=1)[which], self.alike[label], inside, inside, mine, mine
        )
        return partial(self.sums.add, self.sums.terms(rows))

    def terms(self) -> NecessityTerms:
        """The terms of all rows, and the same without each block."""
        return self.sums.result(heaviest=heaviest(self.weights))


def heaviest(weights: Floats) -> float:
    """How many effective rows the heaviest counts for: ``n_eff · max w / Σw``, which is 1 if rows count alike."""
    return float(weights.sum() * weights.max() / (weights**2).sum())
