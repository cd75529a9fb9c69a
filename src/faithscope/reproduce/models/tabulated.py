"""A model over few different inputs, asked about each of them once: Chess has 65,536."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.reproduce.models.boosted import Boosted
from faithscope.reproduce.models.splits import Split

Floats = NDArray[np.float64]

_MOST = 2**18


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Boosted trees as a table: between two neighboring thresholds of every feature their answer is constant.

    Parameters
    ----------
    model : Boosted
    thresholds : one array per feature
        The values at which the trees split, in single precision, in which they compare.
    chances : (cells, classes) array
        Probabilities in every cell between thresholds.
    """

    model: Boosted
    thresholds: tuple[NDArray[np.float32], ...]
    chances: Floats

    @classmethod
    def of(cls, model: Boosted, features: int) -> "Tabulated":
        """Ask the model about every cell."""
        thresholds = _thresholds(model, features)
        ends = [np.concatenate([splits[:1] - 1, splits]) if len(splits) else np.zeros(1) for splits in thresholds]
        every = np.stack([axis.ravel() for axis in np.meshgrid(*ends, indexing="ij")], axis=1)
        return cls(model, thresholds, model.predict_proba(every))

    def __fingerprint__(self) -> str:
        """Identifies the table by its trees, whose answers it gives."""
        return f"tabulated {self.model.__fingerprint__()}"

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Positions of the predicted labels."""
        return np.asarray(self.chances.argmax(axis=1)[self._cells(X)], np.int64)

    def predict_proba(self, X: Any) -> Floats:
        """A probability for each label."""
        return self.chances[self._cells(X)]

    def _cells(self, X: Any) -> NDArray[np.intp]:
        columns = np.asarray(X, np.float32).T
        places = [
            np.searchsorted(splits, column, side="right")
            for splits, column in zip(self.thresholds, columns, strict=True)
        ]
        return np.asarray(np.ravel_multi_index(places, [len(splits) + 1 for splits in self.thresholds]))


def tabulated(data: Split, model: Boosted) -> Any:
    """The model as a table if the data set has few different inputs, else the model itself."""
    values = [len(np.unique(column)) for column in data.train.T]
    return Tabulated.of(model, len(values)) if float(np.prod(values, dtype=float)) <= _MOST else model


def _thresholds(model: Boosted, features: int) -> tuple[NDArray[np.float32], ...]:
    trees = json.loads(model.estimator.get_booster().save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]
    inner = np.concatenate([np.array(tree["left_children"]) >= 0 for tree in trees])
    feature = np.concatenate([np.array(tree["split_indices"]) for tree in trees])[inner]
    value = np.concatenate([np.array(tree["split_conditions"], np.float32) for tree in trees])[inner]
    return tuple(np.unique(value[feature == j]) for j in range(features))
