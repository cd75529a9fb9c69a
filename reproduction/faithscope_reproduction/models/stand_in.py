"""A stand-in for scikit-learn's gradient boosting where that would train for hours: the same rule, binned splits."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope_reproduction.models.forest import Forest, load_xgboost

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SMALLEST = 1e-150  # below which scikit-learn takes a denominator for 0


def stand_in(X: Floats, y: Ints, *, learning_rate: float, n_estimators: int, max_depth: int, seed: int) -> Forest:
    """Boosted trees by the rule of scikit-learn's ``GradientBoostingClassifier`` for three classes or more.

    In each round one tree per class is grown on the residuals, ``1(y = k) - p_k``, by least squares; each leaf then
    takes one Newton step, ``(K - 1) / K · Σ r / Σ p_k (1 - p_k)``. There is no penalty and no least weight of a leaf.
    xgboost grows the trees (with second derivatives of 1 its gain is that of least squares), on 256 bins per feature
    where scikit-learn tries every split: that alone differs.
    """
    xgboost = load_xgboost()
    classes = int(y.max()) + 1
    rows = xgboost.QuantileDMatrix(np.asarray(X, np.float32), label=y)
    grown = {"objective": "multi:softprob", "num_class": classes, "tree_method": "hist", "seed": seed}
    grown |= {"max_depth": max_depth, "reg_lambda": 0.0, "min_child_weight": 1.0, "learning_rate": 1.0, "base_score": 0}
    start = np.log(np.bincount(y, minlength=classes) / len(y))
    margins = np.tile(start, (len(y), 1))
    truth = np.eye(classes)[y]
    values: list[Floats] = []
    trees: list[dict[str, Any]] = []
    for _ in range(n_estimators):
        residuals = truth - _shares(margins)
        slopes = (-residuals.astype(np.float32), np.ones(residuals.shape, np.float32))
        booster = xgboost.Booster(grown, [rows])  # a new one, since it tells the leaves of all its trees or none
        booster.update(rows, 0, fobj=lambda *_, slopes=slopes: slopes)
        leaves = booster.predict(rows, pred_leaf=True).astype(np.int64)
        trees += json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
        for k, leaf in enumerate(leaves.reshape(len(y), classes).T):
            values.append(learning_rate * _newton(leaf, residuals[:, k], classes))
            margins[:, k] += values[-1][leaf]
    return _forest(trees, values, start, X.shape[1])


def _shares(margins: Floats) -> Floats:
    powers = np.exp(margins - margins.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _newton(leaf: Ints, residuals: Floats, classes: int) -> Floats:
    """One step per leaf; since r is 1 - p or -p, |r| (1 - |r|) is p (1 - p)."""
    sizes = np.abs(residuals)
    above = np.bincount(leaf, residuals) * (classes - 1) / classes
    below = np.bincount(leaf, sizes * (1 - sizes))
    return np.where(np.abs(below) < _SMALLEST, 0.0, above / np.maximum(below, _SMALLEST))


def _forest(trees: list[dict[str, Any]], values: list[Floats], start: Floats, features: int) -> Forest:
    """The trees that xgboost grew, with the leaves' values put in."""
    sizes = np.array([len(tree["left_children"]) for tree in trees])
    first = np.cumsum(sizes) - sizes
    own, at = np.arange(sizes.sum()), np.repeat(first, sizes)
    left, right, feature = (
        np.concatenate([np.array(tree[name], np.int64) for tree in trees])
        for name in ("left_children", "right_children", "split_indices")
    )
    threshold = np.concatenate([np.array(tree["split_conditions"], np.float32) for tree in trees])
    leaf = left < 0
    value = np.concatenate([np.pad(part, (0, size - len(part))) for part, size in zip(values, sizes, strict=True)])
    return Forest(
        np.where(leaf, 0, feature),
        np.where(leaf, np.float32(0), threshold),
        np.where(leaf, own, left + at),
        np.where(leaf, own, right + at),
        np.where(leaf, value, 0.0),
        first.reshape(-1, len(start)),
        start,
        features,
    )
