"""Explanations that count as the same because the distance between them is small."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.distances.metrics import to_metric_name
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.tiles import arranged_masks, masks_near
from faithscope.explanations.importances import Importances, Rankings
from faithscope.relations.base import Blocks, Masks, Relation, to_tau


@dataclass(frozen=True)
class Within(Relation):
    """Explanations at distances up to tau count as the same (paper, section 4.2).

    A relation between explanations, not between an explanation and rows: it generalizes consistency, not sufficiency.

    Parameters
    ----------
    tau : float
        Distances up to and including this count as the same.
    metric : str or callable
        Any metric of scikit-learn's.

    Examples
    --------
    >>> from faithscope import Importances
    >>> vectors = Importances([[0.0], [0.4], [1.0]])
    >>> Within(0.5).cover(vectors, vectors, X=None).mask(0, 1).tolist()
    [[True, True, False]]
    """

    tau: float
    metric: Any = "euclidean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", to_tau(self.tau))
        to_metric_name(self.metric)  # raises if it is none

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        known, rows = vectors(distinct), vectors(explanations)
        radii, metric = np.full(len(known), self.tau), to_metric_name(self.metric)

        def mask(start: int, stop: int) -> Masks:
            return masks_near(Near(known[start:stop], rows, radii[start:stop], metric))(0, stop - start)

        if callable(metric):  # a caller's function stays in the caller's thread
            return Blocks(mask, threads=False)
        near = partial(Near, known, rows, radii, metric)
        return Blocks(mask, arranged=arranged_masks(near), near=near)


def vectors(explanations: Explanations) -> NDArray[np.float64]:
    """Explanations as vectors of numbers, between which there is a distance."""
    if isinstance(explanations, Counterfactuals) and explanations.points.dtype != object:
        return explanations.points.astype(np.float64, copy=False)
    if isinstance(explanations, Importances) and not isinstance(explanations, Rankings):
        return explanations.values.astype(np.float64, copy=False)
    cells = " with categories, dates or missing values" if isinstance(explanations, Counterfactuals) else ""
    raise WrongType(f"A distance between explanations needs vectors of numbers; these are {explanations.kind}{cells}.")
