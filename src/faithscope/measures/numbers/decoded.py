"""The squared errors of decoding numbers from explanations, in the sample and leaving rows out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import Counts
from faithscope.errors import BadInput
from faithscope.measures.numbers.groups import NumberGroups, squared

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecodedNumbers:
    """Mean squared errors; the columns of vectors add up."""

    groups: NumberGroups
    everybody: NumberGroups

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.everybody.n[0])

    @property
    def error(self) -> float:
        """Of the mean of the explanation's rows, the row itself included."""
        return self._plain(float(self.groups.squares.sum()) / self.n)

    @cached_property
    def variance(self) -> float:
        """The error of the mean of all rows, the row itself included; refuses predictions that are all equal."""
        if not self.everybody.largest_gap[0] > 0:
            raise BadInput("Predictions are all equal, so there is no variance to decode: read error instead.")
        return self._plain(float(self.everybody.squares[0]) / self.n)

    @property
    def error_of_mean(self) -> float:
        """Of the mean of all other rows."""
        return self.variance * (self.n / self._others) ** 2

    @property
    def error_of_means(self) -> float:
        """Of the mean of the explanation's other rows, or of all other rows if it has none."""
        n, sizes = self.n, self.groups.n
        shared = np.where(sizes > 1, self.groups.squares * (sizes / np.maximum(sizes - 1, 1)) ** 2, 0.0)
        return self._plain(float(shared.sum() + (self._apart_alone() * (n / self._others) ** 2).sum()) / n)

    @property
    def error_of_draws(self) -> float:
        """Of another row with the explanation, drawn at random, or of any other row if there is none."""
        n, sizes = self.n, self.groups.n
        shared = np.where(sizes > 1, 2 * self.groups.squares * sizes / np.maximum(sizes - 1, 1), 0.0)
        alone = (n * self._apart_alone() + float(self.everybody.squares[0])) / self._others
        return self._plain(float(shared.sum() + alone.sum()) / n)

    def _plain(self, error: float) -> float:
        """An error in squared units of the groups, which are those of everybody, as a plain one."""
        return float(squared(np.asarray(error), self.groups.unit))

    def _apart_alone(self) -> Floats:
        """The squared distances from the mean of all rows, of rows that have their explanation alone, in the unit."""
        alone = self.groups.n[self.groups.group] == 1
        apart = (self.groups.values[alone] - self.everybody.mean[0]) / self.groups.unit
        return np.asarray((apart**2).sum(axis=1))

    @property
    def _others(self) -> float:
        """Rows that are left if one is left out; refuses a single row."""
        if self.n < 2:
            raise BadInput("Leaving a row out takes at least 2 rows; this decoder has seen 1.")
        return self.n - 1


def decoded_numbers(counts: Counts) -> DecodedNumbers:
    """The errors of decoding these counts, which must be of numbers."""
    if not counts.n:
        raise BadInput("This decoder has seen no rows: fit it, or build it from counts.")
    if not counts.agreement.of_numbers:
        raise BadInput("These predictions are labels, which have no squared error: fit(..., agreement=fs.Spread()).")
    groups = NumberGroups.of_counts(counts)
    return DecodedNumbers(groups, NumberGroups.of(np.zeros_like(groups.group), groups.values, groups.rows, 1))
