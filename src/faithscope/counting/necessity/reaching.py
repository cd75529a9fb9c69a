"""Counting for necessity: the distinct explanations of a sample, then whom each covers of each prediction."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from faithscope.counting.asked import refuse_unasked
from faithscope.counting.bits.bitmaps import over_batches
from faithscope.counting.bits.idle import watch
from faithscope.counting.bits.pair_counts import PairCounts
from faithscope.counting.blocks import Content
from faithscope.counting.clusters import Strangers
from faithscope.counting.counts import Counts
from faithscope.counting.coverage import EXACT, countable
from faithscope.counting.given_counts import given_counts
from faithscope.counting.necessity.counted import NecessityCounts
from faithscope.counting.necessity.label_tally import BlockTally, RowTally
from faithscope.counting.necessity.listed_tally import ListedTally
from faithscope.counting.numbered import NumberedRows, number_rows
from faithscope.explanations.base import Explanations
from faithscope.explanations.distances.near import Near
from faithscope.relations import Relation
from faithscope.sample import Sample

Tally = RowTally | BlockTally | ListedTally

_BLOCKS = 100
_FEWEST = 30  # blocks of many rows whose agreement is listed
_QUERIES = 2**21  # rows x blocks


def count_necessity(
    sample: Sample, relation: Relation, *, exact: int = EXACT, beside: Sequence[Explanations] = ()
) -> NecessityCounts:
    """Count, of the rows with each row's prediction, those that its explanation covers.

    Parameters
    ----------
    sample : Sample
    relation : Relation
    exact : int
        Rows are left out one by one while explanations x rows is at most this, and in blocks beyond. Weighted and
        clustered rows, and numbers, are left out in up to 100 blocks.
    beside : sequence of Explanations
        The explanations of all explainers that are compared, including these, so that all leave out the same blocks.
    """
    scopes = relation.scopes(sample.explanations)
    content = Content(sample.labels, beside or (scopes,), sample.X, sample.weights, sample.clusters)
    plain = sample.weights is None and sample.clusters is None and not sample.agreement.of_numbers
    rows = number_rows(sample, scopes, exact if plain else 0, content)
    if not plain:
        rows = replace(rows, blocks=_blocks(sample))
    covers = relation.cover(rows.distinct, sample.explanations, sample.read_by(relation))
    refuse_unasked(covers, "Necessity")
    near = countable(covers, sample, rows, interval=True)
    if near is not None:
        tally: Tally = _count_pairs(near, rows)
        return _counted(tally, sample, relation, ())
    watched, idle = watch(covers)
    tally = _tally(sample, rows, plain)
    layout = tally.layout()
    prepare = partial(tally.prepare, layout=layout)
    for add in over_batches(watched, layout, len(rows.distinct), tally.step(layout), prepare):
        add()
    return _counted(tally, sample, relation, idle())


def _blocks(sample: Sample) -> int:
    """How many blocks of weighted or clustered rows, or of numbers; each is a query per row unless rows are labeled."""
    units = sample.n if sample.clusters is None else int(sample.clusters.max()) + 1
    listed = sample.agreement.of_numbers or sample.clusters is not None
    return min(units, int(np.clip(_QUERIES // sample.n, _FEWEST, _BLOCKS)) if listed else _BLOCKS)


def _tally(sample: Sample, rows: NumberedRows, plain: bool) -> Tally:
    if plain and rows.blocks == 1:
        return RowTally(rows)
    if sample.agreement.of_numbers or sample.clusters is not None or rows.sparse:
        return ListedTally(sample, rows)
    return BlockTally(rows)


def _count_pairs(near: Near, rows: NumberedRows) -> BlockTally:
    """Coverage within a distance, by counts of pairs instead of bitmaps."""
    layout = rows.layout(padded=False)
    pairs = PairCounts(near, near.radii[None], rows.codes, layout.segment, layout.segments)
    tally = BlockTally(rows, next(iter(pairs.own())))
    for add in pairs.in_batches(lambda start, counts: tally.prepare_counts(start, counts[0])):
        add()
    return tally


def _counted(tally: Tally, sample: Sample, relation: Relation, idle: tuple[str, ...]) -> NecessityCounts:
    blocks = not isinstance(tally, RowTally)
    numbers = isinstance(tally, ListedTally) and sample.agreement.of_numbers
    return NecessityCounts(
        _counts(tally, sample, relation),
        tally.terms(),
        tally.own,
        idle,
        tally.rows.block if blocks else None,
        not blocks or tally.rows.content.of_rows_alone,
        tally.others if numbers and isinstance(tally, ListedTally) else None,
    )


def _counts(tally: Tally, sample: Sample, relation: Relation) -> Counts:
    counts = given_counts(tally.rows, tally.own, tally.same, tally.reached, relation, sample.agreement)
    return counts if sample.clusters is None else replace(counts, clusters=Strangers.of(sample).totals())
