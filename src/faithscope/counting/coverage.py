"""One pass over explanations and rows: who covers whom, and what sufficiency, necessity and encoding read of it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Same, Spread, scaled
from faithscope.counting.asking import AskingGroups
from faithscope.counting.clusters import Strangers
from faithscope.counting.compared import LabelCells, NumberTable, cells_of, compare_labels, compare_numbers, independent
from faithscope.counting.counted import Coverage, Encoded, NecessityCounts
from faithscope.counting.counts import Counts, tabulate
from faithscope.counting.cover import Asked, in_blocks, over_batches, refuse_unasked, watch
from faithscope.counting.gpu.covering import cover_on_gpu
from faithscope.counting.gpu.devices import DEVICES
from faithscope.counting.layout import Bits, Layout, sums
from faithscope.counting.leave_out import Losses
from faithscope.counting.moments import Moments
from faithscope.counting.near import PairCounts
from faithscope.counting.pairs import Askers, Listed, OwnCluster, Tabled
from faithscope.counting.rows import Content, Rows
from faithscope.counting.terms import (
    GapBlocks,
    GapRows,
    GapSums,
    RecallBlocks,
    ShareBlocks,
    ShareRows,
    gap_left_out,
    gap_pairs,
    recall_left_out,
    recall_losses,
    share_left_out,
    share_losses,
)
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.metrics import to_metric_name
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.tiles import need_distances, to_tiles
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.checks import check_word
from faithscope.inputs.rows import rows_of
from faithscope.relations import Blocks, Parts, Relation, Within, vectors
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Cells = tuple[NDArray[Any], ...]
Adding = list[Callable[[], Any]]  # what adds a batch of explanations

EXACT = 10**8  # explanations x rows: beyond it, blocks of rows are left out instead of single rows
TABLE = 2**21  # entries of tables, or pairs of an explanation and a row, that are worked on at once
_WEIGHED = 2**22  # bits of masks multiplied by weights at once
_KEPT = 16 * EXACT  # bits of bitmaps of several relations that are kept at once: 200 MB
_WORDS_PER_LABEL = 8  # below it, covered rows are listed instead of multiplied
_BLOCKS = 100
_FEWEST = 30  # blocks of many rows whose agreement is listed
_QUERIES = 2**21  # rows x blocks


def cover(
    sample: Sample,
    relation: Relation,
    *,
    interval: bool = True,
    exact: int = EXACT,
    device: str = "cpu",
    beside: Sequence[Explanations] = (),
    among: Explanations | None = None,
    necessity: bool = False,
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
        Rows are left out one by one while explanations x rows is at most this, and in blocks beyond. Weighted and
        clustered rows are always left out in blocks, and a GPU always leaves out single rows.
    device : {"auto", "cpu", "cuda"}
    beside : sequence of Explanations
        The explanations of all explainers that are compared, including these, so that all leave out the same blocks.
    among : Explanations, optional
        Explanations to count, that these rows were given and others; such counts of several samples add up.
    necessity : bool
        Whether to count necessity in the same pass, if rows are labeled, independent, and count alike.
    """
    rows = _rows(sample, relation, exact if interval else sys.maxsize, beside, among)
    covers = sample.covered_by(rows.distinct, relation)
    found = cover_on_gpu(_device(device, sample), covers, [relation], rows, interval)
    if found is None and (near := _countable(covers, rows, interval)):
        tallies = _tallies(near, near.radii[None], rows, interval, interval and necessity)
        found = [tally.coverage(relation) for tally in tallies]
    if found is not None:  # every explanation is a single part
        (coverage,) = found
        if isinstance(covers, Blocks):
            return coverage
        empty = np.flatnonzero(coverage.counts.per_explanation == 0).tolist()
        return replace(coverage, idle=tuple(str(covers.parts[covers.lists[row][0]]) for row in empty))
    tally = _tally(sample, rows, interval, necessity and covers.asked is None)
    idle = _over(covers, tally)
    asked = Asked.of(covers, rows.codes, len(rows.distinct))
    return replace(tally.coverage(relation, idle), asked=asked)


