"""One pass over rows and explanations: everything that encoding reads of a sample."""

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import Same
from faithscope.counting.asked import refuse_unasked
from faithscope.counting.bits.bitmaps import in_blocks
from faithscope.counting.bits.layout import Bits, Layout
from faithscope.counting.blocks import Content
from faithscope.counting.counts import Counts
from faithscope.counting.coverage import EXACT, cover
from faithscope.counting.encoding.blocks import GapBlocks
from faithscope.counting.encoding.compared import Independent, LabelsCompared, NumbersCompared, cells_of
from faithscope.counting.encoding.influence import GapInfluence
from faithscope.counting.encoding.label_blocks import kinds_of_rows, met_in_table
from faithscope.counting.encoding.lists import GapLists
from faithscope.counting.encoding.rows import GapRows, Listed
from faithscope.counting.encoding.sums import Encoded, GapSums
from faithscope.counting.numbered import NumberedRows, number_rows
from faithscope.counting.tally import TABLE, Coverage, weigh
from faithscope.relations import Blocks, Parts, Relation
from faithscope.sample import Sample

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PAIRS = 2**21  # explanations x rows looked at at once
_WORDS_PER_LABEL = 8  # below it, covered rows are listed instead of multiplied


def encoded(sample: Sample, relation: Relation, coverage: Coverage | None = None, exact: int = EXACT) -> Encoded:
    """What encoding reads of a sample without rows of weight 0.

    Parameters
    ----------
    coverage : Coverage, optional
        That of the same rows, if it was counted before; it is counted here otherwise.
    exact : int
        Rows are left out one by one while explanations x rows is at most this, and in blocks beyond. Weighted and
        clustered rows are always left out in blocks.
    """
    scopes = relation.scopes(sample.explanations)
    plain = sample.weights is None and sample.clusters is None
    content = Content(sample.labels, (scopes,), sample.X, sample.weights, sample.clusters)
    rows = number_rows(sample, scopes, exact if plain else 0, content)
    covers = relation.cover(rows.distinct, sample.explanations, sample.read_by(relation))
    refuse_unasked(covers, "Encoding")
    if rows.numbers or (rows.sparse and rows.blocks > 1):
        return _listed(sample, rows, covers)
    known = coverage if coverage is not None and plain else cover(sample, relation, interval=False)
    single = plain and rows.blocks == 1
    sums = _leave_out_rows(known, rows, covers) if single else _leave_out_blocks(rows, covers)
    return of_labels(known.counts, sums, effective_n(rows))


def of_labels(counts: Counts, sums: GapSums, effective: float) -> Encoded:
    """What encoding reads, from counts of independent rows with labels."""
    cells = cells_of(counts)
    given, others = (np.bincount(cells.explanation, column, counts.distinct) for column in (cells.given, cells.others))
    both = (given > 1) & (others > 0)
    told = (counts.explanations, tuple(counts.labels), both, cells)
    return Encoded(sums, *told, counts.n, int(counts.missed.sum()), effective)


def effective_n(rows: NumberedRows) -> float:
    """As how many independent rows that count alike these are: ``(Σw)² / Σ_k W_k²`` over clusters k."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    units = weights if rows.clusters is None else np.bincount(rows.clusters, weights)
    return float(weights.sum() ** 2 / (units**2).sum())


def _leave_out_rows(coverage: Coverage, rows: NumberedRows, covers: Parts | Blocks) -> GapSums:
    influence, layout = GapInfluence(coverage.counts), rows.layout(padded=not rows.sparse)
    totals = np.zeros((3, len(layout.source)))
    filled = layout.padded and layout.width >= _WORDS_PER_LABEL * len(rows.names)
    reached = int(coverage.counts.per_explanation.sum())
    dense = filled and 16 * reached > coverage.counts.distinct * len(layout.source)
    add = influence.add_densely if dense else influence.add_sparsely
    for start, bits in in_blocks(covers, layout, len(rows.distinct), max(1, TABLE // rows.n)):
        add(start, bits, layout, totals)
    kinds = (coverage.codes, rows.labels, coverage.own)  # every row is a kind of its own
    return influence.gap_sums(totals[:, layout.position], *kinds, np.ones(rows.n))


def _leave_out_blocks(rows: NumberedRows, covers: Parts | Blocks) -> GapSums:
    """Blocks of independent rows with labels, in tables."""
    layout, weights = rows.layout(), np.ones(rows.n) if rows.weights is None else rows.weights
    gap = GapBlocks(rows.blocks, Same().over(np.empty(0)))
    most = TABLE // max(1, layout.segments)
    step = max(1, most if rows.weights is None else min(most, 2 * _PAIRS // max(1, 64 * layout.width)))
    for start, bits in in_blocks(covers, layout, len(rows.distinct), step):
        members = rows.given(start, len(bits))
        asked = rows.codes[members] - start
        own = layout.holds(bits, asked, members)
        covered = layout.count(bits)
        mass = covered if rows.weights is None else layout.fold(weigh(bits, weights[layout.source]))
        block, label = rows.block[members], rows.labels[members]
        cell = (asked * len(rows.names) + label) * rows.blocks + block
        tables = [
            np.bincount(cell, column, minlength=covered.size).reshape(covered.shape)
            for column in (weights[members], np.ones(len(members)), weights[members] * own, 1.0 * own)
        ]
        kinds = kinds_of_rows(asked, label, weights[members], block, rows.blocks, 1.0)
        gap.add(kinds, met_in_table(tables[0], tables[1]), met_in_table(mass - tables[2], covered - tables[3]))
    per_block = np.bincount(rows.block, weights, minlength=rows.blocks).astype(np.float64)
    return gap.result(per_block, rows.n)


def _listed(sample: Sample, rows: NumberedRows, covers: Parts | Blocks) -> Encoded:
    """Numbers, clustered rows, and labels of which there are nearly as many as rows."""
    sums, itself = sample.agreement.over(sample.values), sample.agreement.itself
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    alone = rows.weights is None and rows.clusters is None and rows.blocks == 1
    gap = (
        GapRows(rows.labels, sums, itself)
        if alone
        else GapLists(rows, weights, sums, itself, GapBlocks(rows.blocks, sums))
    )
    rank = Content(sample.labels, rows.content.explanations, sample.X).deal(rows.n)
    independent, numbers = Independent(rows.clusters, rank), sample.agreement.of_numbers
    compared = (
        NumbersCompared(rows.labels, sample.values, independent)
        if numbers
        else LabelsCompared(rows.labels, len(rows.names), independent)
    )
    layout, both, missed = rows.layout(padded=not rows.sparse), [], 0
    for start, bits in in_blocks(covers, layout, len(rows.distinct), max(1, _PAIRS // rows.n)):
        batch = _list(rows, start, bits, layout)
        both.append(gap.add(batch))
        compared.add(batch)
        missed += batch.missed
    names = () if numbers else tuple(rows.names)
    told = (rows.kept, names, np.concatenate(both), compared.result(), rows.n, missed, effective_n(rows))
    return Encoded(gap.result(), *told)


def _list(rows: NumberedRows, start: int, bits: Bits, layout: Layout) -> Listed:
    """The rows given a batch of explanations, and the other rows that their bitmaps hold."""
    given = rows.given(start, len(bits))
    which, place = layout.ones(bits)
    row = layout.source[place]
    others = rows.codes[row] != which + start
    missed = len(given) - int((~others).sum())
    return Listed(start, len(bits), rows.codes[given] - start, given, which[others], row[others], missed)
