"""One pass over explanations and rows: who covers whom, and what sufficiency, necessity and encoding read of it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
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
from faithscope.relations import Blocks, Parts, Relation
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
    exact: int | None = None,
    beside: Sequence[Explanations] = (),
) -> Coverage:
    """Count the rows that the explanations of a sample cover, as `tallies` does."""
    return tallies(sample, [relation], wanted, exact=exact, beside=beside)[0].coverage()


count_necessity = partial(cover, wanted=("recall",))


def tallies(
    sample: Sample,
    relations: Sequence[Relation],
    wanted: tuple[str, ...] = ("share",),
    *,
    exact: int | None = None,
    beside: Sequence[Explanations] = (),
    groups: Ints | None = None,
    among: bool = False,
    device: str = "cpu",
) -> list[Tally]:
    """Count the rows that explanations cover: a tally of all explanations for each of the relations.

    Parameters
    ----------
    sample : Sample
        It must have X if the relations read rows.
    relations : sequence of Relation
        Alike but for their distances; each distance is computed once if no single row is to be left out.
    wanted : tuple of {"share", "recall", "gap"}
        Sufficiency; necessity, which counts, of the rows with each row's prediction, those that its explanation covers;
        or both in one pass, of labeled rows that are independent and count alike; encoding.
    exact : int
        Rows are left out one by one while explanations x rows is at most this, by default 10⁸, and in blocks beyond.
        Weighted and clustered rows are always left out in blocks, rows of `groups` too, and for necessity numbers.
    beside : sequence of Explanations
        The explanations of all explainers that are compared, including these, so that all leave out the same blocks.
    groups : (n,) array, optional
        Groups of rows that ask in turn beside everybody: `Tally.coverage` has what was counted of each.
    among : bool
        Whether rows of the own group alone answer.
    device : {"auto", "cpu", "cuda"}
    """
    check_word(device, "device", DEVICES)
    numbers, blocks = sample.agreement.of_numbers, None
    if groups is not None or (wanted == ("recall",) and (numbers or not sample.plain)):
        # Each block is a query per row, unless rows are labeled.
        listed = numbers or sample.clusters is not None
        blocks = int(np.clip(_QUERIES // sample.n, _FEWEST, _BLOCKS)) if listed else _BLOCKS
    rows = Rows(sample, relations[0], EXACT if exact is None else exact, beside, blocks)
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
    made = partial(Tally, sample, rows, wanted=wanted, groups=groups, among=among)
    if near is None or rows.numbers or rows.weighted or "gap" in wanted or groups is not None:
        if device == "cuda":
            raise BadInput(
                'device="cuda" counts rows within a distance by a named metric, if they are labeled and independent, '
                f"and nothing else: {HERE}."
            )
    elif not rows.listed and rows.blocks > 1:  # no single row is to be left out
        count = partial(_by_pairs, rows, covers, [partial(made, each) for each in relations])
        return on_gpu(device, near(), len(rows.distinct) * rows.n, count) or count(PairCounts)
    found = list(map(made, relations))
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
