"""Openers, matched openers and agreements by group and day."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.pairing.cells import Arrivals, Integers, Waiting
from faithscope.counting.pairing.rows import Rows


@dataclass
class DayTally:
    """Sums over openers by group and by the day on which they arrived."""

    groups: Integers
    days: Integers
    group_of: Integers  # the place in `groups` of each explanation
    sums: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros((3, len(self.groups) * len(self.days)))

    @classmethod
    def over(cls, arrivals: Arrivals, waiting: Waiting, places: Integers) -> Self:
        """Room for the groups and days of these rows; `places` are those of one cell per explanation."""
        groups = np.concatenate([arrivals.groups, waiting.groups])
        days = np.unique(np.concatenate([_different(arrivals.days), _different(waiting.days)]))
        different, group_of = np.unique(groups[places], return_inverse=True)
        return cls(different, days, group_of)

    def open(self, rows: Rows) -> None:
        """Count the openers among rows that arrive."""
        opening = rows.take(~rows.closing)
        self.add(0, opening, np.ones(len(opening.numbers)))

    def match(self, opening: Rows, agreement: NDArray[np.float64]) -> None:
        """Count openers that found a partner, with their agreements."""
        self.add(1, opening, np.ones(len(opening.numbers)))
        self.add(2, opening, agreement)

    def add(self, which: int, rows: Rows, amounts: NDArray[np.float64]) -> None:
        """Add amounts to openers (0), matched (1) or agreeing (2)."""
        cells = self.group_of[rows.numbers] * len(self.days) + np.searchsorted(self.days, rows.days)
        self.sums[which] += np.bincount(cells, amounts, minlength=self.sums.shape[1])

    def table(self) -> tuple[Integers, Integers, Integers, Integers, NDArray[np.float64]]:
        """Groups, days and their sums, for groups and days that have any."""
        kept = self.sums.any(axis=0)
        groups, days = np.repeat(self.groups, len(self.days)), np.tile(self.days, len(self.groups))
        openers, matched = self.sums[:2, kept].astype(np.int64)
        return groups[kept], days[kept], openers, matched, self.sums[2, kept]


def _different(days: Integers) -> Integers:
    return days[:1] if len(days) and days.min() == days.max() else np.unique(days)
