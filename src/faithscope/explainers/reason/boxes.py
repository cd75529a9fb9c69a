"""Boxes of rows in terms of cells, and the leaves that they reach."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.explainers.reason.nodes import Leaves
from faithscope.explainers.shared.arrays import Bools, Codes


@dataclass(frozen=True, eq=False)
class Boxes:
    """One box per row: a range of cells of each feature that is kept, or missing alone.

    Attributes
    ----------
    leaves : Leaves
    low, high : (n, d) arrays
        The first and the last cell; of missing values a range that holds none.
    missing : (n, d) array of bool
        Whether the box asks for missing in a feature.
    kept : (n, d) array of bool
        The features with a condition.
    shut : (leaves, n) array
        How many of the kept features keep the box out of each leaf. It reaches those with none.
    """

    leaves: Leaves
    low: Codes
    high: Codes
    missing: Bools
    kept: Bools
    shut: Codes

    @classmethod
    def of(cls, leaves: Leaves, cells: Codes) -> "Boxes":
        """The conditions that rows meet on their ways through all trees: a box with one leaf of every tree."""
        missing, most = cells < 0, _most(leaves)
        low, high = np.where(missing, most + 1, cells), cells
        everything = np.ones(cells.shape, bool)
        reach = _shut(leaves, low, high, missing, everything) == 0
        low, high, kept = low.copy(), high.copy(), everything
        for j in range(cells.shape[1]):
            met = [np.where(reach, column[:, j, None], empty) for column, empty in _neutral(leaves, most[j])]
            first, last, goes = met[0].max(axis=0), met[1].min(axis=0), met[2].all(axis=0)
            low[:, j] = np.where(missing[:, j], low[:, j], first)
            high[:, j] = np.where(missing[:, j], high[:, j], last)
            kept[:, j] = (first > 0) | (last < most[j]) | ~goes
        return cls(leaves, low, high, missing, kept, _shut(leaves, low, high, missing, kept))

    @property
    def reach(self) -> Bools:
        """The leaves that each box reaches: (leaves, n)."""
        return np.asarray(self.shut == 0)

    def take(self, rows: Any) -> "Boxes":
        """The boxes of some rows."""
        parts = {name: getattr(self, name)[rows] for name in ("low", "high", "missing", "kept")}
        return replace(self, **parts, shut=self.shut[:, rows])

    def shut_by(self, features: Codes | int) -> Bools:
        """The leaves that a feature, or one feature per row, keeps each box out of: (leaves, n)."""
        rows = np.arange(len(self.low))
        ends = self.low[rows, features], self.high[rows, features], self.missing[rows, features]
        return np.asarray(outside(self.leaves, features, *ends) & self.kept[rows, features])

    def without(self, features: Codes | int) -> Codes:
        """How many of the other kept features keep each box out of each leaf."""
        return np.asarray(self.shut - self.shut_by(features))


def outside(leaves: Leaves, features: Codes | int, low: Codes, high: Codes, missing: Bools) -> Bools:
    """The leaves that no value from low to high reaches, nor a missing one if that is asked for: (leaves, n)."""
    chosen = np.atleast_1d(features)  # a column of leaves for all rows, or one per row
    apart = (leaves.high[:, chosen] < low) | (leaves.low[:, chosen] > high)
    return np.asarray(apart & ~(leaves.missing[:, chosen] & missing) if missing.any() else apart)


def _most(leaves: Leaves) -> Codes:
    """The last cell of each feature."""
    return np.array(list(map(len, leaves.edges)), leaves.high.dtype)


def _neutral(leaves: Leaves, most: int) -> list[tuple[Any, Any]]:
    """The columns of leaves, each with a value that restricts nothing."""
    return [(leaves.low, leaves.low.dtype.type(0)), (leaves.high, leaves.high.dtype.type(most)), (leaves.missing, True)]


def _shut(leaves: Leaves, low: Codes, high: Codes, missing: Bools, kept: Bools) -> Codes:
    features = low.shape[1]
    shut = np.zeros((len(leaves.low), len(low)), np.uint8 if features < 256 else np.uint16)
    for j in range(features):
        shut += outside(leaves, j, low[:, j], high[:, j], missing[:, j]) & kept[:, j]
    return shut
