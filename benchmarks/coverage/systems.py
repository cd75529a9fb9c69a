"""Systems of finitely many kinds of rows, whose true measures are sums over all pairs of kinds."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from harness import in_bins
from numpy.random import default_rng

import faithscope as fs
from faithscope import testing
from faithscope.testing.populations import (
    equal,
    long_tail,
    mostly_pure,
    two_labels,
    two_rates,
)

RARE = 4.0  # a row of any label but the first counts so many times, where rows are weighted by label


def one_explanation(*chances):
    """One explanation, and these chances of labels."""
    return testing.FinitePopulation(np.ones(1), np.array([chances]))


@dataclass(frozen=True)
class Hub:
    """Every explanation covers its own row and a hub that holds a share of all rows; labels of the hub vary."""

    share: float
    ones: float  # chance of label 1 in the hub; all other rows have label 1

    @property
    def truth(self):
        """Sufficiency: rows outside the hub are compared with the hub, rows of the hub with each other."""
        return (1 - self.share) * self.ones + self.share * (self.ones**2 + (1 - self.ones) ** 2)

    def draw(self, n, rng):
        """Rows: their place (0: the hub), and their label."""
        hub = rng.random(n) < self.share
        return np.where(hub, 0.0, 1 + rng.random(n)), np.where(hub, rng.random(n) < self.ones, 1).astype(int)


def covers(X, place):
    """The hub's relation: an explanation covers its own place and the hub."""
    return (X[:, 0] == place) | (X[:, 0] == 0)


