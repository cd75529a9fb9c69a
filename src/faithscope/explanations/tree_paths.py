"""The paths of a fitted scikit-learn tree as conditions that hold exactly where the tree goes."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.conditions import Condition, condition, conjoin
from faithscope.explanations.conjunctions import Conjunction


def paths(splits: Any, names: Sequence[str]) -> dict[int, Conjunction]:
    """The conditions on the way to each leaf of a scikit-learn ``tree_``, by the leaf's number."""
    cuts, features = _last_to_the_left(splits.threshold).tolist(), splits.feature.tolist()
    children = {"<=": splits.children_left.tolist(), ">": splits.children_right.tolist()}
    found: dict[int, Conjunction] = {}
    ahead: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while ahead:
        node, path = ahead.pop()
        if children["<="][node] < 0:
            found[node] = conjoin(path.values())
            continue
        position = features[node]
        for operator, child in children.items():
            step = condition(position, names[position], operator, cuts[node])
            ahead.append((child[node], {**path, position: path[position] & step if position in path else step}))
    return found


def _last_to_the_left(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each threshold t the largest float64 v with ``float32(v) <= t``, which is how a tree compares."""
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        single = np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
        ends = np.stack([single, np.nextafter(single, np.float32(np.inf))]).astype(np.float64)
        # Halfway to the next single rounding turns: there or back, whichever is even. It overflows at 2**128.
        halfway = np.clip(ends, -(2.0**128), 2.0**128).mean(axis=0)
        last = np.where(halfway.astype(np.float32) <= single, halfway, np.nextafter(halfway, -np.inf))
    return np.where(single == np.inf, np.inf, last)


def digest(splits: Any) -> str:
    """A short name for a tree's splits, the same in every process."""
    arrays = (splits.children_left, splits.children_right, splits.feature, splits.threshold)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
