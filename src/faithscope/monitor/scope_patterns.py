"""Coverage of rows that meet the same conditions, as counts and margins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.counting.leave_out import LeftOut, Losses
from faithscope.counting.terms import share_left_out, share_losses
from faithscope.explanations.base import Explanations
from faithscope.relations import Applies
from faithscope.runtime.memory import need

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CELLS = 2**24  # of masks worked on at once
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

    def cell(self, counts: Counts) -> Ints:
        """The cell of each pattern, among those to which a row belongs."""
        occupied, labels = np.flatnonzero(counts.given), len(counts.labels)
        cells = counts.explanation[occupied] * labels + counts.label[occupied]
        return np.asarray(np.searchsorted(cells, self.code * labels + self.label))

    def lost(self, losses: Losses) -> Floats:
        """For each pattern, sums of the losses of the explanations that cover it."""
        total = np.zeros((len(losses.by_scope), len(self.rows)))
        alike = np.zeros((len(self.lists), losses.labels))
        alike.reshape(-1)[losses.cells] = losses.alike
        for start, stop in self.blocks():
            mask = self.covers(start, stop).astype(np.float64)
            total += losses.by_scope[:, start:stop] @ mask.T
            for label in range(losses.labels):
                rows = self.label == label
                total[0, rows] -= mask[rows] @ alike[start:stop, label]
        return total

    def left_out(self, counts: Counts, own: NDArray[np.bool_]) -> LeftOut | None:
        """Leave out every row in turn: its own term, and the terms of all explanations that cover it."""
        if counts.n < 2:
            return None
        left_out = share_left_out(counts, self.lost(share_losses(counts)), self.cell(counts), own)
        # Once more with no rows behind them, so that there are at least two to leave out.
        twice = [np.concatenate([part, part]) for part in (left_out.value, left_out.silent, left_out.weight)]
        return LeftOut(twice[0], twice[1], left_out.reach, twice[2], np.concatenate([self.rows, 0 * self.rows]))
