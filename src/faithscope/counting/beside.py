"""Beside everybody: rows of a group ask, all rows answer; each group's share, and the same without each row or cluster.

Beside a reference, its rows alone answer.

Rows that count alike (of one explanation, prediction, group and weight, or cluster) are one kind, of which one is left
out. Without a row of any group, the terms of a group lose it as a witness; without one of its own, its term too, and
the group is one row smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from faithscope.agreements import Spread
from faithscope.agreements.base import AgreementSums
from faithscope.counting.clusters import Cells, ClusterTotals
from faithscope.counting.counts import Counts
from faithscope.counting.layout import numbered_pairs, sums
from faithscope.counting.leave_out import Asking, LeftOut, Parts, Sums, Units, parts_left_out, ratio
from faithscope.counting.moments import Moments, SpreadCounts, moments_of, spread_of, summed, whole
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.grouping import group as grouped
from faithscope.sample import Sample

_FEW = 3  # rows that answer, of which a kind that nobody saw has no more


class Asked(NamedTuple):
    """What the rows that ask are told.

    Attributes
    ----------
    sums : Sums
        Of their terms, of those that are silent, and of their weight.
    left_out : LeftOut
        The same without each unit of all rows.
    units : float
        How many units ask: rows, or clusters.
    good : float
        As how many units of the same weight they are, if one that was missed may weigh as much as the heaviest.
    chance : float or None
        How much they agree with any row of another unit; None if there is none.
    chance_left_out : (k,) array
    """

    sums: Sums
    left_out: LeftOut
    units: float
    good: float
    chance: float | None
    chance_left_out: Floats


@dataclass(frozen=True, eq=False)
class Kinds:
    """Rows that count alike, as one entry each.

    Attributes
    ----------
    code, value, group : (k,) arrays
        The explanation, the prediction and the group of each, by number.
    rows : (k,) array
        How many they are.
    each, times : (k,) arrays
        The weight of one that is left out, and how many such there are; rows of one cluster go together, and are one.
    square : (k,) array
        The sum of the squared weights of the rows.
    cluster : (k,) array or None
    answers : (k,) array of bool, optional
        Which of them answer; by default all do.
    moments : Moments, optional
        Of one row each, for `Spread`.
    """

    code: Ints
    value: Ints
    group: Ints
    rows: Ints
    each: Floats
    times: Ints
    square: Floats
    cluster: Ints | None
    sums: AgreementSums
    itself: float
    answers: Bools | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, sample: Sample, group: Ints, rows: Ints | None = None) -> "Kinds":
        """The rows of a sample, of these groups; `rows` are how many each stands for, if not one."""
        columns = [sample.explanations.group()[0], sample.numbered_labels[1], group]
        if sample.weights is not None:
            columns.append(np.unique(sample.weights, return_inverse=True)[1])
        if sample.clusters is not None:
            columns.append(sample.clusters)
        codes, first = grouped([np.column_stack(columns)])
        times = np.bincount(codes, rows).astype(np.int64)
        clusters = None if sample.clusters is None else sample.clusters[first]
        kernel = sample.agreement.over(sample.values)
        code, value, mine = (column[first] for column in columns[:3])
        weight, itself = sample.weight[first], sample.agreement.itself
        alone = clusters is None
        each, lots = (weight, times) if alone else (weight * times, np.ones(len(times), np.int64))
        square = times * weight**2
        kinds = cls(code, value, mine, times, each, lots, square, clusters, kernel, itself)
        if not isinstance(sample.agreement, Spread):
            return kinds
        return replace(kinds, moments=moments_of(sample)[:, first])

    @cached_property
    def mass(self) -> Floats:
        """The weight of each kind."""
        return np.asarray(self.each * self.times)

    @cached_property
    def _answering(self) -> Floats:
        """The weight of one row of each kind that answers; 0 if none does."""
        return self.each if self.answers is None else self.each * self.answers

    @cached_property
    def _cells(self) -> Cells:
        return Cells(*numbered_pairs(self.code, self.value))

    @cached_property
    def _part(self) -> tuple[Ints, Ints, Cells] | None:
        """Of clustered rows: the explanation of each part, the part of each kind, and its cells."""
        if self.cluster is None:
            return None
        explanation, _, part = numbered_pairs(self.code, self.cluster)
        return explanation, part, Cells(*numbered_pairs(part, self.value))

    def _others(self, mass: Floats, own: Floats) -> Floats:
        """Per kind, the weight of rows of other units with its explanation, each by its agreement."""
        mine = self.itself * own if self._part is None else self._part[2].agreeing(self.sums, mass)
        return np.maximum(self._cells.agreeing(self.sums, mass) - mine, 0.0)  # not below 0 by rounding

    @cached_property
    def _agreeing(self) -> Floats:
        return self._others(self._answering * self.times, self._answering)

    def parts(self, asks: Bools) -> Parts:
        """The parts of explanations if these kinds ask."""
        asking, code, unit, rows = self.mass * asks, self.code, None, self.times
        agreeing, answered = self._agreeing, self._others(asking, self.each * asks)
        own, mine = self._answering, self.each * asks
        if self._part is not None and self.cluster is not None:
            code, part, _ = self._part
            unit, rows = np.empty(len(code), np.int64), np.ones(len(code), np.int64)
            unit[part] = self.cluster
            own, mine, agreed, asked = (
                np.bincount(part, column).astype(np.float64)
                for column in (own, asking, asking * agreeing, own * answered)
            )
            agreeing, answered = (
                sum_ / np.where(mass > 0, mass, np.inf) for sum_, mass in ((agreed, mine), (asked, own))
            )
        asker, witness = np.asarray(mine > 0, np.int64), np.asarray(own > 0, np.int64)
        columns = (own, mine * own, mine * agreeing, mine, asker, witness, asker * witness)
        many = int(code.max()) + 1
        weight, square, pairs, asked, askers, witnesses, both = (
            sums(code, rows * column, many)[code] for column in columns
        )
        met = askers * witnesses - both
        left = (askers - asker) * (witnesses - witness) - both + asker * witness
        asked_by = Asking(asked, mine, answered, met, left)
        return Parts(met, weight, square, pairs, agreeing, own, rows, unit, asked_by)

    @cached_property
    def everybody(self) -> "Kinds":
        """The same as if all rows had one explanation."""
        return replace(self, code=np.zeros(len(self.code), np.int64))

    def asked(self, asks: Bools) -> Asked:
        """The share of the kinds that ask."""
        total, left_out = parts_left_out(self.parts(asks))
        chances, by_chance = parts_left_out(self.everybody.parts(asks))
        mine, heaviest, times = self.each * asks, self.each, self.times
        if self.cluster is not None:
            mine, heaviest = (np.bincount(self.cluster, column).astype(np.float64) for column in (mine, self.each))
            times = np.ones(len(mine), np.int64)
        chance = None if chances.silent > 0 else chances.agreeing / chances.total
        good = total.total / float(heaviest.max())
        units = float(np.sum(times[mine > 0]))
        left_out = replace(left_out, reach=self._reach(asks) / float(heaviest.max()))
        return Asked(total, left_out, units, good, chance, by_chance.value)

    def spread(self, asks: Bools, asked: Asked, unit: float) -> SpreadCounts | None:
        """W of the kinds that ask, S of those that answer and T of all, with all rows and without each."""
        if self.moments is None:
            return None
        one, many = self.moments, int(self.code.max()) + 1
        held, answers = one * self.rows, self._answering > 0
        rows = sums(self.code, self.rows * answers, many)[self.code]
        alone, pair = answers & (rows == 1), answers & (rows == 2)
        other = summed(held * answers, self.code, many)[:, self.code] - one
        silent = whole(one * alone)
        left = silent - one * alone + other * pair
        every = one[:, np.repeat(np.arange(len(self.code)), self.rows)]
        return spread_of(asked.sums, asked.left_out, every, (silent, left), whole(held) - one, unit, self.each * asks)

    def _reach(self, asks: Bools) -> float:
        """How much of the weight that asks leans on a unit that answers, of the few on which most does.

        A kind of rows that nobody saw is as rare as a few rows that answer, and changes no more than leans on these.
        Beside everybody this is no more than a unit weighs.
        """
        if self.answers is None:
            return 0.0
        many = int(self.code.max()) + 1
        asked, weight = (
            np.bincount(self.code, column, many) for column in (self.mass * asks, self._answering * self.times)
        )
        leaning, times = ratio(asked, weight)[self.code] * self._answering, self.times
        if self.cluster is not None:
            leaning = np.bincount(self.cluster, leaning).astype(np.float64)
            times = np.ones(len(leaning), np.int64)
        order = np.argsort(-leaning)[:_FEW]
        most = np.repeat(leaning[order], np.minimum(times[order], _FEW))[:_FEW]
        return float(most.sum() / _FEW)


def counts_beside(kinds: Kinds, asks: Bools, asked: Asked, labels: Sequence[Any], source: Explanations) -> Counts:
    """Counts of the rows that ask, as given, and of all rows with their explanations, as covered.

    Parameters
    ----------
    labels : sequence
        The different predictions.
    source : Explanations
        The different explanations.
    """
    explanation, label, cell = numbered_pairs(kinds.code, kinds.value)
    answering = kinds.rows if kinds.answers is None else kinds.rows * kinds.answers
    covered = np.bincount(cell, answering).astype(np.int64)
    counts = Counts(source, labels, explanation, label, covered, covered, 0 * covered)
    masses = None if (kinds.mass == kinds.rows).all() else (kinds.mass * asks, kinds.square * asks)
    clusters = ClusterTotals.of(Units(kinds.mass * asks, kinds.cluster), asked.chance)
    return counts.of_askers(cell, kinds.rows * asks, 0 * kinds.rows, masses, clusters)
