"""Random rows inside rules, half of their values at a bound or next to it."""

from typing import Any

import numpy as np


def points_inside(model: Any, rules: Any, X: np.ndarray, train: np.ndarray, count: int, *, missing: bool = True) -> int:
    """How many of `count` random rows inside each rule get another prediction than the row explained.

    One value in ten is missing, if the model takes missing values.
    """
    rng, wrong = np.random.default_rng(0), 0
    for row, label in enumerate(model.predict(X)):
        points = train[rng.integers(len(train), size=(count, train.shape[1])), np.arange(train.shape[1])]
        points = np.where(missing & (rng.random(points.shape) < 0.1), np.nan, points)
        for condition in rules.conjunction(row):
            points[:, condition.position] = _values(condition, count, rng)
        wrong += int(np.sum(model.predict(points) != label))
    return wrong


def _values(condition: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    first = np.nextafter(condition.low, np.inf) if np.isfinite(condition.low) else min(condition.high, 0.0) - 100
    last = condition.high if np.isfinite(condition.high) else max(first, 0.0) + 100
    ends = [first, last, min(last, np.nextafter(first, np.inf)), max(first, np.nextafter(last, -np.inf))]
    within = np.clip(rng.uniform(first, last, count), first, last)
    return np.where(rng.random(count) < 0.5, rng.choice(ends, count), within)
