"""Coverage: collect the distinct explanations of a sample, then count the rows that each of them covers."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bitmaps import Bits, Layout, in_blocks
from faithscope.counting.blocks import Content
from faithscope.counting.counts import Counts
from faithscope.counting.gpu.devices import on_gpu
from faithscope.counting.influence import BlockSums, CoveredBlocks, Influence
from faithscope.counting.leave_out import LeftOut, Sums
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.metrics import pairwise
from faithscope.explanations.distances.near import Near
from faithscope.relations import Blocks, Parts, Relation, Within, vectors
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT = 10**8  # explanations x rows: beyond it, blocks of rows are left out instead of single rows
_BLOCKS = 100
_TABLE = 2**21  # entries of an (explanations, labels, blocks) table worked on at once
_WEIGHED = 2**22  # bits of masks multiplied by weights at once


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """The rows of a sample, with their explanations, labels and blocks as numbers.

    Attributes
    ----------
    distinct : Explanations
        The distinct explanations.
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
    """

    distinct: Explanations
    codes: Ints
    names: tuple[Any, ...]
    labels: Ints
    blocks: int
    content: Content

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def weights(self) -> Floats | None:
        """The weight of each row; None if rows are not weighted."""
        return self.content.weights

    @cached_property
    def block(self) -> Ints:
        """The block of each row; it depends on the content of the row and not on its position."""
        return np.zeros(self.n, np.int64) if self.blocks == 1 else self.content.deal(self.blocks)

    def layout(self) -> Layout:
        """The order of rows in bitmaps: by label, and by block within a label."""
        segments = len(self.names) * self.blocks
        words = self.n // 64 + min(self.n, segments)  # an upper bound: every segment is padded to whole words
        asked = f"Bitmaps of {self.n:,} rows with {len(self.names):,} labels"
        need(640 * words + 128 * segments + 64 * self.n, asked, "sample rows, or bin the predictions")
        return Layout(self.labels * self.blocks + self.block, segments)


def number_rows(sample: Sample, scopes: Explanations, exact: int, content: Content) -> NumberedRows:
    """The rows with their distinct scopes as numbers."""
    codes, first = scopes.group()
    return _numbered(sample, scopes.take(first), codes, exact, content)


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
    few = len(distinct) * max(len(codes), 16 * len(names)) <= exact
    blocks = 1 if few else int(np.clip(len(codes) // (32 * len(names)), 20, _BLOCKS))
    return NumberedRows(distinct, codes, names, numbers, min(blocks, len(codes)), content)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of the rows that explanations cover, and what the interval needs in addition."""

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: NDArray[np.bool_]  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and if no interval was asked for
    close: int | None = None  # pairs that a GPU decided in double precision; None if the CPU counted
    block: Ints | None = None  # the block of each row; None if single rows were left out
    alike: bool = True  # whether every other explainer of these rows has the same blocks
    sums: Sums | None = None  # the sums of weighted terms; None if rows are not weighted: counts give them


def cover(
    sample: Sample,
    relation: Relation,
    *,
    interval: bool = True,
    exact: int = EXACT,
    device: str = "cpu",
    beside: Sequence[Explanations] = (),
) -> Coverage:
    """Count the rows that the explanations of a sample cover.

    Parameters
    ----------
    sample : Sample
        It must have X if the relation reads rows.
    relation : Relation
    interval : bool
        Whether to leave out rows for an interval; False if only the counts are wanted.
    exact : int
        Rows are left out one by one while explanations x rows is at most this, and in blocks beyond. Weighted rows are
        always left out in blocks, and a GPU always leaves out single rows.
    device : {"auto", "cpu", "cuda"}
    beside : sequence of Explanations
        The explanations of all explainers that are compared, including these, so that all leave out the same blocks.
    """
    scopes = relation.scopes(sample.explanations)
    limit = sys.maxsize if not interval else exact if sample.weights is None else 0
    content = Content(sample.labels, beside or (scopes,), sample.X, sample.weights)
    return _cover(number_rows(sample, scopes, limit, content), sample, relation, interval, device)


