"""The paths of a fitted scikit-learn tree as rules that hold exactly on the rows that reach their leaf."""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import Condition, conjoin, to_condition
from faithscope.explanations.conditions.conjunctions import Conjunction, number_conjunctions
from faithscope.explanations.rule_text import OR_MISSING
from faithscope.inputs.array_types import Bools, Floats, Ints, Names
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.columns import Rows, default_names, distinct_names
from faithscope.inputs.grouping import group
from faithscope.inputs.rows import rows_of


def paths(splits: Any, names: Sequence[str], missing: Bools) -> dict[int, Conjunction]:
    """The conditions on the way to each leaf of a scikit-learn ``tree_``, by the leaf's number.

    Parameters
    ----------
    splits : tree_
    names : sequence of str
    missing : (d,) array of bool
        The features whose conditions say where missing values go.
    """
    cuts, features = last_to_the_left(splits.threshold).tolist(), splits.feature.tolist()
    children = {"<=": splits.children_left.tolist(), ">": splits.children_right.tolist()}
    left_if_missing = splits.missing_go_to_left.tolist()
    to_leaf: dict[int, Conjunction] = {}
    ahead: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while ahead:
        node, path = ahead.pop()
        position = features[node]
        if position < 0:
            to_leaf[node] = conjoin(path.values())
            continue
        for operator, child in children.items():
            goes = missing[position] and (operator == "<=") == bool(left_if_missing[node])
            step = to_condition(position, names[position], operator + OR_MISSING * int(goes), cuts[node])
            ahead.append((child[node], {**path, position: path[position] & step if position in path else step}))
    return to_leaf


def rules_of(to_leaf: Mapping[int, Any], reached: Ints, missing: Bools) -> tuple[tuple[Conjunction, ...], Ints]:
    """The distinct rules of rows, and which of them each row has: that of the leaf it reaches.

    Parameters
    ----------
    to_leaf : dict
    reached : (n,) array
    missing : (n, d) array of bool
        Missing values that no condition speaks of: the row's rule asks for missing in that feature.
    """
    columns = np.flatnonzero(missing.any(axis=0))
    codes, first = group((np.column_stack([reached, missing[:, columns]]).astype(np.int64),))
    rules = []
    for row in first:
        asked, path = set(columns[missing[row, columns]].tolist()), to_leaf[int(reached[row])]
        rules.append(tuple(to_condition(c.position, c.feature, "==", None) if c.position in asked else c for c in path))
    distinct, numbers = number_conjunctions(rules)
    return distinct, numbers[codes]


def knows_missing(splits: Any) -> bool:
    """Whether a tree shows that it was fitted with missing values.

    A split that has seen no missing values sends them with the larger part of the training rows. A tree in which every
    split does so may still have seen some, by coincidence. A split at infinity, or at nan, separates missing values
    from all others, so it has seen some.
    """
    inner = splits.children_left >= 0
    if not np.isfinite(splits.threshold[inner]).all():
        return True
    left, right = (splits.n_node_samples[children[inner]] for children in (splits.children_left, splits.children_right))
    return bool(((left > right) != splits.missing_go_to_left[inner].astype(bool)).any())


def last_to_the_left(thresholds: Floats) -> Floats:
    """For each threshold t the largest float64 v with ``float32(v) <= t``, which is how a tree compares.

    Some versions of scikit-learn have thresholds that are nan, which no number is below.
    """
    thresholds = np.where(np.isnan(thresholds), -np.inf, thresholds)
    with np.errstate(over="ignore"):
        single = thresholds.astype(np.float32)
        single = np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)
        ends = np.stack([single, np.nextafter(single, np.float32(np.inf))]).astype(np.float64)
        # Rounding turns halfway to the next float32: up or down, to the even one. It overflows at 2**128.
        halfway = np.clip(ends, -(2.0**128), 2.0**128).mean(axis=0)
        last = np.where(halfway.astype(np.float32) <= single, halfway, np.nextafter(halfway, -np.inf))
    return np.where(single == np.inf, np.inf, last)


def digest(splits: Any, missing: Bools) -> str:
    """A short digest of a tree's splits, and of the features whose missing values its rules speak of."""
    arrays = [splits.children_left, splits.children_right, splits.feature, splits.threshold]
    if missing.any():
        arrays += [splits.missing_go_to_left, missing]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def read_tree(
    tree: Any, X: Any, features: Sequence[Hashable] | None, *, stable: bool
) -> tuple[Ints, tuple[Conjunction, ...], Names, str]:
    """What `Rules.from_tree` is made of: codes, rules, features and the tree's digest.

    If `stable`, a row's rule does not depend on the other rows: it says "or missing" only if the tree shows that it was
    fitted with missing values. Otherwise the rule of a row that misses a value asks for missing in that feature, and
    covers a part of the leaf.
    """
    if not hasattr(tree, "tree_"):
        raise WrongType(f"from_tree needs a fitted scikit-learn decision tree; got {type(tree).__name__}.")
    own = getattr(tree, "feature_names_in_", frame_names(X) if is_frame(X) else default_names(tree.n_features_in_))
    names = distinct_names(tuple(own) if features is None else features)
    if len(names) != tree.n_features_in_:
        raise BadInput(
            f"The tree has {tree.n_features_in_} features but {len(names)} names: pass one name per feature."
        )
    reached, columns = leaves_of(tree, X), Rows(X).columns if rows_of(X) else []
    missing = np.column_stack([each.missing for each in columns]) if columns else np.zeros((0, len(names)), bool)
    speaks = np.full(len(names), knows_missing(tree.tree_)) | (missing.any(axis=0) & (not stable))
    distinct, codes = rules_of(paths(tree.tree_, names, speaks), reached, missing & ~speaks)
    return codes, distinct, names, digest(tree.tree_, speaks)


def leaves_of(tree: Any, X: Any) -> Ints:
    """The leaf that each row reaches."""
    try:
        return np.asarray(tree.apply(X) if rows_of(X) else (), np.int64)
    except (TypeError, ValueError) as problem:  # columns that it was not fitted with, or values that are not numbers
        raise BadInput(f"The tree cannot predict these rows: {str(problem).splitlines()[0]}") from None
