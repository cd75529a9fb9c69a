"""Coverage: two passes over rows. Collect the distinct explanations, then count whom they cover."""

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
from faithscope.counting.counts import Counts, number_labels
from faithscope.counting.gpu.devices import on_gpu
from faithscope.counting.leave_out import Change, LeftOut, ratio, weight_of_blocks
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.metrics import pairwise
from faithscope.explanations.distances.near import Near
from faithscope.relations import Blocks, Parts, Relation, Within, vectors
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT = 10**8  # explanations x rows: beyond it, blocks of rows are left out instead of single rows
_BLOCKS = 100
_TABLE = 2**21  # entries of an (explanations, labels, blocks) table worked on at once


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with what they were given, numbered: their explanation, their label, their block."""

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

    @cached_property
    def block(self) -> Ints:
        """The block of each row, by what it is, so that the order of the rows does not matter."""
        return np.zeros(self.n, np.int64) if self.blocks == 1 else self.content.deal(self.blocks)

    def layout(self) -> Layout:
        """Rows by label, and by block within a label."""
        segments = len(self.names) * self.blocks
        words = self.n // 64 + min(self.n, segments)  # at most: every segment is filled up to whole words
        asked = f"Bitmaps of {self.n:,} rows with {len(self.names):,} labels"
        need(640 * words + 128 * segments + 64 * self.n, asked, "sample rows, or bin the predictions")
        return Layout(self.labels * self.blocks + self.block, segments)


def number_rows(scopes: Explanations, among: Explanations | None, exact: int, content: Content) -> Sample:
    """Number the rows by the distinct explanations, those among which to count if they are given."""
    labels = content.labels
    names, numbers = number_labels(labels)
    if among is None:
        codes, first = scopes.group()
        distinct = scopes.take(first)
    else:
        distinct, codes = among, among.locate(scopes)
        if (codes < 0).any():
            raise Incompatible(
                f"Row {int((codes < 0).argmax())} was given an explanation that is not among those to count. "
                "Collect the distinct explanations of all parts first."
            )
    few = len(distinct) * max(len(codes), 16 * len(names)) <= exact
    blocks = 1 if few else int(np.clip(len(codes) // (32 * len(names)), 20, _BLOCKS))
    return Sample(distinct, codes, names, numbers, min(blocks, len(codes)), content)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts of whom explanations cover, and what the interval needs besides."""

    counts: Counts
    codes: Ints  # the explanation of each row, among the distinct ones
    own: NDArray[np.bool_]  # whether each row is covered by its own explanation
    idle: tuple[str, ...] = ()  # conditions that hold on no row, such as unknown categories
    left_out: LeftOut | None = None  # None for a single row, and where no interval was asked for
    close: int | None = None  # pairs that a GPU decided in double precision; None where the CPU counted
    block: Ints | None = None  # of each row, where blocks of rows were left out; None where single rows were
    alike: bool = True  # whether any other explainer of these rows has the same blocks


