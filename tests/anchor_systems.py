"""Models whose anchors are known, and rules as words."""

import numpy as np

UNIFORM = np.random.default_rng(0).random((2000, 4))
MEDIAN = float(np.median(UNIFORM[:, 0]))


def first_is_high(rows):
    return np.asarray(rows)[:, 0] > MEDIAN


def corner(rows):
    """High where two features are: an anchor of it needs both, or one that is low."""
    return ((rows[:, 0] > 0.5) & (rows[:, 1] > 0.5)).astype(int)


def written(rules):
    return [rules.describe(row) for row in range(len(rules))]