def count_among(sample: Sample, relation: Relation, among: Explanations) -> Counts:
    """Counts of the rows that the explanations `among` cover; counts of several samples among the same ones add up."""
    scopes = relation.scopes(sample.explanations)
    content = Content(sample.labels, (scopes,), sample.X)
    rows = number_among(sample, scopes, relation.scopes(among), content)
    return _cover(rows, sample, relation, interval=False).counts


def _cover(
    rows: NumberedRows, sample: Sample, relation: Relation, interval: bool = True, device: str = "cpu"
) -> Coverage:
    covers = relation.cover(rows.distinct, sample.explanations, sample.X)
    coverage = on_gpu(
        device if sample.weights is None else "cpu",
        covers.near,
        len(rows.distinct) * rows.n,
        lambda gpu, near: _cover_on_gpu(gpu, near, [near.radii], [relation], rows, interval)[0],
    )
    if coverage is not None:
        return replace(coverage, idle=_idle(covers, coverage.counts))
    layout = rows.layout()
    watched, idle = _watched(covers)
    tally = _Tally(rows, keep=interval and rows.blocks == 1 and rows.weights is None)
    for start, bits in in_blocks(watched, layout, len(rows.distinct), tally.step(layout)):
        tally.add(start, bits, layout)
    return replace(tally.result(relation, layout, interval), idle=tuple(map(str, idle)))


def _watched(covers: Parts | Blocks) -> tuple[Parts | Blocks, list[Any]]:
    """The same coverage, and a list to which counting it adds the parts that hold on no row."""
    idle: list[Any] = []
    if isinstance(covers, Blocks):
        return covers, idle

    if covers.postings is not None:
        held = np.bincount(covers.postings[0], minlength=len(covers.parts))
        return covers, [covers.parts[number] for number in np.flatnonzero(held == 0)]

    def watch() -> Iterator[NDArray[np.bool_]]:
        for part, mask in zip(covers.parts, covers.masks, strict=True):
            if not mask.any():
                idle.append(part)
            yield mask

    return replace(covers, masks=watch()), idle


def _cover_on_gpu(
    gpu: ModuleType,
    near: Near,
    radii: Sequence[Floats],
    relations: Sequence[Relation],
    rows: NumberedRows,
    interval: bool,
) -> list[Coverage]:
    """Coverage within one or several radii of every center, counted on a GPU."""
    pairs = gpu.DevicePairs(near, rows.codes, rows.labels, len(rows.names))
    coverages = []
    for relation, radius, cells in zip(relations, radii, pairs.count(np.stack(radii)), strict=True):
        table = (cells.explanation, cells.label, cells.given, cells.covered, cells.missed)
        counts = Counts(rows.distinct, rows.names, *table, relation=relation)
        left_out = None
        if interval and rows.n > 1:
            influence = Influence(counts)
            sums = pairs.influence(radius, influence.explanation, influence.label, influence.weights)
            left_out = influence.left_out(sums, rows.codes, rows.labels, cells.own)
        coverages.append(Coverage(counts, rows.codes, cells.own, left_out=left_out, close=cells.close))
    return coverages


def _idle(covers: Parts | Blocks, counts: Counts) -> tuple[str, ...]:
    """The parts that hold on no row; requires that every explanation is a single part."""
    if isinstance(covers, Blocks):
        return ()
    empty = np.flatnonzero(counts.per_explanation == 0)
    return tuple(str(covers.parts[covers.lists[row][0]]) for row in empty)


