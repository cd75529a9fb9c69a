"""Simulated explanation systems whose true consistency is known."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array, Floats, Ints


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
        with np.errstate(divide="ignore"):  # an explanation that all rows have is never alone
            return float((self.p * -np.expm1((n - 1) * np.log1p(-self.p))) @ (self.q**2).sum(axis=1))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows: their explanations and their predictions."""
        explanations = rng.choice(len(self.p), n, p=self.p)
        labels = (rng.random(n)[:, None] > np.cumsum(self.q, axis=1)[explanations]).sum(axis=1)
        return explanations, np.minimum(labels, self.q.shape[1] - 1)

    def rows(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """The same draws as keyword arguments of a measure."""
        explanations, predictions = self.draw(n, rng)
        return {"explanations": explanations, "predictions": predictions}


def from_masses(joint: Floats) -> System:
    """The system with these masses of (explanation, label) pairs, which need not add up to 1."""
    mass = joint.sum(axis=1)
    return System(mass / mass.sum(), joint / mass[:, None])


def reweighted(system: System, weights: Any) -> System:
    """The population in which rows count so many times, by label or by explanation and label."""
    return from_masses(system.p[:, None] * system.q * np.asarray(weights, np.float64))


def _normal(weights: Floats) -> Floats:
    return np.asarray(weights / weights.sum())


def equal(cells: int) -> Floats:
    """Chances of equally likely explanations."""
    return np.full(cells, 1 / cells)


def long_tail(cells: int) -> Floats:
    """Chances in proportion to 1, 1/2, 1/3, …"""
    return _normal(1 / np.arange(1, cells + 1))


def two_labels(ones: Array) -> Floats:
    """Chances of the labels 0 and 1, by the chance of label 1 given each explanation."""
    return np.column_stack([1 - ones, ones]).astype(np.float64)


def mostly_pure(cells: int) -> Floats:
    """Two labels; most explanations have mostly rows of one of them, always the same ones."""
    purity = np.random.default_rng(20).beta(4, 1, cells)
    return two_labels(np.where(np.arange(cells) % 2, purity, 1 - purity))


def _systems() -> dict[str, System]:
    rng = np.random.default_rng(20)
    return {
        "many rare": System(long_tail(3000), two_labels(1 - rng.beta(4, 1, 3000))),
        "few common": System(_normal(np.arange(1.0, 7.0)), two_labels(1 - rng.beta(2, 1, 6))),
        "near-deterministic": System(equal(20), two_labels(np.where(np.arange(20) == 3, 0.03, 0.0))),
        "noisy": System(equal(40), np.full((40, 5), 0.2)),
        "medium": System(long_tail(200), two_labels(1 - rng.beta(3, 1, 200))),
        "perfect": System(long_tail(100), two_labels(1 - np.arange(100) % 2)),
    }


SYSTEMS = _systems()
