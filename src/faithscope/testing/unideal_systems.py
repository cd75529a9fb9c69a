"""Simulated systems that are not ideal, with known truth: rows that are clustered, logged twice, weighted or fitted to;

a rare row that lies under every explanation, so that a sample may show no trace of it; rules that are proven.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.explainers import SufficientReason
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Bools, Floats
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
        (explanations, predictions), clusters = self.system.draw(n, rng), np.arange(n) // self.size
        source = np.where(rng.random(n) < self.stickiness, clusters * self.size, np.arange(n))
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


@dataclass(frozen=True)
class HubUnderTopics:
    """Documents of many topics, each explained by its topic's word; a word list, rarely, contains all these words.

    All documents have one label and word lists the other. A sample that holds no word list has no contradiction, and
    nothing in it is silent.

    Parameters
    ----------
    topics : int
        Equally likely topics.
    hub : float
        Share of rows that are word lists.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import HubUnderTopics
    >>> system = HubUnderTopics(topics=40, hub=1 / 400)
    >>> round(system.truth, 3)
    0.909
    >>> rows = system.draw(400, np.random.default_rng(0))
    >>> sorted(rows)
    ['X', 'explanations', 'predictions']
    >>> estimate = fs.sufficiency(**rows)
    """

    topics: int
    hub: float

    @property
    def truth(self) -> float:
        """Sufficiency: a topic's word covers the topic and the word lists; a word list's own mark covers these."""
        return _beside_hub(self.topics, self.hub) + self.hub

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and X, the documents."""
        topics, hubs = rng.integers(0, self.topics, n), rng.random(n) < self.hub
        words = ["list" if hub else f"topic-{topic}" for topic, hub in zip(topics, hubs, strict=True)]
        word_list = " ".join(["list", *(f"topic-{topic}" for topic in range(self.topics))])
        texts = [word_list if word == "list" else word for word in words]
        return {"explanations": Highlights([{word} for word in words]), "predictions": hubs.astype(int), "X": texts}


@dataclass(frozen=True)
class HubUnderDirections:
    """Explanations are unit vectors along one of many axes; rarely, one is the zero vector, which is close to all.

    Vectors along different axes are √2 apart. Zero vectors have a label of their own.

    Parameters
    ----------
    dimensions : int
        Axes, equally likely.
    hub : float
        Share of rows whose explanation is the zero vector.
    tau : float
        Explanations at this distance count as the same; from 1 to below √2.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import HubUnderDirections
    >>> system = HubUnderDirections(dimensions=60, hub=1 / 400)
    >>> round(system.truth, 3)
    0.867
    >>> estimate = fs.within(**system.draw(400, np.random.default_rng(0)))
    """

    dimensions: int
    hub: float
    tau: float = 1.05

    @property
    def truth(self) -> float:
        """Probability that a row within tau has the same label; within tau of a zero vector are all rows."""
        return _beside_hub(self.dimensions, self.hub) + self.hub**2

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations, predictions and tau."""
        axes, hubs = rng.integers(0, self.dimensions, n), rng.random(n) < self.hub
        vectors = np.where(hubs[:, None], 0.0, np.eye(self.dimensions)[axes])
        return {"explanations": vectors, "predictions": hubs.astype(int), "tau": self.tau}


def _beside_hub(parts: int, hub: float) -> float:
    """What rows beside the hub add: each part's own rows agree, those of the hub do not."""
    own = (1 - hub) / parts
    return (1 - hub) * (own / (own + hub))


@dataclass(frozen=True)
class ProvenSystem:
    """A random forest, and sufficient reasons of its predictions: the truth is known without a simulation.

    Attributes
    ----------
    features, trees : int
    seed : int
        Of the rows and labels that the forest is fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import ProvenSystem
    >>> system = ProvenSystem()
    >>> rows, labels, rules = system.draw(200, np.random.default_rng(0))
    >>> fs.sufficiency(rules, labels, rows).verified, system.truth
    (1.0, 1.0)
    """

    features: int = 3
    trees: int = 5
    seed: int = 0

    @property
    def truth(self) -> float:
        """Sufficiency on every population."""
        return 1.0

    @cached_property
    def model(self) -> Any:
        """The forest."""
        from sklearn.ensemble import RandomForestClassifier

        rng = np.random.default_rng(self.seed)
        rows = rng.normal(size=(500, self.features))
        labels = rows.sum(axis=1) + rng.normal(size=500) > 0
        return RandomForestClassifier(self.trees, max_depth=3, random_state=self.seed).fit(rows, labels)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Bools, Rules]:
        """Rows, their predictions and their rules."""
        rows = rng.normal(size=(n, self.features))
        labels = np.asarray(self.model.predict(rows)) if n else np.zeros(0, bool)
        return rows, labels, SufficientReason(self.model).explain(rows)
