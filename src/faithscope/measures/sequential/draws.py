"""Sums of draws between 0 and 1, day by day, and limits of their mean."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from faithscope.measures.sequential.evidence import Numbers, lower_limit, single_look_limits, upper_limit


@dataclass(frozen=True)
class DailyDraws:
    """Of `draws` draws per day, whose sum lies between `least` and `most`: more is not known of draws that wait.

    Examples
    --------
    >>> draws = DailyDraws.of_pairs(days=[1, 2], openers=[500, 500], matched=[500, 490], agreeing=[480, 470])
    >>> [round(float(end[-1]), 3) for end in draws.limits(0.05)]
    [0.923, 0.979]
    >>> [round(float(end[-1]), 3) for end in draws.single_look(0.05)]
    [0.935, 0.971]
    """

    days: NDArray[Any]
    draws: Numbers
    least: Numbers
    most: Numbers

    @classmethod
    def of_pairs(cls, days: ArrayLike, openers: ArrayLike, matched: ArrayLike, agreeing: ArrayLike) -> Self:
        """Agreements of openers with their partners; those of openers that wait lie between 0 and 1."""
        n, met, k = (np.asarray(column, np.float64) for column in (openers, matched, agreeing))
        return cls(np.asarray(days), n, k, k + (n - met))

    @classmethod
    def known(cls, days: ArrayLike, draws: ArrayLike, total: ArrayLike) -> Self:
        """Draws whose sums are known."""
        k = np.asarray(total, np.float64)
        return cls(np.asarray(days), np.asarray(draws, np.float64), k, k)

    def __len__(self) -> int:
        return len(self.days)

    @property
    def ordinals(self) -> NDArray[np.int64]:
        """The days as whole numbers: dates by Python's ordinals."""
        if self.days.dtype.kind in "iu":
            return self.days.astype(np.int64)
        return np.array([day.toordinal() for day in self.days.tolist()], np.int64)

    def take(self, places: Any) -> Self:
        """The days at these places."""
        return replace(
            self, days=self.days[places], draws=self.draws[places], least=self.least[places], most=self.most[places]
        )

    def totals(self) -> "DailyDraws":
        """Sums from the first day to each day."""
        return DailyDraws(self.days, *(np.cumsum(column) for column in (self.draws, self.least, self.most)))

    def limits(self, error: float) -> tuple[Numbers, Numbers]:
        """Limits of the mean as of each day that hold on all days together, with probability 1 - error."""
        total = self.totals()
        return lower_limit(total.least, total.draws, error / 2), upper_limit(total.most, total.draws, error / 2)

    def single_look(self, error: float) -> tuple[Numbers, Numbers]:
        """Limits of the mean as of each day, each of which holds if it is the only one that is looked at."""
        total = self.totals()
        return single_look_limits(total.least, total.most, total.draws, error)
