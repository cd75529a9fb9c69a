"""Shapley values by asking the model about coalitions: all of each pair of rows, or a sample with standard errors."""

from collections.abc import Callable
from functools import lru_cache
from math import comb

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.base import blocks
from faithscope.explainers.space import unlike
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.grouping import group
from faithscope.runtime.memory import need

Ask = Callable[[Floats], Floats]  # mixtures (n, d) in, (n, classes) outputs out
Tell = Callable[[int], None]  # called with the number of rows that are done beside those told of before

_CELLS = 2**22  # numbers in one call of the model
_PAIR_CELLS = 2**21  # numbers in one block of pairs


class Game:
    """Coalitions of features to ask about: features join one by one, in some orders and then in their reverses.

    The orders are random, of about as many coalitions as the budget allows.

    Attributes
    ----------
    members : (m, d) array of bool
        The features of each coalition; the first coalition is empty, the last has all features.
    before, after : (orders, d) arrays of int
        The coalition that a feature joins in an order, and the coalition with it.
    """

    def __init__(self, features: int, budget: int, seed: int) -> None:
        many = f"{budget:,} coalitions of {features:,} features"
        need(24 * budget * features, many, "pass fewer evaluations, or explain fewer features")
        if budget < 2 * features:
            raise BadInput(f"evaluations must be at least 2 per feature, which is {2 * features}; got {budget}.")
        generator = np.random.default_rng(seed)
        orders = np.array([generator.permutation(features) for _ in range(budget // (2 * (features - 1)))])
        ranks = np.concatenate([orders, orders[:, ::-1]]).argsort(axis=1)
        joined = ranks[:, None, :] < np.arange(features + 1)[:, None]
        self.members, place = np.unique(joined.reshape(-1, features), axis=0, return_inverse=True)
        place = place.reshape(len(ranks), features + 1)
        self.before, self.after = (np.take_along_axis(place, ranks + step, axis=1) for step in (0, 1))

    def values(self, rows: Floats, gains: Floats, background: Floats, ask: Ask, tell: Tell) -> tuple[Floats, Floats]:
        """SHAP values and their standard errors, both (n, d, classes): what joining adds, and its spread over orders.

        The empty coalition is worth 0, and all features together are worth the gain. Each order is averaged with its
        reverse; if there is one alone, errors are infinite.
        """
        values, errors = np.full((2, *rows.shape, gains.shape[1]), np.inf)
        inner, pairs = self.members[1:-1], len(self.before) // 2
        at_once = max(1, _CELLS // background.size)  # coalitions of one row
        for block in blocks(len(gains), at_once // max(1, len(inner)), more=tell):
            worth = np.zeros((block.stop - block.start, len(self.members), gains.shape[1]))
            worth[:, -1] = gains[block]
            for part in blocks(len(inner), at_once):
                masked = np.where(inner[part, None, :], rows[block, None, None, :], background)
                outputs = ask(masked.reshape(-1, masked.shape[3])).reshape(*masked.shape[:3], -1)
                worth[:, 1 + part.start : 1 + part.stop] = outputs.mean(axis=2)
            added = worth[:, self.after] - worth[:, self.before]
            added = (added[:, :pairs] + added[:, pairs:]) / 2
            values[block] = added.mean(axis=1)
            if pairs > 1:
                errors[block] = added.std(axis=1, ddof=1) / np.sqrt(pairs)
        return values, errors


def once(ask: Ask) -> Ask:
    """The same answers, for which the model is asked about equal mixtures of one call once.

    -0.0 is not 0.0: a model may tell.
    """

    def answers(mixtures: Floats) -> Floats:
        codes, first = group([np.where(np.isnan(mixtures), np.nan, mixtures).view(np.int64)])
        return ask(mixtures[first])[codes]

    return answers


# From the rows and the background rows of pairs, (p,) positions of either, and the features in which they differ,
# (p, k) in order, to the outputs of all coalitions of each pair, (p, 2^k, classes).
Worths = Callable[[Ints, Ints, Ints], Floats]


def differing(rows: Array, background: Array, players: Ints, columns: int) -> Bools:
    """Which columns differ between rows and background rows in a feature made of them, (n, b, columns)."""
    differ = np.zeros((len(rows), len(background), columns), bool)
    for feature, column in enumerate(players.tolist()):
        differ[:, :, column] |= unlike(rows[:, None, feature], background[:, feature])
    return differ


def affordable(rows: Array, background: Array, budget: int, players: Ints, columns: int) -> Bools:
    """Which rows (n,) have no more coalitions than the budget, on average over the background."""
    enough = np.ones(len(rows), bool)
    for block in blocks(len(rows), _PAIR_CELLS // background.size):
        differ = differing(rows[block], background, players, columns).sum(axis=2, dtype=np.float64)
        with np.errstate(over="ignore"):  # infinity is over budget
            enough[block] = (np.exp2(differ) - 2).mean(axis=1) <= budget
    return enough


def pair_values(differ: Bools, worths: Worths, classes: int, width: Callable[[int], int]) -> Floats:
    """Shapley values, (n, d, classes): the mean over the background of those of every pair.

    Parameters
    ----------
    differ : (n, b, d) array
        From `differing`.
    worths : callable
        The worths of coalitions; coalition c has the j-th differing feature if c has the bit 2^j.
    width : callable
        From the number of coalitions of a pair to the size of the arrays that it needs.
    """
    sizes = differ.sum(axis=2)
    values = np.zeros((len(differ), differ.shape[2], classes))
    for size in np.unique(sizes[sizes > 0]).tolist():
        row, other = np.nonzero(sizes == size)
        features = np.nonzero(differ[row, other])[1].reshape(-1, size)
        for block in blocks(len(row), _PAIR_CELLS // width(2**size)):
            shares = np.matmul(_shapley(size)[1], worths(row[block], other[block], features[block]))
            np.add.at(values, (row[block, None], features[block]), shares)
    return np.asarray(values / differ.shape[1])


@lru_cache(maxsize=32)
def _shapley(features: int) -> tuple[Bools, Floats]:
    """All coalitions, (2^d, d), and the weights of their worths by Shapley's formula, (d, 2^d).

    A feature gets 1 / (d · C(d - 1, s)) of what it adds to a coalition of s other features. Coalition number c has
    feature j if c has the bit 2^j.
    """
    need(32 * features * 2.0**features, f"All coalitions of {features} features", "pass fewer evaluations")
    members = (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)
    share = np.array([1 / (features * comb(features - 1, size)) for size in range(features)] + [0.0])
    size = members.sum(axis=1)[:, None]
    return members, np.where(members, share[size - 1], -share[size]).T


def asked_values(
    rows: Floats, gains: Floats, background: Floats, starts: Floats, ask: Ask, tell: Tell, budget: int
) -> Floats:
    """Shapley values, (n, d, classes), by asking the model about all coalitions, about `budget` per row.

    Parameters
    ----------
    gains : (n, classes) array
        The worth of all features together.
    starts : (b, classes) array
        The worth of no feature, per background row.
    """
    values, features = np.empty((*rows.shape, gains.shape[1])), rows.shape[1]

    def worths(row: Ints, other: Ints, changed: Ints) -> Floats:
        members, own = _shapley(changed.shape[1])[0][1:-1], row + block.start
        worth = np.empty((len(own), len(members) + 2, gains.shape[1]))
        worth[:, 0], worth[:, -1] = starts[other], gains[own]
        if len(members):
            inside = np.zeros((len(own), len(members), features), bool)
            np.put_along_axis(inside, changed[:, None], members, axis=2)
            masked = np.where(inside, rows[own, None], background[other, None])
            worth[:, 1:-1] = ask(masked.reshape(-1, features)).reshape(len(own), len(members), -1)
        return worth

    step = _PAIR_CELLS // (background.size * min(2**features, max(budget, 1)))
    for block in blocks(len(gains), step, more=tell):
        differ = differing(rows[block], background, np.arange(features), features)
        values[block] = pair_values(differ, worths, gains.shape[1], lambda coalitions: features * coalitions)
    return values
