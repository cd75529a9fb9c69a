"""Which coalitions of features the shap package's kernel method tries: some sizes in full, the others drawn."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Masks = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Plan:
    """The part of the draw that all rows with equally many features and coalitions share.

    Attributes
    ----------
    members, weights : (full, m), (full,) arrays
        Coalitions of the sizes that are tried in full, from the outermost inward.
    sizes, chances : (k,) arrays
        Of coalitions that are drawn, and how likely each size is; none where all are tried.
    left, mass : int, float
        How many more coalitions are drawn, and the weight they share.
    paired : int
        Up to this size a coalition is tried with its complement.
    """

    members: Masks
    weights: Floats
    sizes: Ints
    chances: Floats
    left: int
    mass: float
    paired: int


def draw(rows: Floats, count: int, coalitions: int, seed: int) -> tuple[Masks, Floats]:
    """Coalitions of `count` features for each row, drawn by the seed and the row's own values, and their weights.

    Returns
    -------
    members : (n, coalitions, count) array of bool
        Whether each feature keeps the row's value.
    weights : (n, coalitions) array
    """
    plan = _plan(count, min(coalitions, 2**count - 2 if count < 63 else coalitions))
    members, weights = np.tile(plan.members, (len(rows), 1, 1)), np.tile(plan.weights, (len(rows), 1))
    if not plan.left:
        return members, weights
    drawn, times = _drawn(rows, count, plan, seed)
    times *= plan.mass / times.sum(axis=1, keepdims=True)
    return np.concatenate([members, drawn], axis=1), np.concatenate([weights, times], axis=1)


@cache
def _plan(count: int, coalitions: int) -> _Plan:
    """Sizes are tried in full while the budget gives every coalition of the size at least its share."""
    sizes = np.arange(1, count // 2 + 1)
    paired = (count - 1) // 2
    pairs = np.where(sizes <= paired, 2, 1)
    mass = pairs * (count - 1) / (sizes * (count - sizes))
    mass = mass / mass.sum()
    members: list[Masks] = [np.zeros((0, count), bool)]
    weights: list[float] = []
    left, full = coalitions, 0
    for size, share, twice in zip(sizes.tolist(), mass.tolist(), pairs.tolist(), strict=True):
        every = comb(count, size) * twice
        if left * share / mass[full:].sum() / every < 1 - 1e-8:
            break
        chosen = np.array(list(combinations(range(count), size)))
        masks = np.zeros((len(chosen), count), bool)
        np.put_along_axis(masks, chosen, True, axis=1)
        # Each is followed by its complement if that has another size.
        members.append(np.stack([masks, ~masks], axis=1).reshape(-1, count) if twice == 2 else masks)
        weights += [share / every] * every
        left, full = left - every, full + 1
    rest = mass[full:] / pairs[full:]
    chances = rest / rest.sum() if len(rest) else rest
    remaining = left if len(rest) else 0
    return _Plan(
        np.concatenate(members), np.array(weights), sizes[full:], chances, remaining, float(mass[full:].sum()), paired
    )


def _drawn(rows: Floats, count: int, plan: _Plan, seed: int) -> tuple[Masks, Floats]:
    """Different coalitions and their complements, and how often each was drawn: (n, left, m), (n, left)."""
    tries = 2 * plan.left
    words = np.ascontiguousarray(rows + 0.0).view(np.uint32).tolist()  # numbers that belong to each row
    chance = np.array([np.random.default_rng([seed, *own]).random((tries, count + 1)) for own in words])
    place = np.searchsorted(plan.chances.cumsum()[:-1], chance[:, :, -1], side="right")
    size = plan.sizes[place]
    order = np.sort(chance[:, :, :-1], axis=2)
    masks = chance[:, :, :-1] <= np.take_along_axis(order, size[:, :, None] - 1, axis=2)
    codes = masks @ (1 << np.arange(count))  # there are fewer than 63 features
    same = codes[:, :, None] == codes[:, None, :]
    new = same.argmax(axis=2) == np.arange(tries)
    cost = new * np.where(size <= plan.paired, 2, 1)
    before = cost.cumsum(axis=1) - cost
    counted = before < plan.left
    times = (same & counted[:, None, :]).sum(axis=2)
    members = np.zeros((len(rows), plan.left, count), bool)
    often = np.zeros((len(rows), plan.left))
    for offset, kept in ((0, new & counted), (1, new & (size <= plan.paired) & (before + 1 < plan.left))):
        row, attempt = np.nonzero(kept)
        at = before[row, attempt] + offset
        members[row, at] = masks[row, attempt] ^ bool(offset)
        often[row, at] = times[row, attempt]
    return members, often
