"""One pass over explanations and rows: who covers whom, and what sufficiency, necessity and encoding read of it."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.counting.asking import AskingGroups
from faithscope.counting.counted import Coverage, Encoded, NecessityCounts
from faithscope.counting.cover import Asked, in_blocks, over_batches, refuse_unasked
from faithscope.counting.gpu.devices import DEVICES, on_gpu
from faithscope.counting.layout import Layout
from faithscope.counting.near import PairCounts
from faithscope.counting.pairs import Tabled
from faithscope.counting.rows import Rows
from faithscope.counting.tally import TABLE, Adding, Tally
from faithscope.errors import NotProven
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.checks import check_word
from faithscope.inputs.rows import rows_of
from faithscope.relations import Blocks, Parts, Relation, Within
from faithscope.sample import Sample

EXACT = 10**8  # explanations x rows: beyond it, blocks of rows are left out instead of single rows
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
        clustered rows are always left out in blocks.
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
    wanted = ("share", "recall") if interval and necessity else ("share",)
    if tallies := _by_pairs(covers, sample, rows, *wanted, interval=interval, device=device):
        coverage = tallies[0].coverage(relation)
        if isinstance(covers, Blocks):
            return coverage
        empty = np.flatnonzero(coverage.counts.per_explanation == 0).tolist()  # every explanation is a single part
        return replace(coverage, idle=tuple(str(covers.parts[covers.lists[row][0]]) for row in empty))
    both = necessity and covers.asked is None and not rows.numbers and not rows.weighted
    tally = Tally(sample, rows, "share", *(["recall"] * both), interval=interval)
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
    if tallies := _by_pairs(covers, sample, rows, "recall"):
        return tallies[0].necessity(tallies[0].counts(relation))
    tally = Tally(sample, rows, "recall")
    idle = _over(covers, tally)
    return tally.necessity(tally.counts(relation), idle)


def ask_groups(sample: Sample, relation: Relation, *, recall: bool = False, among: bool = False) -> AskingGroups | None:
    """Groups of a sample, by their numbers in ``sample.askers``, beside everybody: rows that they cover answer.

    Rows are left out in up to 100 blocks. The parameters are those of `AskingGroups`. None if a judge was not asked
    about all pairs.
    """
    rows = _rows(sample, relation, 0, blocks=_block_count(sample))
    covers = sample.covered_by(rows.distinct, relation)
    if covers.asked is not None:
        return None
    tally = Tally(sample, rows, "recall" if recall else "share", groups=sample.askers, among=among)
    idle = _over(covers, tally)
    return AskingGroups(tally, tally.counts(relation), idle)


def encoded(sample: Sample, relation: Relation, exact: int = EXACT) -> Encoded:
    """What encoding reads of a sample without rows of weight 0; `exact` is that of `cover`."""
    rows = _rows(sample, relation, exact)
    covers = sample.covered_by(rows.distinct, relation)
    refuse_unasked(covers, "Encoding")
    tally = Tally(sample, rows, "gap")
    _over(covers, tally)
    return tally.encoded(relation)


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


def _by_pairs(
    covers: Parts | Blocks,
    sample: Sample,
    rows: Rows,
    *wanted: str,
    radii: Floats | None = None,
    interval: bool = True,
    device: str = "cpu",
) -> list[Tally] | None:
    """Tallies by distance, per radius of all centers: of labeled rows, if no single row is to be left out."""
    near, points = covers.near, None
    if not (rows.listed or rows.weighted or near is None or (interval and rows.blocks == 1)):
        points = near()
        if callable(points.metric):  # a caller's function stays in the caller's thread
            points = None
    around = None if points is None else points.radii[None] if radii is None else radii
    segment, segments = rows.labels * rows.blocks + rows.block, len(rows.names) * rows.blocks

    def count(kind: type[PairCounts]) -> list[Tally]:
        assert points is not None
        assert around is not None
        pairs = kind(points, around, rows.codes, segment, segments)
        tallies = [Tally(sample, rows, *wanted, interval=interval, own=own) for own in pairs.own()]

        def prepare(start: int, counts: Ints) -> Adding:
            adding = Adding()
            for tally, table in zip(tallies, counts, strict=True):
                covered = table.reshape(len(table), len(rows.names), rows.blocks)
                adding += tally.prepare(start, None, Tabled(covered, covered))
            return adding

        for batch in pairs.in_batches(prepare):
            for add in batch:
                add()
        return tallies

    check_word(device, "device", DEVICES)
    found = on_gpu(device, points, len(rows.distinct) * rows.n, count)
    return count(PairCounts) if found is None and points is not None else found


def cover_curve(sample: Sample, relations: Sequence[Within], *, device: str = "cpu") -> list[Coverage]:
    """Coverage within several distances of one metric, each as `cover` counts it.

    Every distance is computed once if no single row is to be left out.
    """
    explanations = sample.explanations
    rows = Rows.of(sample, explanations, EXACT if sample.clusters is None else 0)
    covers = relations[0].cover(rows.distinct, explanations, None)
    radii = np.repeat([[relation.tau] for relation in relations], len(rows.distinct), axis=1)
    if tallies := _by_pairs(covers, sample, rows, "share", radii=radii, device=device):
        return [tally.coverage(relation) for tally, relation in zip(tallies, relations, strict=True)]
    return [cover(sample, relation) for relation in relations]


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


def _over(covers: Parts | Blocks, tally: Tally) -> tuple[str, ...]:
    """Count all explanations; the conditions that hold on no row."""
    idle: list[str] = []
    known = (covers, tally.layout, len(tally.rows.distinct), tally.step)
    batches: Iterator[Adding]
    if tally.rows.numbers:  # which are listed in the caller's own thread
        batches = (tally.prepare(*batch) for batch in over_batches(*known, lambda start, bits: (start, bits), idle))
    else:
        batches = over_batches(*known, tally.prepare, idle)
    for batch in batches:
        for add in batch:
            add()
    return tuple(idle)
