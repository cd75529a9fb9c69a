"""Models that sufficient reasons are proven of, of every library, and random rows that any proof must hold on."""

from functools import cache

import numpy as np
from sklearn.datasets import make_classification

from explainers.systems import trees

BAGGED = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
CLASSIFIERS = {
    **{name: (name, {}) for name in ("tree", "forest", "extra trees", "boosting", "histograms")},
    **{name: (name, {}) for name in ("xgboost", "xgboost forest", "lightgbm")},
    "deep forest": ("forest", {"max_depth": None}),
    "exponential": ("boosting", {"loss": "exponential"}),
    "xgboost, base": ("xgboost", {"base_score": 0.2}),
    "lightgbm forest": ("lightgbm", BAGGED),
}
NO_MISSING = ("boosting", "exponential")  # which refuse rows that miss values


@cache
def table(classes=2, holes=False, whole=False):
    """Rows and labels; whole numbers lie exactly at thresholds of some libraries."""
    X, y = make_classification(600, 6, n_informative=4, n_redundant=0, n_classes=classes, random_state=classes)
    X = np.round(X) if whole else X
    if holes:
        X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    return X, y


@cache
def fitted(name, classes=2, holes=False, whole=False):
    family, how = CLASSIFIERS[name]
    return trees(family, **how).fit(*table(classes, holes, whole))


def inside(rules, row, rows, rng, missing=False, count=300):
    """Rows that satisfy a row's rule: real values elsewhere, bounds and their neighbors half of the time."""
    points = rows[rng.integers(len(rows), size=(count, rows.shape[1])), np.arange(rows.shape[1])]
    points = np.where(rng.random(points.shape) < 0.3, rng.normal(size=points.shape) * 1e3, points)
    if missing:
        points[rng.random(points.shape) < 0.2] = np.nan
    for condition in rules.conjunction(row):
        points[:, condition.position] = _values(condition, count, rng)
    assert all(mask.all() for mask in rules.holds(rules.conjunction(row), points))
    return points


def _values(condition, count, rng):
    if condition.missing:
        assert condition.among == ()
        return np.full(count, np.nan)
    if condition.among:
        return np.full(count, condition.among[0])
    low, high = condition.low, condition.high
    first = np.nextafter(low, np.inf) if np.isfinite(low) else (min(high, 0.0) - 100.0)
    last = high if np.isfinite(high) else max(first, 0.0) + 100.0
    values = np.clip(rng.uniform(first, last, count), first, last)
    ends = [first, last, min(last, np.nextafter(first, np.inf)), max(first, np.nextafter(last, -np.inf))]
    return np.where(rng.random(count) < 0.5, rng.choice(ends, count), values)
