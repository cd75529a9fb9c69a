"""Simulated explanation systems whose true consistency is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class System:
    """Explanations drawn with probabilities p; row i of q holds the probabilities of the labels given explanation i.

    Examples
    --------
    >>> import numpy as np
    >>> from faithscope.testing import SYSTEMS
    >>> round(SYSTEMS["noisy"].truth, 3)
    0.2
    >>> explanations, labels = SYSTEMS["noisy"].draw(100, np.random.default_rng(0))
    """

    p: Floats
    q: Floats

    @property
    def truth(self) -> float:
        """Global consistency: the probability that two rows with the same explanation share a label."""
        return float(self.p @ (self.q**2).sum(axis=1))

    def expected(self, n: int) -> float:
        """E[M̂] on n rows, by the paper's theorem on the bias (appendix A.2)."""
        return float((self.p * -np.expm1((n - 1) * np.log1p(-self.p))) @ (self.q**2).sum(axis=1))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows: their explanations and their predictions."""
        explanations = rng.choice(len(self.p), n, p=self.p)
        labels = (rng.random(n)[:, None] > np.cumsum(self.q, axis=1)[explanations]).sum(axis=1)
        return explanations, np.minimum(labels, self.q.shape[1] - 1)


def _normal(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def _two_labels(purity: NDArray[Any]) -> Floats:
    return np.column_stack([purity, 1 - purity]).astype(np.float64)


def _systems() -> dict[str, System]:
    rng = np.random.default_rng(20)
    many = 3000
    rare = _normal(1 / np.arange(1, many + 1))
    return {
        "many rare": System(rare, _two_labels(rng.beta(4, 1, many))),
        "few common": System(_normal(np.arange(1.0, 7.0)), _two_labels(rng.beta(2, 1, 6))),
        "near-deterministic": System(_normal(np.ones(20)), _two_labels(np.where(np.arange(20) == 3, 0.97, 1.0))),
        "noisy": System(_normal(np.ones(40)), np.full((40, 5), 0.2)),
        "medium": System(_normal(1 / np.arange(1, 201)), _two_labels(rng.beta(3, 1, 200))),
        "perfect": System(_normal(1 / np.arange(1, 101)), _two_labels(np.arange(100) % 2)),
    }


SYSTEMS = _systems()
