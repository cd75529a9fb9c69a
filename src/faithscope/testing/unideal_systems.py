"""Simulated rows that are not ideal, with known truth: clustered, logged twice, weighted, or fitted to."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.inputs.checks import check_whole
from faithscope.testing.systems import System, reweighted


@dataclass(frozen=True)
class ClusteredRows:
    """Rows that belong together: each cluster has its own row, which its other rows repeat with a given chance.

    Without its clusters a sample looks more consistent than its system is, because a row agrees with its repetitions.

    Parameters
    ----------
    system : System
        What rows that repeat nothing are drawn from.
    size : int
        Rows per cluster.
    stickiness : float
        Chance that a further row of a cluster repeats the cluster's first row, explanation and prediction; 1 with a
        size of 2 are rows that were logged twice.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import ClusteredRows, System
    >>> coins = System(np.full(2000, 1 / 2000), np.full((2000, 2), 0.5))
    >>> twice = ClusteredRows(coins, size=2, stickiness=1.0)
    >>> round(twice.truth, 3)
    0.5
    >>> rows = twice.draw(400, np.random.default_rng(0))
    >>> fs.consistency(rows["explanations"], rows["predictions"]).low > 0.8
    True
    >>> fs.consistency(**rows).low < 0.1  # with the clusters
    True
    """

    system: System
    size: int
    stickiness: float

    @property
    def truth(self) -> float:
        """Consistency of rows of different clusters: that of the system."""
        return self.system.truth

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and clusters; the last cluster may be smaller."""
        explanations, predictions = self.system.draw(n, rng)
        clusters = np.arange(n) // self.size
        first = clusters * self.size
        source = np.where(rng.random(n) < self.stickiness, first, np.arange(n))
        return {"explanations": explanations[source], "predictions": predictions[source], "clusters": clusters}


@dataclass(frozen=True)
class WeightedRows:
    """Rows with weights by their prediction, as after sampling one class less often than it occurs.

    Within an explanation of few rows, a ratio of weights is biased: too low, or too high if the heavy label is rare.

    Parameters
    ----------
    system : System
        What rows are drawn from.
    weights : array-like, (labels,) or (explanations, labels)
        Weight of a row of each label, or of each explanation and label.
    scatter : float
        Weights are also multiplied by a lognormal number with this standard deviation of its logarithm, by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from faithscope.testing import System, WeightedRows
    >>> rare = System(np.full(500, 1 / 500), np.tile([0.9, 0.1], (500, 1)))
    >>> round(rare.truth, 3), round(WeightedRows(rare, (1.0, 4.0)).truth, 3)
    (0.82, 0.574)
    """

    system: System
    weights: Any
    scatter: float = 0.0

    @property
    def truth(self) -> float:
        """Consistency in the population in which rows count as often as their weights say."""
        return reweighted(self.system, self.weights).truth

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and weights."""
        explanations, predictions = self.system.draw(n, rng)
        chance = rng.lognormal(0, self.scatter, n) if self.scatter else np.ones(n)
        weights = np.broadcast_to(np.asarray(self.weights, np.float64), self.system.q.shape)[explanations, predictions]
        return {"explanations": explanations, "predictions": predictions, "weights": weights * chance}


@dataclass(frozen=True)
class FittedLeaves:
    """Leaves of a decision tree that was fitted to predictions that are coin flips.

    On the rows that the tree was fitted on, leaves look consistent; the truth is one half for every tree.

    Parameters
    ----------
    leaves : int
        Leaves of the tree.
    features : int
        Features of a row, each uniform in [0, 1).
    fresh : bool
        Whether the tree is fitted on n other rows, as it should be.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import FittedLeaves
    >>> rng = np.random.default_rng(0)
    >>> fs.consistency(**FittedLeaves().draw(1000, rng)).low > 0.6
    True
    >>> fs.consistency(**FittedLeaves(fresh=True).draw(1000, rng)).low < 0.5
    True
    """

    leaves: int = 64
    features: int = 10
    fresh: bool = False
    truth: float = field(default=0.5, init=False)

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations and predictions."""
        from sklearn.tree import DecisionTreeClassifier

        check_whole(n, "n", 1)
        X, fitted = rng.random((2, n, self.features))
        predictions, labels = rng.integers(0, 2, (2, n))
        tree = DecisionTreeClassifier(max_leaf_nodes=self.leaves, random_state=0)
        tree.fit(*((fitted, labels) if self.fresh else (X, predictions)))
        return {"explanations": tree.apply(X), "predictions": predictions}
