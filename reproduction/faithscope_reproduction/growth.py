"""Estimates as a function of the number of rows: exact curves, sampled runs, and rows needed to reach 0.9."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.samples import half_width

RUNS = 5
GOAL = 0.9
_POINTS = 16


@dataclass(frozen=True, eq=False)
class Growth:
    """A system whose explanations determine its predictions, so that M̂ = 1 - unverifiable.

    Attributes
    ----------
    name : str
        The curve's name in the legend.
    estimate : Estimate
        Consistency on all rows.
    """

    name: str
    estimate: fs.Estimate
    explanations: Any
    predictions: NDArray[Any]

    @classmethod
    def of(cls, name: str, explanations: Any, predictions: NDArray[Any]) -> "Growth":
        """The system that gave these explanations and predictions."""
        return cls(name, fs.consistency(explanations, predictions, interval="jackknife"), explanations, predictions)

    def needed(self, goal: float = GOAL) -> int | None:
        """Rows until the estimate is expected to reach the goal: exact up to n, forecast to 4 n, else None."""
        return fs.plan(self.estimate, unverifiable=1 - goal).rows_needed

    def columns(self, most: int, seed: int) -> dict[str, list[Any]]:
        """The curve up to `most` rows: the exact expectation, and the 95% band of the mean of sampled runs."""
        sizes = grid(min(most, self.estimate.n))
        plan = fs.plan(self.estimate)
        band = [self._band(size, seed) for size in sizes]
        return {
            "curve": [self.name] * len(sizes),
            "x": sizes,
            "y": [1 - plan.at(size) for size in sizes],
            "low": [low for low, _ in band],
            "high": [high for _, high in band],
        }

    def _band(self, size: int, seed: int) -> tuple[float, float]:
        runs = []
        for run in range(RUNS):
            rng = np.random.default_rng([seed, run, size])
            rows = rng.choice(self.estimate.n, size, replace=False)
            runs.append(fs.consistency(self.explanations.take(rows), self.predictions[rows]).value)
        mean, margin = float(np.mean(runs)), float(half_width(np.array(runs)))
        return max(0.0, mean - margin), min(1.0, mean + margin)


def grid(most: int) -> list[int]:
    """Numbers of rows, evenly spaced as in the paper's figures."""
    return sorted({max(1, round(most * step / _POINTS)) for step in range(1, _POINTS + 1)})


def joined(columns: Sequence[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The columns of several curves as those of one figure."""
    return {name: [value for curve in columns for value in curve[name]] for name in columns[0]}
