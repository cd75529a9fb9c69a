"""Coverage: collect the distinct explanations of a sample, then count the rows that each of them covers."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.agreement_tally import AgreementTally
from faithscope.counting.asked import Asked
from faithscope.counting.bits.bitmaps import over_batches
from faithscope.counting.bits.idle import watch
from faithscope.counting.bits.pair_counts import PairCounts
from faithscope.counting.blocks import Content
from faithscope.counting.counts import Counts
from faithscope.counting.gpu.covering import cover_on_gpu
from faithscope.counting.gpu.devices import DEVICES, on_gpu
from faithscope.counting.numbered import NumberedRows, number_among, number_rows
from faithscope.counting.tally import TABLE, Coverage, LabelTally
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.metrics import to_metric_name
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.tiles import need_distances, to_tiles
from faithscope.inputs.checks import check_word
from faithscope.relations import Blocks, Parts, Relation, Within, vectors
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

EXACT = 10**8  # explanations x rows: beyond it, blocks of rows are left out instead of single rows
_KEPT = 16 * EXACT  # bits of bitmaps of several relations that are kept at once: 200 MB


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
    rows_alone = sample.weights is None and sample.clusters is None
    limit = sys.maxsize if not interval and sample.clusters is None else exact if rows_alone else 0
    content = Content(sample.labels, beside or (scopes,), sample.X, sample.weights, sample.clusters)
    return _cover(number_rows(sample, scopes, limit, content), sample, relation, interval, device)


def count_among(sample: Sample, relation: Relation, among: Explanations) -> Counts:
    """Counts of the rows that the explanations `among` cover; counts of several samples among the same ones add up."""
    scopes = relation.scopes(sample.explanations)
    content = Content(sample.labels, (scopes,), sample.X)
    rows = number_among(sample, scopes, relation.scopes(among), content)
    return _cover(rows, sample, relation, interval=False).counts


def _cover(
    rows: NumberedRows,
    sample: Sample,
    relation: Relation,
    interval: bool = True,
    device: str = "cpu",
) -> Coverage:
    covers = relation.cover(rows.distinct, sample.explanations, sample.read_by(relation))
    coverage = on_gpu(
        _device(device, sample),
        covers.near,
        len(rows.distinct) * rows.n,
        lambda gpu, near: cover_on_gpu(gpu, near, near.radii[None], [relation], rows, interval)[0],
    )
    if coverage is not None:
        return replace(coverage, idle=_idle(covers, coverage.counts))
    if near := countable(covers, sample, rows, interval):
        coverage = _cover_near(near, near.radii[None], [relation], rows, interval)[0]
        return replace(coverage, idle=_idle(covers, coverage.counts))
    watched, idle = watch(covers)
    tally = _tally(sample, rows, interval)
    layout = tally.layout()
    prepare = partial(tally.prepare, layout=layout)
    for add in over_batches(watched, layout, len(rows.distinct), tally.step(layout), prepare):
        add()
    asked = Asked.of(covers, rows.codes, len(rows.distinct))
    return replace(tally.result(relation, layout, interval), idle=idle(), asked=asked)


def _tally(sample: Sample, rows: NumberedRows, interval: bool) -> LabelTally | AgreementTally:
    if sample.agreement.of_numbers or sample.clusters is not None:
        return AgreementTally(sample, rows)
    return LabelTally(rows, keep=interval and rows.blocks == 1 and rows.weights is None)


def _device(device: str, sample: Sample) -> str:
    """Where to count: weighted or clustered rows and numbers are counted on the CPU."""
    check_word(device, "device", DEVICES)
    plain = sample.weights is None and sample.clusters is None and not sample.agreement.of_numbers
    if device == "cuda" and not plain:
        rows = "Weighted" if sample.weights is not None else "Clustered"
        what = f"Agreement by {sample.agreement} is" if sample.agreement.of_numbers else f"{rows} rows are"
        raise BadInput(f'{what} not counted on a GPU: pass device="cpu".')
    return "cpu" if device == "auto" and not plain else device


def countable(covers: Parts | Blocks, sample: Sample, rows: NumberedRows, interval: bool) -> Near | None:
    """The same coverage by distance, if it needs no more than counts of pairs; leaving out single rows does."""
    if sample.agreement.of_numbers or sample.clusters is not None or rows.weights is not None:
        return None
    if covers.near is None or rows.sparse or (interval and rows.blocks == 1):
        return None
    near = covers.near()
    return None if callable(near.metric) else near  # a caller's function stays in the caller's thread


def _cover_near(
    near: Near, radii: Floats, relations: Sequence[Relation], rows: NumberedRows, interval: bool = True
) -> list[Coverage]:
    """Coverage within one or several radii of every center, by counts of pairs."""
    layout = rows.layout(padded=False)
    pairs = PairCounts(near, radii, rows.codes, layout.segment, layout.segments)
    tallies = [LabelTally(rows, keep=False, own=own) for own in pairs.own()]

    def prepare(start: int, counts: NDArray[np.int64]) -> list[Callable[[], None]]:
        return [tally.prepare_counts(start, table) for tally, table in zip(tallies, counts, strict=True)]

    for batch in pairs.in_batches(prepare):
        for add in batch:
            add()
    return [tally.result(relation, layout, interval) for tally, relation in zip(tallies, relations, strict=True)]


def _idle(covers: Parts | Blocks, counts: Counts) -> tuple[str, ...]:
    """The parts that hold on no row; requires that every explanation is a single part."""
    if isinstance(covers, Blocks):
        return ()
    empty = np.flatnonzero(counts.per_explanation == 0)
    return tuple(str(covers.parts[covers.lists[row][0]]) for row in empty)


def cover_curve(sample: Sample, relations: Sequence[Within], *, device: str = "cpu") -> list[Coverage]:
    """Coverage within several distances of one metric, each as `cover` counts it; every distance is computed once.

    If single rows are left out, bitmaps of all pairs are kept per relation: beyond so many, distances are computed for
    some relations after the others.
    """
    explanations = sample.explanations
    content = Content(sample.labels, (explanations,), clusters=sample.clusters)
    rows = number_rows(sample, explanations, EXACT if sample.clusters is None else 0, content)
    covers, radii = relations[0].cover(rows.distinct, explanations, None), _radii(relations, len(rows.distinct))
    on_device = on_gpu(
        _device(device, sample),
        covers.near,
        len(rows.distinct) * rows.n,
        lambda gpu, near: cover_on_gpu(gpu, near, radii, relations, rows, True),
    )
    if on_device is not None:
        return on_device
    if near := countable(covers, sample, rows, interval=True):
        return _cover_near(near, radii, relations, rows)
    at_once = len(relations) if rows.blocks > 1 else _KEPT // (len(rows.distinct) * rows.n)
    parts = [slice(first, first + at_once) for first in range(0, len(relations), at_once)]
    return [found for part in parts for found in _cover_by_tiles(sample, rows, relations[part], radii[part])]


def _cover_by_tiles(sample: Sample, rows: NumberedRows, relations: Sequence[Within], radii: Floats) -> list[Coverage]:
    """Coverage within several radii of every center, by bitmaps."""
    tallies = [_tally(sample, rows, interval=True) for _ in relations]
    layout, centers, points = tallies[0].layout(), vectors(rows.distinct), vectors(sample.explanations)
    plain = Near(centers, points, radii[0], to_metric_name(relations[0].metric))
    need_distances(plain, len(layout.source))
    tiles = to_tiles(replace(plain, rows=points[layout.source]), radii)
    step = max(1, min(tallies[0].step(layout), TABLE // (2 * len(layout.source))))
    for start in range(0, len(centers), step):
        masks = tiles.masks(slice(start, min(start + step, len(centers))), slice(0, len(layout.source)))
        for mask, tally in zip(masks, tallies, strict=True):
            tally.prepare(start, layout.pack_arranged(mask), layout)()
    return [tally.result(relation, layout) for tally, relation in zip(tallies, relations, strict=True)]


def _radii(relations: Sequence[Within], centers: int) -> Floats:
    """The radii of every center: (relations, centers)."""
    return np.repeat([[relation.tau] for relation in relations], centers, axis=1)
