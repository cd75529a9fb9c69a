"""Beside everybody, where explanations cover rows: rows of each group ask, and all rows that they cover answer.

One pass over explanations and rows, in which the share and the recall of every group are those of `terms`, with all
rows and without each block of them. Sets of groups add up.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from faithscope.agreements import Spread, scaled
from faithscope.counting.clusters import ClusterTotals
from faithscope.counting.counted import Coverage, NecessityCounts
from faithscope.counting.counts import Counts
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import ratio
from faithscope.counting.moments import Moments
from faithscope.counting.pairs import Askers, Listed, OwnCluster, PairSums, Tabled, Witnesses
from faithscope.counting.rows import Rows
from faithscope.counting.terms import RecallBlocks, ShareBlocks
from faithscope.counting.units import Units
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.relations import Beside
from faithscope.sample import Sample


class AskingGroups:
    """What rows are told that ask group by group; batches of explanations are added.

    Parameters
    ----------
    sample : Sample
        Its `askers` are the group of each row, by number.
    rows : Rows
        The same rows, in blocks.
    recall : bool
        Whether necessity is asked for; else sufficiency.
    among : bool
        Whether rows of the own group alone answer.
    """

    def __init__(self, sample: Sample, rows: Rows, recall: bool = False, among: bool = False) -> None:
        assert sample.askers is not None
        self.sample, self.rows, self.groups, self.among = sample, rows, sample.askers, among
        self.kernel, self.even = sample.agreement.over(sample.values), not rows.weighted and rows.clusters is None
        self.moments = Moments.of_rows(sample) if isinstance(sample.agreement, Spread) else None
        self.everybody = self._everybody()
        order = np.argsort(rows.labels, kind="stable")
        every, itself = self._asking(order), sample.agreement.itself
        alone = np.ones(rows.n)
        if isinstance(self.everybody, Listed):
            own = self.everybody.of_own_cluster(every, alone, itself)
        else:
            own = OwnCluster.alone(every, alone, itself)
        place = np.argsort(order)
        self.own = own.only(place)  # per row, the rows of its cluster, whatever covers them
        self.alike = self.everybody.agreeing(every)[place] if recall else np.ones(rows.n)
        many = int(self.groups.max()) + 1
        self.shares = [] if recall else [self._share() for _ in range(many)]
        self.recalls = [RecallBlocks(self.everybody) for _ in range(many)] if recall else []

    def _everybody(self) -> Witnesses:
        """All rows, as of one explanation."""
        rows = self.rows
        if rows.numbers or rows.sparse:
            order = np.argsort(rows.labels, kind="stable")
            return Listed(rows, self.kernel, 1, np.zeros(rows.n, np.int64), order)
        cell = rows.labels * rows.blocks + rows.block
        count, weight = (
            sums(cell, column, len(rows.names) * rows.blocks).reshape(1, -1, rows.blocks)
            for column in (np.ones(rows.n), rows.weight)
        )
        return Tabled(count, weight)

    def _asking(self, row: Ints) -> Askers:
        """Rows that ask as if all had one explanation, in order of prediction."""
        rows, none = self.rows, np.zeros(len(row), np.int64)
        columns = (rows.labels[row], rows.block[row], rows.weight[row], np.ones(len(row)), np.ones(len(row), bool))
        return Askers(none, np.zeros(1, np.int64), *columns, row)

    def _share(self) -> ShareBlocks:
        return ShareBlocks(self.rows.blocks, self.even, self.moments)

    def add(self, askers: Askers, covered: Tabled | Listed, own: OwnCluster) -> None:
        """Add a batch of explanations, the rows that they cover, and of each asker those of its own cluster."""
        asking = self.groups[askers.row]
        for number in np.unique(asking).tolist():
            chosen, witnesses = asking == number, covered
            mine, known = askers.only(chosen), own.only(chosen)
            if self.recalls:
                terms = self.recalls[number].terms(mine, covered, known, self.own.only(mine.row))
                self.recalls[number].add(*terms)
                continue
            if self.among and isinstance(covered, Listed):
                inside = self.groups[covered.row] == number
                witnesses = Listed(self.rows, self.kernel, covered.many, covered.scope[inside], covered.row[inside])
            self.shares[number].add(*self.shares[number].terms(mine, witnesses, known))

    def counted(self, counts: Counts, own: Bools, idle: tuple[str, ...]) -> "AskingGroups":
        """With the counts of all rows, whether their explanation covers each, and conditions that hold nowhere."""
        self.counts, self.inside, self.idle = counts, own, idle
        return self

    def _counts(self, asks: Bools, units: Units, chance: float | None) -> Counts:
        """The counts of the rows that ask, and of all rows that their explanations cover."""
        rows, counts = self.rows, self.counts
        known = np.unique(rows.codes[asks])
        place = np.full(counts.distinct, -1)
        place[known] = np.arange(len(known))
        cell = np.flatnonzero(counts.given)[rows.cell]
        kept = place[counts.explanation] >= 0

        def by_cell(chosen: Bools, values: Floats) -> Floats:
            return sums(cell[chosen], values[chosen], len(counts.given))[kept]

        given, missed = (by_cell(each, np.ones(rows.n)).astype(np.int64) for each in (asks, asks & ~self.inside))
        weight, square = (by_cell(asks, rows.weight**power) for power in (1, 2))
        clusters = None
        if rows.clusters is not None:
            clusters = ClusterTotals(int(np.sum(units.mass > 0)), units.effective_n, chance)
        return replace(
            counts,
            source=counts.explanations.take(known),
            chosen=None,
            explanation=place[counts.explanation[kept]],
            label=counts.label[kept],
            given=given,
            covered=counts.covered[kept],
            missed=missed,
            weight=weight if rows.weighted else None,
            square=square if rows.weighted else None,
            relation=Beside(),
            reached=None if counts.reached is None else counts.reached[known],
            agreeing=None if counts.agreeing is None else counts.agreeing[kept],
            clusters=clusters,
        )

    def _asks(self, groups: Collection[int]) -> tuple[Bools, Units, float]:
        """Which rows ask, as units, and as how many effective ones the heaviest of all counts."""
        asks, rows = np.isin(self.groups, list(groups)), self.rows
        units = Units(rows.weight * asks, rows.clusters)
        return asks, units, units.effective_n / self.good(groups)

    def good(self, groups: Collection[int]) -> float:
        """As how many units of the same weight they are, if one that was missed may weigh as much as the heaviest."""
        asks, mass = np.isin(self.groups, list(groups)), self.rows.independent.mass
        return float(self.rows.weight @ asks / mass.max())

    def coverage(self, groups: Collection[int]) -> Coverage:
        """What sufficiency reads of some groups together."""
        rows, (asks, units, heaviest), share = self.rows, self._asks(groups), self._share()
        for number in groups:
            part = self.shares[number]
            share.add(part.agreeing, part.silent, part.checked, part.leaning, part.silenced)
        if not self.among and share.silenced is not None:  # rows of other groups may be silent too
            for number, part in enumerate(self.shares):
                if number not in groups and part.silenced is not None:
                    share.silenced = share.silenced + part.silenced
        many, asking = int(np.sum(units.mass > 0)), sums(rows.block[asks], rows.weight[asks], rows.blocks)
        left_out = replace(share.left_out(asking, many), heaviest=heaviest)
        spread = share.spread(left_out, scaled(self.sample.values)[1], rows.block, asking)
        askers = self._asking(np.flatnonzero(asks)[np.argsort(rows.labels[asks], kind="stable")])
        pairs = PairSums.of(askers, self.everybody, self.own.only(askers.row), self.even)
        by_chance = ratio(pairs.agreeing, pairs.pairs)[0]
        chance = float(by_chance[0]) if pairs.met[0, 0] else None
        return Coverage(
            self._counts(asks, units, chance),
            np.unique(rows.codes[asks], return_inverse=True)[1].reshape(-1),
            self.inside[asks],
            self.idle,
            left_out if many > 1 or spread is not None else None,
            block=rows.block,
            sums=share.total(),
            spread=spread,
            chance=chance,
            chance_left_out=by_chance[1:],
        )

    def necessity(self, groups: Collection[int]) -> NecessityCounts:
        """What necessity reads of some groups together."""
        rows, (asks, units, heaviest), recall = self.rows, self._asks(groups), RecallBlocks(self.everybody)
        for number in groups:
            recall.add(self.recalls[number].sums)
        reach, others = 1.0, None
        if self.sample.agreement.of_numbers:
            # How much the terms of the rows that ask lean on one row at most, as of all rows.
            lean = sums(rows.labels, asks * rows.weight / self.alike, len(rows.names))
            reach = float(self.kernel.among_all(lean)[0].max())
            others = np.maximum(self.alike - self.own.agreeing, 0.0)[asks]
        terms = recall.result(reach, heaviest)
        if np.sum(units.mass > 0) < 2:
            terms = replace(terms, left_out=None)
        counts = self._counts(asks, units, terms.chance)
        return NecessityCounts(counts, terms, self.inside[asks], self.idle, rows.block, others=others)
