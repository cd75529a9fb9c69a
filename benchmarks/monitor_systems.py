"""Systems with a known consistency, or sufficiency, whose days of rows are drawn and paired as `fs.Monitor` does."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithscope.counting.pairing import Arrivals, Pairs, ScopedArrivals, ScopedOpeners, Waiting, assign, pair
from faithscope.monitor.scoped.scopes import Scopes

Floats = NDArray[np.float64]
_AT_ONCE = 2_000_000  # rows
Change = tuple[int, Any]  # the day from which rows are those of another system
Phases = list[tuple[Any, int, int]]  # systems with the first day of each, and the first that is no longer its own


@dataclass(frozen=True, eq=False)
class DailySystem:
    """Chances of explanations, chances of label 1 under each, and rows per day."""

    p: Floats
    q: Floats
    rows: int

    @property
    def truth(self) -> float:
        """The consistency."""
        return float(self.p @ (self.q**2 + (1 - self.q) ** 2))

    def arrivals(self, days: int, trials: int, rng: np.random.Generator, first: int = 0) -> Arrivals:
        """Rows of many days, one group per trial."""
        n = days * trials * self.rows
        explanations = rng.choice(len(self.p), n, p=self.p)
        labels = (rng.random(n) < self.q[explanations]).astype(np.int64)
        place = np.arange(n) // self.rows
        return Arrivals.of(explanations, explanations, labels, first + place % days, np.ones(n), place // days)

    def sums(
        self, days: int, trials: int, rng: np.random.Generator, *, share: float = 0.25, change: Change | None = None
    ) -> Floats:
        """Openers, matched and agreeing, shape (3, trials, days), after all days: the most that limits ever know."""
        return _added_up(self._pairs(_phases(self, days, change), trials, rng, share), trials, days)

    def _pairs(self, phases: Phases, trials: int, rng: np.random.Generator, share: float) -> Iterator[Pairs]:
        waiting, step = Waiting.empty(), max(1, _AT_ONCE // (trials * self.rows))
        for system, begin, end in phases:
            for first in range(begin, end, step):
                arrivals = system.arrivals(min(step, end - first), trials, rng, first)
                pairs = pair(arrivals, waiting, rng, share=share)
                waiting = pairs.waiting
                yield pairs


@dataclass(frozen=True, eq=False)
class ScopedSystem:
    """Kinds of rows: the chance of each, the rules in which it lies, the chances of being given each, and of label 1.

    Parameters
    ----------
    p, q
        Chances of kinds, and of label 1 under each, shape (n_kinds,).
    inside, given
        Whether rows of a kind lie in each rule, and the chances of being given it, shape (n_kinds, n_rules).
    classes
        The class of each rule: no two rules of a class share a row.
    rows
        Per day.
    """

    p: Floats
    q: Floats
    inside: NDArray[np.bool_]
    given: Floats
    classes: NDArray[np.int64]
    rows: int

    @property
    def truth(self) -> float:
        """The sufficiency."""
        ones = (self.p * self.q) @ self.inside / (self.p @ self.inside)
        agreeing = self.q[:, None] * ones + (1 - self.q)[:, None] * (1 - ones)
        return float(self.p @ (self.given * agreeing).sum(axis=1))

    def sums(self, days: int, trials: int, rng: np.random.Generator, *, change: Change | None = None) -> Floats:
        """As of `DailySystem`; a batch has the rows of a day, and after 100 days those of 50."""
        return _added_up(self._pairs(_phases(self, days, change), trials, rng), trials, days)

    def _pairs(self, phases: Phases, trials: int, rng: np.random.Generator) -> Iterator[Pairs]:
        waiting, known = Waiting.empty(), dict[int, ScopedOpeners]()
        for system, begin, end in phases:
            first = begin
            while first < end:
                days = min(1 if first < 100 else 50, end - first)
                arrivals = system.arrivals(days, trials, rng, first)
                assigned, told = assign(arrivals, waiting, known, self.classes, rng)
                known = {trial: known[trial] + new if trial in known else new for trial, new in told.items()}
                pairs = pair(assigned, waiting, rng)
                waiting, first = pairs.waiting, first + days
                yield pairs

    def arrivals(self, days: int, trials: int, rng: np.random.Generator, first: int = 0) -> ScopedArrivals:
        """Rows of many days, one group per trial."""
        n, rules = days * trials * self.rows, self.inside.shape[1]
        joint = (self.p[:, None] * self.given).ravel()
        kind, own = np.divmod(rng.choice(len(joint), n, p=joint / joint.sum()), rules)
        labels = (rng.random(n) < self.q[kind]).astype(np.int64)
        place = np.arange(n) // self.rows
        ones = np.ones(n, np.int64)
        return ScopedArrivals(own, self.inside[kind], labels, first + place % days, ones, place // days)


def _phases(system: Any, days: int, change: Change | None) -> Phases:
    return [(system, 0, days)] if change is None else [(system, 0, change[0]), (change[1], change[0], days)]


def _added_up(pairs: Iterator[Pairs], trials: int, days: int) -> Floats:
    sums = np.zeros((3, trials, days))
    for part in pairs:
        for column, total in zip((part.openers, part.matched, part.agreeing), sums, strict=True):
            np.add.at(total, (part.groups, part.days), column)
    return sums


System = TypeVar("System", DailySystem, ScopedSystem)


def dropped(system: System, drop: float) -> System:
    """The same system with noisier labels: what is watched is less by `drop`."""
    low, high = 0.0, 0.5
    for _ in range(60):
        middle = (low + high) / 2
        noisy = replace(system, q=system.q * (1 - middle) + (1 - system.q) * middle)
        low, high = (middle, high) if noisy.truth > system.truth - drop else (low, middle)
    return noisy


def zipf(explanations: int) -> Floats:
    """A long tail."""
    weights = 1 / np.arange(1, explanations + 1)
    return np.asarray(weights / weights.sum())


def nested(rows: int) -> ScopedSystem:
    """A rule of all rows, and one of the half with label 1, of which half are given it."""
    inside = np.array([[True, False], [True, True]])
    given = np.array([[1.0, 0.0], [0.5, 0.5]])
    return ScopedSystem(np.full(2, 0.5), np.array([0.0, 1.0]), inside, given, np.array([0, 1]), rows)


def anchored(rows: int) -> ScopedSystem:
    """The majority of three features, by twelve rules of which most overlap; long ones are given more."""
    names = ["x0", "x1", "x2"]
    short = [f"{name} == {value}" for name in names for value in (0, 1)]
    long = [f"{one} == {value} and {two} == {value}" for one, two in combinations(names, 2) for value in (0, 1)]
    scopes, table = Scopes.of(short + long), np.array(list(product((0, 1), repeat=3)))
    inside = scopes.inside(scopes.rules, pd.DataFrame(table, columns=names), len(table))
    weights = inside * np.array([8.0 if len(scopes.rules.conjunction(place)) == 2 else 1.0 for place in range(12)])
    q = np.where(table.sum(axis=1) >= 2, 0.99, 0.01)
    given = weights / weights.sum(axis=1, keepdims=True)
    return ScopedSystem(zipf(8), q, inside, given, scopes.classes, rows)


def leaves(rows: int) -> ScopedSystem:
    """Six rules that do not overlap: pairs are those of consistency."""
    p = zipf(6)
    return ScopedSystem(p, np.full(6, 0.974), np.eye(6, dtype=bool), np.eye(6), np.zeros(6, np.int64), rows)