def cover(
    explanations: Explanations,
    labels: NDArray[Any],
    X: Any,
    relation: Relation,
    *,
    interval: bool = True,
    among: Explanations | None = None,
    exact: int = EXACT,
    device: str = "cpu",
    beside: Sequence[Explanations] = (),
) -> Coverage:
    """Count whom the explanations cover.

    Parameters
    ----------
    explanations : Explanations
        One a row.
    labels : (n,) array
    X : rows
    relation : Relation
    interval : bool
        Whether to leave out rows for an interval; False where counts are all that is wanted.
    among : Explanations, optional
        The distinct explanations to count for, where these rows are a part of more.
    exact : int
        Leave out single rows for the interval while explanations x rows is at most this, blocks of rows above; a GPU
        always leaves out single rows.
    device : {"auto", "cpu", "cuda"}
    beside : sequence of Explanations
        Those of all explainers that are compared, these among them, so that all leave out the same blocks of rows.
    """
    collected = None if among is None else relation.scopes(among)
    limit = exact if interval else sys.maxsize
    scopes = relation.scopes(explanations)
    sample = number_rows(scopes, collected, limit, Content(labels, beside or (scopes,), X))
    given = relation.cover(sample.distinct, explanations, X)
    found = on_gpu(
        device,
        given.near,
        len(sample.distinct) * sample.n,
        lambda gpu, near: _cover_on_gpu(gpu, near, [near.radii], [relation], sample, interval)[0],
    )
    if found is not None:
        return replace(found, idle=_idle(given, found.counts))
    layout = sample.layout()
    covers, idle = _watched(given)
    tally = _Tally(sample, keep=interval and sample.blocks == 1)
    for start, bits in in_blocks(covers, layout, len(sample.distinct), max(1, _TABLE // layout.segments)):
        tally.add(start, bits, layout)
    return replace(tally.result(relation, layout, interval), idle=tuple(map(str, idle)))


def _watched(covers: Parts | Blocks) -> tuple[Parts | Blocks, list[Any]]:
    """The same coverage, and a list that fills with the parts that hold on no row while it is counted."""
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
    sample: Sample,
    interval: bool,
) -> list[Coverage]:
    """Coverage within one or several radii of every center, counted on a GPU."""
    pairs = gpu.Pairs(near, sample.codes, sample.labels, len(sample.names))
    found = []
    for relation, radius, cells in zip(relations, radii, pairs.count(np.stack(radii)), strict=True):
        table = (cells.explanation, cells.label, cells.given, cells.covered, cells.missed)
        counts = Counts(sample.distinct, sample.names, *table, relation=relation)
        left_out = None
        if interval and sample.n > 1:
            change = Change(counts)
            moved = pairs.felt(radius, change.explanation, change.label, change.weights)
            left_out = change.left_out(moved, sample.codes, sample.labels, cells.own)
        found.append(Coverage(counts, sample.codes, cells.own, left_out=left_out, close=cells.close))
    return found


def _idle(covers: Parts | Blocks, counts: Counts) -> tuple[str, ...]:
    """The parts that hold on no row, where every explanation is a single part."""
    if isinstance(covers, Blocks):
        return ()
    empty = np.flatnonzero(counts.per_explanation == 0)
    return tuple(str(covers.parts[covers.lists[row][0]]) for row in empty)


def cover_curve(
    explanations: Explanations,
    labels: NDArray[Any],
    relations: Sequence[Within],
    *,
    device: str = "cpu",
) -> list[Coverage]:
    """Coverage within several distances of one metric; every distance is computed once."""
    sample = number_rows(explanations, None, EXACT // len(relations), Content(labels, (explanations,)))
    on_device = on_gpu(
        device,
        relations[0].cover(sample.distinct, explanations, None).near,
        len(sample.distinct) * sample.n,
        lambda gpu, near: _cover_on_gpu(
            gpu, near, [np.full(len(near.radii), one.tau) for one in relations], relations, sample, True
        ),
    )
    if on_device is not None:
        return on_device
    layout, known, rows = sample.layout(), vectors(sample.distinct), vectors(explanations)
    tallies = [_Tally(sample, keep=sample.blocks == 1) for _ in relations]
    step = max(1, min(_TABLE // layout.segments, _TABLE // sample.n))
    for start in range(0, len(known), step):
        distance = pairwise(known[start : start + step], rows, relations[0].metric)
        for relation, tally in zip(relations, tallies, strict=True):
            tally.add(start, layout.pack(distance <= relation.tau), layout)
    pairs = zip(tallies, relations, strict=True)
    return [tally.result(relation, layout) for tally, relation in pairs]


class _Tally:
    """Sums over blocks of explanations: cells of the counts, and what leaving out rows changes."""

    def __init__(self, sample: Sample, keep: bool) -> None:
        self.sample, self.keep = sample, keep
        self.order = np.argsort(sample.codes, kind="stable")
        self.bounds = np.searchsorted(sample.codes[self.order], np.arange(len(sample.distinct) + 1))
        self.own = np.zeros(sample.n, bool)
        self.cells: list[tuple[Ints, ...]] = []
        self.held = 0  # bytes of the cells
        self.bits: list[tuple[int, Bits]] = []
        self.agreeing, self.silent, self.reach = (np.zeros(sample.blocks) for _ in range(3))

    def add(self, start: int, bits: Bits, layout: Layout) -> None:
        """Take in the bitmaps of explanations from `start` on."""
        sample, several = self.sample, len(bits)
        rows = self.order[self.bounds[start] : self.bounds[start + several]]
        which = sample.codes[rows] - start
        own = self.own[rows] = layout.holds(bits, which, rows)
        covered = layout.count(bits).reshape(several, len(sample.names), sample.blocks)
        by_label = covered.sum(axis=2)
        cell = which * len(sample.names) + sample.labels[rows]
        given, missed = (np.bincount(some, minlength=by_label.size) for some in (cell, cell[~own]))
        self._keep_cells(start, given.reshape(by_label.shape), by_label, missed.reshape(by_label.shape))
        if self.keep:
            self.bits.append((start, bits))
        elif sample.blocks > 1:
            self._leave_out_blocks(covered, which, cell, sample.block[rows], own)

    def _keep_cells(self, start: int, given: Ints, covered: Ints, missed: Ints) -> None:
        explanation, label = np.nonzero(given + covered)
        here = (explanation, label)
        self.cells.append((explanation + start, label, given[here], covered[here], missed[here]))
        self.held += 40 * len(label)
        upto, many = start + len(given), len(self.sample.distinct)
        asked = f"Counts of {upto:,} of {many:,} explanations by {len(self.sample.names):,} labels"
        need(self.held / 2, asked, "sample rows or explanations, or bin the predictions")  # to put them together

    def result(self, relation: Relation, layout: Layout, interval: bool = True) -> Coverage:
        """Everything taken in, as counts and what leaving out rows changes."""
        counts = self._counts(relation)
        left_out = self._left_out(counts, layout) if self.sample.n > 1 and interval else None
        found = Coverage(counts, self.sample.codes, self.own, left_out=left_out)
        if left_out is None or self.keep:
            return found
        return replace(found, block=self.sample.block, alike=self.sample.content.of_rows_alone)

    def _counts(self, relation: Relation) -> Counts:
        parts = list(zip(*self.cells, strict=True))
        self.cells.clear()
        # One column after the other, so that they are never all in memory twice.
        explanation, label, given, covered, missed = (np.concatenate(parts.pop(0)) for _ in range(5))
        names, distinct = self.sample.names, self.sample.distinct
        return Counts(distinct, names, explanation, label, given, covered, missed, relation=relation)

    def _left_out(self, counts: Counts, layout: Layout) -> LeftOut:
        """What becomes of the answer without each row, or without each block of rows."""
        if self.keep:
            return self._leave_out_rows(counts, layout)
        rows = np.bincount(self.sample.block, minlength=self.sample.blocks)
        n, reach = self.sample.n - rows, 1 + float((self.reach - self.reach.mean()).max())
        return LeftOut(self.agreeing / n, self.silent / n, reach, weight_of_blocks(self.reach, rows.astype(np.float64)))

    def _leave_out_blocks(self, covered: Ints, which: Ints, cell: Ints, block: Ints, own: NDArray[np.bool_]) -> None:
        """Sums of agreeing and silent rows without each block.

        Parameters
        ----------
        covered : (explanations, labels, blocks) array
        which, cell, block, own : (rows,) arrays
            Of the rows that were given these explanations: which of them, with which label, in which block, and
            whether it covers them. Other labels have no term.
        """
        several, _, blocks = covered.shape
        by_block = covered.sum(axis=1)
        whole = by_block.sum(axis=1)
        cells, at = np.unique(cell, return_inverse=True)
        same = covered.reshape(-1, blocks)[cells]
        left = same.sum(axis=1, keepdims=True) - same
        total = (whole[:, None] - by_block)[cells // covered.shape[1]]
        for some, one in ((own, 1), (~own, 0)):
            if some.any():
                rows = _tabulate(at[some], block[some], len(cells), blocks)
                stay = rows.sum(axis=1, keepdims=True) - rows
                self.agreeing += (stay * _share(left - one, total - one)).sum(axis=0)
                self.silent += (stay * (total == one)).sum(axis=0)
        mine = _tabulate(which[own], block[own], several, blocks)
        missed = np.bincount(which[~own], minlength=several)
        weight = ratio(mine.sum(axis=1), whole - 1) + ratio(missed, whole)
        self.reach += weight @ by_block - ratio(mine, whole[:, None] - 1).sum(axis=0)

    def _leave_out_rows(self, counts: Counts, layout: Layout) -> LeftOut:
        """Leave out every row in turn: its own term, and the terms of all explanations that cover it."""
        change, n = Change(counts), self.sample.n
        moved = np.zeros((3, len(layout.source)))
        # Products are over all bits, those that fill words up included: with many labels these are most.
        dense = 16 * int(counts.covered.sum()) > counts.distinct * len(layout.source)
        feel = change.felt_densely if dense else change.felt_by
        for start, bits in self.bits:
            step = max(1, _TABLE // n)
            for begin in range(0, len(bits), step):
                feel(start + begin, bits[begin : begin + step], layout, moved)
        return change.left_out(moved[:, layout.position], self.sample.codes, self.sample.labels, self.own)


def _share(part: Ints, whole: Ints) -> Floats:
    """Part over whole, where the part is at most the whole; 0 where that is none."""
    return np.asarray(np.maximum(part, 0) / np.maximum(whole, 1))


def _tabulate(row: Ints, column: Ints, rows: int, columns: int) -> Ints:
    """How often each pair occurs: (rows, columns)."""
    return np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)
