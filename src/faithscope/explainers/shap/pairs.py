"""Exact Shapley values per pair of a row and a background row: only the features in which they differ matter."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from faithscope.explainers.shap.coalitions import Ask, Tell, shapley_weights
from faithscope.explainers.shap.coded_rows import CodedRows
from faithscope.explainers.shap.keys import Keys
from faithscope.explainers.shared.arrays import Bools, Floats, Ints
from faithscope.explainers.shared.blocks import blocks
from faithscope.runtime.memory import need

_CELLS = 2**21  # numbers in one block


@dataclass(frozen=True, eq=False)
class RowPairs:
    """Pairs of a row and a background row, all of which differ in equally many features.

    Attributes
    ----------
    row, other : (p,) arrays of int
        Positions of the row and of the background row.
    features : (p, k) array of int
        The features in which they differ, in order.
    """

    row: Ints
    other: Ints
    features: Ints

    @property
    def coalitions(self) -> int:
        """How many coalitions each pair has."""
        return 1 << int(self.features.shape[1])


Worths = Callable[[RowPairs], Floats]  # outputs of all coalitions of each pair: (p, 2^k, classes)


def differing(rows: Floats, background: Floats) -> Bools:
    """Which features differ between rows and background rows, (n, b, d); missing equals missing."""
    missing = np.isnan(rows)[:, None] & np.isnan(background)
    return np.asarray((rows[:, None] != background) & ~missing)


def affordable(rows: Floats, background: Floats, budget: int) -> Bools:
    """Which rows (n,) have no more coalitions than the budget, on average over the background."""
    enough = np.ones(len(rows), bool)
    for block in blocks(len(rows), _CELLS // background.size):
        differ = differing(rows[block], background).sum(axis=2, dtype=np.float64)
        with np.errstate(over="ignore"):  # infinity is over budget
            enough[block] = (np.exp2(differ) - 2).mean(axis=1) <= budget
    return enough


def pair_values(differ: Bools, worths: Worths, classes: int, width: Callable[[int], int]) -> Floats:
    """Shapley values, (n, d, classes): the mean over the background of those of every pair.

    Parameters
    ----------
    differ : (n, b, d) array
        From `differing`.
    worths : callable
        The worths of coalitions; coalition c has the j-th differing feature if c has the bit 2^j.
    width : callable
        From the number of coalitions of a pair to the size of the arrays that it needs.
    """
    sizes = differ.sum(axis=2)
    values = np.zeros((len(differ), differ.shape[2], classes))
    for size in np.unique(sizes[sizes > 0]).tolist():
        row, other = np.nonzero(sizes == size)
        features = np.nonzero(differ[row, other])[1].reshape(-1, size)
        for block in blocks(len(row), _CELLS // width(2**size)):
            shares = np.matmul(_weights(size), worths(RowPairs(row[block], other[block], features[block])))
            np.add.at(values, (row[block, None], features[block]), shares)
    return np.asarray(values / differ.shape[1])


@lru_cache(maxsize=32)
def _members(size: int) -> Bools:
    return shapley_weights(size)[0]


@lru_cache(maxsize=32)
def _weights(size: int) -> Floats:
    need(32 * size * 2.0**size, f"All coalitions of {size} features", "pass fewer evaluations")
    return shapley_weights(size)[1]


@dataclass(frozen=True, eq=False)
class ModelWorths:
    """The worths of coalitions, by asking the model about rows in which other features have the background's values.

    Attributes
    ----------
    rows : CodedRows
    background : CodedRows
    gains : (n, classes) array
        The worth of all features together.
    starts : (b, classes) array
        The worth of no feature, per background row.
    ask : callable
    """

    rows: CodedRows
    background: CodedRows
    gains: Floats
    starts: Floats
    ask: Ask

    def __call__(self, pairs: RowPairs) -> Floats:
        worth = np.empty((len(pairs.row), pairs.coalitions, self.gains.shape[1]))
        worth[:, 0], worth[:, -1] = self.starts[pairs.other], self.gains[pairs.row]
        members = _members(pairs.features.shape[1])[1:-1]
        if len(members):
            rows, background = self.rows.values, self.background.values
            own = np.take_along_axis(rows[pairs.row], pairs.features, axis=1)[:, None]
            others = np.take_along_axis(background[pairs.other], pairs.features, axis=1)[:, None]
            masked = np.repeat(background[pairs.other][:, None], len(members), axis=1)
            np.put_along_axis(masked, pairs.features[:, None], np.where(members, own, others), axis=2)
            outputs = self.ask(masked.reshape(-1, masked.shape[2]), self._keys(pairs)[:, 1:-1].ravel())
            worth[:, 1:-1] = outputs.reshape(len(worth), len(members), -1)
        return worth

    def _keys(self, pairs: RowPairs) -> Keys:
        """The keys of all mixtures of each pair, (p, 2^k): those of the background row, less what members replace."""
        own = np.take_along_axis(self.rows.codes[pairs.row], pairs.features, axis=1)
        others = np.take_along_axis(self.background.codes[pairs.other], pairs.features, axis=1)
        keys = np.empty((len(own), pairs.coalitions), np.uint64)
        keys[:, 0] = self.background.codes[pairs.other].sum(axis=1)
        for j, more in enumerate((own - others).T):
            np.add(keys[:, : 2**j], more[:, None], out=keys[:, 2**j : 2 ** (j + 1)])
        return keys


def asked_values(
    rows: CodedRows, gains: Floats, background: CodedRows, starts: Floats, ask: Ask, tell: Tell, budget: int
) -> Floats:
    """Shapley values, (n, d, classes), by asking the model about all coalitions, about `budget` per row."""
    values = np.empty((*rows.values.shape, gains.shape[1]))
    features = rows.values.shape[1]
    step = _CELLS // (background.values.size * min(2**features, max(budget, 1)))
    for block in blocks(len(gains), step, lambda done, _: tell(done)):
        worths = ModelWorths(rows.take(block), background, gains[block], starts, ask)
        differ = differing(rows.values[block], background.values)
        values[block] = pair_values(differ, worths, gains.shape[1], lambda coalitions: features * coalitions)
    return values
