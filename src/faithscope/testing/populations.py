"""Populations with known truth: finitely many kinds of rows, and the hard ones among them, on which intervals fail."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from faithscope.explanations.highlights import Highlights
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.checks import check_whole


@dataclass(frozen=True, eq=False)
class FinitePopulation:
    """Finitely many kinds of rows, each with an explanation of its own: measures are sums over all pairs of kinds.

    Parameters
    ----------
    p : (kinds,) array
        The chance of each kind.
    q : (kinds, labels) array
        The chances of the labels of each kind.
    covers : (kinds, kinds) array of bool, optional
        Whether the explanation of the one kind covers rows of the other; by default those of its own kind alone.
    weights : array-like, (labels,) or (kinds, labels), optional
        As how many rows a row counts, as after sampling one label less often than it occurs.
    scatter : float
        Weights are also multiplied by a lognormal number with this standard deviation of its logarithm, by chance.
    together : int
        Rows per cluster.
    stickiness : float
        Chance that a further row of a cluster repeats the cluster's first row, explanation and prediction.
    measure : {"consistency", "sufficiency", "within"}
    breaks : str
        What an interval gets wrong here if it does.
    show : callable
        The explanations, and what else the measure takes, of rows of these kinds, as keyword arguments.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import FinitePopulation
    >>> rare = FinitePopulation(np.full(500, 1 / 500), np.tile([0.9, 0.1], (500, 1)))
    >>> counted = FinitePopulation(rare.p, rare.q, weights=(1.0, 4.0))
    >>> round(rare.truth, 3), round(counted.truth, 3)
    (0.82, 0.574)

    Rows that were logged twice agree with their repetitions:

    >>> twice = FinitePopulation(np.full(2000, 1 / 2000), np.full((2000, 2), 0.5), together=2, stickiness=1.0)
    >>> rows = twice.rows(400, np.random.default_rng(0))
    >>> round(twice.truth, 3), fs.consistency(rows["explanations"], rows["predictions"]).low > 0.8
    (0.5, True)
    >>> fs.consistency(**rows).low < 0.1  # with the clusters
    True
    """

    p: Floats
    q: Floats
    covers: Bools | None = None
    weights: Any = None
    scatter: float = 0.0
    together: int = 1
    stickiness: float = 0.0
    measure: str = "consistency"
    breaks: str = ""
    show: Callable[[Ints], dict[str, Any]] = field(default=lambda kinds: {"explanations": kinds}, repr=False)

    @property
    def joint(self) -> Floats:
        """The mass of each kind and label, by weight."""
        mass = self.p[:, None] * self.q * (1.0 if self.weights is None else np.asarray(self.weights, np.float64))
        return np.asarray(mass / mass.sum())

    @property
    def _pairs(self) -> tuple[Floats, Floats]:
        """Of each kind, the chance to be drawn and agree with a row that its explanation covers, and that of these."""
        covered = self.joint if self.covers is None else self.covers @ self.joint
        mass = covered.sum(axis=1)
        return (self.joint * covered).sum(axis=1) / mass, mass

    @property
    def truth(self) -> float:
        """The measure: the chance that a row which x's explanation covers has x's label."""
        return min(1.0, float(self._pairs[0].sum()))  # not above by rounding

    def expected(self, n: int) -> float:
        """E[M̂] on n independent rows, by the paper's theorem on the bias (appendix A.2)."""
        agreeing, mass = self._pairs
        with np.errstate(divide="ignore"):  # an explanation that covers all rows is never alone
            return float(agreeing @ -np.expm1((n - 1) * np.log1p(-np.minimum(mass, 1.0))))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Independent rows: their kinds and their labels."""
        kinds = rng.choice(len(self.p), n, p=self.p)
        labels = (rng.random(n)[:, None] > np.cumsum(self.q, axis=1)[kinds]).sum(axis=1)
        return kinds, np.minimum(labels, self.q.shape[1] - 1)

    def rows(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """Rows as keyword arguments of the measure; the last cluster may be smaller than the others."""
        kinds, labels = self.draw(n, rng)
        known: dict[str, Any] = {}
        if self.together > 1:
            known["clusters"] = np.arange(n) // self.together
            source = np.where(rng.random(n) < self.stickiness, known["clusters"] * self.together, np.arange(n))
            kinds, labels = kinds[source], labels[source]
        if self.weights is not None:
            chance = rng.lognormal(0, self.scatter, n) if self.scatter else np.ones(n)
            weights = np.broadcast_to(np.asarray(self.weights, np.float64), self.q.shape)
            known["weights"] = weights[kinds, labels] * chance
        return {**self.show(kinds), "predictions": labels, **known}


def equal(cells: int) -> Floats:
    """Chances of equally likely explanations."""
    return np.full(cells, 1 / cells)


def long_tail(cells: int) -> Floats:
    """Chances in proportion to 1, 1/2, 1/3, …"""
    weights = 1 / np.arange(1, cells + 1)
    return np.asarray(weights / weights.sum())


def two_labels(ones: Array) -> Floats:
    """Chances of the labels 0 and 1, by the chance of label 1 given each explanation."""
    return np.column_stack([1 - ones, ones]).astype(np.float64)


def mostly_pure(cells: int) -> Floats:
    """Two labels; most explanations have mostly rows of one of them, always the same ones."""
    purity = np.random.default_rng(20).beta(4, 1, cells)
    return two_labels(np.where(np.arange(cells) % 2, purity, 1 - purity))


def _populations() -> dict[str, FinitePopulation]:
    rng, few = np.random.default_rng(20), np.arange(1.0, 7.0)
    return {
        "many rare": FinitePopulation(long_tail(3000), two_labels(1 - rng.beta(4, 1, 3000))),
        "few common": FinitePopulation(few / few.sum(), two_labels(1 - rng.beta(2, 1, 6))),
        "near-deterministic": FinitePopulation(equal(20), two_labels(np.where(np.arange(20) == 3, 0.03, 0.0))),
        "noisy": FinitePopulation(equal(40), np.full((40, 5), 0.2)),
        "medium": FinitePopulation(long_tail(200), two_labels(1 - rng.beta(3, 1, 200))),
        "perfect": FinitePopulation(long_tail(100), two_labels(1 - np.arange(100) % 2)),
    }


POPULATIONS = _populations()


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
    >>> fs.consistency(**FittedLeaves().rows(1000, rng)).low > 0.6
    True
    >>> fs.consistency(**FittedLeaves(fresh=True).rows(1000, rng)).low < 0.5
    True
    """

    leaves: int = 64
    features: int = 10
    fresh: bool = False
    truth: float = field(default=0.5, init=False)
    measure: str = field(default="consistency", init=False)
    breaks: str = field(default="an explainer that has learned the rows' noise", init=False)

    def rows(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """N rows, as keyword arguments: explanations and predictions."""
        from sklearn.tree import DecisionTreeClassifier

        check_whole(n, "n", 1)
        X, fitted = rng.random((2, n, self.features))
        predictions, labels = rng.integers(0, 2, (2, n))
        tree = DecisionTreeClassifier(max_leaf_nodes=self.leaves, random_state=0)
        tree.fit(*((fitted, labels) if self.fresh else (X, predictions)))
        return {"explanations": tree.apply(X), "predictions": predictions}


def _beside_hub(parts: int, hub: float) -> FinitePopulation:
    """Equally likely parts with label 0, whose explanations cover a rare hub with label 1."""
    p = np.append(np.full(parts, (1 - hub) / parts), hub)
    covered = np.eye(parts + 1, dtype=bool)
    covered[:, parts] = True
    ones = two_labels(np.arange(parts + 1) == parts)
    return FinitePopulation(p, ones, covered, breaks="an unseen row under every explanation")


def word_lists(topics: int, hub: float) -> FinitePopulation:
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
    >>> from faithscope.testing import word_lists
    >>> population = word_lists(topics=40, hub=1 / 400)
    >>> round(population.truth, 3)
    0.909
    >>> rows = population.rows(400, np.random.default_rng(0))
    >>> sorted(rows)
    ['X', 'explanations', 'predictions']
    >>> estimate = fs.sufficiency(**rows)
    """
    words = [*(f"topic-{topic}" for topic in range(topics)), "list"]
    texts = [*words[:-1], " ".join(words)]

    def show(kinds: Ints) -> dict[str, Any]:
        return {"explanations": Highlights([{words[kind]} for kind in kinds]), "X": [texts[kind] for kind in kinds]}

    return replace(_beside_hub(topics, hub), measure="sufficiency", show=show)


def zero_vectors(dimensions: int, hub: float, tau: float = 1.05) -> FinitePopulation:
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
    >>> from faithscope.testing import zero_vectors
    >>> population = zero_vectors(dimensions=60, hub=1 / 400)
    >>> round(population.truth, 3)
    0.867
    >>> estimate = fs.within(**population.rows(400, np.random.default_rng(0)))
    """
    beside, vectors = _beside_hub(dimensions, hub), np.eye(dimensions + 1, dimensions)
    assert beside.covers is not None

    def show(kinds: Ints) -> dict[str, Any]:
        return {"explanations": vectors[kinds], "tau": tau}

    return replace(beside, covers=beside.covers | beside.covers.T, measure="within", show=show)


def hard_populations(n: int) -> dict[str, FinitePopulation | FittedLeaves]:
    """Populations on which intervals fail that rely on ideal rows, by name, made for samples of n rows.

    Each has a `truth` and draws `rows` as keyword arguments of its `measure`, so that the intervals of any
    implementation can be tried.

    Parameters
    ----------
    n : int
        Rows of a sample, from 20 to a million.

    Examples
    --------
    >>> import numpy as np
    >>> import faithscope as fs
    >>> from faithscope.testing import hard_populations
    >>> hard, rng = hard_populations(200)["n/2 explanations"], np.random.default_rng(0)
    >>> intervals = [getattr(fs, hard.measure)(**hard.rows(200, rng)).interval for _ in range(20)]
    >>> sum(low <= hard.truth <= high for low, high in intervals) >= 18
    True
    >>> hard.breaks
    'silence counted in full'
    """
    n = check_whole(n, "n", 20, 1_000_000)
    silent, missed = "silence counted in full", "disagreements that a sample missed"
    vouch, biased = "a row vouches for its repetition", "a ratio of weights of few rows"
    coins = FinitePopulation(equal(5 * n), np.full((5 * n, 2), 0.5), together=2, stickiness=1.0, breaks=vouch)
    rare = FinitePopulation(equal(n // 10), np.tile([0.9, 0.1], (n // 10, 1)), weights=(1.0, 4.0), breaks=biased)
    return {
        "n/2 explanations": replace(_mostly(n // 2), breaks=silent),
        "n explanations": replace(_mostly(n), breaks=silent),
        "half never repeat": replace(two_rates(10, 0.02, 100_000, 0.5), breaks=silent),
        "rare noisy, common pure": replace(two_rates(10, 0.0, n // 4, 0.5), breaks=missed),
        "rows logged twice": coins,
        "customers who come back": replace(_mostly(n // 10), together=5, stickiness=0.7, breaks=vouch),
        "rare label counts 4 times": rare,
        "a label counts 4 times": replace(_mostly(n // 5), weights=(1.0, 4.0), breaks=biased),
        "weights by chance": replace(_mostly(n // 10), weights=(1.0, 1.0), scatter=1.0, breaks=biased),
        "leaves fitted on these rows": FittedLeaves(n // 16),
        "unseen word list": word_lists(n // 10, 1 / n),
        "unseen zero vector": zero_vectors(60, 1 / n),
    }


def _mostly(cells: int) -> FinitePopulation:
    return FinitePopulation(equal(cells), mostly_pure(cells))


def two_rates(common: int, noise: float, rare: int, rare_noise: float) -> FinitePopulation:
    """Half of the rows have one of a few explanations, the other half one of many."""
    p = np.concatenate([equal(common), equal(rare)]) / 2
    return FinitePopulation(p, two_labels(np.repeat([noise, rare_noise], [common, rare])))
