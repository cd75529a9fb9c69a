"""Encoding: systems whose gap is known, explainers whose choice of a rule encodes the prediction, and others."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from harness import Answers, ends, said
from systems import Chance, Covers, Floats, Ints

import faithscope as fs

NAMES = tuple(f"x{j}" for j in range(8))


@dataclass(frozen=True, eq=False)
class Choices:
    """Rows of a few cells, each given a rule that may cover several cells, with a label.

    Attributes
    ----------
    joint : (cells, rules, labels) array
        The probability of each kind of row.
    covers : (rules, cells) array of bool
    how : str
        "labels", "numbers" (by `Close`), "weights" or "clusters" of three equal rows.
    """

    joint: Floats
    covers: Covers
    how: str = "labels"

    @cached_property
    def truth(self) -> float:
        """The gap of the population."""
        places, gap = np.arange(self.joint.shape[2]), 0.0
        agreement = np.eye(len(places))
        if self.how == "numbers":
            agreement = np.maximum(0.0, 1 - np.abs(places[:, None] - places) / 1.5)
        for rule in range(self.joint.shape[1]):
            given = self.joint[:, rule].sum(axis=0)
            others = (self.joint * self.covers[rule][:, None, None]).sum(axis=0)
            others = others.sum(axis=0) - others[rule]
            share = given / given.sum()
            gap += given.sum() * float(share @ agreement @ share - share @ agreement @ (others / others.sum()))
        return gap

    def ask(self, n: int, rng: Chance) -> Answers:
        """The encoding of a sample."""
        each = 3 if self.how == "clusters" else 1
        rows = np.repeat(rng.choice(self.joint.size, n // each, p=self.joint.reshape(-1)), each)
        cell, rule, label = np.unravel_index(rows, self.joint.shape)
        asked: dict[str, Any] = {"predictions": label}
        if self.how == "numbers":
            asked = {"predictions": label.astype(float), "agreement": fs.Close(1.5)}
        elif self.how == "weights":
            asked["weights"] = rng.choice([0.5, 1.0, 2.0], n)
        elif self.how == "clusters":
            asked["clusters"] = np.arange(len(rows)) // 3

        def applies(X: Floats, explanation: object) -> Any:
            return self.covers[int(str(explanation)), X[:, 0].astype(int)]

        X = np.column_stack([cell, np.arange(len(rows))]).astype(float)
        return {"encoding": ends(fs.encoding(rule.tolist(), X=X, relation=applies, **asked), self.truth)}


def always(table: list[list[float]], how: str = "labels") -> Choices:
    """Rules that always hold, from the joint probabilities of rule and label."""
    joint = np.array([table]) / np.sum(table)
    return Choices(joint, np.ones((len(table), 1), bool), how)


def nested(strength: float) -> Choices:
    """Four nested rules; the label depends on the cell, and on the choice by this strength."""
    joint = np.zeros((4, 4, 2))
    for cell in range(4):
        for rule in range(cell, 4):
            yes = 0.5 + strength * (0.4 if rule % 2 else -0.4)
            joint[cell, rule] = np.array([yes, 1 - yes]) / (4 * (4 - cell))
    return Choices(joint, np.tri(4, dtype=bool))


_THREE = [[5.0, 2, 1], [2, 5, 1], [1, 2, 5]]
CHOICES = {
    "nothing encoded, 2 rules": always([[1, 2], [1, 2]]),
    "nothing encoded, nested rules": nested(0.0),
    "nothing encoded, rare label": always([[98, 2], [98, 2], [49, 1]]),
    "the prediction itself": always([[1, 0], [0, 1]]),
    "nearly the prediction itself": always([[98, 2], [1, 99]]),
    "some encoding, 3 labels": always(_THREE),
    "some encoding, nested rules": nested(0.8),
    "many rules with few rows": always([[1.8, 0.2], [0.2, 1.8]] * 10),
    "a rule that is hardly ever given": always([[60, 30], [30, 60], [1, 8]]),
    "others that are hardly ever seen": always([[90, 80], [2, 8]]),
    "of numbers": always(_THREE, "numbers"),
    "with weights": always(_THREE, "weights"),
    "with clusters": always(_THREE, "clusters"),
}


def encoded_bar(system: str, interval: str, n: int) -> float | None:
    """From 200 rows on where rules are hardly ever given: fewer rows can test only some of them."""
    return 0.93 if n > 60 or "hardly" not in system else None


# A system of rules is a function of X and a chance, to the labels and the conditions that each row is given.

Given = tuple[Ints, list[list[tuple[str, str, float]]]]
Rule = Callable[[Floats, Chance], Given]


def _margin(X: Floats) -> Floats:
    return X[:, 0] + 0.5 * X[:, 1] - 0.75


def _sure(X: Floats) -> Ints:
    return (_margin(X) > 0).astype(int)


def _labels(X: Floats, rng: Chance, labels: int = 2) -> Ints:
    """Predictions by the first column and by chance."""
    return np.minimum((labels * (0.5 * X[:, 0] + 0.5 * rng.random(len(X)))).astype(int), labels - 1)


def _columns(chosen: Ints) -> list[list[tuple[str, str, float]]]:
    """Rules that always hold, one per column."""
    return [[(NAMES[j], "<=", 2.0)] for j in chosen]


def _ends(name: str, bounds: Any) -> list[list[tuple[str, str, float]]]:
    return [[(name, "<=", float(bound))] for bound in bounds]


def by_position(X: Floats, rng: Chance) -> Given:
    """Eight rules that always hold; the position of the one shown says the label, for three rows in four."""
    labels = _sure(X)
    half = np.where(rng.random(len(X)) < 0.75, labels, 1 - labels)
    return labels, _columns(4 * half + rng.integers(0, 4, len(X)))


def by_margin(X: Floats, rng: Chance) -> Given:
    """A valid interval around the row, wide or narrow, by how sure the model is: the margin, signed, chooses it."""
    labels = (_margin(X) + 0.2 * rng.standard_normal(len(X)) > 0).astype(int)
    return labels, _ends(NAMES[2], 1.5 + 0.1 * np.digitize(_margin(X), [-0.25, 0.0, 0.25]))


def by_few_rows(X: Floats, rng: Chance) -> Given:
    """As many rules as a third of the rows, all of which hold widely: each has few rows, so only the sum tells."""
    labels = _sure(X)
    return labels, _ends(NAMES[3], 2.0 + 0.001 * (2 * rng.integers(0, max(2, len(X) // 6), len(X)) + labels))


def by_five_labels(X: Floats, rng: Chance) -> Given:
    """Five labels and five rules that always hold: the rule says the label for half of the rows."""
    labels = _labels(X, rng, 5)
    return labels, _columns(np.where(rng.random(len(X)) < 0.5, labels, rng.integers(0, 5, len(X))))


def _grid(X: Floats, kind: Ints) -> list[list[tuple[str, str, float]]]:
    """Rules on the cell of the first column, one of several ways to write it: all of them cover the cell."""
    cells = np.minimum((5 * X[:, 0]).astype(int), 4)
    return [
        [(NAMES[0], ">", c / 5), (NAMES[0], "<=", (c + 1) / 5), (NAMES[1 + k], "<=", 2.0)]
        for c, k in zip(cells.tolist(), kind.tolist(), strict=True)
    ]


def at_random(X: Floats, rng: Chance, labels: int = 2, rare: float = 0.0) -> Given:
    """A random choice among rules that hold on the same rows; label 0 is rare if asked for."""
    predicted = (rng.random(len(X)) >= rare).astype(int) if rare else _labels(X, rng, labels)
    return predicted, _grid(X, rng.integers(0, 4, len(X)))


def by_another_column(X: Floats, rng: Chance) -> Given:
    """The choice is by a column that has nothing to do with the prediction."""
    return _labels(X, rng), _grid(X, np.minimum((4 * X[:, 7]).astype(int), 3))


def nested_rules(X: Floats, rng: Chance) -> Given:
    """Nested rules on a column that has nothing to do with the prediction, each row given one that holds."""
    first = np.minimum((10 * X[:, 6]).astype(int), 9)
    choice = first + (rng.random(len(X)) * (10 - first)).astype(int)
    return _labels(X, rng), _ends(NAMES[6], np.linspace(0.1, 1.0, 10)[choice] + 1e-9)


def few_rows(X: Floats, rng: Chance) -> Given:
    """As many rules as a third of the rows, all of which hold on all rows, chosen at random."""
    choice = rng.integers(0, max(2, len(X) // 3), len(X))
    return _labels(X, rng), _ends(NAMES[3], 2.0 + 0.001 * choice)


def unequal(X: Floats, rng: Chance) -> Given:
    """Rules that are chosen from hardly ever to mostly."""
    shares = 0.5 ** np.arange(8)
    choice = rng.choice(8, len(X), p=shares / shares.sum())
    return _labels(X, rng), _columns(choice)


def two_rules(X: Floats, rng: Chance) -> Given:
    """Two rules that always hold."""
    return _labels(X, rng), _columns(rng.integers(0, 2, len(X)))


ENCODERS: dict[str, Rule] = {
    "by position": by_position,
    "by prediction": lambda X, rng: (_sure(X), _columns(_sure(X))),  # one rule that always holds per label
    "by margin": by_margin,
    "by prediction, few rows per rule": by_few_rows,
    "five labels, half of the rows": by_five_labels,
}
HONEST: dict[str, Rule] = {  # given the rule, its choice has nothing to do with the prediction
    "random choice, 2 labels": at_random,
    "random choice, 5 labels": partial(at_random, labels=5),
    "random choice, rare label": partial(at_random, rare=0.02),
    "by another column": by_another_column,
    "nested rules": nested_rules,
    "many rules with few rows": few_rows,
    "unequal shares": unequal,
    "two rules that always hold": two_rules,
}


def encodes(system: Rule, n: int, rng: Chance, truly: bool) -> Answers:
    """Whether it is said that the choice of rules encodes the prediction if it does, and not if it does not."""
    X = rng.random((n, len(NAMES)))
    labels, rules = system(X, rng)
    texts = np.array([f"label {label}" for label in labels.tolist()], object)
    told = fs.encoding(fs.Rules.from_conditions(rules, features=NAMES), texts, X)
    name = "encoders are found" if truly else "others are left alone"
    return {name: said(bool(told.encodes) == truly), "value": 0.0 if told.value is None else told.value}


def found_bar(system: str, interval: str, n: int) -> float | None:
    """Nine in ten encoders at 1,000 rows; at most one false alarm in twenty, always."""
    if interval == "encoders are found":
        return 0.9 if n == 1_000 else None
    return 0.95 if interval == "others are left alone" else None
