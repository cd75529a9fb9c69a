"""Bounds on a probability from the mean of draws, by the Kullback-Leibler divergence that KL-LUCB is named after."""

import numpy as np

from faithscope.explainers.shared.arrays import Bools, Floats

_BISECTIONS = 16
_INSIDE = (1e-7, 1 - 1e-16)  # where logarithms are finite


def upper_bound(mean: Floats, level: Floats) -> Floats:
    """The largest q with ``kl(mean, q) <= level``."""
    return _where_passed(mean, level, np.minimum(mean + np.sqrt(level / 2), 1.0))


def lower_bound(mean: Floats, level: Floats) -> Floats:
    """The smallest q with ``kl(mean, q) <= level``."""
    return _where_passed(mean, level, np.maximum(mean - np.sqrt(level / 2), 0.0))


def _where_passed(mean: Floats, level: Floats, outside: Floats) -> Floats:
    """The q at which ``kl(mean, q)`` passes the level, between the mean and a q that Pinsker's inequality rules out."""
    p, inside = np.clip(mean, *_INSIDE), mean
    most = level - p * np.log(p) - (1 - p) * np.log1p(-p)
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2
        q = np.clip(middle, *_INSIDE)
        passed = -p * np.log(q) - (1 - p) * np.log1p(-q) > most
        inside, outside = np.where(passed, inside, middle), np.where(passed, middle, outside)
    return outside


def may_exceed(mean: Floats, target: Floats, level: Floats) -> Bools:
    """Whether the upper bound of a mean is above a target; -1 stands for no mean."""
    p, q = np.clip(mean, *_INSIDE), np.clip(target, *_INSIDE)
    within = p * np.log(p / q) + (1 - p) * (np.log1p(-p) - np.log1p(-q)) < level
    return np.asarray((mean >= 0) & (target < 1) & (within | (mean > target)))
