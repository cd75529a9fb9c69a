"""Systems of rules with known truth: those whose choice of a rule encodes the prediction, and those that do not."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import faithscope as fs

Chance = np.random.Generator
NAMES = tuple(f"x{j}" for j in range(8))


@dataclass(frozen=True)
class Drawn:
    """Rows with predictions, and the rule that each was given."""

    rules: fs.Rules
    predictions: NDArray[np.object_]
    X: NDArray[np.float64]


def _rows(n: int, rng: Chance) -> NDArray[np.float64]:
    return rng.random((n, len(NAMES)))


def _labels(X: NDArray[np.float64], rng: Chance, labels: int = 2, rare: float = 0.0) -> NDArray[np.int64]:
    """Predictions by the first column and by chance; label 0 is rare if asked for."""
    if rare:
        return (rng.random(len(X)) >= rare).astype(np.int64)
    return np.minimum((labels * (0.5 * X[:, 0] + 0.5 * rng.random(len(X)))).astype(np.int64), labels - 1)


def _drawn(X: NDArray[np.float64], labels: NDArray[np.int64], rules: list[list[tuple[str, str, float]]]) -> Drawn:
    names = np.array([f"label {j}" for j in range(10)], object)
    return Drawn(fs.Rules.from_conditions(rules, features=NAMES), names[labels], X)


def _margin(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return X[:, 0] + 0.5 * X[:, 1] - 0.75


# Encoders: the choice of the rule says more than the rule.


def by_position(n: int, rng: Chance) -> Drawn:
    """Eight rules that always hold; the position of the one shown says the label, for three rows in four."""
    X = _rows(n, rng)
    labels = (_margin(X) > 0).astype(np.int64)
    half = np.where(rng.random(n) < 0.75, labels, 1 - labels)
    column = 4 * half + rng.integers(0, 4, n)
    return _drawn(X, labels, [[(NAMES[j], "<=", 2.0)] for j in column])


def by_prediction(n: int, rng: Chance) -> Drawn:
    """The prediction as its own explanation: one rule that always holds per label."""
    X = _rows(n, rng)
    labels = (_margin(X) > 0).astype(np.int64)
    return _drawn(X, labels, [[(NAMES[j], "<=", 2.0)] for j in labels])


def by_margin(n: int, rng: Chance) -> Drawn:
    """A valid interval around the row, wide or narrow, by how sure the model is: the margin, signed, chooses it."""
    X = _rows(n, rng)
    labels = (_margin(X) + 0.2 * rng.standard_normal(n) > 0).astype(np.int64)
    sure = np.digitize(_margin(X), [-0.25, 0.0, 0.25])
    return _drawn(X, labels, [[(NAMES[2], "<=", 1.5 + 0.1 * j)] for j in sure])


def by_few_rows(n: int, rng: Chance) -> Drawn:
    """As many rules as a third of the rows, all of which hold widely: each has few rows, so only the sum tells."""
    X = _rows(n, rng)
    labels = (_margin(X) > 0).astype(np.int64)
    many = max(2, n // 6)
    choice = 2 * rng.integers(0, many, n) + labels
    return _drawn(X, labels, [[(NAMES[3], "<=", 2.0 + 0.001 * j)] for j in choice])


def by_five_labels(n: int, rng: Chance) -> Drawn:
    """Five labels and five rules that always hold: the rule says the label for half of the rows."""
    X = _rows(n, rng)
    labels = _labels(X, rng, 5)
    choice = np.where(rng.random(n) < 0.5, labels, rng.integers(0, 5, n))
    return _drawn(X, labels, [[(NAMES[j], "<=", 2.0)] for j in choice])


# Systems that do not encode: given the rule, its choice has nothing to do with the prediction.


def _grid(cell: NDArray[np.int64], kind: NDArray[np.int64]) -> list[list[tuple[str, str, float]]]:
    """Rules on the cell of the first column, one of several ways to write it: all of them cover the cell."""
    return [
        [(NAMES[0], ">", c / 5), (NAMES[0], "<=", (c + 1) / 5), (NAMES[1 + k], "<=", 2.0)]
        for c, k in zip(cell.tolist(), kind.tolist(), strict=True)
    ]


def _cell(X: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.minimum((5 * X[:, 0]).astype(np.int64), 4)


def at_random(n: int, rng: Chance, labels: int = 2, rare: float = 0.0) -> Drawn:
    """A random choice among rules that hold on the same rows."""
    X = _rows(n, rng)
    return _drawn(X, _labels(X, rng, labels, rare), _grid(_cell(X), rng.integers(0, 4, n)))


def by_another_column(n: int, rng: Chance) -> Drawn:
    """The choice is by a column that has nothing to do with the prediction."""
    X = _rows(n, rng)
    return _drawn(X, _labels(X, rng), _grid(_cell(X), np.minimum((4 * X[:, 7]).astype(np.int64), 3)))


def nested(n: int, rng: Chance) -> Drawn:
    """Nested rules on a column that has nothing to do with the prediction, each row given one that holds."""
    X = _rows(n, rng)
    ends = np.linspace(0.1, 1.0, 10)
    first = np.minimum((10 * X[:, 6]).astype(np.int64), 9)
    choice = first + (rng.random(n) * (10 - first)).astype(np.int64)
    return _drawn(X, _labels(X, rng), [[(NAMES[6], "<=", float(ends[j]) + 1e-9)] for j in choice])


def few_rows(n: int, rng: Chance) -> Drawn:
    """As many rules as a third of the rows, all of which hold on all rows, chosen at random."""
    X = _rows(n, rng)
    choice = rng.integers(0, max(2, n // 3), n)
    return _drawn(X, _labels(X, rng), [[(NAMES[3], "<=", 2.0 + 0.001 * j)] for j in choice])


def unequal(n: int, rng: Chance) -> Drawn:
    """Rules that are chosen from hardly ever to mostly."""
    X = _rows(n, rng)
    shares = 0.5 ** np.arange(8)
    choice = rng.choice(8, n, p=shares / shares.sum())
    return _drawn(X, _labels(X, rng), [[(NAMES[j], "<=", 2.0)] for j in choice])


ENCODERS: dict[str, Callable[[int, Chance], Drawn]] = {
    "by position": by_position,
    "by prediction": by_prediction,
    "by margin": by_margin,
    "by prediction, few rows per rule": by_few_rows,
    "five labels, half of the rows": by_five_labels,
}
HONEST: dict[str, Callable[[int, Chance], Drawn]] = {
    "random choice, 2 labels": at_random,
    "random choice, 5 labels": lambda n, rng: at_random(n, rng, 5),
    "random choice, rare label": lambda n, rng: at_random(n, rng, rare=0.02),
    "by another column": by_another_column,
    "nested rules": nested,
    "many rules with few rows": few_rows,
    "unequal shares": unequal,
    "two rules that always hold": lambda n, rng: _two(n, rng),
}


def _two(n: int, rng: Chance) -> Drawn:
    X = _rows(n, rng)
    return _drawn(X, _labels(X, rng), [[(NAMES[j], "<=", 2.0)] for j in rng.integers(0, 2, n)])
