"""Sound bounds: what the extreme leaves that a box reaches say about the prediction of every row in it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from faithscope.explainers.reason.ensemble import Ensemble
from faithscope.explainers.shared.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Bound(ABC):
    """How safe the predictions of rows are within their boxes.

    A sum over trees is at least the sum of the least values of the leaves that the box reaches in each tree. Of one
    tree this is exact; of several it may be too low, never too high. If a box reaches a single leaf of every tree, all
    rows in it get the same sum in any arithmetic.
    """

    ensemble: Ensemble

    @abstractmethod
    def slack(self, reach: Bools) -> Floats:
        """By how much the bound keeps each prediction, from (leaves, n) reached leaves; positive if it is proven."""

    def proves(self, reach: Bools) -> Bools:
        """Whether all rows of each box get its prediction: (n,)."""
        proven = self.slack(reach) > 0
        near = np.flatnonzero(~proven)
        if len(near):
            proven[near] = np.count_nonzero(reach[:, near], axis=0) == len(self.ensemble.leaves.starts)
        return proven

    def take(self, rows: Bools | Ints | slice) -> "Bound":
        """The bound of some of the rows."""
        return self

    def _least(self, values: Floats, reach: Bools) -> Floats:
        """The least of leaf values that each box reaches, by tree: (trees, n)."""
        reached = np.where(reach, values[:, None], np.inf)
        return np.asarray(np.minimum.reduceat(reached, self.ensemble.leaves.starts, axis=0))


def total(terms: Floats) -> Floats:
    """Sums over the first axis, one term after the other, so that they do not depend on the number of columns."""
    return np.asarray(np.cumsum(terms, axis=0)[-1]) if len(terms) else np.zeros(terms.shape[1:])


@dataclass(frozen=True, eq=False)
class LabelBound(Bound):
    """That the output of the predicted class stays above those of all others.

    Attributes
    ----------
    label : int
        The position of the predicted class, the same for all rows.
    """

    label: int

    def slack(self, reach: Bools) -> Floats:
        model = self.ensemble
        if model.outputs is None:
            gaps = [total(self._least(self._gap(other), reach)) for other in self._others]
        elif len(model.base) == 1:
            sign = 1.0 if self.label else -1.0
            gaps = [total(self._least(sign * model.leaves.values[:, 0], reach)) + sign * model.base[0]]
        else:
            least = self._least(self._signed, reach)
            sums = [total(least[model.outputs == output]) for output in range(len(model.base))]
            gaps = [
                sums[self.label] + sums[other] + (model.base[self.label] - model.base[other]) for other in self._others
            ]
        safe = [gap - self._needed(other) for gap, other in zip(gaps, self._others, strict=True)]
        return np.asarray(np.min(safe, axis=0)) if safe else np.full(reach.shape[1], np.inf)

    @cached_property
    def _others(self) -> list[int]:
        model = self.ensemble
        classes = 2 if len(model.base) == 1 and model.outputs is not None else len(model.base)
        return [other for other in range(classes) if other != self.label]

    def _gap(self, other: int) -> Floats:
        values = self.ensemble.leaves.values
        return np.asarray(values[:, self.label] - values[:, other])

    @cached_property
    def _signed(self) -> Floats:
        """Leaf values of trees of the predicted class; those of other classes with the other sign."""
        model = self.ensemble
        assert model.outputs is not None
        sizes = np.diff([*model.leaves.starts, len(model.leaves.values)])
        signs = np.where(model.outputs == self.label, 1.0, -1.0)
        return np.asarray(model.leaves.values[:, 0] * np.repeat(signs, sizes))

    def _needed(self, other: int) -> float:
        """The gap above which the prediction is proven; of exact sums, a tie goes to the first class."""
        model = self.ensemble
        first = model.exact and self.label < other and len(model.base) > 1
        return -(2.0**-21) if first else model.tolerance


@dataclass(frozen=True, eq=False)
class NumberBound(Bound):
    """That predicted numbers stay within eps.

    Attributes
    ----------
    predictions : (n,) array
    eps : float
    """

    predictions: Floats
    eps: float

    def slack(self, reach: Bools) -> Floats:
        model, values = self.ensemble, self.ensemble.leaves.values[:, 0]
        low = total(self._least(values, reach)) + model.base[0] - model.tolerance
        high = model.base[0] - total(self._least(-values, reach)) + model.tolerance
        rounding = 8 * model.precision * np.abs(self.predictions)
        apart = np.maximum(self.predictions - model.number(low), model.number(high) - self.predictions)
        return np.asarray(self.eps - rounding - apart)

    def take(self, rows: Bools | Ints | slice) -> "NumberBound":
        return replace(self, predictions=self.predictions[rows])
