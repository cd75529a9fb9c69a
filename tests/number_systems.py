"""Random systems of numeric predictions, small enough for brute force, with every awkward kind of number."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from brute_numbers import Brute, agreement_of, brute, brute_spread
from faithscope.sample import Sample

Floats = NDArray[np.float64]

# Predictions by kind, with an eps that matters to them.
KINDS: dict[str, Callable[[np.random.Generator, int], tuple[Floats, float]]] = {
    "normal": lambda rng, n: (rng.normal(size=n), 0.5),
    "repeated": lambda rng, n: (rng.integers(0, 4, n).astype(float), 1.0),
    "far from 0": lambda rng, n: (1e9 + 1e-3 * rng.integers(-5, 6, n), rng.choice([2e-3, 2.5e-3])),
    "tiny": lambda rng, n: (1e-12 * rng.normal(size=n), 1e-12),
    "huge": lambda rng, n: (1e12 * rng.normal(size=n), 1e12),
    "heavy tails": lambda rng, n: (100 * rng.standard_t(2, size=n), 50.0),
    "on a lattice": lambda rng, n: (0.125 * rng.integers(-8, 9, n), 0.5),
    "in tenths": lambda rng, n: (np.round(rng.normal(size=n), 1), 0.3),
    "eps above all": lambda rng, n: (rng.random(n), 1e6),
    "eps below all": lambda rng, n: (rng.integers(-3, 4, n).astype(float), 1e-9),
    "signed zeros": lambda rng, n: (rng.choice([0.0, -0.0, 1.0, -1.0], n), 1.0),
    "noise around 0": lambda rng, n: (rng.choice([-2e-20, -1e-20, 0.0, 1e-20, 0.5, -0.5, 1.0], n), 0.5),
    "single precision": lambda rng, n: (rng.normal(size=n).astype(np.float32), 0.25),
    "whole numbers": lambda rng, n: (rng.integers(-9, 10, n), 2.0),
}
AGREEMENTS = ("close", "tolerance", "spread", "own")


@dataclass(frozen=True)
class NumberSystem:
    """Rows with explanations that cover rows as they please; a prediction, and perhaps a weight, per row."""

    codes: NDArray[np.int64]
    masks: NDArray[np.bool_]  # by explanation and row
    predictions: NDArray[Any]
    eps: float
    weights: Floats | None

    @classmethod
    def random(cls, kind: str, seed: int, most: int = 24, weighted: bool = False) -> "NumberSystem":
        rng = np.random.default_rng([sum(map(ord, kind)), seed])
        n = int(rng.integers(2, most + 1))
        predictions, eps = KINDS[kind](rng, n)
        codes = rng.integers(0, rng.integers(1, n + 1), n)
        masks = rng.random((n, n)) < rng.random()
        keep = rng.random(n) < 0.8  # most rows lie under their own explanation
        masks[codes[keep], np.flatnonzero(keep)] = True
        weights = rng.integers(1, 9, n) / 4 if weighted else None
        return cls(codes, masks, predictions, eps, weights)

    @property
    def n(self) -> int:
        return len(self.codes)

    @property
    def vectors(self) -> Floats:
        """Three outputs per row, of which the first is the prediction."""
        scale = np.ptp(np.asarray(self.predictions, float)) or 1.0
        other = np.random.default_rng(self.n).normal(size=(self.n, 2)) * scale
        return np.column_stack([np.asarray(self.predictions, float), other])

    def agreement(self, name: str) -> Any:
        kinds = {"close": fs.Close, "tolerance": fs.Tolerance}
        if name in kinds:
            return kinds[name](self.eps)
        return fs.Spread() if name == "spread" else agreement_of("own", self.eps)

    def covers(self, measure: str) -> NDArray[np.bool_]:
        """Which rows each row's explanation covers."""
        if measure == "consistency":
            return np.asarray(self.codes[:, None] == self.codes[None, :])
        if measure == "within":
            return np.asarray(np.abs(self.codes[:, None] - self.codes[None, :]) <= 1)
        return self.masks[self.codes]

    @property
    def rows(self) -> Floats:
        """Rows that tell their own numbers."""
        return np.column_stack([np.arange(float(self.n)), np.zeros(self.n)])

    def applies(self, X: Floats, explanation: Any) -> NDArray[np.bool_]:
        """The relation of sufficiency; X holds the numbers of the rows."""
        return self.masks[int(explanation)][X[:, 0].astype(int)]

    def sample(self, measure: str, name: str, predictions: Any = None) -> Sample:
        given = self.codes[:, None].astype(float) if measure == "within" else self.codes
        X = self.rows if measure == "sufficiency" else None
        weights = None if measure == "within" else self.weights
        chosen = self.predictions if predictions is None else predictions
        return Sample.of(given, chosen, X, weights, self.agreement(name))

    def measured(self, measure: str, name: str, predictions: Any = None) -> fs.Estimate:
        """What the package says."""
        y = self.predictions if predictions is None else predictions
        asked = {"agreement": self.agreement(name), "interval": "jackknife"}  # brute force weighs pairs and rows alike
        if measure == "within":
            return fs.within(self.codes[:, None].astype(float), y, 1.0, **asked)
        if measure == "consistency":
            return fs.consistency(self.codes, y, weights=self.weights, **asked)
        return fs.sufficiency(self.codes, y, self.rows, relation=self.applies, weights=self.weights, **asked)

    def brute(self, measure: str, name: str, predictions: Any = None, kept: Any = None) -> Brute:
        """What the definition says, of some of the rows."""
        rows = np.arange(self.n) if kept is None else np.flatnonzero(kept)
        y = np.asarray(self.predictions if predictions is None else predictions, float)[rows]
        weights = None if self.weights is None or measure == "within" else self.weights[rows]
        covers, codes = self.covers(measure)[np.ix_(rows, rows)], self.codes[rows]
        if name == "spread":
            return brute_spread(covers, y, weights, codes)
        return brute(covers, y, agreement_of(name, self.eps), weights, codes)