def count_necessity(
    sample: Sample, relation: Relation, *, exact: int = EXACT, beside: Sequence[Explanations] = ()
) -> NecessityCounts:
    """Count, of the rows with each row's prediction, those that its explanation covers.

    The parameters are those of `cover`. Weighted and clustered rows, and numbers, are left out in up to 100 blocks.
    """
    listed = sample.agreement.of_numbers or sample.clusters is not None
    blocks = _block_count(sample) if listed or sample.weights is not None else None
    rows = _rows(sample, relation, exact, beside, blocks=blocks)
    covers = sample.covered_by(rows.distinct, relation)
    refuse_unasked(covers, "Necessity")
    tally: LabelTally | ListTally
    idle: tuple[str, ...] = ()
    if near := _countable(covers, rows, interval=True):
        tally = _tallies(near, near.radii[None], rows, share=False, recall=True)[0]
    else:
        tally = ListTally(sample, rows, recall=True) if listed or rows.sparse_blocks else LabelTally(rows, recall=True)
        idle = _over(covers, tally)
    found = tally.necessity(relation, idle)
    assert found is not None
    return found


def ask_groups(sample: Sample, relation: Relation, *, recall: bool = False, among: bool = False) -> AskingGroups | None:
    """Groups of a sample, by their numbers in ``sample.askers``, beside everybody: rows that they cover answer.

    Rows are left out in up to 100 blocks. The parameters are those of `AskingGroups`. None if a judge was not asked
    about all pairs.
    """
    rows = _rows(sample, relation, 0, blocks=_block_count(sample))
    covers = sample.covered_by(rows.distinct, relation)
    if covers.asked is not None:
        return None
    asking = AskingGroups(sample, rows, recall, among)
    listed = rows.numbers or rows.sparse_blocks
    tally = ListTally(sample, rows, asking=asking) if listed else LabelTally(rows, asking=asking)
    idle = _over(covers, tally)
    return asking.counted(tally.counts(relation), tally.own, idle)


def encoded(sample: Sample, relation: Relation, exact: int = EXACT) -> Encoded:
    """What encoding reads of a sample without rows of weight 0; `exact` is that of `cover`."""
    rows = _rows(sample, relation, exact)
    covers = sample.covered_by(rows.distinct, relation)
    refuse_unasked(covers, "Encoding")
    tally = ListTally(sample, rows, gap=True) if rows.numbers or rows.sparse_blocks else LabelTally(rows, gap=True)
    _over(covers, tally)
    return tally.encoded(relation)


def of_labels(counts: Counts, gap: GapSums, effective_n: float) -> Encoded:
    """What encoding reads, from counts of independent rows with labels."""
    cells = cells_of(counts)
    given, others = (np.bincount(cells.explanation, column, counts.distinct) for column in (cells.given, cells.others))
    both, names = (given > 1) & (others > 0), tuple(counts.labels)
    return Encoded(gap, counts.explanations, names, both, cells, counts.n, int(counts.missed.sum()), effective_n)


def _rows(
    sample: Sample,
    relation: Relation,
    exact: int,
    beside: Sequence[Explanations] = (),
    among: Explanations | None = None,
    blocks: int | None = None,
) -> Rows:
    """The rows by number; single rows are left out if they are few, independent, and count alike."""
    alone = sample.clusters is None and (sample.weights is None or exact == sys.maxsize)
    among = None if among is None else relation.scopes(among)
    return Rows.of(sample, relation.scopes(sample.explanations), exact if alone else 0, beside, among, blocks)


