"""Systems whose true consistency and sufficiency are known by enumeration: what `coverage.py` draws its rows from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.testing import systems
from faithscope.testing.hard import equal_labels, two_rates
from faithscope.testing.scoped_systems import Hub, covers
from faithscope.testing.systems import equal, long_tail, mostly_pure, two_labels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


RARE = 4.0  # a row of any label but the first counts so many times, where rows are weighted


class SimulatedSystem(systems.System):
    """Explanations drawn with chances p; what a thousand draws share is computed once."""

    @cached_property
    def truth(self) -> float:  # type: ignore[override]
        """Global consistency: the chance that two rows with one explanation share a label."""
        return super().truth

    @cached_property
    def _upto(self) -> tuple[Floats, Floats]:
        """Cumulated chances of explanations, and of each explanation's labels; the last are 1 whatever the rounding."""
        cells, labels = np.cumsum(self.p), np.cumsum(self.q, axis=1)
        cells[-1], labels[:, -1] = 1.0, 1.0
        return cells, labels

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows: their explanations and their predictions."""
        cells, labels = self._upto
        explanations = np.searchsorted(cells, rng.random(n), side="right")
        return explanations, (rng.random(n)[:, None] >= labels[explanations]).sum(axis=1)

    @cached_property
    def target(self) -> systems.System:
        """The population in which any label but the first counts four times."""
        return systems.reweighted(self, label_weights(np.arange(self.q.shape[1])))

    @cached_property
    def coarser(self) -> "SimulatedSystem":
        """The same rows with explanations merged in pairs: a coarser explainer."""
        pair = np.arange(len(self.p)) // 2
        joint = np.zeros((pair[-1] + 1, self.q.shape[1]))
        np.add.at(joint, pair, self.p[:, None] * self.q)
        return simulated(systems.from_masses(joint))

    @cached_property
    def noisier(self) -> "SimulatedSystem":
        """The same explanations, one label in ten replaced by any label: another population."""
        return SimulatedSystem(self.p, 0.9 * self.q + 0.1 / self.q.shape[1])


def simulated(system: systems.System) -> SimulatedSystem:
    return SimulatedSystem(system.p, system.q)


def label_weights(labels: Ints) -> Floats:
    """Weights that turn rows of a system into rows of its target."""
    return np.where(labels > 0, RARE, 1.0)


def _three() -> Floats:
    return np.random.default_rng(3).dirichlet([0.5, 0.5, 0.5], 30)


def _many() -> Floats:
    return np.stack([np.roll(long_tail(100), shift) for shift in range(50)])


GIVEN = {
    "4 explanations": SimulatedSystem(np.array([0.4, 0.3, 0.2, 0.1]), two_labels(np.array([0.05, 0.9, 0.3, 0.6]))),
    "100 equal": SimulatedSystem(equal(100), mostly_pure(100)),
    "1,000 equal": SimulatedSystem(equal(1_000), mostly_pure(1_000)),
    "long tail of 3,000": SimulatedSystem(long_tail(3_000), mostly_pure(3_000)),
    "one label only": SimulatedSystem(long_tail(100), two_labels(np.zeros(100))),
    "one pure class": SimulatedSystem(equal(40), two_labels(np.where(np.arange(40) < 20, 0.0, 0.7))),
    "5% contradictions": SimulatedSystem(equal(20), two_labels(np.full(20, 0.05))),
    "near 1": SimulatedSystem(equal(50), two_labels(np.where(np.arange(50) == 0, 0.2, 0.0))),
    "near 0, 50 labels": SimulatedSystem(equal(5), np.full((5, 50), 0.02)),
    "fair coin": SimulatedSystem(equal(1), two_labels(np.full(1, 0.5))),
    "three labels": SimulatedSystem(long_tail(30), _three()),
    "100 labels": SimulatedSystem(equal(50), _many()),
    "sparse, 20,000": SimulatedSystem(equal(20_000), mostly_pure(20_000)),
    "half never repeat": simulated(two_rates(10, 0.02, 100_000, 0.5)),
}
EQUAL_LABELS = {f"{labels:,} equal labels": simulated(equal_labels(labels)) for labels in (2, 3, 20, 50, 1_000)}


@dataclass(frozen=True, eq=False)
class Windows:
    """Rows are points on a line; the rule of a row covers all points from a first to a last one.

    Attributes
    ----------
    p : (m,) array
        Chance of each point.
    q : (m, labels) array
        Chances of the labels at each point.
    first, last : (m,) arrays
        What the rule of each point covers.
    half : int, optional
        Points to either side, where that is all a rule says: then it is also "within half".
    """

    p: Floats
    q: Floats
    first: Ints
    last: Ints
    half: int | None = None

    @property
    def _inside(self) -> Floats:
        """The mass of each label that each point's rule covers."""
        upto = np.vstack([np.zeros(self.q.shape[1]), np.cumsum(self.p[:, None] * self.q, axis=0)])
        return np.asarray(upto[self.last + 1] - upto[self.first])

    @cached_property
    def covered_shares(self) -> Floats:
        """The chances of the labels among the rows that each point's rule covers."""
        inside = self._inside
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))

    @cached_property
    def truth(self) -> float:
        """The chance that a row covered by x's rule has x's label."""
        return float(self.p @ (self.q * self.covered_shares).sum(axis=1))

    def expected(self, n: int) -> float:
        """E[M̂] on n rows: a point counts only where its rule covers one of the n - 1 others."""
        mass = np.minimum(self._inside.sum(axis=1), 1 - 1e-16)
        return float((self.p * -np.expm1((n - 1) * np.log1p(-mass))) @ (self.q * self.covered_shares).sum(axis=1))

    @cached_property
    def target(self) -> "Windows":
        """The population in which any label but the first counts four times."""
        points = self._points.target
        return Windows(points.p, points.q, self.first, self.last, self.half)

    @cached_property
    def other(self) -> "Windows":
        """The same rows with rules that reach four points to either side: another explainer."""
        return sliding(self.q, 4)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Rows: their points and their labels."""
        return self._points.draw(n, rng)

    @cached_property
    def _points(self) -> SimulatedSystem:
        return SimulatedSystem(self.p, self.q)

    @cached_property
    def _rules(self) -> fs.Rules:
        return fs.Rules.from_bins(self.first[:, None] - 0.5, self.last[:, None] + 0.5, ["x"])

    def rules(self, points: Ints) -> fs.Rules:
        """The rules that these rows are given."""
        return self._rules.take(points)


def sliding(q: Floats, half: int) -> Windows:
    """Every rule covers its point and so many to either side."""
    place = np.arange(len(q))
    return Windows(equal(len(q)), q, np.maximum(0, place - half), np.minimum(len(q) - 1, place + half), half)


def _nested(q: Floats, every: int) -> Windows:
    """Rules that start at 0 and end at the next multiple: each holds all shorter ones."""
    place = np.arange(len(q))
    return Windows(equal(len(q)), q, np.zeros_like(place), np.minimum(len(q) - 1, (place // every + 1) * every - 1))


def beside(q: Floats, away: int, width: int) -> Windows:
    """Rules that cover points beside their own row and never the row itself."""
    place = np.arange(len(q))
    first = np.where(place + away + width < len(q), place + away, place - away - width)
    return Windows(equal(len(q)), q, first, first + width)


def _by_place(chance: Callable[[Floats], Floats], points: int) -> Floats:
    return two_labels(chance((np.arange(points) + 0.5) / points))


def _three_zones(points: int) -> Floats:
    zone = np.arange(points) * 3 // points
    return np.full((points, 3), 0.05) + 0.85 * np.eye(3)[zone]


COVERED = {
    "sliding, a step": sliding(_by_place(lambda x: (x > 0.5) * 1.0, 100), 5),
    "sliding, noisy": sliding(_by_place(lambda x: np.where(x > 0.3, 0.9, 0.1), 100), 10),
    "sliding, three labels": sliding(_three_zones(90), 6),
    "sliding, 20 labels": sliding(np.full((60, 20), 0.05), 2),
    "sliding, sparse": sliding(_by_place(lambda x: 0.5 + 0.5 * np.sin(6 * x), 600), 1),
    "nested": _nested(_by_place(lambda x: 0.9 - 0.5 * x, 100), 5),
    "nested, near 1": _nested(_by_place(lambda x: (x > 0.02) * 1.0, 100), 2),
    "5% contradictions": sliding(two_labels(np.full(60, 0.05)), 4),
    "beside its own row": beside(_by_place(lambda x: np.where(x > 0.5, 0.9, 0.2), 100), 1, 8),
}
EQUAL_LABELS_COVERED = {  # each rule covers all rows, and was given to a quarter of them, whose label is named
    f"{labels:,} equal labels": sliding(np.full((4, labels), 1 / labels), 3) for labels in (2, 3, 20, 50, 1_000)
}
HUBS = {
    "hub of 1%, pure": Hub(0.01, 1.0),
    "hub of 1%, fair coin": Hub(0.01, 0.5),
    "hub of 5%": Hub(0.05, 0.8),
    "hub of 20%": Hub(0.2, 0.9),
}
HUB_COVERS = covers
