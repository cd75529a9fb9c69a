"""Coalitions of features: Shapley values as a fixed linear map of what coalitions are worth."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.inputs import check_whole
from faithscope.memory import need

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ask = Callable[[Floats], Floats]  # encoded rows in, (n, classes) outputs out
Tell = Callable[[int], None]  # called with the rows done

_CELLS = 2**22  # numbers in one call of the model


@dataclass(frozen=True, eq=False)
class Game:
    """Coalitions of features to ask about, and how their worths add up to values.

    Attributes
    ----------
    members : (m, d) array of bool
        Who takes part; first nobody, last everybody.
    weights : (d, m) array
        A feature's value is the weighted sum of the worths.
    """

    members: Masks
    weights: Floats

    def values(self, rows: Floats, gains: Floats, background: Floats, ask: Ask, tell: Tell) -> Floats:
        """SHAP values, (n, d, classes), where the worth of nobody is 0 and that of everybody is the gain."""
        values = np.empty((*rows.shape, gains.shape[1]))
        inner = self.members[1:-1]
        at_once = max(1, _CELLS // background.size)  # coalitions of one row
        step = max(1, at_once // max(1, len(inner)))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            worth = np.zeros((part.stop - start, len(self.members), gains.shape[1]))
            worth[:, -1] = gains[part]
            for low in range(0, len(inner), at_once):
                some = slice(low, min(low + at_once, len(inner)))
                worth[:, 1 + low : 1 + some.stop] = _worths(rows[part], inner[some], background, ask)
            values[part] = np.einsum("dm,nmk->ndk", self.weights, worth)
            tell(part.stop)
        return values


def _worths(rows: Floats, members: Masks, background: Floats, ask: Ask) -> Floats:
    """Mean output over the background where only members have the row's values: (n, coalitions, classes)."""
    masked = np.where(members[:, None, :], rows[:, None, None, :], background)
    outputs = ask(masked.reshape(-1, rows.shape[1]))
    worths: Floats = outputs.reshape(*masked.shape[:3], -1).mean(axis=2)
    return worths


def game(algorithm: str, features: int, evaluations: int | None, seed: int) -> Game:
    """The coalitions that an algorithm tries; all of them where it may."""
    usual = 20 * features if algorithm == "permutation" else 2_048 + 2 * features
    budget = usual if evaluations is None else check_whole(evaluations, "evaluations")
    asked = min(2**features, budget)  # as whole numbers: as a float, 2 to the power of many features is none
    # Who takes part, and a weight for each feature; on the way both once more.
    many = f"{asked:,} coalitions of {features:,} features"
    need(24 * asked * features, many, "pass fewer evaluations, or explain fewer features")
    if 2**features - 2 <= budget:
        return _every_coalition(features)
    if budget < 2 * features:
        raise BadInput(f"evaluations must be at least 2 a feature, {2 * features} here; got {budget}.")
    generator = np.random.default_rng(seed)
    if algorithm == "permutation":
        return _permutations(features, budget // (2 * (features - 1)), generator)
    return _kernel(features, budget, generator)


def _every_coalition(features: int) -> Game:
    """Shapley's formula: a feature gains 1 / (d · C(d - 1, s)) of what it adds to a coalition of s others."""
    members = (np.arange(2**features)[:, None] >> np.arange(features) & 1).astype(bool)
    share = np.array([1 / (features * comb(features - 1, size)) for size in range(features)] + [0.0])
    size = members.sum(axis=1)[:, None]
    return Game(members, np.where(members, share[size - 1], -share[size]).T)


def _permutations(features: int, count: int, generator: np.random.Generator) -> Game:
    """Features join one by one, in random orders and in their reverses; a value is what joining adds, on average."""
    orders = np.array([generator.permutation(features) for _ in range(count)])
    orders = np.concatenate([orders, orders[:, ::-1]])
    joined = orders.argsort(axis=1)[:, None, :] < np.arange(features + 1)[:, None]
    members, place = np.unique(joined.reshape(-1, features), axis=0, return_inverse=True)
    place = place.reshape(len(orders), features + 1)
    weights = np.zeros((features, len(members)))
    np.add.at(weights, (orders, place[:, 1:]), 1 / len(orders))
    np.add.at(weights, (orders, place[:, :-1]), -1 / len(orders))
    return Game(members, weights)


def _kernel(features: int, budget: int, generator: np.random.Generator) -> Game:
    """Least squares under the Shapley kernel, values held to their sum: linear in the worths, so solved once."""
    members, weight = _kernel_sample(features, budget, generator)
    weighted = members.T * weight
    inverse = np.linalg.inv(weighted @ members)
    share = inverse.sum(axis=1) / inverse.sum()
    inner = inverse @ weighted
    inner -= share[:, None] * inner.sum(axis=0)
    weights = np.column_stack([-inner.sum(axis=1) - share, inner, share])
    return Game(np.vstack([np.zeros(features, bool), members, np.ones(features, bool)]), weights)


def _kernel_sample(features: int, budget: int, generator: np.random.Generator) -> tuple[Masks, Floats]:
    """Coalitions with weights: the smallest and largest sizes in full, as far as the budget goes, the rest drawn."""
    mass = {size: (features - 1) / (size * (features - size)) for size in range(1, features)}
    sets: dict[tuple[int, ...], float] = {}
    for size in range(1, features // 2 + 1):
        sizes = {size, features - size}
        if len(sets) + sum(comb(features, one) for one in sizes) > budget:
            break
        for one in sizes:
            share = mass.pop(one) / comb(features, one)
            sets |= dict.fromkeys(combinations(range(features), one), share)
    left = (budget - len(sets)) // 2
    if mass and left:
        for size in generator.choice(list(mass), left, p=np.array(list(mass.values())) / sum(mass.values())):
            order = generator.permutation(features)
            for part in (order[:size], order[size:]):  # a set and its complement
                key = tuple(sorted(part.tolist()))
                sets[key] = sets.get(key, 0.0) + sum(mass.values()) / (2 * left)
    members = np.zeros((len(sets), features), bool)
    for row, one_set in enumerate(sets):
        members[row, list(one_set)] = True
    return members, np.array(list(sets.values()))
