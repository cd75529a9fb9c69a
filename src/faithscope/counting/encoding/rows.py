"""Rows listed by explanation: those given it, and the others that it covers; and the gap without each row."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.agreements import GroupedRows
from faithscope.agreements.base import AgreementSums
from faithscope.counting.encoding.sums import GapLeftOut, GapSums, terms_of
from faithscope.counting.leaving_out.leave_out import ratio

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Listed(NamedTuple):
    """Some explanations, the rows that were given them, and the other rows that they cover.

    Attributes
    ----------
    start, many : int
        The number of the first explanation, and how many there are.
    asked, given : (g,) arrays
        The explanation of each row that was given one of them, within the batch, and the row: in order of
        explanation, then of prediction.
    which, row : (c,) arrays
        The same of every pair of an explanation and another row that it covers.
    missed : int
        How many of the given rows are not covered.
    """

    start: int
    many: int
    asked: Ints
    given: Ints
    which: Ints
    row: Ints
    missed: int


class GapRows:
    """Leave out every row in turn: independent rows that count alike, whose predictions agree in any way."""

    def __init__(self, labels: Ints, sums: AgreementSums, itself: float) -> None:
        self.labels, self.sums, self.itself = labels, sums, itself
        n = len(labels)
        self.gap = self.tested = self.alone = self.exclusive = 0.0
        # Per row: how much all terms change without it, how many rows are no longer tested, and how much lean on it.
        self.changed, self.lost, self.leaning = np.zeros(n), np.zeros(n), np.zeros(n)

    def add(self, batch: Listed) -> NDArray[np.bool_]:
        """Add a batch of explanations; whether each of them can be tested."""
        _, many, asked, given, which, row, _ = batch
        rows, met = np.bincount(asked, minlength=many), np.bincount(which, minlength=many)
        values, ones = self.labels[given], np.ones(len(given))
        in_given = GroupedRows(asked, values, ones)
        alike = np.maximum(self.sums.at(in_given, asked, values) - self.itself, 0.0)
        crossed = self.sums.at(GroupedRows(which, self.labels[row], np.ones(len(row))), asked, values)
        pairs, across = (np.bincount(asked, column, minlength=many) for column in (alike, crossed))
        before, both = terms_of(rows, met, pairs, across), (rows > 1) & (met > 0)
        self.gap, self.tested = self.gap + float(before.sum()), self.tested + float(rows[both].sum())
        self.alone += float(rows[rows == 1].sum())
        self.exclusive += float(rows[(rows > 1) & (met == 0)].sum())
        after = terms_of(rows[asked] - 1, met[asked], pairs[asked] - 2 * alike, across[asked] - crossed)
        self.changed[given] += after - before[asked]
        self.lost[given] += both[asked] * np.where(rows[asked] > 2, 1, 2)
        agreed = self.sums.at(in_given, which, self.labels[row])
        fewer = terms_of(rows[which], met[which] - 1, pairs[which], across[which] - agreed)
        columns = (fewer - before[which], (both & (met == 1))[which] * rows[which], ratio(both * rows, met)[which])
        for total, column in zip((self.changed, self.lost, self.leaning), columns, strict=True):
            total += np.bincount(row, column, minlength=len(total))
        return np.asarray(both)

    def result(self) -> GapSums:
        """The sums of all explanations that were added."""
        n = len(self.labels)
        whole = GapSums(self.gap, self.tested, self.alone, self.exclusive, float(n))
        if n < 2:
            return whole
        left = self.tested - self.lost
        value = np.divide(self.gap + self.changed, left, out=np.full(n, np.nan), where=left > 0.5)
        return whole._replace(without=GapLeftOut(value, np.ones(n), float(self.leaning.max())))
