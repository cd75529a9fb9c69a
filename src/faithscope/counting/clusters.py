"""Rows with the same explanation, and whom they are compared with: rows of other clusters, beside everybody or not.

Clusters are rows that belong together, such as those of one customer: they are no witnesses for each other. Beside
everybody, rows of a group ask and all rows answer: each group's share, and the same without each row or cluster. Beside
a reference, its rows alone answer.

Rows that count alike (of one explanation, prediction, group and weight, or cluster) are one kind, of which one is left
out. Without a row of any group, the terms of a group lose it as a witness; without one of its own, its term too, and
the group is one row smaller.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from faithscope.agreements import GroupedRows, Same, Spread, scaled
from faithscope.agreements.base import AgreementSums
from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.layout import numbered_pairs, sums
from faithscope.counting.leave_out import ClusterTotals, LeftOut, Parts, Sums, Units, parts_left_out, ratio
from faithscope.counting.moments import (
    Moments,
    SpreadCounts,
    moments_of,
    spread_of,
    spread_of_plain_rows,
    summed,
    whole,
)
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.grouping import group as grouped
from faithscope.sample import Sample

_FEW = 3  # rows that answer, of which a kind that nobody saw has no more


class Cells(NamedTuple):
    """Rows of one group and prediction as one cell: its group and prediction, by number, and the cell of each row."""

    group: Ints
    value: Ints
    cell: Ints

    def agreeing(self, kernel: AgreementSums, mass: Floats) -> Floats:
        """Per row, the mass of the rows of its group, itself among them, each by its agreement with the row."""
        rows = GroupedRows(self.group, self.value, sums(self.cell, mass, len(self.group)))
        return np.asarray(kernel.within(rows)[self.cell])


def in_quarters(sample: Sample) -> Sample:
    """The same rows with labels: numbers go by the quarter of all numbers in which they lie."""
    if not sample.agreement.of_numbers:
        return sample
    column = sample.labels if sample.labels.ndim == 1 else sample.labels[:, 0]
    place = np.unique(column, return_inverse=True)[1]
    mass = np.bincount(place, sample.weight)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    return replace(sample, labels=np.floor(4 * middle).astype(np.int64)[place], agreement=Same())


@dataclass(frozen=True, eq=False)
class Kinds:
    """Rows that count alike, as one entry each; of clustered rows, each compared with rows of other clusters only.

    With W the weight of an explanation's rows, ``W_k`` that of its rows in cluster k, P the weight of its agreeing
    ordered pairs of rows from different clusters, and ``D = W² - Σ_k W_k²`` that of all such pairs, it adds
    ``W P / D`` to the sum of M̂, or W to that of U if all its rows are of one cluster. Clusters of one row give what
    rows without clusters give.

    Attributes
    ----------
    sample : Sample
        The rows; or, if rows were counted before, a row of each kind.
    code, value, group : (k,) arrays
        The explanation, the prediction and the group of each, by number.
    rows : (k,) array
        How many they are.
    each, times : (k,) arrays
        The weight of one that is left out, and how many such there are; rows of one cluster go together, and are one.
    cluster : (k,) array or None
    answers : (k,) array of bool, optional
        Which of them answer; by default all do.
    first : (explanations,) array
        A row of the sample with each explanation.
    moments : Moments, optional
        Of one row each, for `Spread`.
    """

    sample: Sample
    code: Ints
    value: Ints
    group: Ints
    rows: Ints
    each: Floats
    times: Ints
    cluster: Ints | None
    sums: AgreementSums
    first: Ints
    answers: Bools | None = None
    moments: Moments | None = None

    @classmethod
    def of(cls, sample: Sample, group: Ints | None = None, rows: Ints | None = None) -> "Kinds":
        """The rows of a sample, of these groups, or each as a kind of its own; `rows` are how many each stands for."""
        (code, known), value, clusters = sample.explanations.group(), sample.numbered_labels[1], sample.clusters
        times, mine = np.ones(sample.n, np.int64), np.zeros(sample.n, np.int64)
        first: Any = slice(None)
        if group is not None:
            columns = [code, value, group]
            if sample.weights is not None:
                columns.append(np.unique(sample.weights, return_inverse=True)[1])
            if clusters is not None:
                columns.append(clusters)
            codes, first = grouped([np.column_stack(columns)])
            times, mine = np.bincount(codes, rows).astype(np.int64), group[first]
            code, value, clusters = code[first], value[first], None if clusters is None else clusters[first]
        weight, kernel = sample.weight[first], sample.agreement.over(sample.values)
        each, lots = (weight, times) if clusters is None else (weight * times, np.ones(len(times), np.int64))
        moments = moments_of(sample)[:, first] if isinstance(sample.agreement, Spread) else None
        return cls(sample, code, value, mine, times, each, lots, clusters, kernel, known, None, moments)

    @cached_property
    def mass(self) -> Floats:
        """The weight of each kind."""
        return np.asarray(self.each * self.times)

    @cached_property
    def answering(self) -> Floats:
        """The weight of one row of each kind that answers; 0 if none does."""
        return self.each if self.answers is None else self.each * self.answers

    @cached_property
    def part(self) -> tuple[Ints, Ints]:
        """The explanation of each part, which is a kind or the rows of a cluster, and the part of each kind."""
        if self.cluster is None:
            return self.code, np.arange(len(self.code))
        explanation, _, part = numbered_pairs(self.code, self.cluster)
        return explanation, part

    @cached_property
    def cells(self) -> tuple[Cells, Cells | None]:
        """The cells of explanations, and of parts of clustered rows."""
        return Cells(*numbered_pairs(self.code, self.value)), (
            None if self.cluster is None else Cells(*numbered_pairs(self.part[1], self.value))
        )

    def _others(self, mass: Floats, own: Floats) -> Floats:
        """Per kind, the weight of rows of other units with its explanation, each by its agreement."""
        whole, part = self.cells
        mine = self.sample.agreement.itself * own if part is None else part.agreeing(self.sums, mass)
        return np.maximum(whole.agreeing(self.sums, mass) - mine, 0.0)  # not below 0 by rounding

    @cached_property
    def agreeing(self) -> Floats:
        """Per kind, the weight of rows of other units that answer, each by its agreement."""
        return self._others(self.answering * self.times, self.answering)

    @cached_property
    def parts(self) -> Parts:
        """The parts of explanations if all rows ask: in order of the rows, if each is a kind and has no cluster."""
        return self.asking(self.each)

    def asking(self, mine: Floats) -> Parts:
        """The parts of explanations if a row of each kind asks by this weight: its own, or 0."""
        own, agreeing, rows, unit = self.answering, self.agreeing, self.times, None
        code, part = self.part
        answered = agreeing if mine is own else self._others(mine * rows, mine)  # all ask, and all answer
        if self.cluster is not None:
            unit, rows = np.empty(len(code), np.int64), np.ones(len(code), np.int64)
            unit[part] = self.cluster
            sides = [(sums(part, mass), mass * alike) for mass, alike in ((mine, agreeing), (own, answered))]
            (mine, agreeing), (own, answered) = ((mass, ratio(sums(part, pairs), mass)) for mass, pairs in sides)

        def total(column: Array) -> Floats:
            return sums(code, rows * column)[code]

        asker, witness = mine > 0, own > 0
        askers, witnesses, both = total(asker), total(witness), total(asker & witness)
        met = askers * witnesses - both
        left = (askers - asker) * (witnesses - witness) - both + (asker & witness)
        pairs = total(mine * own), total(mine * agreeing)
        return Parts(total(mine), total(own), *pairs, mine, own, agreeing, answered, met, left, rows, unit)

    @property
    def everybody(self) -> "Kinds":
        """The same as if all rows had one explanation."""
        return replace(self, code=np.zeros(len(self.code), np.int64))

    def coverage(self, asks: Bools) -> Coverage:
        """What is counted of the kinds that ask: these as given, and all that answer as covered."""
        mine, sample = self.each * asks, self.sample
        total, left_out = parts_left_out(self.asking(mine))
        chances, by_chance = parts_left_out(self.everybody.asking(mine))
        chance = None if chances.silent > 0 else chances.agreeing / chances.total
        explanation, label, cell = numbered_pairs(self.code, self.value)
        covered = np.bincount(cell, self.rows * (self.answering > 0)).astype(np.int64)
        tables = explanation, label, covered, covered, 0 * covered
        names = sample.numbered_labels[0]
        counts = Counts(sample.explanations, names, *tables, chosen=self.first, agreement=sample.agreement)
        masses = None if (self.mass == self.rows).all() else (self.mass * asks, self.mass**2 / self.rows * asks)
        clusters = ClusterTotals.of(Units(self.mass * asks, self.cluster), chance)
        counts = counts.of_askers(cell, self.rows * asks, 0 * self.rows, masses, clusters)
        heaviest, reach = float(Units(self.each, self.cluster).mass.max()), 0.0
        if self.answers is not None:
            # How much of the weight that asks leans on a unit that answers, of the few on which most does. A kind of
            # rows that nobody saw is as rare as a few rows that answer, and changes no more than leans on these. Beside
            # everybody this is no more than a unit weighs.
            asked, weight = sums(self.code, self.mass * asks), sums(self.code, self.answering * self.times)
            leaning, times = ratio(asked, weight)[self.code] * self.answering, self.times
            if self.cluster is not None:
                leaning = sums(self.cluster, leaning)
                times = np.ones(len(leaning), np.int64)
            order = np.argsort(-leaning)[:_FEW]
            reach = float(np.repeat(leaning[order], np.minimum(times[order], _FEW))[:_FEW].sum() / _FEW)
        effective = counts.effective_n * heaviest / total.total
        left_out = replace(left_out, reach=reach / heaviest, heaviest=effective)
        spread = self.spread(total, left_out, asks)
        asking = Units(mine, self.cluster).mass > 0
        many = int(np.sum(asking)) if self.cluster is not None else int(self.times @ asking)
        return Coverage(
            counts,
            self.code,
            np.ones(len(asks), bool),
            left_out=left_out if many > 1 or spread is not None else None,
            sums=total,
            spread=spread,
            chance=chance,
            chance_left_out=by_chance.value,
        )

    def spread(self, total: Sums, left_out: LeftOut, asks: Bools | None = None) -> SpreadCounts | None:
        """W of the kinds that ask, S of those that answer and T of all, with all rows and without each."""
        if self.moments is None:
            return None
        one, many = self.moments, int(self.code.max()) + 1
        held, answers = one * self.rows, self.answering > 0
        rows = sums(self.code, self.rows * answers, many)[self.code]
        alone, pair = answers & (rows == 1), answers & (rows == 2)
        other = summed(held * answers, self.code, many)[:, self.code] - one
        silent = whole(one * alone)
        left = silent - one * alone + other * pair
        every = one[:, np.repeat(np.arange(len(self.code)), self.rows)]
        asking = None if asks is None else self.each * asks
        return spread_of(
            total, left_out, every, (silent, left), whole(held) - one, scaled(self.sample.values)[1], asking
        )

    # Of rows, each of which is a kind of its own:

    def shares(self) -> tuple[Floats, Bools]:
        """Per row, the share of the other rows with its explanation that agree, and whether there are any.

        Rows of one cluster have the mean of theirs.
        """
        parts, part = self.parts, self.part[1]
        checked = parts.met > 0
        return ratio(parts.agreeing, np.where(checked, parts.weight - parts.own, 0))[part], checked[part]

    @property
    def met(self) -> tuple[Floats, Floats, Floats]:
        """Per row, the rows of other clusters with its explanation, each by its agreement, and the largest part of it.

        All by weight.
        """
        explanation, part = self.part
        parts, largest = self.parts, np.zeros(len(explanation))
        np.maximum.at(largest, explanation, parts.own)
        return (parts.weight - parts.own)[part], self.agreeing, largest[explanation][part]

    def sizes_apart(self) -> float:
        """How many standard errors agreement by rows is from agreement by clusters, each of which counts once.

        The two are equal in the mean if the size of a cluster says nothing of its predictions, given the explanation.
        Explanations of two clusters have one pair, whose weight says nothing.
        """
        parts, explanation = self.parts, self.part[0]
        alike = replace(self, each=self.each / parts.own[self.part[1]]).parts
        shares = [ratio(each.pairs, each.weight**2 - each.square) for each in (parts, alike)]
        apart = np.where(parts.left > 0, parts.weight * (shares[0] - shares[1]), 0.0)  # of the part's explanation
        size = np.bincount(explanation)[explanation]
        error = float(np.sqrt(np.sum(apart**2 / size)))
        return 0.0 if error <= 1e-9 * parts.own.sum() else float(np.sum(apart / size)) / error

    def sizes_by_label(self) -> Floats:
        """How many standard errors each label's share of a cluster goes with the size of the cluster."""
        assert self.cluster is not None
        size = sums(self.cluster, self.each)
        cluster, label, cell = numbered_pairs(self.cluster, self.value)
        share, more = sums(cell, self.each) / size[cluster], size - size.mean()
        mean = np.bincount(label, share) / len(size)
        squares = np.bincount(label, more[cluster] ** 2 * share * (share - 2 * mean[label])) + mean**2 * (more @ more)
        error = np.sqrt(np.maximum(squares, 0.0))
        return ratio(np.abs(np.bincount(label, more[cluster] * share)), error)

    def totals(self) -> ClusterTotals | None:
        """Of all rows, whatever their explanations; None if they are not clustered."""
        if self.cluster is None:
            return None
        pairs = parts_left_out(self.everybody.parts)[0]
        chance = None if pairs.silent > 0 else pairs.agreeing / pairs.total
        return ClusterTotals.of(Units(self.each, self.cluster), chance)


def spread_by_explanation(sample: Sample) -> tuple[SpreadCounts, LeftOut]:
    """Spread among rows with the same explanation, with all rows and without each."""
    if sample.weights is None:
        return spread_of_plain_rows(sample)[:2]
    kinds = Kinds.of(sample)
    total, left_out = parts_left_out(kinds.parts)
    return cast(SpreadCounts, kinds.spread(total, left_out)), left_out
