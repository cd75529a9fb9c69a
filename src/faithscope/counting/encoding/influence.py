"""The gap of encoding without each row, from counts of labels: in closed form."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts, sums
from faithscope.counting.encoding.sums import GapLeftOut, GapSums, terms_of
from faithscope.counting.leaving_out.influence import Influence
from faithscope.counting.leaving_out.leave_out import ratio

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class GapInfluence(Influence):
    """How the terms of an explanation change when it loses one of the others that it covers, or one row given it.

    With ``G_y`` the rows given the explanation, G of all labels, and ``O_y`` the others that it covers, O of all, it
    adds ``Σ_y G_y ((G_y - 1) / (G - 1) - O_y / O)``, and G rows, if G > 1 and O > 0.
    """

    def __init__(self, counts: Counts) -> None:
        super().__init__(counts)
        self.others = counts.covered - (counts.given - counts.missed)
        given, which = counts.given, counts.explanation
        columns = (given, self.others, given * (given - 1), given * self.others)
        self.rows, self.met, self.alike, self.crossed = (sums(which, column, self.distinct) for column in columns)

    @cached_property
    def both(self) -> NDArray[np.bool_]:
        """Whether each explanation was given to several rows, and covers another row."""
        return np.asarray((self.rows > 1) & (self.met > 0))

    @cached_property
    def terms(self) -> Floats:
        """What each explanation adds."""
        return terms_of(self.rows, self.met, self.alike, self.crossed)

    @cached_property
    def weights(self) -> Floats:
        """Per occupied cell, if its explanation covers one other row fewer: what changes.

        (4, m): [0] how much the terms of the cell change, [1] how many of its rows can no longer be tested, [2] how
        much its terms lean on that row, and [3] what is subtracted from [0] if that row has the cell's label.
        """
        which, given, others = self.explanation, self.counts.given[self.occupied], self.others[self.occupied]
        met, mass = self.met[which], given * self.both[which]
        last = met == 1
        before = mass * (ratio(given - 1, self.rows[which] - 1) - ratio(others, met))
        after = mass * (ratio(given - 1, self.rows[which] - 1) - ratio(others, met - 1))
        changed = np.where(last, -before, after - before)
        return np.stack([changed, mass * last, ratio(mass, met), -ratio(mass, met - 1)])

    def gap_sums(self, influence: Floats, codes: Ints, labels: Ints, own: NDArray[np.bool_], rows: Any) -> GapSums:
        """The sums, and the gap without one row of each kind.

        Parameters
        ----------
        influence : (3, m) array
            For each kind of row, sums of the first three `weights` over all explanations that cover it.
        codes, labels, own : (m,) arrays
            The explanation and the label of each kind, and whether it is covered by its own explanation.
        rows : (m,) array
            How many rows are of each kind.
        """
        given, met, both = self.rows, self.met, self.both
        whole, tested = float(self.terms.sum()), float(given[both].sum())
        alone, exclusive = (float(given[mask].sum()) for mask in (given == 1, (given > 1) & (met == 0)))
        total = float(given.sum())
        if total < 2:
            return GapSums(whole, tested, alone, exclusive, total)
        changed, lost, leaning = influence - own * self._of_itself(codes, labels)
        less, fewer = self._without_own(codes, labels)
        left = tested - lost - fewer
        value = np.divide(whole + changed + less, left, out=np.full(len(left), np.nan), where=left > 0.5)
        without = GapLeftOut(value, np.asarray(rows, np.float64), float(leaning.max(initial=0.0)))
        return GapSums(whole, tested, alone, exclusive, total, without)

    def _of_itself(self, codes: Ints, labels: Ints) -> Floats:
        """What sums of influence hold of a row's own explanation: it is not among the others of that one."""
        changed, lost, leaning = self.by_explanation[:, codes]
        cells = self.explanation * self.labels + self.label
        same = self.weights[3][np.searchsorted(cells, codes * self.labels + labels)]
        return np.stack([changed - same, lost, leaning])

    def _without_own(self, codes: Ints, labels: Ints) -> tuple[Floats, Ints]:
        """How much the terms of a row's own explanation change without it, and how many rows are no longer tested."""
        cell = self.cell_of(codes, labels)
        given, others = self.counts.given[cell], self.others[cell]
        rows, met = self.rows[codes], self.met[codes]
        after = terms_of(rows - 1, met, self.alike[codes] - 2 * (given - 1), self.crossed[codes] - others)
        return after - self.terms[codes], np.where(self.both[codes], np.where(rows > 2, 1, 2), 0)