def cover_curve(sample: Sample, relations: Sequence[Within], *, device: str = "cpu") -> list[Coverage]:
    """Coverage within several distances of one metric; every distance is computed once."""
    explanations = sample.explanations
    content = Content(sample.labels, (explanations,))
    rows = number_rows(sample, explanations, EXACT // len(relations), content)
    on_device = on_gpu(
        device,
        relations[0].cover(rows.distinct, explanations, None).near,
        len(rows.distinct) * rows.n,
        lambda gpu, near: _cover_on_gpu(
            gpu, near, [np.full(len(near.radii), relation.tau) for relation in relations], relations, rows, True
        ),
    )
    if on_device is not None:
        return on_device
    layout, centers, points = rows.layout(), vectors(rows.distinct), vectors(explanations)
    tallies = [_Tally(rows, keep=rows.blocks == 1) for _ in relations]
    step = max(1, min(_TABLE // layout.segments, _TABLE // rows.n))
    for start in range(0, len(centers), step):
        distances = pairwise(centers[start : start + step], points, relations[0].metric)
        for relation, tally in zip(relations, tallies, strict=True):
            tally.add(start, layout.pack(distances <= relation.tau), layout)
    pairs = zip(tallies, relations, strict=True)
    return [tally.result(relation, layout) for tally, relation in pairs]


class _Tally:
    """Accumulates counts, and what the interval needs, over batches of explanations."""

    def __init__(self, rows: NumberedRows, keep: bool) -> None:
        self.rows, self.keep = rows, keep
        self.order = np.argsort(rows.codes, kind="stable")
        self.bounds = np.searchsorted(rows.codes[self.order], np.arange(len(rows.distinct) + 1))
        self.own = np.zeros(rows.n, bool)
        self.cells: list[tuple[NDArray[Any], ...]] = []
        self.held = 0  # bytes of the cells
        self.bits: list[tuple[int, Bits]] = []
        self.sums = BlockSums(rows.blocks, weighted=rows.weights is not None)

    def step(self, layout: Layout) -> int:
        """How many explanations to add at once."""
        most = _TABLE // layout.segments
        return max(1, most if self.rows.weights is None else min(most, _WEIGHED // (64 * int(layout.words[-1]))))

    def add(self, start: int, bits: Bits, layout: Layout) -> None:
        """Add a batch of explanations by their bitmaps; `start` is the number of the first."""
        numbered, many = self.rows, len(bits)
        given_rows = self.order[self.bounds[start] : self.bounds[start + many]]
        which = numbered.codes[given_rows] - start
        own = self.own[given_rows] = layout.holds(bits, which, given_rows)
        covered = layout.count(bits).reshape(many, len(numbered.names), numbered.blocks)
        by_label = covered.sum(axis=2)
        cell = which * len(numbered.names) + numbered.labels[given_rows]
        weights = None if numbered.weights is None else numbered.weights[given_rows]
        tables = [np.bincount(cells, minlength=by_label.size) for cells in (cell, cell[~own])]
        if weights is not None:
            tables += [np.bincount(cell, power, minlength=by_label.size) for power in (weights, weights**2)]
        self._keep_cells(start, by_label, *(table.reshape(by_label.shape) for table in tables))
        if self.keep:
            self.bits.append((start, bits))
        elif numbered.blocks > 1 or weights is not None:
            weighed = covered if weights is None else self._weigh(bits, layout).reshape(covered.shape)
            self.sums.add(_covered_blocks(cell, numbered.block[given_rows], own, weights, weighed, covered))

    def _weigh(self, bits: Bits, layout: Layout) -> Floats:
        """The weight of the rows that each bitmap holds, per segment: (bitmaps, segments)."""
        masks = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        weighed = np.zeros((len(bits), layout.segments))
        full = np.flatnonzero(layout.sizes)
        weights = np.ones(self.rows.n) if self.rows.weights is None else self.rows.weights
        weighed[:, full] = np.add.reduceat(masks * weights[layout.source], 64 * layout.words[:-1][full], axis=1)
        return weighed

    def _keep_cells(self, start: int, covered: Ints, given: Ints, missed: Ints, *masses: Floats) -> None:
        explanation, label = occupied = np.nonzero(given + covered)
        tables = (given, covered, missed, *masses)
        self.cells.append((explanation + start, label, *(table[occupied] for table in tables)))
        self.held += 8 * (2 + len(tables)) * len(label)
        upto, many = start + len(given), len(self.rows.distinct)
        asked = f"Counts of {upto:,} of {many:,} explanations by {len(self.rows.names):,} labels"
        need(self.held / 2, asked, "sample rows or explanations, or bin the predictions")  # to put them together

    def result(self, relation: Relation, layout: Layout, interval: bool = True) -> Coverage:
        """The coverage of all explanations that were added."""
        counts = self._counts(relation)
        left_out = self._left_out(counts, layout) if self.rows.n > 1 and interval else None
        coverage = Coverage(counts, self.rows.codes, self.own, left_out=left_out, sums=self._weighted_sums())
        if left_out is None or self.keep:
            return coverage
        return replace(coverage, block=self.rows.block, alike=self.rows.content.of_rows_alone)

    def _weighted_sums(self) -> Sums | None:
        if self.rows.weights is None:
            return None
        silent = float(self.sums.silent[0])
        return Sums(float(self.sums.agreeing[0]), silent, silent + self.sums.checked)  # all silent is exactly all

    def _counts(self, relation: Relation) -> Counts:
        parts = list(zip(*self.cells, strict=True))
        self.cells.clear()
        # One column after the other, so that they are never all in memory twice.
        explanation, label, given, covered, missed, *masses = (np.concatenate(parts.pop(0)) for _ in range(len(parts)))
        tables = (explanation, label, given, covered, missed)
        counts = Counts(self.rows.distinct, self.rows.names, *tables, relation=relation)
        return replace(counts, weight=masses[0], square=masses[1]) if masses else counts

    def _left_out(self, counts: Counts, layout: Layout) -> LeftOut:
        """The measure without each row, or without each block of rows."""
        if self.keep:
            return self._leave_out_rows(counts, layout)
        rows, weights = self.rows, self.rows.weights
        per_block = np.bincount(rows.block, weights, minlength=rows.blocks).astype(np.float64)
        return self.sums.left_out(per_block, None if weights is None else float(weights.mean()))

    def _leave_out_rows(self, counts: Counts, layout: Layout) -> LeftOut:
        """Leave out every row in turn: its own term, and the terms of all explanations that cover it."""
        influence, rows = Influence(counts), self.rows
        sums = np.zeros((3, len(layout.source)))
        # Products are over all bits, those that fill words up included: with many labels these are most.
        dense = 16 * int(counts.covered.sum()) > counts.distinct * len(layout.source)
        add = influence.add_densely if dense else influence.add_sparsely
        for start, bits in self.bits:
            step = max(1, _TABLE // rows.n)
            for begin in range(0, len(bits), step):
                add(start + begin, bits[begin : begin + step], layout, sums)
        return influence.left_out(sums[:, layout.position], rows.codes, rows.labels, self.own)


def _covered_blocks(
    cell: Ints,
    block: Ints,
    own: NDArray[np.bool_],
    weights: Floats | None,
    covered: NDArray[Any],
    rows: Ints,
) -> CoveredBlocks:
    """Weights per block for a batch of explanations, from the rows that were given them.

    Parameters
    ----------
    cell, block, own, weights : (k,) arrays
        For the k rows that were given these explanations: the cell, the block, whether its explanation covers the row,
        and the weight.
    covered, rows : (explanations, labels, blocks) arrays
        The weight and the number of the rows that each explanation covers, per label and block.
    """
    _, labels, blocks = covered.shape
    cells, at = np.unique(cell, return_inverse=True)
    place, size = at * blocks + block, len(cells) * blocks

    def by_block(chosen: NDArray[np.bool_], power: int) -> Floats:
        values = None if weights is None else weights[chosen] ** power
        return np.bincount(place[chosen], values, minlength=size).reshape(len(cells), blocks).astype(np.float64)

    inside = by_block(own, 1)
    return CoveredBlocks(
        explanation=cells // labels,
        inside=inside,
        squares=inside if weights is None else by_block(own, 2),
        missed=by_block(~own, 1),
        same=covered.reshape(-1, blocks)[cells],
        covered=(whole := covered.sum(axis=1)),
        rows=whole if weights is None else rows.sum(axis=1),
    )
