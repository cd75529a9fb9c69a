"""Tally: what a pass over explanations and rows adds up for sufficiency, necessity and encoding."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from faithscope.agreements import Spread, scaled
from faithscope.counting.clusters import Kinds
from faithscope.counting.counted import (
    Coverage,
    Encoded,
    LabelCells,
    NumberTable,
    compare_labels,
    compare_numbers,
)
from faithscope.counting.counts import Counts
from faithscope.counting.cover import Asked
from faithscope.counting.layout import Bits, sums
from faithscope.counting.leave_out import ClusterTotals, Losses, Units, ratio
from faithscope.counting.moments import moments_of, spread_of, summed, whole
from faithscope.counting.pairs import Askers, Everybody, Listed, OwnCluster, PairSums, Tabled, Witnesses
from faithscope.counting.rows import Rows
from faithscope.counting.terms import (
    GapBlocks,
    RecallBlocks,
    ShareBlocks,
    gap_of_rows,
    recall_left_out,
    recall_losses,
    share_left_out,
    share_losses,
)
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.relations import Relation
from faithscope.runtime.memory import need
from faithscope.sample import Sample

Adding = list[Callable[[], Any]]  # what adds a batch of explanations

TABLE = 2**21  # entries of tables, or pairs of an explanation and a row, that are worked on at once
_WEIGHED = 2**22  # bits of masks multiplied by weights at once


class Tally:
    """Rows counted over batches of explanations, and what measures read of pairs of rows.

    Labels of independent rows are counted in tables, or as lists if there are nearly as many as rows. Numbers and
    clustered rows are listed, in the caller's own thread.

    Parameters
    ----------
    sample : Sample
    rows : Rows
    relation : Relation
    wanted : tuple of {"share", "recall", "gap"}
        Sufficiency, necessity, encoding.
    own : (n,) array of bool, optional
        Whether each row is covered by its own explanation, if that is known.
    groups : (n,) array, optional
        Groups of rows that ask in turn.
    among : bool
        Whether rows of the own group alone answer.

    Attributes
    ----------
    idle : list of str
        Conditions that hold on no row.
    asked : Asked or None
        The pairs of which it is known whether one covers the other; None if all are.
    """

    def __init__(
        self,
        sample: Sample,
        rows: Rows,
        relation: Relation,
        *,
        wanted: tuple[str, ...],
        own: Bools | None = None,
        groups: Ints | None = None,
        among: bool = False,
    ) -> None:
        self.sample, self.rows, self.relation, self.wanted = sample, rows, relation, wanted
        self.layout, self.among = rows.layout(), among
        self.groups: Any = groups
        self.idle, self.cells = list[str](), list[tuple[Ints, Ints]]()
        self.asked: Asked | None = None
        self.own = np.zeros(rows.n, bool) if own is None else own
        self.kernel, self.itself = sample.agreement.over(sample.values), sample.agreement.itself
        self.held = 0  # bytes of the cells
        if rows.numbers:
            need(200 * rows.n, f"Sums over {rows.n:,} rows", "sample rows")
            self.agreeing, self.reached = np.zeros(rows.n), np.zeros(len(rows.distinct), np.int64)
            self.strangers, self.compared = np.zeros((3, rows.n)), list[LabelCells | NumberTable]()
        spread = isinstance(sample.agreement, Spread) and "share" in wanted
        self.moments = moments_of(sample) if spread else None
        self.even = sample.plain
        self.bits: list[tuple[int, Bits]] = []  # kept to leave out single rows
        many = 0 if rows.single else 1 if groups is None else int(groups.max()) + 1
        made: dict[str, Callable[[], Any]] = {
            "share": partial(ShareBlocks, rows.blocks, self.even, self.moments),
            "recall": lambda: RecallBlocks(self.everybody),
            "gap": partial(GapBlocks, rows, self.itself),
        }
        self.sums = {what: [made[what]() for _ in range(many)] for what in wanted}  # by group that asks

    @cached_property
    def everybody(self) -> Everybody:
        """All rows, as of one explanation."""
        covered = self._covered(self.layout.everybody[None])
        return Everybody(self.rows, self.sample.agreement, self.kernel, covered)

    def _covered(self, bits: Bits) -> Witnesses:
        """The rows that a batch of explanations covers."""
        rows, layout = self.rows, self.layout
        if rows.listed:
            scope, place = layout.ones(bits)
            return Listed(rows, self.kernel, len(bits), scope, layout.source[place])
        weighed = counted = layout.count(bits)
        if rows.weighted:
            masks = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little") * rows.weight[layout.source]
            weighed = layout.fold(masks.reshape(*bits.shape, 64).sum(axis=2))
        return Tabled(counted, weighed)

    @property
    def step(self) -> int:
        """How many explanations to add at once."""
        most = TABLE // max(1, self.rows.n if self.rows.listed else self.layout.segments)
        weighed = self.rows.weighted and not self.rows.numbers
        return max(1, min(most, _WEIGHED // max(1, 64 * self.layout.width)) if weighed else most)

    def prepare(self, start: int, bits: Bits | None, covered: Witnesses | None = None) -> Adding:
        """Count a batch of explanations by their bitmaps, `start` the number of the first.

        This may be in any thread, but for numbers. Or by the witnesses that they cover; `own` must then be known. What
        is returned adds them: it is to be called for one batch after the other.
        """
        rows, adding = self.rows, Adding()
        if bits is not None:
            covered, given = self._covered(bits), rows.given(start, len(bits))
            self.own[given] = self.layout.holds(bits, rows.codes[given] - start, given)
            if rows.single:
                adding.append(partial(self.bits.append, (start, bits)))
        assert covered is not None
        askers = Askers.given(rows, start, covered.many, self.own)
        own = OwnCluster.of(askers, covered, askers.inside, self.itself)
        if isinstance(covered, Listed) and rows.numbers:
            self._note(start, askers, covered, own)
        else:
            adding.append(partial(self._count, start, covered.many, *covered.cells))
        for number, measure in (each for groups in self.sums.values() for each in enumerate(groups)):
            asking, answering, theirs = askers, covered, own
            if self.groups is not None:  # which ask in turn
                chosen = self.groups[askers.row] == number
                asking, theirs = askers.only(chosen), own.only(chosen)
                if self.among and isinstance(covered, Listed):
                    inside = self.groups[covered.row] == number
                    answering = Listed(rows, self.kernel, covered.many, covered.scope[inside], covered.row[inside])
            if len(asking.row):
                adding.append(partial(measure.add, *measure.terms(asking, answering, theirs)))
        return adding

    def _note(self, start: int, askers: Askers, covered: Listed, own: OwnCluster) -> None:
        """Per row, what counts of numbers, or of clustered rows, are made of; and what tests of encoding compare."""
        rows, many, seen = self.rows, covered.many, covered
        if "gap" in self.wanted:
            given, seen = covered.apart(askers)
            cells = compare_labels(given, seen, self.rank, start)
            numbers = self.sample.agreement.of_numbers
            self.compared.append(compare_numbers(cells, start, many, self.sample.values) if numbers else cells)
        self.reached[start : start + many] = np.bincount(seen.scope, minlength=many)
        self.agreeing[askers.row] = seen.agreeing(askers.scope, askers.value)
        if rows.clusters is not None:
            parts, size = np.unique(seen.scope * rows.units + rows.clusters[seen.row], return_counts=True)
            largest = np.ones(many)
            np.maximum.at(largest, parts // rows.units, size)
            others = covered.weight.sum(axis=1)[askers.scope] - own.weight
            agreeing = np.maximum(self.agreeing[askers.row] - own.agreeing, 0.0)
            self.strangers[:, askers.row] = others, agreeing, largest[askers.scope]

    @cached_property
    def rank(self) -> Ints:
        """The order in which tests of encoding prefer the rows of one cluster."""
        if self.rows.clusters is None:
            return np.arange(self.rows.n)
        return replace(self.rows.content, sample=replace(self.sample, weights=None, askers=None)).preferred()

    def _count(self, start: int, many: int, cells: Ints, covered: Ints) -> None:
        names = len(self.rows.names)
        self.cells.append((cells + start * names, covered))
        self.held += 16 * len(cells)
        asked = f"Counts of {start + many:,} of {len(self.rows.distinct):,} explanations by {names:,} labels"
        need(3 * self.held, asked, "sample rows or explanations, or bin the predictions")  # to put them together

    @cached_property
    def counts(self) -> Counts:
        """The counts of all explanations, once they were added.

        Of numbers, and of clustered rows, those of the cells that rows were given, with their agreement: those of all
        rows covered are too many.
        """
        rows, names, known = self.rows, len(self.rows.names), dict[str, Any]()
        explanation, label, place = rows.cells
        cells = asked = explanation * names + label
        if rows.numbers:
            by_cell = np.zeros(len(cells))
            by_cell[place] = self.agreeing
            covered = np.bincount(place[self.own], minlength=len(cells))
            clusters = None if rows.clusters is None else Kinds.of(self.sample).totals()
            known = {
                "agreement": self.sample.agreement,
                "reached": self.reached,
                "agreeing": by_cell,
                "clusters": clusters,
            }
        else:
            cells, covered = map(np.concatenate, zip(*self.cells, strict=True))
            self.cells.clear()
            at = np.searchsorted(cells, asked)
            missing = np.append(cells, -1)[at] != asked  # cells that rows were given, of which none is covered
            cells, covered = (np.insert(c, at[missing], v) for c, v in ((cells, asked[missing]), (covered, 0)))
            place = np.searchsorted(cells, asked)[place]
            explanation, label = np.divmod(cells, names)
        given, missed = (np.bincount(each, minlength=len(cells)) for each in (place, place[~self.own]))
        powers = (1, 2) if rows.weighted else ()
        weight, square = [sums(place, rows.weight**power, len(cells)) for power in powers] or (None, None)
        tables = explanation, label, given, covered, missed, weight, square
        source = rows.distinct  # a copy, if a caller may change them
        source = source.take(np.arange(rows.n)) if len(source) == rows.n else source
        return Counts(source, rows.names, *tables, self.relation, **known)

    def _lost(self, losses: Losses) -> Floats:
        """For each row, the losses of the explanations that cover it."""
        rows = self.rows
        return losses.by_row(self.bits, self.layout, rows.labels, not rows.listed, max(1, TABLE // rows.n))

    def coverage(self) -> Coverage:
        """The coverage of all explanations that were added; that of necessity, if it alone is wanted."""
        rows, counts, moments = self.rows, self.counts, self.moments
        known, necessity = (counts, rows.codes, self.own, tuple(self.idle)), None
        if "recall" in self.wanted and rows.single:
            terms = recall_left_out(counts, self._lost(recall_losses(counts)), rows.cells[2], self.own)
            necessity = Coverage(*known, **terms)
        elif "recall" in self.wanted:
            terms = self.sums["recall"][0].result(np.ones(rows.n, bool), rows.independent.heaviest)
            necessity = Coverage(*known, block=rows.block, **terms)
        if "share" not in self.wanted and necessity is not None:
            return necessity
        total = left_out = spread = None
        unit = 1.0 if moments is None else scaled(self.sample.values)[1]
        if not rows.single:
            share = self.sums["share"][0]
            total = share.total()
            if rows.units > 1:
                left_out = share.left_out(rows.per_block, rows.units)
                spread = share.spread(left_out, unit, rows.block)
        elif rows.n > 1:
            losses, others = share_losses(counts), counts.per_explanation[rows.codes] - self.own
            alone, few = others == 0, others == 1
            if moments is not None:  # silent, without one other row
                becoming = summed(moments[:, few], rows.codes[few], counts.distinct)
                losses = losses._replace(by_scope=np.concatenate([losses.by_scope, becoming]))
            lost = self._lost(losses)
            left_out = share_left_out(counts, lost, rows.cells[2], self.own)
            if moments is not None:
                silent = whole(moments[:, alone])
                without = silent - moments * alone + lost[3:] - moments * (few & self.own)
                everyone, sums_ = whole(moments) - moments, counts.profile().terms
                spread = spread_of(sums_, left_out, moments, (silent, without), everyone, unit)
        in_blocks = not rows.single and rows.units > 1
        return Coverage(
            *known,
            left_out,
            rows.block if in_blocks else None,
            None if self.even and not rows.numbers else total,
            spread,
            self.asked,
            necessity,
            None if rows.clusters is None else self.strangers,
            weights=self.sample.weights,
        )

    def asking(self, numbers: Collection[int]) -> Coverage:
        """Sufficiency, or necessity, of rows of some groups that ask together, beside all rows that they cover."""
        rows, everybody = self.rows, self.everybody
        asks, many = np.isin(self.groups, list(numbers)), self.counts
        units = Units(rows.weight * asks, rows.clusters)
        heaviest = units.effective_n * float(rows.independent.mass.max() / (rows.weight @ asks))
        told: dict[str, Any]
        if "recall" in self.wanted:
            recall = RecallBlocks(everybody)
            for number in numbers:
                recall.add(self.sums["recall"][number].sums, recall.leaning)
            told = recall.result(asks, heaviest)
        else:
            share = ShareBlocks(rows.blocks, self.even, self.moments)
            for number, part in enumerate(self.sums["share"]):
                if number in numbers:
                    share.add(part.sums, part.leaning)
                elif not self.among:  # rows of other groups may be silent too
                    share.sums[3:] += part.sums[3:]
            per_block = sums(rows.block[asks], rows.weight[asks], rows.blocks)
            left_out = replace(share.left_out(per_block, int(np.sum(units.mass > 0))), heaviest=heaviest)
            spread = share.spread(left_out, scaled(self.sample.values)[1], rows.block, per_block)
            askers = everybody.asking(np.flatnonzero(asks)[np.argsort(rows.labels[asks], kind="stable")])
            pairs = PairSums.of(askers, everybody.witnesses, everybody.own.only(askers.row), self.even)
            by_chance = ratio(pairs.agreeing, pairs.pairs)[0]
            told = {"sums": share.total(), "left_out": left_out, "spread": spread, "chance_left_out": by_chance[1:]}
            told["chance"] = float(by_chance[0]) if pairs.met[0, 0] else None
        if np.sum(units.mass > 0) < 2 and told.get("spread") is None:
            told["left_out"] = None
        masses = (asks * rows.weight, asks * rows.weight**2) if rows.weighted else None
        cell, clusters = np.flatnonzero(many.given)[rows.cells[2]], ClusterTotals.of(units, told["chance"])
        counts = many.of_askers(cell, asks, asks & ~self.own, masses, clusters)
        codes = np.unique(rows.codes[asks], return_inverse=True)[1].reshape(-1)
        told["weights"] = rows.weight[asks] if rows.weighted else None
        return Coverage(counts, codes, self.own[asks], tuple(self.idle), block=rows.block, **told)

    def encoded(self) -> Encoded:
        """What encoding reads of all explanations that were added."""
        rows, counts = self.rows, self.counts
        if rows.single:
            gap, both = gap_of_rows(counts, rows.codes, rows.labels, rows.cells[2], self.own, self._lost)
        else:
            (blocks,) = self.sums["gap"]
            gap, both = blocks.result(), np.concatenate(blocks.both)
        tables: LabelCells | NumberTable
        if rows.numbers:
            tables = type(self.compared[0])(*map(np.concatenate, zip(*self.compared, strict=True)))
        else:
            columns = counts.given, counts.covered - (counts.given - counts.missed)
            tables = LabelCells(counts.explanation, counts.label, *columns, *columns)
            given, met = (np.bincount(counts.explanation, column, counts.distinct) for column in columns)
            both = (given > 1) & (met > 0)  # batches of blocks come in any order
        return Encoded(counts, gap, both, tables)
