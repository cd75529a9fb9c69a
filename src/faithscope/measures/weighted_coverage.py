"""Sufficiency in a target population: whom explanations cover, where rows count more or less."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.bitmaps import Bits, Layout, in_blocks
from faithscope.counting.blocks import Content
from faithscope.counting.counts import Counts
from faithscope.counting.coverage import Sample, number_rows
from faithscope.counting.leave_out import LeftOut, ratio
from faithscope.explanations import Explanations
from faithscope.explanations.base import several
from faithscope.inputs.rows import take_rows
from faithscope.inputs.weights import to_weights
from faithscope.measures.estimate import Estimate, Shares, assemble
from faithscope.measures.intervals import Margins, jackknife_margins
from faithscope.measures.weighting import label_chance
from faithscope.relations import to_relation
from faithscope.runtime.memory import need

Floats = NDArray[np.float64]
_CELLS = 2**22  # of masks multiplied by weights at once


def weighted_sufficiency(
    explanations: Explanations, X: Any, labels: NDArray[Any], weights: Any, relation: Any, confidence: float
) -> Estimate:
    """Sufficiency in a target population.

    ``M̂_w = (1/W) Σ_π G_π · Σ_y (G_{πy} C_{πy} - V_{πy}) / (G_π C_π - V_π)``, with G the weight of rows that were given
    π and that it covers, V the sum of their squared weights, and C the weight of all rows that it covers; rows that
    their own explanation misses have no V. With equal weights it is M̂, and for rules that partition the rows it is
    weighted consistency. The interval leaves out blocks of rows.
    """
    mass = to_weights(weights, len(labels))
    kept = np.flatnonzero(mass > 0)
    notes = (several(len(mass) - len(kept), "row", "rows") + " of weight 0 left out",) if len(kept) < len(mass) else ()
    if notes:
        explanations, labels, X, mass = explanations.take(kept), labels[kept], take_rows(X, kept), mass[kept]
    how = to_relation(relation, explanations)
    scopes = how.scopes(explanations)
    sample = number_rows(scopes, None, 0, Content(labels, (scopes,), X, mass))
    layout = sample.layout()
    found = _Weighed(sample, mass)
    step = max(1, _CELLS // (64 * int(layout.words[-1])))
    for start, bits in in_blocks(how.cover(sample.distinct, explanations, X), layout, len(sample.distinct), step):
        found.add(start, bits, layout)
    counts = replace(found.counts(), relation=how)
    shares = Shares(found.agreeing[0], found.silent[0], float(mass.sum()), label_chance(counts))
    margins = found.margins(counts.effective_n, confidence)
    return assemble(counts, shares, margins, "sufficiency", confidence, "jackknife", notes)


@dataclass(frozen=True, eq=False)
class _Tables:
    """Weights by (explanation, label, block): of rows given and covered, their squares, rows missed, rows covered."""

    inside: Floats
    squares: Floats
    missed: Floats
    covered: Floats
    others: Floats  # rows covered, each counted once

    def without(self, block: int | None) -> "_Tables":
        """Sums over all blocks but one: (explanations, labels)."""
        left = [table.sum(axis=2) - (0.0 if block is None else table[:, :, block]) for table in self.all]
        return _Tables(*left)

    @property
    def all(self) -> tuple[Floats, ...]:
        return self.inside, self.squares, self.missed, self.covered, self.others

    def sums(self) -> tuple[float, float]:
        """Agreeing and silent weight, from tables that are summed over blocks."""
        whole, rows = self.covered.sum(axis=1), self.others.sum(axis=1)
        given, missed = self.inside.sum(axis=1), self.missed.sum(axis=1)
        pairs = given * whole - self.squares.sum(axis=1)
        same = (self.inside * self.covered - self.squares).sum(axis=1)
        met = (self.missed * self.covered).sum(axis=1)
        checked = rows > 1.5  # a count, kept as a float
        agreeing = np.where(checked, given * ratio(same, pairs), 0.0) + np.where(rows > 0.5, ratio(met, whole), 0.0)
        silent = np.where(checked, 0.0, given) + np.where(rows > 0.5, 0.0, missed)
        return float(agreeing.sum()), float(silent.sum())


class _Weighed:
    """Sums over blocks of explanations; the first of each is of all rows, the others leave out a block of rows."""

    def __init__(self, sample: Sample, mass: Floats) -> None:
        self.sample, self.mass = sample, mass
        self.order = np.argsort(sample.codes, kind="stable")
        self.bounds = np.searchsorted(sample.codes[self.order], np.arange(len(sample.distinct) + 1))
        self.agreeing, self.silent = np.zeros(sample.blocks + 1), np.zeros(sample.blocks + 1)
        self.leaning = np.zeros(sample.blocks)
        self.cells: list[tuple[NDArray[Any], ...]] = []

    def add(self, start: int, bits: Bits, layout: Layout) -> None:
        """Take in the bitmaps of explanations from `start` on."""
        sample, shape = self.sample, (len(bits), len(self.sample.names), self.sample.blocks)
        rows = self.order[self.bounds[start] : self.bounds[start + len(bits)]]
        which, own = sample.codes[rows] - start, layout.holds(bits, sample.codes[rows] - start, rows)
        place = np.ravel_multi_index((which, sample.labels[rows], sample.block[rows]), shape)

        def by_cell(values: NDArray[Any]) -> Floats:
            return np.asarray(np.bincount(place, values, minlength=int(np.prod(shape))).reshape(shape), np.float64)

        mass, counted = self.mass[rows], layout.count(bits).reshape(shape)
        tables = _Tables(
            by_cell(mass * own),
            by_cell(mass**2 * own),
            by_cell(mass * ~own),
            self._weigh(bits, layout).reshape(shape),
            counted.astype(np.float64),
        )
        for position, block in enumerate([None, *range(sample.blocks)]):
            agreeing, silent = tables.without(block).sums()
            self.agreeing[position] += agreeing
            self.silent[position] += silent
        whole = tables.covered.sum(axis=(1, 2))
        self.leaning += ratio((tables.inside + tables.missed).sum(axis=(1, 2)), whole) @ tables.covered.sum(axis=1)
        numbers = (by_cell(np.ones(len(rows))), counted, by_cell(~own), by_cell(mass), by_cell(mass**2))
        summed = [table.sum(axis=2) for table in numbers]
        here = np.nonzero(summed[0] + summed[1])
        self.cells.append((here[0] + start, here[1], *(table[here] for table in summed)))
        held = 56 * sum(len(cells[0]) for cells in self.cells)  # needed once more, to put them together
        asked = f"Weighted counts of {len(sample.distinct):,} explanations by {len(sample.names):,} labels"
        need(held, asked, "sample rows or explanations, or bin the predictions")

    def _weigh(self, bits: Bits, layout: Layout) -> Floats:
        """The weight of the rows of each segment that each bitmap holds."""
        held = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        weighed = np.zeros((len(bits), layout.segments))
        full = np.flatnonzero(layout.sizes)
        weighed[:, full] = np.add.reduceat(held * self.mass[layout.source], 64 * layout.words[:-1][full], axis=1)
        return weighed

    def counts(self) -> Counts:
        """The rows themselves, counted, with the weights of those that were given each explanation."""
        *numbers, weight, square = (np.concatenate(column) for column in zip(*self.cells, strict=True))
        explanation, label, given, covered, missed = (column.astype(np.int64) for column in numbers)
        names = self.sample.names
        return Counts(self.sample.distinct, names, explanation, label, given, covered, missed, weight, square)

    def margins(self, effective_n: float, confidence: float) -> Margins:
        """How sure the sample is, by leaving out blocks of rows."""
        if self.sample.n < 2:
            return Margins(1.0, 1.0)
        left = self.mass.sum() - np.bincount(self.sample.block, self.mass, minlength=self.sample.blocks)
        reach = 1 + float((self.leaning - self.leaning.mean()).max() / self.mass.mean())
        left_out = LeftOut(self.agreeing[1:] / left, self.silent[1:] / left, reach)
        return jackknife_margins(left_out, effective_n, confidence)
