"""A model whose thresholds leave few cells, asked about each of them once: xgboost's of Chess has 65,536."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.reproduce.models.boosted import Boosted
from faithscope.reproduce.models.forest import Forest

Floats = NDArray[np.float64]
Trees = Boosted | Forest

_MOST = 2**18


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Boosted trees as a table: between two neighboring thresholds of every feature their answer is constant.

    Parameters
    ----------
    model : Boosted or Forest
    labels : (cells,) array of int
        What the trees predict in every cell between thresholds.
    chances : (cells, classes) array
        Their probabilities there.
    """

    model: Trees
    labels: NDArray[np.int64]
    chances: Floats

    @classmethod
    def of(cls, model: Trees) -> "Tabulated":
        """Ask the model about every cell."""
        ends = [np.concatenate([splits[:1] - 1, splits]) if len(splits) else np.zeros(1) for splits in model.thresholds]
        every = np.stack([axis.ravel() for axis in np.meshgrid(*ends, indexing="ij")], axis=1)
        return cls(model, model.predict(every), model.predict_proba(every))

    def __fingerprint__(self) -> str:
        """Identifies the table by its trees, whose answers it gives."""
        return f"tabulated {self.model.__fingerprint__()}"

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Positions of the predicted labels."""
        return self.labels[self._cells(X)]

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return self.chances[self._cells(X)]

    def _cells(self, X: Any) -> NDArray[np.intp]:
        sizes = [len(splits) + 1 for splits in self.model.thresholds]
        return np.asarray(np.ravel_multi_index(tuple(self.model.cells(X).T), sizes))


@lru_cache(maxsize=2)
def tabulated(model: Trees) -> Any:
    """The model as a table if its thresholds leave few cells, else the model itself."""
    cells = [len(splits) + 1 for splits in model.thresholds]
    return Tabulated.of(model) if float(np.prod(cells, dtype=float)) <= _MOST else model
