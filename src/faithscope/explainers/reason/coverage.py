"""Training rows as cells: how many of them a box covers."""

from dataclasses import dataclass

import numpy as np

from faithscope.explainers.reason.boxes import Boxes
from faithscope.explainers.shared.arrays import Bools, Codes, Ints

MOST = 10_000  # training rows that coverage is counted on, as Anchors does


@dataclass(frozen=True, eq=False)
class TrainingCells:
    """The cells of training rows, -1 for missing: (N, d)."""

    cells: Codes

    def covered(self, boxes: Boxes) -> Ints:
        """How many training rows each box covers: (n,)."""
        inside = np.ones((len(self.cells), len(boxes.low)), bool)
        for j in np.flatnonzero(boxes.kept.any(axis=0)).tolist():
            inside &= _holds(self.cells[:, j, None], boxes, j) | ~boxes.kept[:, j]
        return np.asarray(np.count_nonzero(inside, axis=0))


def _holds(cell: Codes, boxes: Boxes, j: int) -> Bools:
    """Whether the condition of each box on a feature holds for cells: (N, n)."""
    number = (cell >= boxes.low[:, j]) & (cell <= boxes.high[:, j]) & (cell >= 0)
    return np.asarray(number | (boxes.missing[:, j] & (cell < 0)))
