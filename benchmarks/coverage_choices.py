"""Trials of several explainers, groups or discretizers: what choosing and comparing does to intervals."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

import faithscope as fs
from coverage_attacks import both
from coverage_trials import Answer, all_of, answer
from faithscope.measures.comparing.differences import together
from faithscope.measures.comparing.populations import difference


def two_populations(systems: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Difference of two populations of n rows."""
    drawn = [system.draw(n, rng) for system in systems]
    before = difference(*(fs.consistency(*rows, interval="jackknife") for rows in drawn))
    after = difference(*(fs.consistency(*rows) for rows in drawn))
    return both(before, after, systems[0].truth - systems[1].truth)


@dataclass(frozen=True)
class Pair:
    """Two explainers of the same rows: a system's, and one that hardly ever repeats itself.

    Attributes
    ----------
    system : System
    unique : float
        Chance that the other explains a row by an explanation of its own; else it says the same of all rows.
    faithful : bool
        Whether those are consistent; else two rows with one of them have labels by chance. No sample can tell.
    """

    system: Any
    unique: float
    faithful: bool

    @property
    def truth(self) -> float:
        """Consistency of the system less that of the other explainer."""
        shares = self.system.p @ self.system.q
        by_chance = float(shares @ shares)
        return float(
            self.system.truth - self.unique * (1.0 if self.faithful else by_chance) - (1 - self.unique) * by_chance
        )

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        explanations, labels = self.system.draw(n, rng)
        return explanations, np.where(rng.random(n) < self.unique, 1 + np.arange(n), 0), labels


@dataclass(frozen=True)
class Columns:
    """Rows of many columns, each of which equals the label with the same chance: equally good discretizations."""

    columns: int
    right: float

    @property
    def truth(self) -> float:
        """Consistency of each column."""
        return self.right**2 + (1 - self.right) ** 2

    @property
    def discretizers(self) -> list["Column"]:
        return [Column(place) for place in range(self.columns)]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        labels = rng.integers(0, 2, n)
        wrong = rng.random((n, self.columns)) >= self.right
        return (labels[:, None] ^ wrong).astype(float), labels


@dataclass(frozen=True)
class Column:
    """A discretizer that keeps one column."""

    place: int

    def __call__(self, explanations: fs.Importances) -> fs.Importances:
        return fs.Importances(explanations.values[:, [self.place]])


def paired(system: Pair, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """Difference of two explainers on the same rows, one of which hardly ever repeats itself."""
    first, second, labels = system.draw(n, rng)
    given = {"a": first, "b": second}
    before = fs.compare(labels, given, np.arange(n), interval="jackknife").pairs[0]
    return both(before, fs.compare(labels, given, np.arange(n)).pairs[0], system.truth)


def identical(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The same explainer twice: the difference is 0 for sure."""
    explanations, labels = system.draw(n, rng)
    pair = fs.compare(labels, {"a": explanations, "b": explanations.copy()}, np.arange(n)).pairs[0]
    return {"after": answer(pair, 0.0)}


def all_pairs(system: Any, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """50 equal groups: whether all 1,225 differences hold 0, each alone and all together."""
    estimates = [fs.consistency(*system.draw(n, rng)) for _ in range(50)]
    pairs = [difference(a, b) for a, b in combinations(estimates, 2)]
    return {name: all_of(family) for name, family in (("before", pairs), ("after", together(pairs)))}


def chosen_best(system: Columns, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The best of many discretizers on the rows on which it was chosen, and by `Best` on other rows."""
    vectors, labels = system.draw(n, rng)
    everywhere = [
        fs.consistency(vectors, labels, discretizer=each, interval="jackknife") for each in system.discretizers
    ]
    naive = max(everywhere, key=lambda estimate: estimate.low)
    evaluation = fs.evaluate(labels, fs.Importances(vectors), vectors, discretizer=fs.Best(system.discretizers))
    return both(naive, evaluation.consistency, system.truth)


def certified_best(system: Columns, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """The highest of many bounds, each at its own confidence (before) and at δ/k (after)."""
    vectors, labels = system.draw(n, rng)
    alone = [fs.certify(vectors, labels, each, interval="jackknife").low for each in system.discretizers]
    after = fs.certify(vectors, labels, system.discretizers, interval="jackknife").low
    return {"before": (max(alone), 1.0, system.truth), "after": (after, 1.0, system.truth)}


def certified_proven(system: Columns, n: int, rng: np.random.Generator) -> dict[str, Answer]:
    """McDiarmid's bound."""
    vectors, labels = system.draw(n, rng)
    return {"after": (fs.certify(vectors, labels, system.discretizers).low, 1.0, system.truth)}
