"""Sufficiency on draws: kinds of rows whose draws agree with a known chance, and tables of few rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from harness import ends
from numpy.random import default_rng
from systems import drawn_rows

import faithscope as fs

ROW_KINDS = {  # of each kind: its share, the probability that a draw agrees, and whether it has draws at all
    "all draws agree": [(1, 1, 1)],
    "one draw in 20 disagrees": [(1, 0.95, 1)],
    "one row in 20 disagrees": [(0.95, 1, 1), (0.05, 0, 1)],
    "one row in 100 disagrees": [(0.99, 1, 1), (0.01, 0, 1)],
    "coins": [(1, 0.5, 1)],
    "rows of all kinds": [(0.4, 1, 1), (0.3, 0.9, 1), (0.2, 0.6, 1), (0.1, 0.1, 1)],
    "a fifth without draws": [(0.6, 0.9, 1), (0.2, 0.4, 1), (0.2, 0.5, 0)],
}


def of_kinds(system, n, rng, draws, how):
    """The interval of rows with so many draws each; weights undo that rows that disagree are drawn more often."""
    shares, agreeing, asked = np.array(system, float).T
    kind, known = drawn_rows(shares, n, rng, how, 2 - agreeing)
    of = np.repeat(np.arange(n), draws * (asked[kind] > 0))
    labels = (rng.random(len(of)) < agreeing[kind[of]]).astype(int)
    told = fs.drawn(np.arange(n), np.zeros((len(of), 1)), labels, of=of)
    measured = fs.sufficiency(np.arange(n), np.ones(n, int), population=told, **known)
    return {f"{draws} draws, {how}": ends(measured, shares @ agreeing)}


MODEL = default_rng(4).random((4, 3, 5)) < 0.3  # predictions by the values of three features


@dataclass(frozen=True, eq=False)
class SmallTable:
    """Rows of three features of a few values, a model that is a table, and a rule per row on its first features."""

    population: Callable
    fixed: int

    @cached_property
    def train(self):
        rng = default_rng(3)
        first = rng.integers(0, 4, 40)
        return np.column_stack([first, *((first + rng.integers(0, 2, 40)) % size for size in (3, 5))]) * 1.0

    def predict(self, rows):
        return MODEL[tuple(np.asarray(rows).astype(int).T)].astype(int)

    def rules(self, rows):
        tests = [[(j, "<=" if j == 0 else "==", row[j]) for j in range(self.fixed)] for row in rows.tolist()]
        return fs.Rules.from_conditions(tests, features=["a", "b", "c"])

    def measured(self, rows, draws, seed):
        """Sufficiency of rows, by so many draws of each."""
        population = self.population(self.train, draws=draws, seed=seed)
        return fs.sufficiency(self.rules(rows), self.predict, rows, population=population)

    @cached_property
    def truth(self):
        return self.measured(self.train, 10_000, 0).value


TABLES = {
    "perturbed, one condition": SmallTable(fs.Perturbed, 1),
    "perturbed, two conditions": SmallTable(fs.Perturbed, 2),
    "product, one condition": SmallTable(fs.Product, 1),
}


def of_rules(system, n, rng, draws):
    """The interval of rules on rows that are drawn from the training rows."""
    rows = system.train[rng.integers(0, len(system.train), n)]
    return {f"rules, {draws} draws": ends(system.measured(rows, draws, int(rng.integers(2**31))), system.truth)}
