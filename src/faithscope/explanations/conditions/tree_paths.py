"""The paths of a fitted scikit-learn tree as conditions that hold exactly where the tree goes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.conditions.condition import OR_MISSING, Condition, condition, conjoin
from faithscope.explanations.conditions.conjunctions import Conjunction, number_conjunctions
from faithscope.inputs.grouping import group


def paths(splits: Any, names: Sequence[str], missing: NDArray[np.bool_]) -> dict[int, Conjunction]:
    """The conditions on the way to each leaf of a scikit-learn ``tree_``, by the leaf's number.

    Parameters
    ----------
    splits : tree_
    names : sequence of str
    missing : (d,) array of bool
        For which features conditions say where missing values go.
    """
    cuts, features = _last_to_the_left(splits.threshold).tolist(), splits.feature.tolist()
    children = {"<=": splits.children_left.tolist(), ">": splits.children_right.tolist()}
    to_left = splits.missing_go_to_left.tolist()
    to_leaf: dict[int, Conjunction] = {}
    ahead: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while ahead:
        node, path = ahead.pop()
        if children["<="][node] < 0:
            to_leaf[node] = conjoin(path.values())
            continue
        position = features[node]
        for operator, child in children.items():
            goes = missing[position] and (operator == "<=") == bool(to_left[node])
            step = condition(position, names[position], operator + OR_MISSING * int(goes), cuts[node])
            ahead.append((child[node], {**path, position: path[position] & step if position in path else step}))
    return to_leaf


def rules_of(
    to_leaf: Mapping[int, Conjunction], reached: NDArray[np.int64], missing: NDArray[np.bool_]
) -> tuple[tuple[Conjunction, ...], NDArray[np.int64]]:
    """The different rules of rows, and which of them each row has: that of the leaf it reaches.

    Parameters
    ----------
    to_leaf : dict
    reached : (n,) array
    missing : (n, d) array of bool
        Values that are missing although no condition speaks of missing ones: the row's rule asks for missing there.
    """
    columns = np.flatnonzero(missing.any(axis=0))
    codes, first = group((np.column_stack([reached, missing[:, columns]]).astype(np.int64),))
    rules = [_asking(to_leaf[int(reached[row])], set(columns[missing[row, columns]].tolist())) for row in first]
    distinct, numbers = number_conjunctions(rules)
    return distinct, numbers[codes]


def _asking(rule: Conjunction, missing: set[int]) -> Conjunction:
    parts: Any = rule
    return tuple(
        condition(part.position, part.feature, "==", None) if part.position in missing else part for part in parts
    )


def knows_missing(splits: Any) -> bool:
    """Whether a tree shows that it was fitted with missing values.

    Where a split has seen none, scikit-learn sends missing values with the larger part of the training rows. A tree of
    which every split does so may have seen some all the same, by coincidence. A split at infinity asks for nothing but
    missing values, so it has seen some.
    """
    inner = splits.children_left >= 0
    if np.isinf(splits.threshold[inner]).any():
        return True
    left, right = (splits.n_node_samples[children[inner]] for children in (splits.children_left, splits.children_right))
    return bool(((left > right) != splits.missing_go_to_left[inner].astype(bool)).any())


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


def digest(splits: Any, missing: NDArray[np.bool_]) -> str:
    """A short name for a tree's splits, and for which features its rules speak of missing values; in every process."""
    arrays = [splits.children_left, splits.children_right, splits.feature, splits.threshold]
    if missing.any():
        arrays += [splits.missing_go_to_left, missing]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]
