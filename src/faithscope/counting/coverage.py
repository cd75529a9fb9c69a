"""One pass over explanations and rows: who covers whom, and what sufficiency, necessity and encoding read of it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage, Encoded
from faithscope.counting.cover import Asked, bitmaps, over_batches
from faithscope.counting.gpu.devices import DEVICES, HERE, on_gpu
from faithscope.counting.layout import Layout
from faithscope.counting.near import PairCounts
from faithscope.counting.pairs import Tabled
from faithscope.counting.rows import Rows
from faithscope.counting.tally import TABLE, Adding, Tally
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Ints
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
    wanted: tuple[str, ...] = ("share",),
    *,
    exact: int = EXACT,
    beside: Sequence[Explanations] = (),
) -> Coverage:
    """Count the rows that the explanations of a sample cover.

    Parameters
    ----------
    sample : Sample
        It must have X if the relation reads rows.
    relation : Relation
    wanted : tuple of {"share", "recall"}
        Sufficiency; necessity, which counts, of the rows with each row's prediction, those that its explanation covers;
        or both in one pass, of labeled rows that are independent and count alike.
    exact : int
        Rows are left out one by one while explanations x rows is at most this, and in blocks beyond. Weighted and
        clustered rows are always left out in blocks, and for necessity numbers too.
    beside : sequence of Explanations
        The explanations of all explainers that are compared, including these, so that all leave out the same blocks.
    """
    in_blocks = wanted == ("recall",) and (sample.agreement.of_numbers or not sample.plain)
    known = exact, beside, _block_count(sample) if in_blocks else None
    (tally,) = _counted(sample, [relation], wanted, known)
    return tally.coverage() if "share" in wanted else tally.necessity()


count_necessity = partial(cover, wanted=("recall",))


def ask_groups(sample: Sample, relation: Relation, *, recall: bool = False, among: bool = False) -> Tally | None:
    """Groups of a sample, by their numbers in ``sample.askers``, beside everybody: rows that they cover answer.

    Rows are left out in up to 100 blocks. `Tally.asking` has what was counted of each, of sufficiency or its `recall`.
    None if a judge was not asked about all pairs.
    """
    if relation.partial:
        return None
    wanted, known = ("recall" if recall else "share",), (0, (), _block_count(sample))
    return _counted(sample, [relation], wanted, known, groups=sample.askers, among=among)[0]


def encoded(sample: Sample, relation: Relation, exact: int = EXACT) -> Encoded:
    """What encoding reads of a sample without rows of weight 0; `exact` is that of `cover`."""
    return _counted(sample, [relation], ("gap",), (exact,))[0].encoded()


def cover_curve(sample: Sample, relations: Sequence[Within], *, device: str = "cpu") -> list[Coverage]:
    """Coverage within several distances of one metric, each as `cover` counts it.

    Every distance is computed once if no single row is to be left out.
    """
    return [tally.coverage() for tally in _counted(sample, relations, ("share",), (EXACT,), device)]


def _block_count(sample: Sample) -> int:
    """How many blocks to leave out: each is a query per row, unless rows are labeled."""
    listed = sample.agreement.of_numbers or sample.clusters is not None
    return int(np.clip(_QUERIES // sample.n, _FEWEST, _BLOCKS)) if listed else _BLOCKS


def _counted(
    sample: Sample,
    relations: Sequence[Relation],
    wanted: tuple[str, ...],
    known: tuple[Any, ...],
    device: str = "cpu",
    **how: Any,
) -> list[Tally]:
    """A tally of all explanations for each of the relations, which are alike but for their distances.

    Parameters
    ----------
    wanted, how
        As for `Tally`.
    known : tuple
        What `Rows` takes after the relation.
    """
    check_word(device, "device", DEVICES)
    rows = Rows(sample, relations[0], *known)
    covers = [sample.covered_by(rows.distinct, each) for each in relations]
    if covers[0].asked is not None:
        if "share" not in wanted:  # "not asked" is not "does not apply"
            raise NotProven(
                f"{'Necessity' if 'recall' in wanted else 'Encoding'} needs to know of every row whether an "
                "explanation applies to it, and the judge was asked about some pairs only: ask about all of them, "
                "fs.pairs_to_ask(explanations, per_explanation=None), or measure sufficiency."
            )
        wanted = ("share",)
    near = covers[0].near
    tallies: Callable[..., Tally] = partial(Tally, sample, rows, wanted=wanted, **how)
    if near is None or rows.numbers or rows.weighted or "gap" in wanted or "groups" in how:
        if device == "cuda":
            raise BadInput(
                'device="cuda" counts rows within a distance by a named metric, if they are labeled and independent, '
                f"and nothing else: {HERE}."
            )
    elif not rows.listed and rows.blocks > 1:  # no single row is to be left out
        count = partial(_by_pairs, rows, covers, [partial(tallies, each) for each in relations])
        return on_gpu(device, near(), len(rows.distinct) * rows.n, count) or count(PairCounts)
    found = list(map(tallies, relations))
    for tally, cover in zip(found, covers, strict=True):
        work = tally.prepare if not rows.numbers else lambda *batch: batch  # numbers are listed in this thread
        paint = bitmaps(cover, tally.layout, tally.idle)
        for batch in over_batches(cover, paint, tally.layout, len(rows.distinct), tally.step, work):
            for add in tally.prepare(*batch) if rows.numbers else batch:
                add()
        if cover.asked is not None:
            tally.asked = Asked(*cover.asked, rows.codes, len(rows.distinct))
    return found


def _by_pairs(
    rows: Rows, covers: Sequence[Parts | Blocks], tallies: list[Callable[..., Tally]], kind: type[PairCounts]
) -> list[Tally]:
    """Tallies of labeled rows by distance, one per radius of all centers."""
    points = [cover.near() for cover in covers if cover.near is not None]
    radii = np.stack([each.radii for each in points])
    segment, segments = rows.labels * rows.blocks + rows.block, len(rows.names) * rows.blocks
    pairs = kind(points[0], radii, rows.codes, segment, segments)
    found = [tally(own=own) for tally, own in zip(tallies, pairs.own(), strict=True)]

    def prepare(start: int, counts: Ints) -> Adding:
        adding = Adding()
        for tally, table in zip(found, counts, strict=True):
            covered = table.reshape(len(table), len(rows.names), rows.blocks)
            adding += tally.prepare(start, None, Tabled(covered, covered))
        return adding

    for batch in pairs.in_batches(prepare):
        for add in batch:
            add()
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
    paint, step = bitmaps(covers, layout, []), max(1, TABLE // n)
    for start in range(0, counts.distinct, step):
        which, bit = layout.ones(paint(start, min(start + step, counts.distinct)))
        reach += np.bincount(bit, leaning[start + which], len(reach))
    return float(reach.max())
