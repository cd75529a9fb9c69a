"""Coalitions of features that are drawn: Shapley values as a linear map of their worths, with standard errors."""

from collections.abc import Callable
from dataclasses import dataclass
from math import comb

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.shap.coded_rows import CodedRows
from faithscope.explainers.shap.keys import Keys
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks
from faithscope.inputs.checks import check_whole
from faithscope.runtime.memory import need

Ask = Callable[[Floats, Keys], Floats]  # mixtures (n, d) and their keys (n,) in, (n, classes) outputs out
Tell = Callable[[int], None]  # called with the number of rows done

_CELLS = 2**22  # numbers in one call of the model


@dataclass(frozen=True, eq=False)
class Game:
    """Coalitions of features to ask about, and the weights by which their worths add up to values.

    Attributes
    ----------
    members : (m, d) array of bool
        The features of each coalition; the first coalition is empty, the last has all features.
    weights : (d, m) array
        The value of a feature is the weighted sum of the worths.
    deviations : callable
        From worths (n, m, classes) to the standard errors of the values, (n, d, classes); inf if they are unknown.
    """

    members: Bools
    weights: Floats
    deviations: Callable[[Floats], Floats]

    def values(
        self, rows: CodedRows, gains: Floats, background: CodedRows, ask: Ask, tell: Tell
    ) -> tuple[Floats, Floats]:
        """SHAP values and their standard errors, both (n, d, classes).

        The empty coalition is worth 0, and all features together are worth the gain.
        """
        values, errors = np.empty((2, *rows.values.shape, gains.shape[1]))
        inner = self.members[1:-1]
        at_once = max(1, _CELLS // background.values.size)  # coalitions of one row
        for block in blocks(len(gains), at_once // max(1, len(inner)), lambda done, _: tell(done)):
            worth = np.zeros((block.stop - block.start, len(self.members), gains.shape[1]))
            worth[:, -1] = gains[block]
            for part in blocks(len(inner), at_once):
                worth[:, 1 + part.start : 1 + part.stop] = _worths(rows.take(block), inner[part], background, ask)
            values[block] = np.einsum("dm,nmk->ndk", self.weights, worth)
            errors[block] = self.deviations(worth)
        return values, errors


def _worths(rows: CodedRows, members: Bools, background: CodedRows, ask: Ask) -> Floats:
    """Mean output over the background if only members have the row's values: (n, coalitions, classes)."""
    masked = np.where(members[:, None, :], rows.values[:, None, None, :], background.values)
    keys = rows.sums(members)[:, :, None] + background.sums(~members).T
    outputs = ask(masked.reshape(-1, masked.shape[3]), keys.ravel())
    worths: Floats = outputs.reshape(*masked.shape[:3], -1).mean(axis=2)
    return worths


def budget_of(features: int, evaluations: int | None) -> int:
    """How many coalitions may be tried per row."""
    return 20 * features if evaluations is None else check_whole(evaluations, "evaluations")


def permutations(features: int, budget: int, seed: int) -> Game:
    """Features join one by one, in random orders and their reverses; a value is the mean of what joining adds."""
    many = f"{budget:,} coalitions of {features:,} features"
    need(
        24 * budget * features,
        many,  # of members and weights, and of a copy of both
        "pass fewer evaluations, or explain fewer features",
    )
    if budget < 2 * features:
        raise BadInput(f"evaluations must be at least 2 per feature, which is {2 * features}; got {budget}.")
    generator = np.random.default_rng(seed)
    orders = np.array([generator.permutation(features) for _ in range(budget // (2 * (features - 1)))])
    orders = np.concatenate([orders, orders[:, ::-1]])
    joined = orders.argsort(axis=1)[:, None, :] < np.arange(features + 1)[:, None]
    members, place = np.unique(joined.reshape(-1, features), axis=0, return_inverse=True)
    place = place.reshape(len(orders), features + 1)
    weights = np.zeros((features, len(members)))
    np.add.at(weights, (orders, place[:, 1:]), 1 / len(orders))
    np.add.at(weights, (orders, place[:, :-1]), -1 / len(orders))
    before, after = (np.take_along_axis(part, orders.argsort(axis=1), axis=1) for part in (place[:, :-1], place[:, 1:]))
    return Game(members, weights, OrderErrors(before, after))


def shapley_weights(features: int) -> tuple[Bools, Floats]:
    """All coalitions, (2^d, d), and the weights of their worths by Shapley's formula, (d, 2^d).

    A feature gets 1 / (d · C(d - 1, s)) of what it adds to a coalition of s other features. Coalition number c has
    feature j if c has the bit 2^j.
    """
    members = (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)
    share = np.array([1 / (features * comb(features - 1, size)) for size in range(features)] + [0.0])
    size = members.sum(axis=1)[:, None]
    return members, np.where(members, share[size - 1], -share[size]).T


@dataclass(frozen=True, eq=False)
class OrderErrors:
    """Standard errors from the spread of values between orders, each averaged with its reverse.

    Attributes
    ----------
    before, after : (orders, d) arrays of int
        The coalition that a feature joins in an order, and the coalition with it; the reverses come last.
    """

    before: Ints
    after: Ints

    def __call__(self, worth: Floats) -> Floats:
        count = len(self.before) // 2
        if count == 1:
            return np.full((len(worth), self.before.shape[1], worth.shape[2]), np.inf)
        added = [
            (worth[:, self.after[[t, t + count]]] - worth[:, self.before[[t, t + count]]]).mean(axis=1)
            for t in range(count)
        ]
        spread: Floats = np.std(added, axis=0, ddof=1) / np.sqrt(count)
        return spread
