"""Nearest neighbors: a prediction justified by the training rows nearest to the row."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.base import Explainer, Progress
from faithscope.explanations.prototypes import Prototypes
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of


@dataclass(frozen=True, eq=False, repr=False)
class NearestNeighbors(Explainer):
    """Explains a row by the set of its k nearest training rows, or nearest prototypes, whatever is predicted for it.

    For sufficiency, ``relation=Nearest()`` (the default) lets a set cover the rows whose k nearest rows it holds, and
    ``relation=Ball(tau)`` the rows within the distance tau of all of it.

    Parameters
    ----------
    X_train : (m, d) array or table
        The training rows, or a set of prototypes.
    k : int
        How many rows explain a row.
    metric : str
        Any metric of scikit-learn's, or "gower" for rows with categories, dates or missing values. Among equally near
        rows the earlier is taken.

    Examples
    --------
    >>> NearestNeighbors([[0.0], [1.0], [5.0]], k=2).explain([[0.4]]).describe(0)
    '{0, 1}'
    """

    X_train: Any
    k: int = 1
    metric: Any = "euclidean"

    def __post_init__(self) -> None:
        if check_whole(self.k, "k") > rows_of(self.X_train):
            raise BadInput(
                f"k={self.k} neighbors were asked for, but there are only {rows_of(self.X_train):,} training rows: "
                "pass a smaller k or more rows."
            )

    @cached_property
    def _prototypes(self) -> Prototypes:
        return Prototypes(np.empty((0, 1), np.int64), self.X_train, self.metric)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Prototypes:
        """The k nearest training rows of each row."""
        return self._prototypes.nearest(X, self.k)
