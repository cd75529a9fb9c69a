"""Systems of finitely many kinds of rows, whose true measures are sums over all pairs of kinds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope.testing.hard import equal_labels, two_rates
from faithscope.testing.scoped_systems import Hub
from faithscope.testing.systems import equal, long_tail, mostly_pure, two_labels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Covers = NDArray[np.bool_]
Chance = np.random.Generator

RARE = 4.0  # a row of any label but the first counts so many times, where rows are weighted by label


@dataclass(frozen=True, eq=False)
class FinitePopulation:
    """Kinds of rows, each with a probability, chances of labels, and the kinds to which its explanation applies.

    Attributes
    ----------
    p : (kinds,) array
    q : (kinds, labels) array
        The chances of the labels of each kind.
    covers : (kinds, kinds) bool array, optional
        Whether the explanation of the one kind applies to the other; by default to its own kind alone.
    drawn : (kinds,) array, optional
        The probability with which kinds are drawn, if rows are weighted.
    together : int
        Rows per cluster, which share their kind two times in three.
    values : (labels,) array, optional
        The numbers that labels stand for, which agree within 1.
    """

    p: Floats
    q: Floats
    covers: Covers | None = None
    drawn: Floats | None = None
    together: int = 1
    values: Floats | None = None

    @cached_property
    def agreeing(self) -> Floats:
        """Whether labels agree: (labels, labels)."""
        if self.values is None:
            return np.eye(self.q.shape[1])
        return (np.abs(self.values[:, None] - self.values) <= 1).astype(float)

    @cached_property
    def covered_shares(self) -> Floats:
        """The chances of the labels among the rows to which each explanation applies."""
        inside = self.q if self.covers is None else self.covers @ (self.p[:, None] * self.q)
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))

    @cached_property
    def alike(self) -> Floats:
        """Per kind, the chance that a row under its explanation agrees with it."""
        agreeing = self.covered_shares if self.values is None else self.covered_shares @ self.agreeing
        return np.asarray((self.q * agreeing).sum(axis=1))

    @cached_property
    def truth(self) -> float:
        """Sufficiency, or consistency: the chance that a row under x's explanation agrees with x."""
        return float(self.p @ self.alike)

    @cached_property
    def necessity(self) -> float:
        """The mean over rows of the share of the rows with their prediction to which their explanation applies."""
        alike = self.p[:, None] * (self.q @ self.agreeing)
        return float(np.sum(self.p[:, None] * self.q * (self.covers @ alike) / alike.sum(axis=0)))

    def expected(self, n: int) -> float:
        """E[M̂] on n rows: a row counts only if its explanation applies to one of the n - 1 others."""
        mass = np.minimum(self.p if self.covers is None else self.covers @ self.p, 1 - 1e-16)
        return float((self.p * -np.expm1((n - 1) * np.log1p(-mass))) @ self.alike)

    @cached_property
    def _upto(self) -> tuple[Floats, Floats]:
        kinds, labels = np.cumsum(self.p if self.drawn is None else self.drawn), np.cumsum(self.q, axis=1)
        kinds[-1], labels[:, -1] = 1.0, 1.0
        return kinds, labels

    def draw(self, n: int, rng: Chance) -> tuple[Ints, Ints]:
        """Rows: their kinds and their labels."""
        upto, labels = self._upto
        kinds = np.searchsorted(upto, rng.random(n), side="right")
        if self.together > 1:
            firsts = kinds[np.arange(n) // self.together * self.together]
            kinds = np.where(rng.random(n) < 2 / 3, firsts, kinds)
        return kinds, (rng.random(n)[:, None] >= labels[kinds]).sum(axis=1)

    def asked(self, kinds: Ints, labels: Ints) -> dict[str, Any]:
        """Predictions, and weights, clusters and agreement where there are any, as keyword arguments."""
        how: dict[str, Any] = {"predictions": labels if self.values is None else self.values[labels]}
        if self.drawn is not None:
            how["weights"] = (self.p / self.drawn)[kinds]
        if self.together > 1:
            how["clusters"] = np.arange(len(kinds)) // self.together
        if self.values is not None:
            how["agreement"] = fs.Tolerance(1.0)
        return how

    @cached_property
    def rules(self) -> fs.Rules:
        """One rule per kind, about the number of the kind; kinds that it covers lie side by side."""
        first, last = ends_of(self.covers)
        return fs.Rules.from_bins(first[:, None] - 0.5, last[:, None] + 0.5, ["x"])

    def ruled(self, kinds: Ints) -> dict[str, Any]:
        """Rows with their rules, as keyword arguments."""
        return {"explanations": self.rules.take(kinds), "X": kinds[:, None].astype(float)}

    @property
    def reach(self) -> int:
        """Kinds to either side that the rule of a kind in the middle covers."""
        middle = len(self.p) // 2
        return int(ends_of(self.covers)[1][middle] - middle)

    @cached_property
    def target(self) -> "FinitePopulation":
        """The population in which any label but the first counts four times."""
        joint = self.p[:, None] * self.q * label_weights(np.arange(self.q.shape[1]))
        return replace(self, p=joint.sum(axis=1) / joint.sum(), q=joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def coarser(self) -> "FinitePopulation":
        """The same rows with explanations merged in pairs: a coarser explainer."""
        pair = np.arange(len(self.p)) // 2
        joint = np.zeros((pair[-1] + 1, self.q.shape[1]))
        np.add.at(joint, pair, self.p[:, None] * self.q)
        return FinitePopulation(joint.sum(axis=1), joint / joint.sum(axis=1, keepdims=True))

    @cached_property
    def noisier(self) -> "FinitePopulation":
        """The same explanations, one label in ten replaced by any label: another population."""
        return replace(self, q=0.9 * self.q + 0.1 / self.q.shape[1])

    @cached_property
    def other(self) -> "FinitePopulation":
        """The same rows with rules that reach four kinds to either side: another explainer."""
        return replace(self, covers=sliding(len(self.p), 4))


def ends_of(covers: Covers) -> tuple[Ints, Ints]:
    """The first and the last kind that each explanation applies to."""
    return covers.argmax(axis=1), len(covers) - 1 - covers[:, ::-1].argmax(axis=1)


def label_weights(labels: Ints) -> Floats:
    """Weights that turn rows of a system into rows of its target."""
    return np.where(labels > 0, RARE, 1.0)


def population(system: Any) -> FinitePopulation:
    """A system of `faithscope.testing`, of which what a thousand draws share is computed once."""
    return FinitePopulation(system.p, system.q)


def mixed(cells: int, share: float) -> FinitePopulation:
    """Equally likely explanations, all with the same share of label 1."""
    return FinitePopulation(equal(cells), two_labels(np.full(cells, share)))


GIVEN = {
    "4 explanations": FinitePopulation(np.array([0.4, 0.3, 0.2, 0.1]), two_labels(np.array([0.05, 0.9, 0.3, 0.6]))),
    "100 equal": FinitePopulation(equal(100), mostly_pure(100)),
    "1,000 equal": FinitePopulation(equal(1_000), mostly_pure(1_000)),
    "long tail of 3,000": FinitePopulation(long_tail(3_000), mostly_pure(3_000)),
    "one label only": FinitePopulation(long_tail(100), two_labels(np.zeros(100))),
    "one pure class": FinitePopulation(equal(40), two_labels(np.where(np.arange(40) < 20, 0.0, 0.7))),
    "5% contradictions": mixed(20, 0.05),
    "near 1": FinitePopulation(equal(50), two_labels(np.where(np.arange(50) == 0, 0.2, 0.0))),
    "near 0, 50 labels": FinitePopulation(equal(5), np.full((5, 50), 0.02)),
    "fair coin": mixed(1, 0.5),
    "three labels": FinitePopulation(long_tail(30), np.random.default_rng(3).dirichlet([0.5, 0.5, 0.5], 30)),
    "100 labels": FinitePopulation(equal(50), np.stack([np.roll(long_tail(100), shift) for shift in range(50)])),
    "sparse, 20,000": FinitePopulation(equal(20_000), mostly_pure(20_000)),
    "half never repeat": population(two_rates(10, 0.02, 100_000, 0.5)),
}
LABELS = (2, 3, 20, 50, 1_000)
EQUAL_LABELS = {f"{labels:,} equal labels": population(equal_labels(labels)) for labels in LABELS}


# Kinds on a line, with rules that cover kinds side by side.


def sliding(points: int, half: int) -> Covers:
    """Every rule covers its own kind and so many to either side."""
    place = np.arange(points)
    return np.abs(place[:, None] - place) <= half


def nested(points: int, every: int) -> Covers:
    """Rules that start at 0 and end at the next multiple: each holds all shorter ones."""
    place = np.arange(points)
    return place <= ((place // every + 1) * every - 1)[:, None]


def beside(points: int, away: int, width: int) -> Covers:
    """Rules that cover kinds beside their own and never their own."""
    place = np.arange(points)
    first = np.where(place + away + width < points, place + away, place - away - width)[:, None]
    return (first <= place) & (place <= first + width)


def on_points(q: Floats, covers: Callable[..., Covers], *how: int) -> FinitePopulation:
    """Equally likely kinds with these chances of labels, and rules."""
    return FinitePopulation(equal(len(q)), q, covers(len(q), *how))


def _by_place(chance: Callable[[Floats], Floats], points: int = 100) -> Floats:
    return two_labels(chance((np.arange(points) + 0.5) / points))


_ZONES = 0.05 + 0.85 * np.eye(3)[np.arange(90) * 3 // 90]
COVERED = {
    "sliding, a step": on_points(_by_place(lambda x: (x > 0.5) * 1.0), sliding, 5),
    "sliding, noisy": on_points(_by_place(lambda x: np.where(x > 0.3, 0.9, 0.1)), sliding, 10),
    "sliding, three labels": on_points(_ZONES, sliding, 6),
    "sliding, 20 labels": on_points(np.full((60, 20), 0.05), sliding, 2),
    "sliding, sparse": on_points(_by_place(lambda x: 0.5 + 0.5 * np.sin(6 * x), 600), sliding, 1),
    "nested": on_points(_by_place(lambda x: 0.9 - 0.5 * x), nested, 5),
    "nested, near 1": on_points(_by_place(lambda x: (x > 0.02) * 1.0), nested, 2),
    "5% contradictions": on_points(two_labels(np.full(60, 0.05)), sliding, 4),
    "beside its own row": on_points(_by_place(lambda x: np.where(x > 0.5, 0.9, 0.2)), beside, 1, 8),
}
WITHIN = {name: COVERED[name] for name in COVERED if name.startswith(("sliding", "5%"))}
EQUAL_LABELS_COVERED = {  # each rule covers all rows, and was given to a quarter of them, whose label is named
    f"{labels:,} equal labels": on_points(np.full((4, labels), 1 / labels), sliding, 3) for labels in LABELS
}
HUBS = {
    "hub of 1%, pure": Hub(0.01, 1.0),
    "hub of 1%, fair coin": Hub(0.01, 0.5),
    "hub of 5%": Hub(0.05, 0.8),
    "hub of 20%": Hub(0.2, 0.9),
}

# Of necessity, and of a judge: 200 places between 0 and 1.

PLACES = 200
X = (np.arange(PLACES) + 0.5) / PLACES
TENS = tuple(k / 10 for k in range(1, 10))


def cut(*ends: float) -> Ints:
    """Labels by the part of the line that a place lies in."""
    return np.searchsorted(np.array(ends), X)


def noisy(labels: Ints, noise: float = 0.0) -> Floats:
    """Chances of labels of which some are drawn from all instead."""
    chances = np.eye(int(labels.max()) + 1)[labels]
    return (1 - noise) * chances + noise * chances.mean(axis=0)


def between(low: Floats, high: Floats) -> Covers:
    """Rules that cover all places between two ends."""
    first, last = (np.clip(np.floor(end * PLACES).astype(int), 0, PLACES - 1)[:, None] for end in (low, high))
    return (first <= np.arange(PLACES)) & (np.arange(PLACES) <= last)


def around(width: float) -> Covers:
    """Rules about their own place, which overlap."""
    return between(X - width, X + width)


def parts(*ends: float) -> Covers:
    """Rules that cover their own part of the line."""
    bounds, part = np.array([0.0, *ends, 1.0 - 1e-9]), np.searchsorted(np.array(ends), X)
    return between(bounds[part], bounds[part + 1] - 1e-9 * (part < len(ends)))


def placed(q: Floats, covers: Covers, **how: Any) -> FinitePopulation:
    """A system of equally likely places."""
    return FinitePopulation(np.full(PLACES, 1 / PLACES), q, covers, **how)


def tilted(system: FinitePopulation, label: bool = False) -> FinitePopulation:
    """The same population, of which some places are drawn up to nine times as often as others."""
    slope = 1 + 8 * (system.q[:, -1] if label else np.linspace(0, 1, PLACES))
    return replace(system, drawn=slope / slope.sum())


def in_clusters(system: FinitePopulation) -> FinitePopulation:
    """The same population in clusters of five rows, most of which share their place."""
    return replace(system, together=5)


UPTO = between(np.zeros(PLACES), np.ceil(X * 10) / 10)  # rules that begin at 0
_BASE = {
    "sliding, broad": placed(noisy(cut(0.5)), around(0.2)),
    "sliding, narrow": placed(noisy(cut(0.5)), around(0.01)),
    "sliding, noisy": placed(noisy(cut(0.3), 0.3), around(0.1)),
    "nested": placed(noisy(cut(0.35)), UPTO),
    "tree of ten leaves": placed(noisy(cut(0.35, 0.7)), parts(*TENS)),
    "the label itself": placed(noisy(cut(0.2, 0.5, 0.9)), parts(0.2, 0.5, 0.9)),
    "rare other reason": placed(noisy(cut(0.5)), parts(0.02, 0.5)),
    "rare label, whole": placed(noisy(cut(0.98)), parts(0.98)),
    "rare label, split": placed(noisy(cut(0.98)), parts(0.98, 0.99)),
    "rare label, narrow": placed(noisy(cut(0.97)), around(0.005)),
    "twenty rare labels": placed(noisy(cut(*(0.6 + 0.02 * k for k in range(20)))), around(0.01)),
    "forty labels": placed(noisy(cut(*(k / 40 for k in range(1, 40)))), parts(*(k / 40 + 0.0125 for k in range(40)))),
    "half broad, half single": placed(
        noisy(cut(0.5)), between(np.where(X < 0.5, 0.0, X), np.where(X < 0.5, 0.4999, X))
    ),
}
_UNRELATED = {
    "unrelated, broad": placed(noisy(cut(0.5), 1.0), around(0.2)),
    "unrelated, narrow": placed(noisy(cut(0.5), 1.0), around(0.01)),
    "unrelated, nested": placed(noisy(cut(0.2), 1.0), UPTO),
    "unrelated, rare label": placed(noisy(cut(0.95), 1.0), around(0.1)),
    "unrelated, ten leaves": placed(noisy(cut(0.3, 0.6), 1.0), parts(*TENS)),
}
_SOME = ("sliding, broad", "nested", "rare label, split")
NECESSARY = {
    **_BASE,
    **{f"weighted: {name}": tilted(_BASE[name]) for name in _SOME},
    "weighted by label: sliding, noisy": tilted(_BASE["sliding, noisy"], label=True),
    "weighted by label: rare label, whole": tilted(_BASE["rare label, whole"], label=True),
    **{f"clustered: {name}": in_clusters(_BASE[name]) for name in _SOME},
    "numbers: ten, sliding": placed(noisy(cut(*TENS), 0.3), around(0.1), values=0.8 * np.arange(10)),
    "numbers: ten, leaves": placed(noisy(cut(*TENS)), parts(*TENS), values=0.8 * np.arange(10)),
    **_UNRELATED,
    "weighted: unrelated, broad": tilted(_UNRELATED["unrelated, broad"]),
    "clustered: unrelated, narrow": in_clusters(_UNRELATED["unrelated, narrow"]),
}


def near(width: float, shift: float = 0.0) -> Covers:
    """Explanations that apply to the places near their own, or near another."""
    return np.abs((X + shift)[:, None] - X) <= width


def same_part(many: int) -> Covers:
    """Explanations that apply to their own part of the line."""
    part = np.floor(X * many).astype(int)
    return part[:, None] == part


_HALF = (X > 0.5).astype(int)
_BROAD = placed(noisy(_HALF, 0.3), near(0.2))
_ASKED_ABOUT_HUB = replace(
    placed(noisy(_HALF), np.eye(PLACES, dtype=bool) | (np.arange(PLACES) == 0)),
    p=np.r_[0.1, np.full(PLACES - 1, 0.9 / (PLACES - 1))],
)
# Reasons are worded anew for every row, or shared by the rows of a place; "panel": all are asked about the same rows.
JUDGED = {
    "broad, noisy": (_BROAD, "free"),
    "narrow": (placed(noisy(_HALF), near(0.02)), "free"),
    "applies everywhere": (placed(noisy(_HALF), np.ones((PLACES, PLACES), bool)), "free"),
    "rarely wrong": (placed(noisy((X > 0.95).astype(int)), near(0.1)), "free"),
    "never wrong": (placed(noisy(_HALF), same_part(10)), "free"),
    "not to its own row": (placed(noisy(_HALF, 0.1), near(0.1, 0.25) | near(0.1, -0.25)), "free"),
    "shared, ten leaves, noisy": (placed(noisy(np.floor(3 * X).astype(int), 0.3), same_part(10)), "shared"),
    "shared, broad, noisy": (_BROAD, "shared"),
    "hub of a tenth": (_ASKED_ABOUT_HUB, "free"),
    "one panel of rows, broad": (_BROAD, "panel"),
    "weighted: broad, noisy": (replace(_BROAD, drawn=(1 + 8 * X) / np.sum(1 + 8 * X)), "free"),
    "clustered: broad, noisy": (in_clusters(_BROAD), "free"),
    "numbers: broad": (
        placed(noisy(np.floor(8 * X).astype(int), 0.2), near(0.15), values=0.8 * np.arange(8)),
        "free",
    ),
}
