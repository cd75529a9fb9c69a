"""What explainers by counterfactuals share: their base, points as explanations, and their distance."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.base import Explainer, Progress
from faithscope.explainers.space import Dates, Space
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import Gower
from faithscope.inputs.alignment import index_of, taken
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.dates import UNITS
from faithscope.inputs.rows import rows_of


class FlippingExplainer(Explainer, ABC):
    """Base of explainers by counterfactuals; what is learned, `_learned`, is learned again after pickling."""

    def __getstate__(self) -> dict[str, Any]:
        """The state without what was learned."""
        return {name: value for name, value in self.__dict__.items() if name != "_learned"}

    @abstractmethod
    def find(self, X: Any, *, progress: Progress | None = None) -> tuple[Counterfactuals, Ints]:
        """One counterfactual per row that has one, and the positions of these rows."""

    @abstractmethod
    def _why_none(self) -> str:
        """Why a row may have no counterfactual."""

    def explain(self, X: Any, *, progress: Progress | None = None) -> Counterfactuals:
        """One counterfactual per row; raises if a row has none.

        Parameters
        ----------
        X : (n, d) array or table
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after some of them.
        """
        counterfactuals, flipped = self.find(X, progress=progress)
        rows = rows_of(X)
        missing = np.setdiff1d(np.arange(rows), flipped)
        if len(missing):
            raise BadInput(
                f"No counterfactual was found for row {missing[0]} ({len(missing):,} of {rows:,} rows in all): "
                f"{self._why_none()}. Use find(X), which leaves such rows out and says which are left."
            )
        return counterfactuals


def as_counterfactuals(
    table: Space, points: Floats, rows: Floats, known: Floats, X: Any, where: Ints
) -> tuple[Counterfactuals, Ints]:
    """Points and rows in the table's own values, with Gower's metric and the rows' labels; and where these are."""
    a, b = (points, rows) if len(points) else (known[:1], known[:1])  # an empty table would show no types of columns
    found = Counterfactuals(table.decode(a), table.decode(b), metric=gower(table, known)).take(slice(len(points)))
    return found._with(index=taken(index_of(X), where)), where


def ranges(known: Floats) -> Floats:
    """The range of each column over the values that are not missing; 0 if all are."""
    return np.asarray(np.nan_to_num(np.fmax.reduce(known, axis=0) - np.fmin.reduce(known, axis=0)))


def gower(table: Space, known: Floats) -> Gower:
    """Gower's distance for a table's own values, with the ranges of the known rows."""
    units = [UNITS[scale.unit] if isinstance(scale, Dates) else 1 for scale in table.scales]
    widths = (ranges(known) * units).tolist()
    return Gower(tuple(None if coded else widths[j] for j, coded in enumerate(table.categorical)))


def unlike(a: Floats, b: Floats) -> Bools:
    """Which values differ; two missing values do not."""
    return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
