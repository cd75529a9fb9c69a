"""Random rows inside rules, many of them at a bound or next to it, which any proof must hold on."""

import numpy as np


def inside(rules, row, rows, count, rng, missing=False):
    """Rows that satisfy a row's rule: real values elsewhere, bounds and their neighbors half of the time."""
    points = rows[rng.integers(len(rows), size=(count, rows.shape[1])), np.arange(rows.shape[1])]
    points = np.where(rng.random(points.shape) < 0.3, rng.normal(size=points.shape) * 1e3, points)
    if missing:
        points[rng.random(points.shape) < 0.2] = np.nan
    for condition in rules.conjunction(row):
        points[:, condition.position] = _values(condition, count, rng)
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


def holds(rules, row, points):
    """Whether all points satisfy a row's rule, by the rule's own reading."""
    return all(mask.all() for mask in rules.holds(rules.conjunction(row), points))
