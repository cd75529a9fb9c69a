"""A system whose rules are sufficient by proof, on whatever rows: its true sufficiency is 1."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers import SufficientReason
from faithscope.explanations.rules import Rules

Floats = NDArray[np.float64]


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

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_], Rules]:
        """Rows, their predictions and their rules."""
        rows = rng.normal(size=(n, self.features))
        labels = np.asarray(self.model.predict(rows)) if n else np.zeros(0, bool)
        return rows, labels, SufficientReason(self.model).explain(rows)
