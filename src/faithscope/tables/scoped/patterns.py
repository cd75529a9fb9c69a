"""Coverage as engines counted it, as counts and margins: rows that meet the same conditions, or blocks of rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bits.covered_cells import TabledCells
from faithscope.counting.bits.ordering import run_starts
from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.block_sums import BlockSums, CoveredBlocks, GivenRows
from faithscope.counting.leaving_out.influence import Influence
from faithscope.counting.leaving_out.leave_out import LeftOut
from faithscope.counting.necessity.blocks import ReachedRows, ReachedSums
from faithscope.counting.necessity.counted import NecessityTerms
from faithscope.counting.necessity.rows import LabeledRows, label_terms
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions, as_they_come
from faithscope.relations import Applies, Parts, Relation
from faithscope.relations.base import number_parts
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CELLS = 2**24  # of masks worked on at once
_TABLE = 2**21  # entries of tables by block worked on at once
_FEWER = "audit a part of the log, or log bins of the predictions"  # if memory is short


def to_counts(distinct: Explanations, names: Sequence[object], given: Ints, covered: Ints, missed: Ints) -> Counts:
    """Counts from full (explanations, labels) tables."""
    explanation, label = cells = np.nonzero(given + covered)
    tables = (given[cells], covered[cells], missed[cells])
    return Counts(distinct, tuple(names), explanation, label, *tables, relation=applies(distinct))


def applies(distinct: Explanations) -> Applies:
    """The relation of explanations that say themselves where they apply."""
    return Applies(exclusive=bool(getattr(distinct, "partitions", False)))


@dataclass(frozen=True, eq=False)
class MetConditions(Relation):
    """Explanations cover the rows that meet all their conditions, of which an engine has said who meets which.

    Attributes
    ----------
    conditions : list
    meets : (n, conditions) array of bool
    """

    conditions: Sequence[object]
    meets: NDArray[np.bool_]

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts:
        assert isinstance(distinct, Conjunctions)
        parts, lists = number_parts(distinct)
        place = {condition: column for column, condition in enumerate(self.conditions)}
        return Parts(parts, lists, lambda order: as_they_come((self.meets[:, place[part]] for part in parts), order))


@dataclass(frozen=True, eq=False)
class Patterns:
    """Rows that meet the same conditions and have the same label and explanation.

    Attributes
    ----------
    meets : (p, conditions) array of bool
    lists : list of tuples of int
        The conditions of each distinct explanation.
    code, label, rows : (p,) arrays
        The explanation and the label of each pattern by number, and how many rows it stands for.
    """

    meets: NDArray[np.bool_]
    lists: Sequence[tuple[int, ...]]
    code: Ints
    label: Ints
    rows: Ints

    def covers(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Which of the explanations from start to stop cover each pattern."""
        whole = np.ones(len(self.rows), bool)
        met = (self.meets.T[list(conditions)] for conditions in self.lists[start:stop])
        return np.column_stack([np.logical_and.reduce([whole, *masks]) for masks in met])

    def blocks(self) -> list[tuple[int, int]]:
        """Explanations to work on at once."""
        step = max(1, _CELLS // max(1, len(self.rows)))
        return [(a, min(a + step, len(self.lists))) for a in range(0, len(self.lists), step)]

    def tables(self, labels: int) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
        """Given, covered and missed rows by explanation and label, and whether patterns lie under their own."""
        shape = (len(self.lists), labels)
        need(40 * len(self.lists) * labels, f"Counts of {len(self.lists):,} explanations by {labels:,} labels", _FEWER)
        given, covered, missed = (np.zeros(shape, np.int64) for _ in range(3))
        own = np.zeros(len(self.rows), bool)
        for start, stop in self.blocks():
            mask = self.covers(start, stop)
            for label in range(labels):
                rows = np.where(self.label == label, self.rows, 0)
                covered[start:stop, label] = rows @ mask
            members = np.flatnonzero((self.code >= start) & (self.code < stop))
            own[members] = mask[members, self.code[members] - start]
        np.add.at(given, (self.code, self.label), self.rows)
        np.add.at(missed, (self.code[~own], self.label[~own]), self.rows[~own])
        return given, covered, missed, own

    def left_out(self, counts: Counts, own: NDArray[np.bool_]) -> LeftOut | None:
        """Leave out every row in turn: its own term, and the terms of all explanations that cover it."""
        n, influence = int(self.rows.sum()), Influence(counts)
        if n < 2:
            return None
        # Once more with no rows behind them, so that there are at least two to leave out.
        twice = np.tile(np.arange(len(self.rows)), 2)
        sums = self.influence(influence)[:, twice]
        left_out = influence.left_out(sums, self.code[twice], self.label[twice], own[twice])
        scale = (len(twice) - 1) / (n - 1)
        rows = np.concatenate([self.rows, 0 * self.rows])
        return LeftOut(left_out.value * scale, left_out.silent * scale, left_out.reach, left_out.weight, rows)

    def necessity(self, counts: Counts, own: NDArray[np.bool_]) -> NecessityTerms:
        """The terms of necessity, and the same without each row."""
        labels, times = len(counts.labels), self.rows.astype(np.float64)
        per_label = np.bincount(self.label, times, minlength=labels).astype(np.int64)
        given = np.zeros((counts.distinct, labels))
        given[counts.explanation, counts.label] = counts.given
        same, reaching = self._reaching(given, given[:, per_label > 1].sum(axis=1))
        covered = np.zeros((counts.distinct, labels), np.int64)
        covered[counts.explanation, counts.label] = counts.covered
        return label_terms(
            LabeledRows(
                label=self.label,
                same=covered[self.code, self.label] - own,
                covered=counts.per_explanation[self.code] - own,
                same_reaching=same - own,
                reaching=reaching - own * (per_label[self.label] > 1),
                rows=self.rows,
                per_label=per_label,
            )
        )

    def _reaching(self, given: Floats, checked: Floats) -> tuple[Floats, Floats]:
        """For each pattern, how many rows have an explanation that covers it: of its label, and of those checked."""
        same, any_label = np.zeros(len(self.rows)), np.zeros(len(self.rows))
        for start, stop in self.blocks():
            mask = self.covers(start, stop).astype(np.float64)
            any_label += mask @ checked[start:stop]
            for label in range(given.shape[1]):
                rows = self.label == label
                same[rows] += mask[rows] @ given[start:stop, label]
        return same, any_label

    def influence(self, influence: Influence) -> Floats:
        """For each pattern, sums of the influence of its rows on the explanations that cover it."""
        weights, same_label = influence.by_explanation, influence.same_label
        total = np.zeros((3, len(self.rows)))
        for start, stop in self.blocks():
            mask = self.covers(start, stop).astype(np.float64)
            total += weights[:, start:stop] @ mask.T
            for label in range(influence.labels):
                rows = self.label == label
                total[0, rows] -= mask[rows] @ same_label[start:stop, label]
        return total


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Tables by explanation, label and block of rows: (explanations, labels, blocks)."""

    given: Ints
    covered: Ints
    missed: Ints

    @property
    def tables(self) -> tuple[Ints, Ints, Ints]:
        """Given, covered and missed rows."""
        return self.given, self.covered, self.missed

    def left_out(self) -> LeftOut:
        """Leave out every block in turn."""
        explanations, labels, blocks = self.given.shape
        sums = BlockSums(blocks)
        step = max(1, _TABLE // (labels * blocks))
        for start in range(0, explanations, step):
            sums.add(sums.terms(self._tables(slice(start, start + step))))
        rows = self.given.sum(axis=(0, 1)).astype(np.float64)
        sums.leaning *= rows.mean() / rows  # as if all blocks were of one size, which a digest makes them only nearly
        return sums.left_out(rows)

    def necessity(self) -> NecessityTerms:
        """The terms of necessity, and the same without each block."""
        explanations, labels, blocks = self.given.shape
        alike = self.given.sum(axis=0).astype(np.float64)
        sums = ReachedSums(alike.sum(axis=0))
        step = max(1, _TABLE // (labels * blocks))
        for start in range(0, explanations, step):
            chosen = slice(start, start + step)
            given, covered, missed = (table[chosen] for table in (self.given, self.covered, self.missed))
            for rows, own in ((given - missed, 1.0), (missed, 0.0)):
                which, label = np.nonzero(rows.any(axis=2))
                ones = np.ones(len(which))
                tables = (covered[which, label], covered.sum(axis=1)[which], alike[label])
                mine = (own * ones, own * ones, ones, ones)
                sums.add(sums.terms(ReachedRows(rows[which, label], *tables, *mine)))
        return sums.result()

    def _tables(self, chosen: slice) -> CoveredBlocks:
        given, covered, missed = (table[chosen] for table in (self.given, self.covered, self.missed))
        explanation, label, block = places = np.nonzero(given)
        inside, outside = ((table[places]).astype(np.float64) for table in (given - missed, missed))
        cell = explanation * given.shape[1] + label
        rows = GivenRows(explanation, cell, block, inside, inside, outside, run_starts(cell))
        return CoveredBlocks.of_rows(rows, TabledCells(covered, covered))
