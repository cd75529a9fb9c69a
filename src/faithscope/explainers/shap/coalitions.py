"""Coalitions of features that are drawn: Shapley values as a linear map of their worths, with standard errors."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
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
_PARTS = 10  # parts of the draws that are left out in turn, for the error of the kernel


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


def budget_of(algorithm: str, features: int, evaluations: int | None) -> int:
    """How many coalitions may be tried per row."""
    usual = 2_048 + 2 * features if algorithm == "kernel" else 20 * features
    return usual if evaluations is None else check_whole(evaluations, "evaluations")


def game(algorithm: str, features: int, budget: int, seed: int) -> Game:
    """The coalitions that an algorithm draws."""
    # Bytes of members and weights, and of a copy of both. The error of the kernel needs weights per part, too.
    copies = 24 + 8 * _PARTS if algorithm == "kernel" else 24
    many = f"{budget:,} coalitions of {features:,} features"
    need(copies * budget * features, many, "pass fewer evaluations, or explain fewer features")
    if budget < 2 * features:
        raise BadInput(f"evaluations must be at least 2 per feature, which is {2 * features}; got {budget}.")
    generator = np.random.default_rng(seed)
    if algorithm == "kernel":
        return _kernel(features, budget, generator)
    return _permutations(features, budget // (2 * (features - 1)), generator)


def shapley_weights(features: int) -> tuple[Bools, Floats]:
    """All coalitions, (2^d, d), and the weights of their worths by Shapley's formula, (d, 2^d).

    A feature gets 1 / (d · C(d - 1, s)) of what it adds to a coalition of s other features. Coalition number c has
    feature j if c has the bit 2^j.
    """
    members = (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)
    share = np.array([1 / (features * comb(features - 1, size)) for size in range(features)] + [0.0])
    size = members.sum(axis=1)[:, None]
    return members, np.where(members, share[size - 1], -share[size]).T


def _permutations(features: int, count: int, generator: np.random.Generator) -> Game:
    """Features join one by one, in random orders and their reverses; a value is the mean of what joining adds."""
    orders = np.array([generator.permutation(features) for _ in range(count)])
    orders = np.concatenate([orders, orders[:, ::-1]])
    joined = orders.argsort(axis=1)[:, None, :] < np.arange(features + 1)[:, None]
    members, place = np.unique(joined.reshape(-1, features), axis=0, return_inverse=True)
    place = place.reshape(len(orders), features + 1)
    weights = np.zeros((features, len(members)))
    np.add.at(weights, (orders, place[:, 1:]), 1 / len(orders))
    np.add.at(weights, (orders, place[:, :-1]), -1 / len(orders))
    before, after = (np.take_along_axis(part, orders.argsort(axis=1), axis=1) for part in (place[:, :-1], place[:, 1:]))
    return Game(members, weights, OrderErrors(before, after))


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


def _kernel(features: int, budget: int, generator: np.random.Generator) -> Game:
    """Least squares under the Shapley kernel, with the sum of values fixed: linear in the worths, so solved once."""
    members, fixed, mass, drawn = _kernel_sample(features, budget, generator)

    def solved(draws: Floats) -> Floats:
        return _solved(members, fixed + mass * draws.sum(axis=0) / max(draws.sum(), 1.0))

    weights = solved(drawn)
    try:
        without = [solved(np.delete(drawn, part, axis=0)) for part in range(len(drawn))]
    except np.linalg.LinAlgError:
        without = []
    everyone = np.vstack([np.zeros(features, bool), members, np.ones(features, bool)])
    return Game(everyone, weights, JackknifeErrors(np.array(without).reshape(-1, *weights.shape)))


def _solved(members: Bools, weight: Floats) -> Floats:
    """The linear map from worths to values, for coalitions with these weights."""
    weighted = members.T * weight
    inverse = np.linalg.inv(weighted @ members)
    share = inverse.sum(axis=1) / inverse.sum()
    inner = inverse @ weighted
    inner -= share[:, None] * inner.sum(axis=0)
    return np.column_stack([-inner.sum(axis=1) - share, inner, share])


@dataclass(frozen=True, eq=False)
class JackknifeErrors:
    """Standard errors from the values without each part of the draws in turn, by the jackknife.

    Attributes
    ----------
    without : (parts, d, m) array
        The weights of the worths without each part.
    """

    without: Floats

    def __call__(self, worth: Floats) -> Floats:
        parts, features, _ = self.without.shape
        if parts < 2:
            return np.full((len(worth), features, worth.shape[2]), np.inf)
        values = np.stack([np.einsum("dm,nmk->ndk", weights, worth) for weights in self.without])
        spread: Floats = np.sqrt((parts - 1) * values.var(axis=0))
        return spread


def _kernel_sample(features: int, budget: int, generator: np.random.Generator) -> tuple[Bools, Floats, float, Floats]:
    """Coalitions and weights: all of the smallest and largest sizes, as far as the budget goes; the others are drawn.

    Returns
    -------
    members : (m, d) array
    fixed : (m,) array
        The weights of coalitions that were not drawn.
    mass : float
        The weight of all drawn coalitions together.
    drawn : (parts, m) array
        How often each coalition is in each part of the draws.
    """
    mass = {size: (features - 1) / (size * (features - size)) for size in range(1, features)}
    sets: dict[tuple[int, ...], float] = {}
    for size in range(1, features // 2 + 1):
        sizes = {size, features - size}
        if len(sets) + sum(comb(features, members) for members in sizes) > budget:
            break
        for members in sizes:
            share = mass.pop(members) / comb(features, members)
            sets |= dict.fromkeys(combinations(range(features), members), share)
    draws: list[tuple[int, ...]] = []
    left = (budget - len(sets)) // 2
    if mass and left:
        for size in generator.choice(list(mass), left, p=np.array(list(mass.values())) / sum(mass.values())):
            order = generator.permutation(features)
            draws += [tuple(sorted(part.tolist())) for part in (order[:size], order[size:])]  # a set, its complement
    places = {coalition: place for place, coalition in enumerate(dict.fromkeys([*sets, *draws]))}
    masks = np.zeros((len(places), features), bool)
    for coalition, place in places.items():
        masks[place, list(coalition)] = True
    fixed = np.array([sets.get(coalition, 0.0) for coalition in places])
    drawn = np.zeros((max(1, min(_PARTS, left)), len(places)))
    part = np.arange(len(draws)) // 2 % len(drawn)  # a set and its complement are drawn together
    np.add.at(drawn, (part, np.array([places[coalition] for coalition in draws], np.int64)), 1.0)
    return masks, fixed, sum(mass.values()), drawn