def _block_count(sample: Sample) -> int:
    """How many blocks to leave out: each is a query per row, unless rows are labeled."""
    listed = sample.agreement.of_numbers or sample.clusters is not None
    return int(np.clip(_QUERIES // sample.n, _FEWEST, _BLOCKS)) if listed else _BLOCKS


def _device(device: str, sample: Sample) -> str:
    """Where to count: weighted or clustered rows and numbers are counted on the CPU."""
    check_word(device, "device", DEVICES)
    plain = sample.weights is None and sample.clusters is None and not sample.agreement.of_numbers
    if device == "cuda" and not plain:
        rows = "Weighted" if sample.weights is not None else "Clustered"
        what = f"Agreement by {sample.agreement} is" if sample.agreement.of_numbers else f"{rows} rows are"
        raise BadInput(f'{what} not counted on a GPU: pass device="cpu".')
    return "cpu" if device == "auto" and not plain else device


def _countable(covers: Parts | Blocks, rows: Rows, interval: bool) -> Near | None:
    """The same coverage by distance, if it needs no more than counts of pairs; leaving out single rows does."""
    if rows.numbers or rows.weighted or covers.near is None or rows.sparse or (interval and rows.blocks == 1):
        return None
    near = covers.near()
    return None if callable(near.metric) else near  # a caller's function stays in the caller's thread


def _tallies(near: Near, radii: Floats, rows: Rows, share: bool, recall: bool) -> "list[LabelTally]":
    """Tallies of the rows within one or several radii of every center, by counts of pairs."""
    layout = rows.layout(padded=False)
    pairs = PairCounts(near, radii, rows.codes, layout.segment, layout.segments)
    tallies = [LabelTally(rows, share, recall, own=own) for own in pairs.own()]

    def prepare(start: int, counts: Ints) -> Adding:
        pairs = zip(tallies, counts, strict=True)
        return [add for tally, table in pairs for add in tally.prepare_counts(start, table)]

    for batch in pairs.in_batches(prepare):
        for add in batch:
            add()
    return tallies


def cover_curve(sample: Sample, relations: Sequence[Within], *, device: str = "cpu") -> list[Coverage]:
    """Coverage within several distances of one metric, each as `cover` counts it; every distance is computed once.

    If single rows are left out, bitmaps of all pairs are kept per relation: beyond so many, distances are computed for
    some relations after the others.
    """
    explanations = sample.explanations
    rows = Rows.of(sample, explanations, EXACT if sample.clusters is None else 0)
    covers = relations[0].cover(rows.distinct, explanations, None)
    radii = np.repeat([[relation.tau] for relation in relations], len(rows.distinct), axis=1)
    on_device = cover_on_gpu(_device(device, sample), covers, relations, rows, True, radii)
    if on_device is not None:
        return on_device
    if near := _countable(covers, rows, interval=True):
        by_pairs = _tallies(near, radii, rows, share=True, recall=False)
        return [tally.coverage(relation) for tally, relation in zip(by_pairs, relations, strict=True)]
    at_once = len(relations) if rows.blocks > 1 else _KEPT // (len(rows.distinct) * rows.n)
    found: list[Coverage] = []
    for first in range(0, len(relations), at_once):
        chosen = relations[first : first + at_once]
        tallies = [_tally(sample, rows, interval=True) for _ in chosen]
        layout, centers, points = tallies[0].layout, vectors(rows.distinct), vectors(explanations)
        plain = Near(centers, points, radii[first], to_metric_name(relations[0].metric))
        need_distances(plain, len(layout.source))
        tiles = to_tiles(replace(plain, rows=points[layout.source]), radii[first : first + at_once])
        step = max(1, min(tallies[0].step, TABLE // (2 * len(layout.source))))
        for start in range(0, len(centers), step):
            masks = tiles.masks(slice(start, min(start + step, len(centers))), slice(0, len(layout.source)))
            for mask, tally in zip(masks, tallies, strict=True):
                for add in tally.prepare(start, layout.pack_arranged(mask)):
                    add()
        found += [tally.coverage(relation) for tally, relation in zip(tallies, chosen, strict=True)]
    return found


def reach_of(coverage: Coverage, sample: Sample, relation: Relation, further: Any) -> float:
    """How much the terms of the sample would lean on one of further rows at most, which have no predictions.

    A row that joined those that an explanation covers, c of them beside x, would have a share 1 / (c + 1) of x's term.
    """
    if not relation.reads_rows:
        raise NotProven(
            f"unlabeled= needs a relation that covers any row, and {relation} knows of these alone: leave it out."
        )
    counts, n = coverage.counts, rows_of(further)
    if not n:
        return 0.0
    covered, missed = counts.per_explanation, np.bincount(coverage.codes[~coverage.own], minlength=counts.distinct)
    given = np.bincount(coverage.codes, minlength=counts.distinct)
    leaning = (given - missed) / np.maximum(1, covered) + missed / (covered + 1)
    layout = Layout(np.zeros(n, np.int64), 1)
    covers = relation.cover(counts.explanations, sample.explanations, further)
    reach = np.zeros(64 * layout.width)
    for start, bits in in_blocks(covers, layout, counts.distinct, max(1, TABLE // n)):
        which, bit = layout.ones(bits)
        reach += np.bincount(bit, leaning[start + which], len(reach))
    return float(reach.max())


def _tally(sample: Sample, rows: Rows, interval: bool, recall: bool = False) -> "LabelTally | ListTally":
    if rows.numbers:
        return ListTally(sample, rows, share=interval)
    return LabelTally(rows, interval, recall and not rows.weighted and not rows.sparse_blocks)


def _over(covers: Parts | Blocks, tally: "LabelTally | ListTally") -> tuple[str, ...]:
    """Count all explanations; the conditions that hold on no row."""
    watched, idle = watch(covers)
    for batch in over_batches(watched, tally.layout, len(tally.rows.distinct), tally.step, tally.prepare):
        for add in batch:
            add()
    return idle()


class LabelTally:
    """Independent rows with labels, counted over batches of explanations.

    Parameters
    ----------
    rows : Rows
    share, recall, gap : bool
        For what rows, or blocks of rows, are to be left out: sufficiency, necessity, encoding.
    own : (n,) array of bool, optional
        Whether each row is covered by its own explanation, if that is known.
    asking : AskingGroups, optional
        Groups to which batches are told, in place of all this.
    """

    def __init__(
        self,
        rows: Rows,
        share: bool = False,
        recall: bool = False,
        gap: bool = False,
        own: Bools | None = None,
        asking: AskingGroups | None = None,
    ) -> None:
        self.asking = asking
        self.rows, self.wanted, self.layout = rows, (share, recall, gap), rows.layout()
        self.own = np.zeros(rows.n, bool) if own is None else own
        self.cells: list[Cells] = []
        self.held = 0  # bytes of the cells
        single = rows.blocks == 1 and not rows.weighted
        self.keep = single and any(self.wanted)  # bitmaps, to leave out single rows
        self.bits: list[tuple[int, Bits]] = []
        # Counts do not give the sums of weighted rows.
        shared = (share and not single) or (rows.weighted and not recall and not gap and asking is None)
        self.share = ShareBlocks(rows.blocks, even=not rows.weighted) if shared else None
        self.recall, self.gap = None, GapBlocks(rows.blocks) if gap and not single else None
        if recall and not single:
            segment = rows.labels * rows.blocks + rows.block
            alike = sums(segment, rows.weight, len(rows.names) * rows.blocks)
            everybody = alike.reshape(1, len(rows.names), rows.blocks)
            self.recall = RecallBlocks(Tabled(everybody, everybody))

    @property
    def step(self) -> int:
        """How many explanations to add at once."""
        most = TABLE // max(1, self.layout.segments if self.layout.padded else self.rows.n)
        return max(1, min(most, _WEIGHED // max(1, 64 * self.layout.width)) if self.rows.weighted else most)

    def prepare(self, start: int, bits: Bits) -> Adding:
        """Count a batch of explanations by their bitmaps, `start` the number of the first; in any thread.

        What is returned adds them: it is to be called for one batch after the other.
        """
        rows, layout = self.rows, self.layout
        given = rows.given(start, len(bits))
        self.own[given] = layout.holds(bits, rows.codes[given] - start, given)
        if not layout.padded:
            scope, place = layout.ones(bits)
            cells: Tabled | Listed = Listed(rows, Same().over(np.empty(0)), len(bits), scope, layout.source[place])
        else:
            covered = layout.count(bits)
            cells = Tabled(covered, layout.fold(_weigh(bits, rows.weight[layout.source])) if rows.weighted else covered)
        return self._prepared(start, len(bits), cells, bits if self.keep else None)

    def prepare_counts(self, start: int, counts: Ints) -> Adding:
        """`prepare` by counts of the covered rows, (explanations, labels * blocks); `own` must be known."""
        covered = counts.reshape(len(counts), len(self.rows.names), self.rows.blocks)
        return self._prepared(start, len(counts), Tabled(covered, covered))

    def _prepared(self, start: int, many: int, covered: Tabled | Listed, bits: Bits | None = None) -> Adding:
        askers = Askers.given(self.rows, start, many, self.own)
        own = OwnCluster.alone(askers, askers.inside, 1.0)
        adding: Adding = [partial(self._keep, start, many, self._cells(askers, covered), bits)]
        if self.share is not None:
            adding.append(partial(self.share.add, *self.share.terms(askers, covered, own)))
        if self.recall is not None:
            everywhere = OwnCluster.alone(askers, np.ones(len(askers.row)), 1.0)
            adding.append(partial(self.recall.add, *self.recall.terms(askers, covered, own, everywhere)))
        if self.asking is not None:
            adding.append(partial(self.asking.add, askers, covered, own))
        if self.gap is not None and isinstance(covered, Tabled):
            adding.append(partial(add_gap, self.gap, askers, *covered.tables))
        return adding

    def _cells(self, askers: Askers, covered: Tabled | Listed) -> Cells:
        """The cells that rows were given or that are covered, ascending: given, covered and missed rows, and masses."""
        cells, rows = covered.cells
        asked = askers.scope * len(self.rows.names) + askers.value
        every = np.union1d(cells, asked)
        place, total = np.searchsorted(every, asked), np.zeros(len(every), np.int64)
        total[np.searchsorted(every, cells)] = rows
        given, missed = (np.bincount(each, minlength=len(every)) for each in (place, place[~askers.inside]))
        masses = (askers.weight, askers.weight**2) if self.rows.weighted else ()
        return every, given, total, missed, *(sums(place, mass, len(every)) for mass in masses)

    def _keep(self, start: int, many: int, cells: Cells, bits: Bits | None) -> None:
        explanation, label = np.divmod(cells[0], len(self.rows.names))
        self.cells.append((explanation + start, label, *cells[1:]))
        self.held += 8 * (1 + len(cells)) * len(label)
        upto = f"{start + many:,} of {len(self.rows.distinct):,} explanations"
        asked = f"Counts of {upto} by {len(self.rows.names):,} labels"
        need(self.held / 2, asked, "sample rows or explanations, or bin the predictions")  # to put them together
        if bits is not None:
            self.bits.append((start, bits))

    def counts(self, relation: Relation) -> Counts:
        """The counts of all explanations that were added; to be called once."""
        parts = list(zip(*self.cells, strict=True))
        self.cells.clear()
        # One column after the other, so that they are never all in memory twice.
        explanation, label, given, covered, missed, *masses = (np.concatenate(parts.pop(0)) for _ in range(len(parts)))
        weight, square = masses or (None, None)
        tables = (explanation, label, given, covered, missed, weight, square)
        return Counts(self.rows.kept, self.rows.names, *tables, relation)

    def _lost(self, losses: Losses, counts: Counts) -> Floats:
        """For each row, the losses of the explanations that cover it."""
        layout, rows = self.layout, self.rows
        filled = layout.padded and layout.width >= _WORDS_PER_LABEL * len(rows.names)
        dense = filled and 16 * int(counts.covered.sum()) > counts.distinct * len(layout.source)
        step = max(1, TABLE // rows.n)

        def batches() -> Iterator[tuple[int, Bits]]:
            for start, bits in self.bits:
                for begin in range(0, len(bits), step):
                    yield start + begin, bits[begin : begin + step]

        return losses.by_row(batches(), layout, dense)

    def coverage(self, relation: Relation, idle: tuple[str, ...] = ()) -> Coverage:
        """The coverage of all explanations that were added."""
        rows, counts = self.rows, self.counts(relation)
        coverage = Coverage(counts, rows.codes, self.own, idle, necessity=self._necessity(counts, idle))
        if self.share is not None and rows.weighted:
            coverage = replace(coverage, sums=self.share.total())
        if rows.n < 2 or not self.wanted[0]:
            return coverage
        if self.share is None:
            lost = self._lost(share_losses(counts), counts)
            return replace(coverage, left_out=share_left_out(counts, lost, rows.cell, self.own))
        left_out = self.share.left_out(rows.per_block, rows.units)
        return replace(coverage, left_out=left_out, block=rows.block, alike=rows.content.of_rows_alone)

    def necessity(self, relation: Relation, idle: tuple[str, ...] = ()) -> NecessityCounts | None:
        """Necessity of all explanations that were added."""
        return self._necessity(self.counts(relation), idle)

    def _necessity(self, counts: Counts, idle: tuple[str, ...]) -> NecessityCounts | None:
        rows = self.rows
        if not self.wanted[1]:
            return None
        if self.recall is None:
            reaching = self._lost(recall_losses(counts), counts)
            return NecessityCounts(counts, recall_left_out(counts, reaching, rows.cell, self.own), self.own, idle)
        terms = self.recall.result(heaviest=rows.independent.heaviest)
        return NecessityCounts(counts, terms, self.own, idle, rows.block, rows.content.of_rows_alone)

    def encoded(self, relation: Relation) -> Encoded:
        """What encoding reads of all explanations that were added."""
        rows, counts = self.rows, self.counts(relation)
        if self.gap is not None:
            return of_labels(counts, self.gap.result(rows.per_block, rows.units), rows.independent.effective_n)
        pairs, losses = gap_pairs(counts)
        own = self.own * losses.at(rows.codes, rows.labels)
        gap = gap_left_out(counts, pairs, self._lost(losses, counts), rows.cell, own)
        return of_labels(counts, gap, rows.independent.effective_n)


def add_gap(gap: GapBlocks, askers: Askers, covered: NDArray[Any], weight: NDArray[Any]) -> None:
    """Add a batch of explanations that cover so many rows, and such weight, by label and block."""
    _, labels, blocks = covered.shape
    cell = (askers.scope * labels + askers.value) * blocks + askers.block

    def table(values: Floats) -> Floats:
        return sums(cell, values, covered.size).reshape(covered.shape)

    given = Tabled(table(askers.rows), table(askers.weight))
    inside = askers.inside
    others = Tabled(covered - table(askers.rows * inside), weight - table(askers.weight * inside))
    nobody = np.zeros(len(cell))
    gap.add(
        askers,
        given,
        others,
        OwnCluster.alone(askers, np.ones(len(cell)), 1.0),
        OwnCluster.alone(askers, nobody, 1.0),
    )


def _weigh(bits: Bits, weights: Floats) -> Floats:
    """The weight of the rows in each word of bitmaps: (bitmaps, words)."""
    masks = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    return np.asarray((masks * weights).reshape(*bits.shape, 64).sum(axis=2))


class ListTally:
    """Numbers, clustered rows, and labels of which there are nearly as many as rows: agreement over listed rows.

    The parameters are those of `LabelTally`, but one measure at a time.
    """

    def __init__(
        self,
        sample: Sample,
        rows: Rows,
        share: bool = False,
        recall: bool = False,
        gap: bool = False,
        asking: AskingGroups | None = None,
    ) -> None:
        self.asking = asking
        need(200 * rows.n, f"Sums over {rows.n:,} rows", "sample rows")
        self.sample, self.rows, self.layout, self.interval = sample, rows, rows.layout(), share
        self.sums, self.itself = sample.agreement.over(sample.values), sample.agreement.itself
        self.own, self.agreeing, self.met = np.zeros(rows.n, bool), np.zeros(rows.n), np.zeros((3, rows.n))
        self.reached = np.zeros(len(rows.distinct), np.int64)
        self.even = not rows.weighted and rows.clusters is None
        self.single = self.even and rows.blocks == 1
        self.share: ShareRows | ShareBlocks | None = None
        self.recall: RecallBlocks | None = None
        self.gap: GapRows | GapBlocks | None = None
        if gap:
            self.gap = GapRows(rows, self.itself, self.sums) if self.single else GapBlocks(rows.blocks)
            rank = Content(sample.labels, rows.content.explanations, sample.X).deal(rows.n)
            self.rank, self.both, self.compared = rank, list[Bools](), list[LabelCells | NumberTable]()
        elif recall:
            order, self.strangers = np.argsort(rows.labels, kind="stable"), Strangers(sample)
            self.own_alike = self.strangers.within(self.strangers.cluster)
            self.recall = RecallBlocks(Listed(rows, self.sums, 1, np.zeros(rows.n, np.int64), order))
        elif asking is None:
            moments = Moments.of_rows(sample) if isinstance(sample.agreement, Spread) else None
            self.share = (
                ShareRows(rows, self.itself, self.sums, moments)
                if self.single
                else ShareBlocks(rows.blocks, self.even, moments)
            )

    @property
    def step(self) -> int:
        """How many explanations to add at once."""
        return max(1, TABLE // self.rows.n)

    def prepare(self, start: int, bits: Bits) -> Adding:
        """What adds a batch of explanations; to be called for one batch after the other."""
        return [partial(self._add, start, bits)]

    def _add(self, start: int, bits: Bits) -> None:
        rows, many = self.rows, len(bits)
        scope, place = self.layout.ones(bits)
        row, given = self.layout.source[place], rows.given(start, many)
        self.own[given] = self.layout.holds(bits, rows.codes[given] - start, given)
        askers = Askers.given(rows, start, many, self.own)
        if self.gap is not None:
            others = rows.codes[row] != scope + start
            self._add_gap(start, askers, many, scope[others], row[others])
            return
        covered = Listed(rows, self.sums, many, scope, row)
        self.reached[start : start + many] = np.bincount(scope, minlength=many)
        self.agreeing[askers.row] = covered.agreeing(askers)
        if isinstance(self.share, ShareRows):
            self.share.add(askers, scope, row, self.agreeing[askers.row])
            return
        own = covered.of_own_cluster(askers, askers.inside, self.itself)
        if rows.clusters is not None:
            parts, size = np.unique(scope * rows.units + rows.clusters[row], return_counts=True)
            largest = np.ones(many)
            np.maximum.at(largest, parts // rows.units, size)
            others = covered.weight.sum(axis=1)[askers.scope] - own.weight
            agreeing = np.maximum(self.agreeing[askers.row] - own.agreeing, 0.0)
            self.met[:, askers.row] = others, agreeing, largest[askers.scope]
        if self.asking is not None:
            self.asking.add(askers, covered, own)
        elif self.share is not None:
            self.share.add(*self.share.terms(askers, covered, own))
        elif self.recall is not None:
            cluster = self.strangers.cluster[askers.row]
            whole = OwnCluster(rows.independent.mass[cluster], own.size, self.own_alike[askers.row])
            self.recall.add(*self.recall.terms(askers, covered, own, whole))

    def _add_gap(self, start: int, askers: Askers, many: int, scope: Ints, row: Ints) -> None:
        """Add the rows given a batch of explanations, and the others that they cover."""
        rows = self.rows
        order = np.lexsort((askers.value, askers.scope))
        asking, given = askers.scope[order], askers.row[order]
        if isinstance(self.gap, GapRows):
            self.both.append(self.gap.add(askers, scope, row))
        elif self.gap is not None:
            told, others = Listed(rows, self.sums, many, asking, given), Listed(rows, self.sums, many, scope, row)
            everybody, nobody = np.ones(len(given)), np.zeros(len(given))
            own = told.of_own_cluster(askers, everybody, self.itself)
            self.both.append(
                self.gap.add(askers, told, others, own, others.of_own_cluster(askers, nobody, self.itself))
            )
        first = independent(rows, self.rank, (asking, scope), (given, row), many)
        columns = (asking, scope), (rows.labels[given], rows.labels[row]), first
        self.compared.append(
            compare_numbers(self.sample.values, many, *columns)
            if self.sample.agreement.of_numbers
            else compare_labels(len(rows.names), start, *columns)
        )

    def counts(self, relation: Relation) -> Counts:
        """Counts of the cells that rows were given, with their agreement; those of all rows covered are too many."""
        rows, names = self.rows, len(self.rows.names)
        cells, given = tabulate(rows.codes, rows.labels, len(rows.distinct), names)
        by_cell = np.zeros(len(cells))
        by_cell[rows.cell] = self.agreeing
        missed = np.bincount(rows.cell[~self.own], minlength=len(cells))
        weight = square = None
        if rows.weighted:
            weight, square = (sums(rows.cell, rows.weight**power, len(cells)) for power in (1, 2))
        return Counts(
            *(rows.kept, rows.names, *np.divmod(cells, names), given, given - missed, missed, weight, square, relation),
            agreement=self.sample.agreement,
            reached=self.reached,
            agreeing=by_cell,
            clusters=None if rows.clusters is None else Strangers(self.sample).totals(),
        )

    def coverage(self, relation: Relation, idle: tuple[str, ...] = ()) -> Coverage:
        """The coverage of all explanations that were added."""
        rows, share, left_out, spread = self.rows, self.share, None, None
        assert share is not None
        if rows.units > 1:
            unit = scaled(self.sample.values)[1]
            if isinstance(share, ShareRows):
                left_out = share.left_out()
                spread = share.spread(left_out, unit)
            else:
                left_out = share.left_out(rows.per_block, rows.units)
                spread = share.spread(left_out, unit, rows.block)
        whole = None if isinstance(share, ShareRows) else share.total()
        met = None if rows.clusters is None else self.met
        found = Coverage(self.counts(relation), rows.codes, self.own, idle, sums=whole, spread=spread, strangers=met)
        if left_out is None or not self.interval:
            return found
        found = replace(found, left_out=left_out)
        return found if self.single else replace(found, block=rows.block, alike=rows.content.of_rows_alone)

    def necessity(self, relation: Relation, idle: tuple[str, ...] = ()) -> NecessityCounts:
        """Necessity of all explanations that were added."""
        rows = self.rows
        assert self.recall is not None
        # How much the terms of all rows lean on one row at most, max_j Σ_i w_i K(i, j) / Σ_k w_k K(i, k).
        everyone = self.strangers.within(np.zeros(rows.n, np.int64))
        lean = sums(rows.labels, rows.weight / everyone, len(rows.names))
        reach = float(self.sums.among_all(lean)[0].max())
        others = np.maximum(everyone - self.own_alike, 0.0) if self.sample.agreement.of_numbers else None
        terms = self.recall.result(reach, rows.independent.heaviest)
        alike = rows.content.of_rows_alone
        return NecessityCounts(self.counts(relation), terms, self.own, idle, rows.block, alike, others)

    def encoded(self, relation: Relation) -> Encoded:
        """What encoding reads of all explanations that were added."""
        rows, parts = self.rows, self.compared
        assert self.gap is not None
        gap = self.gap.result() if isinstance(self.gap, GapRows) else self.gap.result(rows.per_block, rows.units)
        names = () if self.sample.agreement.of_numbers else tuple(rows.names)
        tables = type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))
        missed, both = int(np.sum(~self.own)), np.concatenate(self.both)
        return Encoded(gap, rows.kept, names, both, tables, rows.n, missed, rows.independent.effective_n)
