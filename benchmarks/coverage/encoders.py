"""Encoding: systems whose gap is known, explainers whose choice of a rule encodes the prediction, and others."""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from harness import ends, in_bins, said

import faithscope as fs


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

    joint: np.ndarray
    covers: np.ndarray
    how: str = "labels"

    @cached_property
    def truth(self):
        """The gap of the population."""
        labels = np.arange(self.joint.shape[2])
        reach = 1.5 if self.how == "numbers" else 1.0
        agreement = np.maximum(0.0, 1 - np.abs(labels[:, None] - labels) / reach)
        covered = np.einsum("rc,csl->rsl", self.covers, self.joint)  # by each rule, of rows that were given each
        given, others = self.joint.sum(axis=0), covered.sum(axis=1) - np.einsum("rrl->rl", covered)
        own, other = (each / each.sum(axis=1, keepdims=True) for each in (given, others))
        return given.sum(axis=1) @ np.einsum("rl,lm,rm->r", own, agreement, own - other)

    def ask(self, n, rng):
        """The encoding of a sample."""
        each = 3 if self.how == "clusters" else 1
        rows = np.repeat(rng.choice(self.joint.size, n // each, p=self.joint.reshape(-1)), each)
        cell, rule, label = np.unravel_index(rows, self.joint.shape)
        asked = {"predictions": label}
        if self.how == "numbers":
            asked = {"predictions": label.astype(float), "agreement": fs.Close(1.5)}
        elif self.how == "weights":
            asked["weights"] = rng.choice([0.5, 1.0, 2.0], n)
        elif self.how == "clusters":
            asked["clusters"] = np.arange(len(rows)) // 3

        def applies(X, explanation):
            return self.covers[int(str(explanation)), X[:, 0].astype(int)]

        X = np.column_stack([cell, np.arange(len(rows))]).astype(float)
        return {"encoding": ends(fs.encoding(rule.tolist(), X=X, relation=applies, **asked), self.truth)}


def always(table, how="labels"):
    """Rules that always hold, from the joint probabilities of rule and label."""
    return Choices(np.array([table]) / np.sum(table), np.ones((len(table), 1), bool), how)


def nested(strength):
    """Four nested rules; the label depends on the cell, and on the choice by this strength."""
    yes = 0.5 + 0.4 * strength * np.array([-1, 1, -1, 1])
    chosen = np.tri(4).T / np.arange(4, 0, -1)[:, None] / 4  # in each cell, among the rules that cover it
    return Choices(chosen[:, :, None] * np.column_stack([yes, 1 - yes]), np.tri(4, dtype=bool))


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


def encoded_bar(system, interval, n):
    """From 200 rows on where rules are hardly ever given: fewer rows can test only some of them."""
    return 0.93 if n > 60 or "hardly" not in system else None


# A system of rules is a function of X and a chance, to the labels and the rules that rows are given.

COLUMNS = 8


def rules(X, column, bound=2.0, fifths=False):
    """Upper bounds on one column each, which all rows meet if it is 2; and the fifth of the first column, if asked."""
    low, high = np.full(X.shape, -np.inf), np.full(X.shape, np.inf)
    high[np.arange(len(X)), column] = bound
    if fifths:
        fifth = np.minimum((5 * X[:, 0]).astype(int), 4)
        low[:, 0], high[:, 0] = fifth / 5, (fifth + 1) / 5
    return in_bins(low, high, [f"x{j}" for j in range(COLUMNS)])


def margin(X):
    return X[:, 0] + 0.5 * X[:, 1] - 0.75


def sure(X):
    """Predictions by the first two columns."""
    return (margin(X) > 0).astype(int)


def unsure(X, rng, labels=2):
    """Predictions by the first column and by chance."""
    return np.minimum((labels * (0.5 * X[:, 0] + 0.5 * rng.random(len(X)))).astype(int), labels - 1)


def by_position(X, rng):
    """Eight rules that always hold; the position of the one shown says the label, for three rows in four."""
    half = np.where(rng.random(len(X)) < 0.75, sure(X), 1 - sure(X))
    return sure(X), rules(X, 4 * half + rng.integers(0, 4, len(X)))


def by_margin(X, rng):
    """A valid interval around the row, wide or narrow, by how sure the model is: the margin, signed, chooses it."""
    labels = (margin(X) + 0.2 * rng.standard_normal(len(X)) > 0).astype(int)
    return labels, rules(X, 2, 1.5 + 0.1 * np.digitize(margin(X), [-0.25, 0.0, 0.25]))


def by_few_rows(X, rng):
    """As many rules as a third of the rows, all of which hold widely: each has few rows, so only the sum tells."""
    return sure(X), rules(X, 3, 2.0 + 0.001 * (2 * rng.integers(0, max(2, len(X) // 6), len(X)) + sure(X)))


def by_five_labels(X, rng):
    """Five labels and five rules that always hold: the rule says the label for half of the rows."""
    labels = unsure(X, rng, 5)
    return labels, rules(X, np.where(rng.random(len(X)) < 0.5, labels, rng.integers(0, 5, len(X))))


def at_random(X, rng, labels=2, rare=0.0):
    """A random choice among rules that hold on the same rows; label 0 is rare if asked for."""
    predicted = (rng.random(len(X)) >= rare).astype(int) if rare else unsure(X, rng, labels)
    return predicted, rules(X, 1 + rng.integers(0, 4, len(X)), fifths=True)


def nested_rules(X, rng):
    """Nested rules on a column that has nothing to do with the prediction, each row given one that holds."""
    first = (10 * X[:, 6]).astype(int)
    choice = first + (rng.random(len(X)) * (10 - first)).astype(int)
    return unsure(X, rng), rules(X, 6, np.linspace(0.1, 1.0, 10)[choice] + 1e-9)


SHARES = 0.5 ** np.arange(8)
ENCODERS = {
    "by position": by_position,
    "by prediction": lambda X, rng: (sure(X), rules(X, sure(X))),  # one rule that always holds per label
    "by margin": by_margin,
    "by prediction, few rows per rule": by_few_rows,
    "five labels, half of the rows": by_five_labels,
}
HONEST = {  # given the rule, its choice has nothing to do with the prediction
    "random choice, 2 labels": at_random,
    "random choice, 5 labels": partial(at_random, labels=5),
    "random choice, rare label": partial(at_random, rare=0.02),
    "by another column": lambda X, rng: (unsure(X, rng), rules(X, 1 + (4 * X[:, 7]).astype(int), fifths=True)),
    "nested rules": nested_rules,
    "many rules with few rows": lambda X, rng: (  # as many as a third of the rows
        unsure(X, rng),
        rules(X, 3, 2.0 + 0.001 * rng.integers(0, max(2, len(X) // 3), len(X))),
    ),
    "unequal shares": lambda X, rng: (unsure(X, rng), rules(X, rng.choice(8, len(X), p=SHARES / SHARES.sum()))),
    "two rules that always hold": lambda X, rng: (unsure(X, rng), rules(X, rng.integers(0, 2, len(X)))),
}


def encodes(system, n, rng, truly):
    """Whether it is said that the choice of rules encodes the prediction if it does, and not if it does not."""
    X = rng.random((n, COLUMNS))
    labels, given = system(X, rng)
    told = fs.encoding(given, labels.astype(str), X)
    name = "encoders are found" if truly else "others are left alone"
    return {name: said(bool(told.encodes) == truly)}


def found_bar(system, interval, n):
    """Nine in ten encoders at 1,000 rows; at most one false alarm in twenty, always."""
    if interval == "encoders are found":
        return 0.9 if n == 1_000 else None
    return 0.95 if interval == "others are left alone" else None
