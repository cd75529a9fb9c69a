"""What explainers by counterfactuals share: points as explanations, their distance, and the refusal of rows without."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.space import Dates, Space
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import Gower
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.dates import UNITS


def as_counterfactuals(table: Space, points: Floats, rows: Floats, known: Floats, metric: Any) -> Counterfactuals:
    """Points and rows in the table's own values, with the metric of their distance."""
    if len(points):
        return Counterfactuals(table.decode(points), table.decode(rows), metric=metric)
    example = table.decode(known[:1])  # an empty table would not show the types of its columns
    return Counterfactuals(example, example, metric=metric).take(slice(0))


def refuse_unflipped(flipped: Ints, rows: int, reason: str) -> None:
    """Raise if a row has no counterfactual; the error names the first such row."""
    missing = np.setdiff1d(np.arange(rows), flipped)
    if len(missing):
        raise BadInput(
            f"No counterfactual was found for row {missing[0]} ({len(missing):,} of {rows:,} rows in all): {reason}. "
            "Use find(X), which leaves such rows out and says which are left."
        )


def ranges(known: Floats) -> Floats:
    """The range of each column over the values that are not missing; 0 if all are."""
    highest = np.where(np.isnan(known), -np.inf, known).max(axis=0)
    lowest = np.where(np.isnan(known), np.inf, known).min(axis=0)
    return np.where(highest >= lowest, highest - lowest, 0.0)


def gower(table: Space, known: Floats) -> Gower:
    """Gower's distance for a table's own values, with the ranges of the known rows."""
    units = [UNITS[scale.unit] if isinstance(scale, Dates) else 1 for scale in table.scales]
    widths = (ranges(known) * units).tolist()
    return Gower(tuple(None if coded else widths[j] for j, coded in enumerate(table.categorical)))


def unlike(a: Floats, b: Floats) -> Bools:
    """Which values differ; two missing values do not."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
