"""A model whose thresholds leave few cells as a table: of Chess xgboost's has 65,536, scikit-learn's 1,382,976."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope_reproduction.models.boosted import Boosted
from faithscope_reproduction.models.forest import Forest, of_both

Floats = NDArray[np.float64]
Trees = Boosted | Forest

_MOST = 2**21


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
        """Ask the model about every cell; a forest's margins are summed there, tree by tree, in its own order."""
        if isinstance(model, Forest):
            margins = forest_margins(model)
            return cls(model, model.labels(margins), model.chances(margins))
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


def forest_margins(forest: Forest) -> Floats:
    """Margins of a forest in every cell, bit by bit those of scikit-learn: (cells, classes)."""
    sizes = [len(splits) + 1 for splits in forest.thresholds]
    half = len(sizes) // 2
    shape = int(np.prod(sizes[:half])), int(np.prod(sizes[half:]))
    sums = np.empty((len(forest.start), *shape))
    sums[:] = forest.start[:, None, None]
    for output, tree, places in _own_grids(forest, sizes):
        front, back = _places(places[:half]), _places(places[half:])
        sums[output] += tree.reshape(front.max() + 1, -1).take(back, axis=1).take(front, axis=0)
    return of_both(sums.reshape(len(sums), -1).T)


def _own_grids(forest: Forest, sizes: list[int]) -> Iterator[tuple[int, Floats, list[NDArray[np.intp]]]]:
    """Each tree, from the first round on: its output, its values between its own thresholds, and where cells lie."""
    low, high = forest.regions
    high = np.minimum(high, np.array(sizes) - 1) + 1
    ends = [*forest.roots.ravel()[1:], len(forest.left)]
    for number, (root, end) in enumerate(zip(forest.roots.ravel(), ends, strict=True)):
        leaves = np.arange(root, end)[forest.is_leaf[root:end]]
        edges = [np.unique(column) for column in low[leaves].T]
        starts = [np.searchsorted(own, column) for own, column in zip(edges, low[leaves].T, strict=True)]
        stops = [np.searchsorted(own, column) for own, column in zip(edges, high[leaves].T, strict=True)]
        grid = np.empty([len(own) for own in edges])
        for first, last, value in zip(
            zip(*starts, strict=True), zip(*stops, strict=True), forest.value[leaves], strict=True
        ):
            grid[tuple(map(slice, first, last))] = value
        places = [
            np.searchsorted(own, np.arange(size), side="right") - 1 for own, size in zip(edges, sizes, strict=True)
        ]
        yield number % forest.roots.shape[1], grid, places


def _places(places: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """The position in a tree's own grid, over some axes together, of every cell over these axes."""
    own = [int(place.max()) + 1 for place in places]
    return np.asarray(np.ravel_multi_index(np.meshgrid(*places, indexing="ij"), own).ravel())
