"""The search: conditions are dropped, and then widened, while the bound proves the prediction."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from faithscope.explainers.reason.bounds import Bound
from faithscope.explainers.reason.boxes import Boxes, outside
from faithscope.explainers.shared.arrays import Bools, Codes, Ints


def by_slack(boxes: Boxes, bound: Bound) -> Ints:
    """Features of each row, those first whose condition the bound needs least: (n, d)."""
    slack = np.full(boxes.kept.shape, np.inf)
    for j in range(boxes.kept.shape[1]):
        rows = np.flatnonzero(boxes.kept[:, j])
        if len(rows):
            slack[rows, j] = bound.take(rows).slack(boxes.take(rows).without(j) == 0)
    return np.argsort(-slack, axis=1, kind="stable")


def drop_in_order(boxes: Boxes, bound: Bound, order: Ints) -> Boxes:
    """Boxes without the conditions that can be dropped, tried in the order of each row.

    A condition that could not be dropped cannot be dropped later, since boxes only grow: no single condition of the
    result can be dropped.
    """
    kept, shut = boxes.kept.copy(), boxes.shut.copy()
    for features in order.T:
        rows = np.flatnonzero(kept[np.arange(len(kept)), features])
        current = replace(boxes, kept=kept, shut=shut).take(rows)
        without = current.without(features[rows])
        proven = bound.take(rows).proves(without == 0)
        kept[rows[proven], features[rows[proven]]] = False
        shut[:, rows[proven]] = without[:, proven]
    return replace(boxes, kept=kept, shut=shut)


def widen(boxes: Boxes, bound: Bound) -> Boxes:
    """Boxes whose ranges reach as far as the bound allows, feature by feature, downwards first."""
    for j in range(boxes.kept.shape[1]):
        rows = np.flatnonzero(boxes.kept[:, j] & ~boxes.missing[:, j])
        if len(rows):
            boxes = _widened(boxes, bound.take(rows), rows, j)
    return boxes


def _widened(boxes: Boxes, bound: Bound, rows: Ints, j: int) -> Boxes:
    part = boxes.take(rows)
    trial = _Range(part, part.without(j), bound, j)
    most = len(boxes.leaves.edges[j])
    low = _furthest(trial, part.low[:, j], np.zeros(len(rows), np.int64), lambda ends: (ends, part.high[:, j]))
    high = _furthest(trial, part.high[:, j], np.full(len(rows), most, np.int64), lambda ends: (low, ends))
    lows, highs, shut = boxes.low.copy(), boxes.high.copy(), boxes.shut.copy()
    lows[rows, j], highs[rows, j] = low, high
    shut[:, rows] = trial.without + trial.shut(low, high)
    return replace(boxes, low=lows, high=highs, shut=shut)


@dataclass(frozen=True, eq=False)
class _Range:
    """Boxes with other ranges of one feature."""

    boxes: Boxes
    without: Codes
    bound: Bound
    feature: int

    def shut(self, low: Codes, high: Codes) -> Bools:
        return outside(self.boxes.leaves, self.feature, low, high, np.zeros(len(low), bool))

    def proven(self, rows: Ints, low: Codes, high: Codes) -> Bools:
        return self.bound.take(rows).proves((self.without[:, rows] == 0) & ~self.shut(low, high))


def _furthest(trial: _Range, start: Codes, limit: Ints, ends: Callable[[Codes], tuple[Codes, Codes]]) -> Codes:
    """The end of each range that is nearest to the limit and proven, by bisection: a wider range is proven less.

    Requires: the ranges that end at `start` are proven.
    """
    good, far = start.astype(np.int64), limit.copy()  # far and everything nearer than good is not yet decided
    while (rows := np.flatnonzero(good != far)).size:
        # Half of the way, rounded towards the limit.
        middle = good + np.sign(far - good) * ((np.abs(far - good) + 1) // 2)
        low, high = (np.asarray(end)[rows] for end in ends(middle))
        proven = trial.proven(rows, low, high)
        good[rows[proven]] = middle[rows[proven]]
        failed = rows[~proven]
        far[failed] = middle[failed] - np.sign(far[failed] - good[failed])
    return good.astype(start.dtype)
