"""Exact Shapley values, one pair of a row and a background row at a time: only features in which they differ matter."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.shap.coalitions import Ask, Floats, Masks, Tell, shapley_weights
from faithscope.runtime.memory import need

Places = NDArray[np.int64]

_CELLS = 2**21  # numbers that are made at once


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows and background rows that differ in equally many features.

    Attributes
    ----------
    row, other : (p,) arrays of int
        Which row, and which of the background.
    features : (p, k) array of int
        Where they differ, in order.
    """

    row: Places
    other: Places
    features: Places

    @property
    def coalitions(self) -> int:
        """How many coalitions each pair has."""
        return 1 << int(self.features.shape[1])


Worths = Callable[[Pairs], Floats]  # outputs of all coalitions of each pair, (p, 2^k, classes), as numbered below


def differing(rows: Floats, background: Floats) -> Masks:
    """Which features differ, (n, b, d); what is missing in both does not."""
    missing = np.isnan(rows)[:, None] & np.isnan(background)
    return np.asarray((rows[:, None] != background) & ~missing)


def affordable(rows: Floats, background: Floats, budget: int) -> Masks:
    """Rows (n,) whose coalitions, over the background on average, are no more than the budget."""
    enough = np.ones(len(rows), bool)
    for part in _parts(len(rows), background.size):
        differ = differing(rows[part], background).sum(axis=2, dtype=np.float64)
        with np.errstate(over="ignore"):  # infinitely many are too many
            enough[part] = (np.exp2(differ) - 2).mean(axis=1) <= budget
    return enough


def _parts(rows: int, width: int) -> list[slice]:
    """Rows in parts of which each makes no more numbers at once than may be; so many per row."""
    step = max(1, _CELLS // width)
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def pair_values(differ: Masks, worths: Worths, classes: int, width: Callable[[int], int]) -> Floats:
    """Shapley values, (n, d, classes): the mean over the background of those of every pair.

    Parameters
    ----------
    differ : (n, b, d) array
        As `differing` makes it.
    worths : callable
        Gives what coalitions are worth, where coalition c has the j-th differing feature if c has the bit 2^j.
    width : callable
        How many numbers are made on the way for a pair with so many coalitions.
    """
    sizes = differ.sum(axis=2)
    values = np.zeros((len(differ), differ.shape[2], classes))
    for size in np.unique(sizes[sizes > 0]).tolist():
        row, other = np.nonzero(sizes == size)
        features = np.nonzero(differ[row, other])[1].reshape(-1, size)
        step = max(1, _CELLS // width(2**size))
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            found = np.matmul(_weights(size), worths(Pairs(row[part], other[part], features[part])))
            np.add.at(values, (row[part, None], features[part]), found)
    return np.asarray(values / differ.shape[1])


@lru_cache(maxsize=32)
def _members(size: int) -> Masks:
    return shapley_weights(size)[0]


@lru_cache(maxsize=32)
def _weights(size: int) -> Floats:
    need(32 * size * 2.0**size, f"All coalitions of {size} features", "pass fewer evaluations")
    return shapley_weights(size)[1]


@dataclass(frozen=True, eq=False)
class Asked:
    """What coalitions are worth, by asking the model about rows of which some values are the background's.

    Attributes
    ----------
    rows : (n, d) array
    background : (b, d) array
    gains : (n, classes) array
        What all features together are worth.
    starts : (b, classes) array
        What no feature is worth, for every background row.
    ask : callable
    """

    rows: Floats
    background: Floats
    gains: Floats
    starts: Floats
    ask: Ask

    def __call__(self, pairs: Pairs) -> Floats:
        worth = np.empty((len(pairs.row), pairs.coalitions, self.gains.shape[1]))
        worth[:, 0], worth[:, -1] = self.starts[pairs.other], self.gains[pairs.row]
        members = _members(pairs.features.shape[1])[1:-1]
        if len(members):
            own = np.take_along_axis(self.rows[pairs.row], pairs.features, axis=1)[:, None]
            others = np.take_along_axis(self.background[pairs.other], pairs.features, axis=1)[:, None]
            masked = np.repeat(self.background[pairs.other][:, None], len(members), axis=1)
            np.put_along_axis(masked, pairs.features[:, None], np.where(members, own, others), axis=2)
            worth[:, 1:-1] = self.ask(masked.reshape(-1, masked.shape[2])).reshape(len(worth), len(members), -1)
        return worth


def asked_values(
    rows: Floats, gains: Floats, background: Floats, starts: Floats, ask: Ask, tell: Tell, budget: int
) -> Floats:
    """Shapley values, (n, d, classes), by asking the model about all coalitions: about so many per row."""
    values = np.empty((*rows.shape, gains.shape[1]))
    features = rows.shape[1]
    for part in _parts(len(rows), background.size * min(2**features, max(budget, 1))):
        worths = Asked(rows[part], background, gains[part], starts, ask)
        differ = differing(rows[part], background)
        values[part] = pair_values(differ, worths, gains.shape[1], lambda coalitions: features * coalitions)
        tell(part.stop)
    return values
