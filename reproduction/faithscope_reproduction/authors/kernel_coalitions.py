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
class Coalitions:
    """Coalitions for each of n rows.

    Attributes
    ----------
    members : (n, coalitions, m) array of bool
        Whether each of m features keeps the row's value.
    weights : (n, coalitions) array
    """

    members: Masks
    weights: Floats


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


def draw(rows: Floats, count: int, coalitions: int, seed: int) -> Coalitions:
    """Coalitions of `count` features for each row, drawn by the seed and the row's own values."""
    plan = _plan(count, min(coalitions, 2**count - 2 if count < 63 else coalitions))
    fixed, n = len(plan.members), len(rows)
    members = np.zeros((n, fixed + plan.left, count), bool)
    weights = np.zeros((n, fixed + plan.left))
    members[:, :fixed], weights[:, :fixed] = plan.members, plan.weights
    if plan.left:
        members[:, fixed:], times = _drawn(rows, count, plan, seed)
        weights[:, fixed:] = times * (plan.mass / times.sum(axis=1, keepdims=True))
    return Coalitions(members, weights)


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
        members.append(_every(count, size, bool(twice == 2)))
        weights += [share / every] * every
        left, full = left - every, full + 1
    rest = mass[full:] / pairs[full:]
    chances = rest / rest.sum() if len(rest) else rest
    remaining = left if len(rest) else 0
    return _Plan(
        np.concatenate(members), np.array(weights), sizes[full:], chances, remaining, float(mass[full:].sum()), paired
    )


def _every(count: int, size: int, complements: bool) -> Masks:
    """All coalitions of a size, each followed by its complement if that has another size."""
    chosen = np.array(list(combinations(range(count), size)))
    masks = np.zeros((len(chosen), count), bool)
    np.put_along_axis(masks, chosen, True, axis=1)
    return np.stack([masks, ~masks], axis=1).reshape(-1, count) if complements else masks


def _drawn(rows: Floats, count: int, plan: _Plan, seed: int) -> tuple[Masks, Floats]:
    """Different coalitions and their complements, and how often each was drawn: (n, left, m), (n, left)."""
    tries = 2 * plan.left
    chance = _chance(rows, (tries, count + 1), seed)
    place = np.searchsorted(plan.chances.cumsum()[:-1], chance[:, :, -1], side="right")
    size = plan.sizes[place]
    order = np.sort(chance[:, :, :-1], axis=2)
    masks = chance[:, :, :-1] <= np.take_along_axis(order, size[:, :, None] - 1, axis=2)
    same = _same(masks)
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


def _same(masks: Masks) -> Masks:
    """Whether any two coalitions of a row are the same: (n, tries, tries)."""
    packed = np.zeros((*masks.shape[:2], 8 * -(-masks.shape[2] // 64)), np.uint8)
    packed[:, :, : -(-masks.shape[2] // 8)] = np.packbits(masks, axis=2)
    words = packed.view(np.uint64)
    equal = np.ones((masks.shape[0], masks.shape[1], masks.shape[1]), bool)
    for word in np.moveaxis(words, 2, 0):
        equal &= word[:, :, None] == word[:, None, :]
    return equal


def _chance(rows: Floats, shape: tuple[int, int], seed: int) -> Floats:
    """Uniform numbers that belong to each row: (n, *shape)."""
    words = np.ascontiguousarray(rows + 0.0).view(np.uint32).tolist()
    return np.array([np.random.default_rng([seed, *row_words]).random(shape) for row_words in words])
