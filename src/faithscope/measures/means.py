"""The mean over rows of shares, with its interval: how often explanations name, decode, agree; results made of one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.card import in_lines
from faithscope.inputs.array_types import Floats
from faithscope.inputs.frames import frame
from faithscope.measures.intervals.local import exact_share
from faithscope.measures.intervals.margins import IndependentUnits, Share
from faithscope.notes import Notes
from faithscope.rounding import in_brackets
from faithscope.shareable import Shareable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False, kw_only=True)
class Answer(Shareable):
    """A number with its interval: what results have in common that are not made of estimates."""

    value: float
    low: float
    high: float
    confidence: float
    n: int
    notes: Notes = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The pair (low, high)."""
        return self.low, self.high

    @property
    def _title(self) -> str:
        return type(self).__name__.lower()

    @property
    def _ends(self) -> str:
        """The interval in words."""
        return f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"

    def table(self) -> "pd.DataFrame":
        """One line of numbers."""
        return frame({name: [value] for name, value in self.to_dict().items() if name not in ("measure", "notes")})

    def plot(self) -> Any:
        """The value with its interval beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self._title, self)])

    def __str__(self) -> str:
        return in_lines(self._line, self.notes)


def by_chance(pairs: float, units: IndependentUnits) -> float | None:
    """What rows of different clusters share, ``Σ w_i w_j K_ij / Σ w_i w_j``; None if all rows are of one cluster."""
    everything = units.mass @ (units.mass.sum() - units.mass)
    return float(np.clip(pairs / everything, 0, 1)) if len(units.mass) > 1 else None


def mean_share(
    values: Floats, units: IndependentUnits, confidence: float, *, exact: bool = False
) -> tuple[Share, bool]:
    """The mean of numbers from 0 to 1 with its interval, and whether that is exact.

    It is Student's t by the jackknife over rows, or clusters, and at least the rule of three's; of what is true or not
    of rows that count alike, Clopper and Pearson's, if it may be `exact`.
    """
    value = min(1.0, units.mean(values))
    if exact and len(units.mass) == len(values) and np.ptp(units.mass) == 0:
        return Share(value, *exact_share(round(float(values.sum())), len(values), confidence)), True
    found = units.margins(values, confidence)
    return Share(value, max(0.0, value - found.below), min(1.0, value + found.above)), False
