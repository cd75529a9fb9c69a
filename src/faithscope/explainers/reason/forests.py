"""scikit-learn's decision trees, random forests and extra trees: the mean of the trees' probabilities, or numbers."""

from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explainers.reason.ensemble import Ensemble
from faithscope.explainers.reason.nodes import Nodes
from faithscope.explainers.shared.arrays import Floats
from faithscope.explanations.conditions.tree_paths import last_to_the_left


def read(model: Any) -> Ensemble:
    """A tree, or a forest, whose label is that of the highest mean probability; the first of several."""
    members = getattr(model, "estimators_", None)
    splits = [tree.tree_ for tree in (members if members is not None else [model])]
    if model.n_outputs_ > 1:
        raise BadInput(f"This {type(model).__name__} predicts {model.n_outputs_} outputs: pass a model of one output.")
    classes = getattr(model, "classes_", None)
    values = [tree.value[:, 0, :] for tree in splits]
    if classes is not None:
        values = [_votes(value) if members is None else _chances(value) for value in values]
    outputs = np.zeros(len(splits), np.int64) if classes is None else None
    return Ensemble(
        [nodes_of(tree, value) for tree, value in zip(splits, values, strict=True)],
        model.n_features_in_,
        np.zeros(1 if classes is None else len(classes)),
        outputs,
        classes,
        divisor=len(splits),
        names=names_of(model),
    )


def nodes_of(splits: Any, values: Floats) -> Nodes:
    """A scikit-learn ``tree_``, which compares ``float32(x) <= threshold``."""
    left, right = (np.asarray(children, np.int64) for children in (splits.children_left, splits.children_right))
    to_left = np.asarray(splits.missing_go_to_left).astype(bool)
    cuts = last_to_the_left(np.asarray(splits.threshold, np.float64))
    return Nodes(left, right, np.asarray(splits.feature, np.int64), cuts, to_left, np.asarray(values, np.float64))


def names_of(model: Any) -> tuple[str, ...] | None:
    """The names that a model was fitted with, if any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else tuple(map(str, names))


def _chances(value: Floats) -> Floats:
    """Probabilities, as a tree computes them from the weights of its leaves."""
    total = value.sum(axis=1, keepdims=True)
    return np.asarray(value / np.where(total == 0, 1.0, total))


def _votes(value: Floats) -> Floats:
    """1 for the label of each leaf, 0 for others: one tree leaves nothing to rounding."""
    return np.asarray(np.eye(value.shape[1])[value.argmax(axis=1)])
