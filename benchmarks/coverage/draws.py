"""Sufficiency on draws: kinds of rows whose draws agree with a known chance, and tables whose draws are enumerated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from harness import Answers, ends
from systems import Chance, Floats, Ints

import faithscope as fs


@dataclass(frozen=True, eq=False)
class RowKinds:
    """Kinds of rows: the share of each, the probability that a draw agrees, and whether it has draws at all."""

    shares: Floats
    agreeing: Floats
    drawn: Any

    @classmethod
    def of(cls, *kinds: tuple[float, float], silent: float = 0.0) -> "RowKinds":
        """From pairs of a share and a probability; rows of the silent share would agree half of the time."""
        shares, agreeing = np.array([*kinds, (silent, 0.5)]).T
        return cls(shares / shares.sum(), agreeing, np.arange(len(shares)) < len(kinds))

    @property
    def truth(self) -> float:
        """How often a draw agrees."""
        return float(self.shares @ self.agreeing)

    def rows(self, n: int, rng: Chance, how: str) -> tuple[Ints, dict[str, Any]]:
        """The kinds of n rows; weighted rows were drawn more often if they disagree, clusters hold rows of one kind."""
        if how == "weighted":
            tilt = 2 - self.agreeing
            kinds = rng.choice(len(tilt), n, p=self.shares * tilt / (self.shares @ tilt))
            return kinds, {"weights": 1 / tilt[kinds]}
        if how == "clustered":
            clusters = np.sort(rng.integers(0, n // 4, n))
            return rng.choice(len(self.shares), n // 4, p=self.shares)[clusters], {"clusters": clusters}
        return rng.choice(len(self.shares), n, p=self.shares), {}


ROW_KINDS = {
    "all draws agree": RowKinds.of((1, 1.0)),
    "one draw in 20 disagrees": RowKinds.of((1, 0.95)),
    "one row in 20 disagrees": RowKinds.of((0.95, 1.0), (0.05, 0.0)),
    "one row in 100 disagrees": RowKinds.of((0.99, 1.0), (0.01, 0.0)),
    "coins": RowKinds.of((1, 0.5)),
    "rows of all kinds": RowKinds.of((0.4, 1.0), (0.3, 0.9), (0.2, 0.6), (0.1, 0.1)),
    "a fifth without draws": RowKinds.of((0.6, 0.9), (0.2, 0.4), silent=0.2),
}


def of_kinds(kinds: RowKinds, n: int, rng: Chance, draws: int, how: str) -> Answers:
    """The interval of rows with so many draws each."""
    kind, asked = kinds.rows(n, rng, how)
    of = np.repeat(np.arange(n), np.where(kinds.drawn[kind], draws, 0))
    labels = (rng.random(len(of)) < kinds.agreeing[kind[of]]).astype(int)
    told = fs.drawn(np.arange(n), np.zeros((len(of), 1)), labels, of=of)
    measured = fs.sufficiency(np.arange(n), np.ones(n, int), population=told, **asked)
    return {f"{draws} draws, {how}": ends(measured, kinds.truth)}


@dataclass(frozen=True, eq=False)
class SmallTable:
    """Rows of three features of a few values, a model that is a table, and a rule per row on its first features."""

    population: Callable[..., Any]
    fixed: int
    sizes: tuple[int, ...] = (4, 3, 5)

    @cached_property
    def train(self) -> Floats:
        rng = np.random.default_rng(3)
        first = rng.integers(0, self.sizes[0], 40)
        return np.column_stack([first, *((first + rng.integers(0, 2, 40)) % size for size in self.sizes[1:])]) * 1.0

    @cached_property
    def table(self) -> Ints:
        return (np.random.default_rng(4).random(self.sizes) < 0.3).astype(int)

    def predict(self, rows: Any) -> Ints:
        return self.table[tuple(np.asarray(rows).astype(int).T)]

    def rules(self, rows: Floats) -> fs.Rules:
        tests = [[(j, "<=" if j == 0 else "==", row[j]) for j in range(self.fixed)] for row in rows.tolist()]
        return fs.Rules.from_conditions(tests, features=["a", "b", "c"])

    def row_truth(self, row: Floats) -> float:
        """The probability that a draw agrees with this row, by enumeration of all draws."""
        meets = [self.train[:, 0] <= row[0], self.train[:, 1] == row[1]][: self.fixed]
        choices = [self.train[mask, j] for j, mask in enumerate(meets)]
        own = self.predict(row[None])[0]
        if self.population is fs.Product:
            return self._agreeing([*choices, *(self.train[:, j] for j in range(self.fixed, 3))], own)
        agreeing = []
        for place, base in enumerate(self.train):
            columns = [base[j : j + 1] if j >= self.fixed or meets[j][place] else choices[j] for j in range(len(base))]
            agreeing.append(self._agreeing(columns, own))
        return float(np.mean(agreeing))

    def _agreeing(self, columns: Sequence[Floats], own: Any) -> float:
        """The share of all rows of these values that agree."""
        return float(np.mean(self.predict(np.array(list(product(*columns)))) == own))

    @cached_property
    def truth(self) -> float:
        return float(np.mean([self.row_truth(row) for row in self.train]))


TABLES = {
    "perturbed, one condition": SmallTable(fs.Perturbed, 1),
    "perturbed, two conditions": SmallTable(fs.Perturbed, 2),
    "product, one condition": SmallTable(fs.Product, 1),
}


def of_rules(system: SmallTable, n: int, rng: Chance, draws: int) -> Answers:
    """The interval of rules on rows that are drawn from the training rows."""
    rows = system.train[rng.integers(0, len(system.train), n)]
    population = system.population(system.train, draws=draws, seed=int(rng.integers(2**31)))
    measured = fs.sufficiency(system.rules(rows), system.predict, rows, population=population)
    return {f"rules, {draws} draws": ends(measured, system.truth)}
