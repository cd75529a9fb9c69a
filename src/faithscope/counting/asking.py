"""Beside everybody, where explanations cover rows: rows of each group ask, and all rows that they cover answer.

One pass over explanations and rows, in which the share and the recall of every group are those of `terms`, with all
rows and without each block of them. Sets of groups add up.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from faithscope.agreements import scaled
from faithscope.counting.counted import Coverage, NecessityCounts
from faithscope.counting.counts import Counts
from faithscope.counting.layout import sums
from faithscope.counting.leave_out import ClusterTotals, Units, ratio
from faithscope.counting.pairs import PairSums
from faithscope.counting.tally import Tally
from faithscope.counting.terms import RecallBlocks, ShareBlocks
from faithscope.inputs.array_types import Bools


class AskingGroups:
    """What rows are told that ask group by group.

    Parameters
    ----------
    tally : Tally
        Of groups that ask in turn.
    """

    def __init__(self, tally: Tally) -> None:
        assert tally.groups is not None
        self.tally, self.rows, self.groups = tally, tally.rows, tally.groups

    def _counts(self, asks: Bools, units: Units, chance: float | None) -> Counts:
        """The counts of the rows that ask, and of all rows that their explanations cover."""
        rows, counts = self.rows, self.tally.counts
        cell, masses = np.flatnonzero(counts.given)[rows.cell], (asks * rows.weight, asks * rows.weight**2)
        clusters = ClusterTotals.of(units, chance)
        return counts.of_askers(cell, asks, asks & ~self.tally.own, masses if rows.weighted else None, clusters)

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
        rows, (asks, units, heaviest), tally = self.rows, self._asks(groups), self.tally
        share = ShareBlocks(rows.blocks, tally.even, tally.moments)
        for number, part in enumerate(tally.shares):
            if number in groups:
                share.add(part.sums, part.leaning)
            elif not tally.among:  # rows of other groups may be silent too
                share.sums[3:] += part.sums[3:]
        many, asking = int(np.sum(units.mass > 0)), sums(rows.block[asks], rows.weight[asks], rows.blocks)
        left_out = replace(share.left_out(asking, many), heaviest=heaviest)
        spread = share.spread(left_out, scaled(tally.sample.values)[1], rows.block, asking)
        everybody = tally.everybody
        askers = everybody.asking(np.flatnonzero(asks)[np.argsort(rows.labels[asks], kind="stable")])
        pairs = PairSums.of(askers, everybody.witnesses, everybody.own.only(askers.row), tally.even)
        by_chance = ratio(pairs.agreeing, pairs.pairs)[0]
        chance = float(by_chance[0]) if pairs.met[0, 0] else None
        return Coverage(
            self._counts(asks, units, chance),
            np.unique(rows.codes[asks], return_inverse=True)[1].reshape(-1),
            tally.own[asks],
            tuple(tally.idle),
            left_out if many > 1 or spread is not None else None,
            block=rows.block,
            sums=share.total(),
            spread=spread,
            chance=chance,
            chance_left_out=by_chance[1:],
        )

    def necessity(self, groups: Collection[int]) -> NecessityCounts:
        """What necessity reads of some groups together."""
        rows, (asks, units, heaviest), everybody = self.rows, self._asks(groups), self.tally.everybody
        recall = RecallBlocks(everybody)
        for number in groups:
            recall.add(self.tally.recalls[number].sums, recall.leaning)
        terms = recall.result(asks, heaviest)
        if np.sum(units.mass > 0) < 2:
            terms = replace(terms, left_out=None)
        counts, own, others = self._counts(asks, units, terms.chance), self.tally.own[asks], everybody.others(asks)
        return NecessityCounts(counts, terms, own, tuple(self.tally.idle), rows.block, others=others)