@dataclass(frozen=True, eq=False)
class Kinds:
    """Kinds of rows, each with a probability and the kinds to which its explanation applies.

    Attributes
    ----------
    p : (kinds,) array
    q : array
        Of the predictions of each kind, as a subclass has them.
    covers : (kinds, kinds) bool array, optional
        Whether the explanation of the one kind applies to the other; by default to its own kind alone.
    drawn : (kinds,) array, optional
        The probability with which kinds are drawn, if rows are weighted.
    together : int
        Rows per cluster, which share their kind two times in three.
    """

    p: np.ndarray
    q: np.ndarray
    covers: np.ndarray | None = None
    drawn: np.ndarray | None = None
    together: int = 1

    def kinds(self, n, rng):
        """The kinds of n rows."""
        kinds = rng.choice(len(self.p), n, p=self.p if self.drawn is None else self.drawn)
        if self.together == 1:
            return kinds
        firsts = kinds[np.arange(n) // self.together * self.together]
        return np.where(rng.random(n) < 2 / 3, firsts, kinds)

    def known(self, kinds):
        """Weights and clusters, if rows have them, as keyword arguments."""
        weights = {} if self.drawn is None else {"weights": (self.p / self.drawn)[kinds]}
        return weights if self.together == 1 else {**weights, "clusters": np.arange(len(kinds)) // self.together}

    def among(self, each):
        """The mean of a number of each kind, among the rows to which each explanation applies."""
        if self.covers is None:
            return each
        return self.covers @ (self.p[:, None] * each) / (self.covers @ self.p)[:, None]

    @cached_property
    def rules(self):
        """One rule per kind, about the number of the kind; kinds that it covers lie side by side."""
        first, last = self.covers.argmax(axis=1), len(self.p) - 1 - self.covers[:, ::-1].argmax(axis=1)
        return in_bins(first[:, None] - 0.5, last[:, None] + 0.5, ["x"])

    def ruled(self, kinds):
        """Rows with their rules, as keyword arguments."""
        return {"explanations": self.rules.take(kinds), "X": kinds[:, None].astype(float)}

    def placed(self, kinds):
        """Rows with their places on a line, and how far a rule in the middle reaches, as keyword arguments."""
        middle = len(self.p) // 2
        return {"explanations": kinds[:, None].astype(float), "tau": self.covers[middle, middle:].sum() - 0.5}


@dataclass(frozen=True, eq=False)
class FinitePopulation(Kinds):
    """Kinds of rows with chances of labels.

    Attributes
    ----------
    q : (kinds, labels) array
        The chances of the labels of each kind.
    values : (labels,) array, optional
        The numbers that labels stand for, which agree within 1.
    """

    values: np.ndarray | None = None

    @cached_property
    def agreeing(self):
        """Whether labels agree: (labels, labels)."""
        values = 2 * np.arange(self.q.shape[1]) if self.values is None else self.values
        return (np.abs(values[:, None] - values) <= 1).astype(float)

    @cached_property
    def alike(self):
        """Per kind, the chance that a row under its explanation agrees with it."""
        return (self.q * (self.among(self.q) @ self.agreeing)).sum(axis=1)

    @cached_property
    def truth(self):
        """Sufficiency, or consistency: the chance that a row under x's explanation agrees with x."""
        return self.p @ self.alike

    @cached_property
    def recalled(self):
        """Per kind and label, the share of the rows with this label to which the kind's explanation applies."""
        alike = self.p[:, None] * (self.q @ self.agreeing)
        return self.covers @ alike / alike.sum(axis=0)

    @cached_property
    def necessity(self):
        """The mean over rows of the share of the rows with their prediction to which their explanation applies."""
        return np.sum(self.p[:, None] * self.q * self.recalled)

    def expected(self, n):
        """E[M̂] on n rows, by the paper's theorem."""
        return testing.FinitePopulation(self.p, self.q, self.covers).expected(n)

    def draw(self, n, rng):
        """Rows: their kinds and their labels."""
        kinds = self.kinds(n, rng)
        return kinds, (rng.random(n)[:, None] >= np.cumsum(self.q[kinds], axis=1)[:, :-1]).sum(axis=1)

    def asked(self, kinds, labels):
        """Predictions, and weights, clusters and agreement where there are any, as keyword arguments."""
        if self.values is None:
            return {"predictions": labels, **self.known(kinds)}
        return {"predictions": self.values[labels], "agreement": fs.Tolerance(1.0), **self.known(kinds)}

    @cached_property
    def target(self):
        """The population in which any label but the first counts four times."""
        target = from_masses(self.p[:, None] * self.q * label_weights(np.arange(self.q.shape[1])))
        return replace(self, p=target.p, q=target.q)

    @cached_property
    def coarser(self):
        """The same rows with explanations merged in pairs: a coarser explainer."""
        pairs = np.add.reduceat(self.p[:, None] * self.q, np.arange(0, len(self.p), 2))
        return from_masses(pairs)

    @cached_property
    def noisier(self):
        """The same explanations, one label in ten replaced by any label: another population."""
        return replace(self, q=0.9 * self.q + 0.1 / self.q.shape[1])

    @cached_property
    def other(self):
        """The same rows with rules that reach four kinds to either side: another explainer."""
        return replace(self, covers=sliding(len(self.p), 4))


def drawn_rows(p, n, rng, how, tilt):
    """Kinds of n rows: independent, drawn more often by a tilt which weights undo, or clustered: one kind each."""
    if how == "weighted":
        kinds = rng.choice(len(p), n, p=p * tilt / (p @ tilt))
        return kinds, {"weights": 1 / tilt[kinds]}
    if how == "clustered":
        clusters = np.sort(rng.integers(0, n // 4, n))
        return rng.choice(len(p), n // 4, p=p)[clusters], {"clusters": clusters}
    return rng.choice(len(p), n, p=p), {}


def label_weights(labels):
    """Weights that turn rows of a system into rows of its target."""
    return np.where(labels > 0, RARE, 1.0)


def from_masses(joint):
    """The population with these masses of (kind, label) pairs, which need not add up to 1."""
    mass = joint.sum(axis=1)
    return FinitePopulation(mass / mass.sum(), joint / mass[:, None])


def population(system):
    """A population of `faithscope.testing`."""
    return FinitePopulation(system.p, system.q)


def mixed(cells, share):
    """Equally likely explanations with a share of label 1, the same or one each."""
    return FinitePopulation(equal(cells), two_labels(np.broadcast_to(share, cells)))


GIVEN = {
    "4 explanations": FinitePopulation(np.array([0.4, 0.3, 0.2, 0.1]), two_labels(np.array([0.05, 0.9, 0.3, 0.6]))),
    "100 equal": FinitePopulation(equal(100), mostly_pure(100)),
    "1,000 equal": FinitePopulation(equal(1_000), mostly_pure(1_000)),
    "long tail of 3,000": FinitePopulation(long_tail(3_000), mostly_pure(3_000)),
    "one label only": FinitePopulation(long_tail(100), two_labels(np.zeros(100))),
    "one pure class": mixed(40, np.repeat([0.0, 0.7], 20)),
    "5% contradictions": mixed(20, 0.05),
    "near 1": mixed(50, np.append(0.2, np.zeros(49))),
    "near 0, 50 labels": FinitePopulation(equal(5), np.full((5, 50), 0.02)),
    "fair coin": mixed(1, 0.5),
    "three labels": FinitePopulation(long_tail(30), default_rng(3).dirichlet([0.5, 0.5, 0.5], 30)),
    "100 labels": FinitePopulation(equal(50), np.stack([np.roll(long_tail(100), shift) for shift in range(50)])),
    "sparse, 20,000": FinitePopulation(equal(20_000), mostly_pure(20_000)),
    "half never repeat": population(two_rates(10, 0.02, 100_000, 0.5)),
}
LABELS = (2, 3, 20, 50, 1_000)
EQUAL_LABELS = {f"{labels:,} equal labels": population(one_explanation(*equal(labels))) for labels in LABELS}


# Kinds on a line, equally likely, with rules that cover kinds side by side.


def sliding(points, half):
    """Every rule covers its own kind and so many to either side."""
    place = np.arange(points)
    return np.abs(place[:, None] - place) <= half


def nested(points, every):
    """Rules that start at 0 and end at the next multiple: each holds all shorter ones."""
    place = np.arange(points)
    return place <= ((place // every + 1) * every - 1)[:, None]


def beside(points, away, width):
    """Rules that cover kinds beside their own and never their own."""
    place = np.arange(points)
    first = np.where(place + away + width < points, place + away, place - away - width)[:, None]
    return (first <= place) & (place <= first + width)


def by_rules(q, covers):
    """Equally likely kinds with these chances of labels, and rules."""
    return FinitePopulation(equal(len(q)), q, covers)


def middles(points):
    """Places between 0 and 1."""
    return (np.arange(points) + 0.5) / points


_C = middles(100)
COVERED = {
    "sliding, a step": by_rules(two_labels(_C > 0.5), sliding(100, 5)),
    "sliding, noisy": by_rules(two_labels(np.where(_C > 0.3, 0.9, 0.1)), sliding(100, 10)),
    "sliding, three labels": by_rules(0.05 + 0.85 * np.eye(3)[np.arange(90) // 30], sliding(90, 6)),
    "sliding, 20 labels": by_rules(np.full((60, 20), 0.05), sliding(60, 2)),
    "sliding, sparse": by_rules(two_labels(0.5 + 0.5 * np.sin(6 * middles(600))), sliding(600, 1)),
    "nested": by_rules(two_labels(0.9 - 0.5 * _C), nested(100, 5)),
    "nested, near 1": by_rules(two_labels(_C > 0.02), nested(100, 2)),
    "5% contradictions": by_rules(two_labels(np.full(60, 0.05)), sliding(60, 4)),
    "beside its own row": by_rules(two_labels(np.where(_C > 0.5, 0.9, 0.2)), beside(100, 1, 8)),
}
WITHIN = {name: COVERED[name] for name in COVERED if name.startswith(("sliding", "5%"))}
EQUAL_LABELS_COVERED = {  # each rule covers all rows, and was given to a quarter of them, whose label is named
    f"{labels:,} equal labels": by_rules(np.full((4, labels), 1 / labels), sliding(4, 3)) for labels in LABELS
}
HUBS = {
    "hub of 1%, pure": Hub(0.01, 1.0),
    "hub of 1%, fair coin": Hub(0.01, 0.5),
    "hub of 5%": Hub(0.05, 0.8),
    "hub of 20%": Hub(0.2, 0.9),
}

# Of necessity, and of a judge: 200 places between 0 and 1.

PLACES = 200
X = middles(PLACES)


def part(*cuts):
    """The part of the line, cut here, that each place lies in."""
    return np.searchsorted(cuts, X)


def around(half):
    """Rules about their own place, which overlap."""
    return sliding(PLACES, half)


def parts(*cuts):
    """Rules that cover their own part of the line."""
    return part(*cuts)[:, None] == part(*cuts)


def line(cuts, covers, noise=0.0, **how):
    """A label per part of the line, some of which are drawn from all instead."""
    chances = np.eye(len(cuts) + 1)[part(*cuts)]
    return replace(by_rules((1 - noise) * chances + noise * chances.mean(axis=0), covers), **how)


def tilted(system, label=False):
    """The same population, of which some places are drawn up to nine times as often as others."""
    slope = 1 + 8 * (system.q[:, -1] if label else np.linspace(0, 1, PLACES))
    return replace(system, drawn=slope / slope.sum())


def in_clusters(system):
    """The same population in clusters of five rows, most of which share their place."""
    return replace(system, together=5)


def steps(many):
    """Cuts into equal parts."""
    return tuple(k / many for k in range(1, many))


TENS, HALF = steps(10), (0.5,)
_BASE = {
    "sliding, broad": line(HALF, around(40)),
    "sliding, noisy": line((0.3,), around(20), 0.3),
    "nested": line((0.35,), nested(PLACES, 20)),
    "tree of ten leaves": line((0.35, 0.7), parts(*TENS)),
    "rare label, whole": line((0.98,), parts(0.98)),
    "rare label, split": line((0.98,), parts(0.98, 0.99)),
    "twenty rare labels": line(tuple(0.6 + 0.02 * k for k in range(20)), around(2)),
    "half broad, half single": line(HALF, around(0) | ((X < 0.5) & (X[:, None] < 0.5))),
}
_UNRELATED = {
    "unrelated, broad": line(HALF, around(40), 1.0),
    "unrelated, narrow": line(HALF, around(2), 1.0),
}
_SOME = ("sliding, broad", "nested", "rare label, split")
NECESSARY = {
    **_BASE,
    **{f"weighted: {name}": tilted(_BASE[name]) for name in _SOME},
    **{f"weighted by label: {name}": tilted(_BASE[name], True) for name in ("sliding, noisy", "rare label, whole")},
    **{f"clustered: {name}": in_clusters(_BASE[name]) for name in _SOME},
    "numbers: ten, sliding": line(TENS, around(20), 0.3, values=0.8 * np.arange(10)),
    **_UNRELATED,
    "weighted: unrelated, broad": tilted(_UNRELATED["unrelated, broad"]),
    "clustered: unrelated, narrow": in_clusters(_UNRELATED["unrelated, narrow"]),
}

_BROAD, _AWAY = line(HALF, around(40), 0.3), np.abs(np.arange(PLACES)[:, None] - np.arange(PLACES))
# Reasons are worded anew for every row, or shared by the rows of a place; "panel": all are asked about the same rows.
JUDGED = {
    "broad, noisy": (_BROAD, "free"),
    "narrow": (line(HALF, around(4)), "free"),
    "applies everywhere": (line(HALF, around(PLACES)), "free"),
    "rarely wrong": (line((0.95,), around(20)), "free"),
    "never wrong": (line(HALF, parts(*TENS)), "free"),
    "not to its own row": (line(HALF, np.abs(_AWAY - 50) <= 20, 0.1), "free"),
    "shared, ten leaves, noisy": (line(steps(3), parts(*TENS), 0.3), "shared"),
    "shared, broad, noisy": (_BROAD, "shared"),
    "hub of a tenth": (
        line(HALF, around(0) | (np.arange(PLACES) == 0), p=np.append(0.1, np.full(PLACES - 1, 0.9 / (PLACES - 1)))),
        "free",
    ),
    "one panel of rows, broad": (_BROAD, "panel"),
    "weighted: broad, noisy": (tilted(_BROAD), "free"),
    "clustered: broad, noisy": (in_clusters(_BROAD), "free"),
    "numbers: broad": (line(steps(8), around(30), 0.2, values=0.8 * np.arange(8)), "free"),
}
